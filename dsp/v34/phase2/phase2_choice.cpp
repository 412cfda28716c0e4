// SPDX-License-Identifier: MIT
// What INFO1c, INFO1a and INFOh say, and what both ends take from them.
#include "dsp/v34/phase2/phase2.h"

namespace offhook::v34 {
namespace {

constexpr SymbolRate symbol_rate(int k) {
  return static_cast<SymbolRate>(k);
}

// A symbol rate that `from` may send and `to` can receive. Table 14
bool can_use(SymbolRate s, const Info0& from, const Info0& to) {
  switch (s) {
    case SymbolRate::k2743:
      return from.supports_2743 && to.supports_2743;
    case SymbolRate::k2800:
      return from.supports_2800 && to.supports_2800;
    case SymbolRate::k3429:
      return from.supports_3429 && to.supports_3429 && from.may_transmit_3429;
    default:
      return true;
  }
}

// The longest MD of V.34, in 35 ms. From its beginning to the end of TRN, 2000 ms and a round trip are permitted
// (11.3.1.1.6, 11.3.1.2.3). TRN takes that round trip. S, S-bar, PP and 512T of TRN follow MD and are longest at 2400
// symbols/s. V.90 permits 4 s (V.90 9.3.2.3).
constexpr uint8_t kMostMd = (2000 - (128 + 16 + 288 + 512) * 1000 / 2400) / 35;

uint8_t v34_md(uint8_t wanted) {
  return wanted < kMostMd ? wanted : kMostMd;
}

}  // namespace

// The choice takes up to 132 projected rates: one per sample in the 200 ms and more until INFO1 is sent, so that no
// block computes them all.
void Phase2::begin_choice(bool in_advance) {
  for (LineProbe::Search& search : search_) search = {};
  searching_ = 0;
  in_advance_ = in_advance;
}

// @return whether more remains
bool Phase2::choose_more() {
  const Info0 &far = outcome_.far_info0, &own = outcome_.own_info0;
  while (searching_ < kSymbolRates && !can_use(symbol_rate(searching_), far, own)) ++searching_;
  if (searching_ == kSymbolRates) return false;
  if (!probe_.step(symbol_rate(searching_), far, &search_[searching_])) ++searching_;
  return searching_ < kSymbolRates;
}

// Computes all missing results at once.
const LineProbe::Search& Phase2::chosen(SymbolRate s) {
  while (searching_ <= static_cast<int>(s) && choose_more()) {
  }
  return search_[static_cast<int>(s)];
}

// V.90 chooses from the results of its upstream rates; "A 0 indicates the symbol rate cannot be used" (V.90, Table 9).
bool Phase2::is_usable(SymbolRate s) const {
  return !refuses_pcm() || ignores_refusal_ || (kUpstreamRates >> static_cast<int>(s) & 1) == 0;
}

// INFO1's result for a symbol rate. @pre can_use(s, far, own)
ProbingResult Phase2::towards_us(SymbolRate s) {
  const Info0 &far = outcome_.far_info0, &own = outcome_.own_info0;
  ProbingResult result = LineProbe::result(s, chosen(s), far.supports_1664_points);
  if (!is_usable(s)) result.max_rate = 0;
  if ((avoided_ >> static_cast<int>(s) & 1) == 0) return result;
  for (int k = 0; k < kSymbolRates; ++k) {
    const SymbolRate other = symbol_rate(k);
    if ((avoided_ >> k & 1) != 0 || !can_use(other, far, own)) continue;
    if (LineProbe::result(other, chosen(other), far.supports_1664_points).max_rate > 0) result.max_rate = 0;
  }
  return result;
}

uint8_t Phase2::wanted_reduction_db() const {
  if (config_.pcm != PcmSide::kNone || !outcome_.far_info0.can_reduce_power) return 0;
  return overload_.reduction_db();
}

void Phase2::send_info1c() {
  Info1c& info = outcome_.info1c;
  const Info0 &far = outcome_.far_info0, &own = outcome_.own_info0;
  info = {};
  info.md_length = outcome_.own_md_length = v34_md(config_.md_length);
  for (int k = 0; k < kSymbolRates; ++k) {
    if (!can_use(symbol_rate(k), far, own)) continue;
    info.probing[k] = towards_us(symbol_rate(k));
  }
  info.min_power_reduction = outcome_.rx_power_reduction_db = wanted_reduction_db();
  info.frequency_offset = probe_.offset_field();
  // V.92, Table 17, uses the bit of 3429's carrier, which has only one value, for PCM upstream.
  Carrier& offer = info.probing[static_cast<int>(SymbolRate::k3429)].carrier;
  const Carrier real = offer;
  if (config_.v92 && far_has_v92()) offer = config_.pcm_upstream ? Carrier::kHigh : Carrier::kLow;
  send(info);
  offer = real;
}

// V.92's short Phase 2: the results of an earlier call; Table 19.
void Phase2::send_short_info1a() {
  Info1aV90& info = outcome_.info1a_v90;
  info = {};
  info.md_length = outcome_.own_md_length = config_.md_length;
  info.u_info = config_.u_info(outcome_.info0d);
  const SymbolRate s = config_.known_rate;
  const bool possible = s >= SymbolRate::k3000 && (config_.upstream >> static_cast<int>(s) & 1) != 0 &&
                        (s != SymbolRate::k3429 || outcome_.info0d.upstream_3429);
  info.rate_upstream = possible ? s : SymbolRate::k3200;
  info.high_carrier = config_.known_carrier == Carrier::kHigh;
  info.frequency_offset = kOffsetUnknown;
  outcome_.round_trip_samples = config_.known_round_trip_samples;
  choose_pcm_ = chose_pcm_ = true;
  put_short_choice();
  send(info);
}

void Phase2::take_short_info1a() {
  outcome_.info1a_v90 = info1a_v90_.found().info;
  put_short_choice();
  take_info1a_v90();
}

// Stores the choice as INFO1d would: the carrier, and no pre-emphasis.
void Phase2::put_short_choice() {
  const Info1aV90& info = outcome_.info1a_v90;
  outcome_.info1c = {};
  outcome_.info1c.probing[static_cast<int>(info.rate_upstream)].carrier =
      info.high_carrier ? Carrier::kHigh : Carrier::kLow;
}

// The digital modem can receive one of the upstream symbol rates.
bool Phase2::can_choose_v90() const {
  bool any = false;
  for (int s = 0; s < kSymbolRates; ++s)
    any |= (config_.upstream >> s & 1) != 0 && outcome_.info1c.probing[s].max_rate > 0;
  return any;
}

// V.90: the symbol rate with the highest upstream rate in the digital modem's view, and the signal that trains us.
void Phase2::send_info1a_v90() {
  Info1aV90& info = outcome_.info1a_v90;
  info = {};
  info.md_length = outcome_.own_md_length = config_.md_length;
  info.u_info = config_.u_info(outcome_.info0d);
  info.rate_upstream = SymbolRate::k3200;
  int best = 0;
  constexpr SymbolRate kUpstream[] = {SymbolRate::k3000, SymbolRate::k3200, SymbolRate::k3429};
  for (const SymbolRate s : kUpstream) {
    const bool allowed =
        (config_.upstream >> static_cast<int>(s) & 1) != 0 &&
        (s != SymbolRate::k3429 || (outcome_.info0d.upstream_3429 && outcome_.own_info0.may_transmit_3429));
    const int rate = outcome_.info1c.probing[static_cast<int>(s)].max_rate;
    if (allowed && rate > best) best = rate, info.rate_upstream = s;
  }
  info.frequency_offset = probe_.offset_field();
  if (config_.pcm_upstream && pcm_upstream_offered_) choose_pcm_upstream();
  send(info);
}

// V.92, Table 18, with the filters of dsp/v90/coding/upstream.h.
void Phase2::choose_pcm_upstream() {
  Info1aV90& info = outcome_.info1a_v90;
  info.pcm_upstream = true;
  info.filter_sections = 3;
  info.total_taps = 3;
  info.section_taps = 0;
  info.md_length = outcome_.own_md_length = 0;
  info.rate_upstream = SymbolRate::k3200;
}

// The symbol rates with the highest total rate of both directions.
void Phase2::send_info1a() {
  outcome_.info1c = info1c_.found().info;
  for (ProbingResult& result : outcome_.info1c.probing) result = usable(result);
  if (config_.v92 && config_.pcm == PcmSide::kAnalogue && far_has_v92()) {
    Carrier& offer = outcome_.info1c.probing[static_cast<int>(SymbolRate::k3429)].carrier;
    pcm_upstream_offered_ = offer == Carrier::kHigh;
    offer = Carrier::kLow;
  }
  chose_pcm_ = config_.pcm == PcmSide::kAnalogue && choose_pcm_ && can_choose_v90();
  if (chose_pcm_) return send_info1a_v90();
  const Info0 &far = outcome_.far_info0, &own = outcome_.own_info0;
  const int step_most =
      far.max_rate_difference < own.max_rate_difference ? far.max_rate_difference : own.max_rate_difference;
  ProbingResult there_by[kSymbolRates];
  for (int k = 0; k < kSymbolRates; ++k) {
    there_by[k] = {Carrier::kLow, 0, 0};
    const SymbolRate s = symbol_rate(k);
    if (can_use(s, far, own)) there_by[k] = towards_us(s);
  }

  Info1a& info = outcome_.info1a;
  info = {};
  info.md_length = outcome_.own_md_length = v34_md(config_.md_length);
  info.call_to_answer = {Carrier::kLow, 0, 1};  // nothing fits: use the slowest, and let Phase 3 decide
  info.min_power_reduction = outcome_.rx_power_reduction_db = wanted_reduction_db();
  double best = 0;
  for (int from_call = 0; from_call < kSymbolRates; ++from_call) {
    for (int to_call = 0; to_call < kSymbolRates; ++to_call) {
      const int apart = from_call > to_call ? from_call - to_call : to_call - from_call;
      const int there = there_by[from_call].max_rate, back = outcome_.info1c.probing[to_call].max_rate;
      if (apart > step_most || there == 0 || back == 0 || !can_use(symbol_rate(to_call), own, far)) continue;
      // The far end's view is in whole rates. If the sums are nearly equal, equal symbol rates; if they are equal, the
      // lower rate.
      const double known = chosen(symbol_rate(from_call)).rate / 2400;
      const double worth = (known < there + 1 ? known : there + 1) + back + (from_call == to_call ? 0.5 : 0);
      if (worth <= best) continue;
      best = worth;
      info.call_to_answer = there_by[from_call];
      info.rate_call_to_answer = symbol_rate(from_call);
      info.rate_answer_to_call = symbol_rate(to_call);
    }
  }
  info.frequency_offset = probe_.offset_field();
  send(info);
}

// The sequence ended four fill bits and a half after the middle of its last CRC bit.
uint32_t Phase2::samples_since(float age) {
  const float since = age - 4.5f * 8000 / kDpskBaud;
  return since > 0 ? static_cast<uint32_t>(since) : 0;
}

void Phase2::take_info1a() {
  outcome_.info1a = info1a_.found().info;
  finish_v34(samples_since(info1a_.found().age_samples));
}

void Phase2::take_info1a_v90() {
  outcome_.info1a_v90 = info1a_v90_.found().info;
  finish_v90(samples_since(info1a_v90_.found().age_samples));
}

void Phase2::finish_answer() {
  if (is_recipient()) {
    finish_half_duplex(0);
  } else if (chose_pcm_) {
    finish_v90(0);
  } else {
    finish_v34(0);
  }
}

// The symbol rate with the highest rate up to the limit.
SymbolRate Phase2::best_rate() {
  const Info0 &far = outcome_.far_info0, &own = outcome_.own_info0;
  SymbolRate best = SymbolRate::k2400;
  double most = -1;
  for (int k = 0; k < kSymbolRates; ++k) {
    const SymbolRate s = symbol_rate(k);
    if (!can_use(s, far, own)) continue;
    const double limit = config_.max_bit_rate;
    if (limit > 0 && limit < traits(s).min_bit_rate) continue;
    const double rate = towards_us(s).max_rate == 0 ? 0 : chosen(s).rate;
    if (rate <= most) continue;
    most = rate;
    best = s;
  }
  return best;
}

void Phase2::send_infoh() {
  InfoH& info = outcome_.infoh;
  const SymbolRate s = best_rate();
  const ProbingResult result = towards_us(s);
  info = {wanted_reduction_db(), config_.trn_length, result.carrier, result.pre_emphasis, s, config_.trn_16_points};
  outcome_.rx_power_reduction_db = info.power_reduction;
  send(info);
}

void Phase2::take_infoh() {
  outcome_.infoh = infoh_.found().info;
  finish_half_duplex(samples_since(infoh_.found().age_samples));
}

void Phase2::finish_half_duplex(uint32_t samples_since_infoh) {
  Phase2Outcome& o = outcome_;
  const InfoH& info = o.infoh;
  o.pcm = false;
  o.tx_symbol_rate = o.rx_symbol_rate = info.symbol_rate;
  o.tx_power_reduction_db = is_source() && o.own_info0.can_reduce_power ? info.power_reduction : 0;
  const double rate = is_recipient() ? chosen(info.symbol_rate).rate / 2400 : 0;
  const ProbingResult result{info.carrier, info.pre_emphasis, static_cast<uint8_t>(rate < 14 ? rate : 14)};
  finish(result, result, samples_since_infoh);
}

// One upstream symbol rate, with the carrier and pre-emphasis that INFO1d has for it.
void Phase2::finish_v90(uint32_t samples_since_info1a) {
  Phase2Outcome& o = outcome_;
  const Info1aV90& info = o.info1a_v90;
  const ProbingResult up = o.info1c.probing[static_cast<int>(info.rate_upstream)];
  o.pcm = true;
  o.pcm_upstream = info.pcm_upstream;
  o.tx_symbol_rate = o.rx_symbol_rate = info.rate_upstream;
  o.tx_power_reduction_db = answers() && o.own_info0.can_reduce_power ? o.info1c.min_power_reduction : 0;
  o.far_md_length = calls() ? info.md_length : 0;
  finish(up, up, samples_since_info1a);
}

void Phase2::finish_v34(uint32_t samples_since_info1a) {
  Phase2Outcome& o = outcome_;
  o.pcm = o.pcm_upstream = false;
  const SymbolRate to_answer = o.info1a.rate_call_to_answer, to_call = o.info1a.rate_answer_to_call;
  const ProbingResult there = o.info1a.call_to_answer, back = o.info1c.probing[static_cast<int>(to_call)];
  const bool call = calls();
  o.tx_symbol_rate = call ? to_answer : to_call;
  o.rx_symbol_rate = call ? to_call : to_answer;
  const uint8_t asked = call ? o.info1a.min_power_reduction : o.info1c.min_power_reduction;
  o.tx_power_reduction_db = o.own_info0.can_reduce_power ? asked : 0;
  o.far_md_length = call ? o.info1a.md_length : o.info1c.md_length;
  finish(call ? there : back, call ? back : there, samples_since_info1a);
}

void Phase2::finish(const ProbingResult& tx, const ProbingResult& rx, uint32_t samples_since_info1a) {
  Phase2Outcome& o = outcome_;
  o.tx_carrier = tx.carrier;
  o.rx_carrier = rx.carrier;
  o.tx_pre_emphasis = tx.pre_emphasis;
  o.rx_pre_emphasis = rx.pre_emphasis;
  o.tx_projected_rate = tx.max_rate;
  o.rx_projected_rate = rx.max_rate;
  o.frequency_offset_hz = probe_.frequency_offset_hz();
  o.high_pass = probe_.windows() > 0 ? probe_.high_pass() : nullptr;
  o.samples_since_info1a = samples_since_info1a;
  modulator_.silence();
}

}  // namespace offhook::v34
