// SPDX-License-Identifier: MIT
#include "dsp/v34/phase2/phase2.h"

#include "dsp/blocks/level.h"

namespace offhook::v34 {
namespace {

constexpr int ms(double t) {
  return static_cast<int>(t * 8 + 0.5);
}

constexpr int kTurn = ms(40);           // from a reversal received to the reversal sent, at the terminals; 11.2
constexpr int kAfterReversal = ms(10);  // tone that follows a reversal
constexpr int kAnswerTone = ms(50);     // tone A before its reversals; 11.2.1.2.3, 11.2.1.2.6
constexpr int kSilence = ms(70);        // 70 +- 5 ms; 11.3.2, 11.5
constexpr int kL1 = ms(160);
// From the reversal that announces L1 to the end of listening: five windows of L2. The text allows 670 ms (Figure 16);
// less leaves the far end, which stops L2 at its own time, room to find the tone that follows.
constexpr int kHear = ms(575);
constexpr int kSettle = ms(20);  // of L2 that is left out: channel and detector delays

// A tone counts as seen when it has lasted so long; shorter ones are runs of zeros in INFO0. A reversal is believed
// when the tone had lasted kBefore: the shortest that is sent is 40 ms.
constexpr float kSeenMs = 45;
constexpr float kPresentMs = 60;  // of a tone that lasts until we react: noise and echo must not look like it
constexpr float kBeforeMs = 30;
// Less than this of the far tone's first amplitude is not the far end but an echo of its earlier tone, which the own
// end reflected and the far end's hybrid reflected again.
constexpr float kEchoShare = 0.25f;

constexpr float kRetrainMs = 50;  // 11.5.1.2, 11.5.2.2

// Time-outs of 11.2.2; the round trip is added where the text says so.
constexpr int kCallSecondReversal = ms(2000);  // 11.2.2.1.2, from the first reversal
constexpr int kCallThirdReversal = ms(900);    // 11.2.2.1.3, from the second
constexpr int kCallToneA = ms(650);            // 11.2.2.1.4, from the start of L2
constexpr int kCallInfo1a = ms(700);           // 11.2.2.1.5, from the end of INFO1c
constexpr int kAnswerReversal = ms(2000);      // 11.2.2.2.2, from the own reversal
constexpr int kAnswerToneB = ms(600);          // 11.2.2.2.3, from the start of L2
constexpr int kAnswerInfo1c = ms(2000);        // 11.2.2.2.4, from tone B; twice the round trip is added
constexpr int kL2Most = ms(550);               // 10.1.2.4; the round trip is added

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

}  // namespace

Phase2::Phase2(const Phase2Config& config)
    : config_(config),
      dpsk_(config.role == OH_PUMP_CALL ? kDpskAnswerHz : kDpskCallHz),
      tone_(config.role == OH_PUMP_CALL ? kToneAHz : kToneBHz),
      modulator_(phase2_signal(config.role == OH_PUMP_CALL ? kDpskCallHz : kDpskAnswerHz,
                               static_cast<double>(config.tx_level_dbm0),
                               static_cast<double>(config.guard_with_tone_db))),
      probing_rms_(static_cast<float>(dbm0_to_rms(static_cast<double>(config.tx_level_dbm0)))) {
  outcome_.own_info0 = config.capabilities;
  outcome_.own_info0.acknowledge = false;
  outcome_.own_md_length = config.md_length;
}

void Phase2::enter(Step step) {
  step_ = step;
  entered_ = now_;
}

void Phase2::start() {
  state_ = Phase2State::kRunning;
  has_far_info0_ = false;
  far_peak_ = 0;
  send_info0(false);
  enter(Step::kInfo0);
}

// Whoever calls these has run Phases 3 and 4 meanwhile: what the detectors remember is of another time.
void Phase2::retrain() {
  state_ = Phase2State::kRunning;
  tone_.reset();
  begin_retrain();
}

void Phase2::repeat_info1(bool marks) {
  state_ = Phase2State::kRunning;
  tone_.reset();
  marks_.reset();
  probing_at_ = -1;
  modulator_.silence();
  enter(marks || !is_call() ? Step::kMarksSilence : Step::kNoInfo1);
}

void Phase2::adopt(const Phase2Outcome& outcome) {
  outcome_ = outcome;
  has_far_info0_ = true;
  state_ = Phase2State::kDone;
  enter(Step::kIdle);
}

float Phase2::process(float rx) {
  hear(rx);
  float tx = 0;
  if (state_ == Phase2State::kRunning) {
    advance();
    if (state_ == Phase2State::kRunning) tx = modulator_.next([this] { return next_bit(); });
    if (probing_at_ >= 0) {
      const float gain = probing_at_ < kL1 ? 1.99526231f : 1.f;  // L1 is 6 dB above L2
      tx += gain * probing_rms_ * kProbingTable.sample[probing_at_ % kProbingSamples];
      ++probing_at_;
    }
  }
  ++now_;
  return tx;
}

void Phase2::hear(float rx) {
  got_info0_ = got_info1_ = got_info1a_v90_ = false;
  DpskDecision decision;
  if (dpsk_.put(rx, &decision)) {
    got_info0_ = config_.pcm == PcmSide::kAnalogue ? info0d_.put(decision) : info0_.put(decision);
    got_info1_ = is_call() ? info1a_.put(decision) : info1c_.put(decision);
    if (config_.pcm == PcmSide::kDigital) got_info1a_v90_ = info1a_v90_.put(decision);
    got_marks_ = marks_.put(decision) || (got_marks_ && decision.phase != 0);
  }
  got_reversal_ = tone_.put(rx) == ToneEvent::kReversal && tone_.steady_before_reversal_ms() >= kBeforeMs;
  if (step_ == Step::kHear && now_ >= hear_from_ && now_ < hear_until_) probe_.put(rx);
}

int Phase2::next_bit() {
  if (send_marks_) return 1;
  if (bit_at_ == bit_count_) {
    // The last bit's pulse has its middle kDelaySamples after it was asked for, one symbol ago, and lasts half a
    // symbol.
    constexpr double kSymbol = 8000. / kDpskBaud;
    bits_end_ = now_ + DpskModulator::kDelaySamples - static_cast<int64_t>(kSymbol / 2);
    if (!again_) return -1;
    send_info0(true);
  }
  return bits_[bit_at_++];
}

void Phase2::send_info0(bool again) {
  Info0 info = config_.capabilities;
  info.acknowledge = again && has_far_info0_;
  if (config_.pcm == PcmSide::kDigital) {
    Info0d digital = config_.digital;
    digital.v34 = info;
    encode(digital, bits_);
    bit_count_ = Info0d::kBits;
  } else {
    encode(info, bits_);
    bit_count_ = Info0::kBits;
  }
  bit_at_ = 0;
  again_ = again;
  send_marks_ = false;
  probing_at_ = -1;
  if (!modulator_.sends_bits()) modulator_.bits();
}

void Phase2::begin_info0_again() {
  if (modulator_.sends_bits()) {
    again_ = true;  // the one being sent is finished first
  } else {
    send_info0(true);
  }
  enter(Step::kInfo0Again);
}

void Phase2::begin_tone(Step step) {
  probing_at_ = -1;
  modulator_.tone();
  tone_since_ = now_;
  enter(step);
}

void Phase2::begin_retrain() {
  far_peak_ = 0;
  probing_at_ = -1;
  send_marks_ = again_ = false;
  modulator_.silence();
  enter(Step::kRetrain);
}

// Schedules the own reversal for 40 ms after the far end's, at the line terminals.
void Phase2::turn_after(double reversal) {
  const double at = reversal + kTurn - config_.io_delay_samples - DpskModulator::kReversalDelay;
  reverse_at_ = static_cast<int64_t>(at + 0.5);
  if (reverse_at_ < now_) reverse_at_ = now_;
}

bool Phase2::tone_for(float ms) const {
  return tone_.unbroken_ms() >= ms && tone_.peak() > kEchoShare * far_peak_;
}

void Phase2::begin_probe() {
  modulator_.silence();
  probing_at_ = 0;
  enter(Step::kProbe);
}

void Phase2::begin_hear(double reversal) {
  hear_from_ = static_cast<int64_t>(reversal) + kAfterReversal + kL1 + kSettle;
  hear_until_ = static_cast<int64_t>(reversal) + kHear;
  probe_.start();
  enter(Step::kHear);
}

bool Phase2::heard_probing() {
  if (now_ < hear_until_) return false;
  probe_.analyse();
  return true;
}

// While L1 and L2 are sent: stops L2 when it has lasted as long as it may, unless the far end's tone is just coming in,
// which the end of our echo would disturb.
void Phase2::limit_l2() {
  const bool too_long = probing_at_ - kL1 > kL2Most + static_cast<int>(outcome_.round_trip_samples);
  if (too_long && !tone_.present()) probing_at_ = -1;
}

void Phase2::advance() {
  if (got_info0_ && (step_ == Step::kInfo0 || step_ == Step::kInfo0Again || step_ == Step::kFirstTone ||
                     step_ == Step::kReversed || step_ == Step::kRoundTrip || step_ == Step::kRetrain)) {
    advance_info0();
  }
  // A reversal that is due.
  if ((step_ == Step::kFirstTurn || step_ == Step::kSecondTurn) && now_ == reverse_at_) {
    modulator_.reverse();
    sent_reversal_ = static_cast<double>(now_) + DpskModulator::kReversalDelay + config_.io_delay_samples;
  }
  switch (step_) {
    case Step::kInfo0: {
      if (modulator_.sends_bits()) break;
      if (age() < ms(1)) break;
      if (has_far_info0_) {
        tone_since_ = now_;
        enter(Step::kFirstTone);
      } else if (tone_for(kSeenMs)) {
        begin_info0_again();
      }
      break;
    }
    case Step::kInfo0Again:
      if (has_far_info0_ && tone_for(kSeenMs)) again_ = false;
      if (!again_ && !modulator_.sends_bits()) {
        tone_since_ = now_;
        enter(Step::kFirstTone);
      }
      break;
    case Step::kRetrain:
      if (age() < kSilence) break;
      begin_tone(has_far_info0_ ? Step::kFirstTone : Step::kInfo0);
      break;
    case Step::kMarksSilence:
    case Step::kMarks:
    case Step::kNoInfo1:
      advance_recovery();
      break;
    default:
      if (is_call()) {
        advance_call();
      } else {
        advance_answer();
      }
      break;
  }
}

// An INFO0 has come in, in a state that listens for it.
void Phase2::advance_info0() {
  const bool first = !has_far_info0_;
  has_far_info0_ = true;
  if (config_.pcm == PcmSide::kAnalogue) {
    outcome_.info0d = info0d_.found().info;
    outcome_.far_info0 = outcome_.info0d.v34;
  } else {
    outcome_.far_info0 = info0_.found().info;
  }
  if (step_ == Step::kInfo0Again) {
    if (outcome_.far_info0.acknowledge) again_ = false;
  } else if (!first && !outcome_.far_info0.acknowledge && step_ != Step::kRetrain) {
    // Repeated: the far end has not got ours. With the acknowledgement it has, and is only finishing the sequence.
    begin_info0_again();
  }
}

void Phase2::advance_call() {
  const auto round_trip = static_cast<int64_t>(outcome_.round_trip_samples);
  switch (step_) {
    case Step::kFirstTone:  // C5
      if (!got_reversal_) break;
      first_reversal_ = tone_.reversal_time();
      far_peak_ = tone_.peak();
      turn_after(first_reversal_);
      enter(Step::kFirstTurn);
      break;
    case Step::kFirstTurn:
      if (now_ < reverse_at_ + kAfterReversal) break;
      modulator_.silence();
      enter(Step::kRoundTrip);
      break;
    case Step::kRoundTrip:  // C6
      if (got_reversal_) {
        second_reversal_ = tone_.reversal_time();
        const double trip = second_reversal_ - sent_reversal_ - kTurn;
        outcome_.round_trip_samples = trip > 0 ? static_cast<uint32_t>(trip + 0.5) : 0;
        begin_hear(second_reversal_);
      } else if (static_cast<double>(now_) > first_reversal_ + kCallSecondReversal) {
        enter(Step::kLostTurn);
      }
      break;
    case Step::kLostTurn:
      if (tone_for(kSeenMs)) begin_tone(Step::kFirstTone);
      break;
    case Step::kHear:  // C7
      if (heard_probing()) begin_tone(Step::kSecondTone);
      break;
    case Step::kSecondTone:  // C8
      if (got_reversal_) {
        turn_after(tone_.reversal_time());
        enter(Step::kSecondTurn);
      } else if (static_cast<double>(now_) > second_reversal_ + static_cast<double>(kCallThirdReversal + round_trip)) {
        turn_after(static_cast<double>(now_));
        enter(Step::kSecondTurn);
      }
      break;
    case Step::kSecondTurn:
      if (now_ >= reverse_at_ + kAfterReversal) begin_probe();
      break;
    case Step::kProbe:  // C9
      limit_l2();
      if (age() < kL1) break;
      if (tone_for(kPresentMs)) {
        send_info1c();
      } else if (age() > kL1 + kCallToneA + round_trip && !tone_.present()) {
        ++retrains_;
        begin_retrain();
      }
      break;
    case Step::kInfo1:  // C10
      if (!modulator_.sends_bits() && now_ == bits_end_) modulator_.silence();
      if (got_info1_ || got_info1a_v90_) {
        // The sequence ends four fill bits and a half after the middle of the last CRC bit.
        const float age = got_info1a_v90_ ? info1a_v90_.found().age_samples : info1a_.found().age_samples;
        const float since = age - 4.5f * 8000 / kDpskBaud;
        const uint32_t samples = since > 0 ? static_cast<uint32_t>(since) : 0;
        if (got_info1a_v90_) {
          outcome_.info1a_v90 = info1a_v90_.found().info;
          finish_pcm(samples);
        } else {
          outcome_.info1a = info1a_.found().info;
          finish(samples);
        }
      } else if (!modulator_.sends_bits() && now_ > bits_end_ + kCallInfo1a + round_trip) {
        enter(Step::kNoInfo1);
      }
      break;
    default:
      break;
  }
}

void Phase2::advance_answer() {
  const auto round_trip = static_cast<int64_t>(outcome_.round_trip_samples);
  const bool info1c_overdue = now_ > far_tone_seen_ + kAnswerInfo1c + 2 * round_trip;
  switch (step_) {
    case Step::kFirstTone:  // A5
      if (!tone_for(kPresentMs) || now_ < tone_since_ + kAnswerTone) break;
      modulator_.reverse();
      sent_reversal_ = static_cast<double>(now_) + DpskModulator::kReversalDelay + config_.io_delay_samples;
      enter(Step::kReversed);
      break;
    case Step::kReversed:  // A6
      if (got_reversal_) {
        const double trip = tone_.reversal_time() - sent_reversal_ - kTurn;
        outcome_.round_trip_samples = trip > 0 ? static_cast<uint32_t>(trip + 0.5) : 0;
        turn_after(tone_.reversal_time());
        far_peak_ = tone_.peak();
        enter(Step::kFirstTurn);
      } else if (age() > kAnswerReversal) {
        tone_since_ = now_;
        enter(Step::kFirstTone);
      }
      break;
    case Step::kFirstTurn:  // A7
      if (now_ >= reverse_at_ + kAfterReversal) begin_probe();
      break;
    case Step::kProbe:
      limit_l2();
      if (age() < kL1) break;
      if (tone_for(kPresentMs)) {
        far_tone_seen_ = now_;
        begin_tone(Step::kSecondTone);
      } else if (age() > kL1 + kAnswerToneB + round_trip && !tone_.present()) {
        begin_tone(Step::kFirstTone);
      }
      break;
    case Step::kSecondTone:  // A8
      if (age() < kAnswerTone) break;
      reverse_at_ = now_;
      modulator_.reverse();
      enter(Step::kSecondTurn);
      break;
    case Step::kSecondTurn:
      if (now_ < reverse_at_ + kAfterReversal) break;
      modulator_.silence();
      enter(Step::kSilent);
      break;
    case Step::kSilent:
      if (got_reversal_) begin_hear(tone_.reversal_time());
      break;
    case Step::kHear:  // A9
      if (heard_probing()) begin_tone(Step::kThirdTone);
      break;
    case Step::kThirdTone:  // A10
      if (got_info1_) send_info1a();
      break;
    case Step::kInfo1:
      if (modulator_.sends_bits() || now_ < bits_end_) break;
      if (config_.pcm == PcmSide::kAnalogue && choose_pcm_) {
        finish_pcm(0);
      } else {
        finish(0);
      }
      break;
    default:
      break;
  }
  if (info1c_overdue && (step_ == Step::kSilent || step_ == Step::kHear || step_ == Step::kThirdTone)) {
    ++retrains_;
    begin_retrain();
  }
}

// Without INFO1 of the far end, here or in Phase 3 or 4.
void Phase2::advance_recovery() {
  if (step_ == Step::kMarksSilence && age() >= kSilence) {
    send_marks_ = true;
    modulator_.bits();
    enter(Step::kMarks);
  }
  if (tone_for(kRetrainMs)) {
    begin_retrain();
  } else if (is_call()) {
    if (got_marks_ && step_ != Step::kMarksSilence) send_info1c();
  } else if (got_info1_) {
    send_info1a();
  }
}

void Phase2::send_info1c() {
  Info1c& info = outcome_.info1c;
  const Info0 &far = outcome_.far_info0, &own = outcome_.own_info0;
  info = {};
  info.md_length = config_.md_length;
  for (int k = 0; k < kSymbolRates; ++k) {
    if (!can_use(symbol_rate(k), far, own)) continue;
    info.probing[k] = probe_.best(symbol_rate(k), far, far.supports_1664_points);
  }
  info.frequency_offset = probe_.offset_field();
  encode(info, bits_);
  bit_count_ = Info1c::kBits;
  bit_at_ = 0;
  again_ = send_marks_ = false;
  probing_at_ = -1;
  if (!modulator_.sends_bits()) modulator_.bits();
  enter(Step::kInfo1);
}

// V.90: the symbol rate that carries most upstream, as the digital modem sees it, and what it shall train us with.
void Phase2::send_info1a_v90() {
  Info1aV90& info = outcome_.info1a_v90;
  info = {};
  info.md_length = config_.md_length;
  info.u_info = config_.u_info(outcome_.info0d);
  info.rate_upstream = SymbolRate::k3200;
  int best = 0;
  constexpr SymbolRate kUpstream[] = {SymbolRate::k3000, SymbolRate::k3200, SymbolRate::k3429};
  for (const SymbolRate s : kUpstream) {
    const bool allowed =
        s != SymbolRate::k3429 || (outcome_.info0d.upstream_3429 && outcome_.own_info0.may_transmit_3429);
    const int rate = outcome_.info1c.probing[static_cast<int>(s)].max_rate;
    if (allowed && rate > best) best = rate, info.rate_upstream = s;
  }
  info.frequency_offset = probe_.offset_field();
  encode(info, bits_);
  bit_count_ = Info1aV90::kBits;
  bit_at_ = 0;
  again_ = send_marks_ = false;
  if (!modulator_.sends_bits()) modulator_.bits();
  enter(Step::kInfo1);
}

// The symbol rates that carry most in both directions together.
void Phase2::send_info1a() {
  outcome_.info1c = info1c_.found().info;
  if (config_.pcm == PcmSide::kAnalogue && choose_pcm_) return send_info1a_v90();
  const Info0 &far = outcome_.far_info0, &own = outcome_.own_info0;
  const int step_most =
      far.max_rate_difference < own.max_rate_difference ? far.max_rate_difference : own.max_rate_difference;
  ProbingResult towards_us[kSymbolRates];
  for (int k = 0; k < kSymbolRates; ++k) {
    towards_us[k] = {Carrier::kLow, 0, 0};
    if (can_use(symbol_rate(k), far, own)) towards_us[k] = probe_.best(symbol_rate(k), far, far.supports_1664_points);
  }

  Info1a& info = outcome_.info1a;
  info = {};
  info.md_length = config_.md_length;
  info.call_to_answer = {Carrier::kLow, 0, 1};  // nothing fits: the slowest, and Phase 3 will show
  double best = 0;
  for (int from_call = 0; from_call < kSymbolRates; ++from_call) {
    for (int to_call = 0; to_call < kSymbolRates; ++to_call) {
      const int apart = from_call > to_call ? from_call - to_call : to_call - from_call;
      const int there = towards_us[from_call].max_rate, back = outcome_.info1c.probing[to_call].max_rate;
      if (apart > step_most || there == 0 || back == 0 || !can_use(symbol_rate(to_call), own, far)) continue;
      // The far end's view is in whole rates. Much the same sums: equal symbol rates; the same: the lower.
      const ProbingResult& p = towards_us[from_call];
      const double known = probe_.projected_rate(symbol_rate(from_call), p.carrier, p.pre_emphasis) / 2400;
      const double worth = (known < there + 1 ? known : there + 1) + back + (from_call == to_call ? 0.5 : 0);
      if (worth <= best) continue;
      best = worth;
      info.call_to_answer = towards_us[from_call];
      info.rate_call_to_answer = symbol_rate(from_call);
      info.rate_answer_to_call = symbol_rate(to_call);
    }
  }
  info.frequency_offset = probe_.offset_field();
  encode(info, bits_);
  bit_count_ = Info1a::kBits;
  bit_at_ = 0;
  again_ = send_marks_ = false;
  if (!modulator_.sends_bits()) modulator_.bits();
  enter(Step::kInfo1);
}

// Of V.90: one symbol rate, upstream, with the carrier and the pre-emphasis that INFO1d has for it.
void Phase2::finish_pcm(uint32_t samples_since_info1a) {
  Phase2Outcome& o = outcome_;
  const Info1aV90& info = o.info1a_v90;
  const ProbingResult up = o.info1c.probing[static_cast<int>(info.rate_upstream)];
  o.pcm = true;
  o.tx_symbol_rate = o.rx_symbol_rate = info.rate_upstream;
  o.tx_carrier = o.rx_carrier = up.carrier;
  o.tx_pre_emphasis = o.rx_pre_emphasis = up.pre_emphasis;
  o.tx_projected_rate = o.rx_projected_rate = up.max_rate;
  const bool reduces = !is_call() && o.own_info0.can_reduce_power;
  o.tx_power_reduction_db = reduces ? o.info1c.min_power_reduction : 0;
  o.far_md_length = is_call() ? info.md_length : 0;
  o.frequency_offset_hz = probe_.frequency_offset_hz();
  o.samples_since_info1a = samples_since_info1a;
  modulator_.silence();
  state_ = Phase2State::kDone;
  enter(Step::kIdle);
}

void Phase2::finish(uint32_t samples_since_info1a) {
  Phase2Outcome& o = outcome_;
  o.pcm = false;
  const SymbolRate to_answer = o.info1a.rate_call_to_answer, to_call = o.info1a.rate_answer_to_call;
  const ProbingResult there = o.info1a.call_to_answer, back = o.info1c.probing[static_cast<int>(to_call)];
  const bool call = is_call();
  o.tx_symbol_rate = call ? to_answer : to_call;
  o.rx_symbol_rate = call ? to_call : to_answer;
  const ProbingResult &tx = call ? there : back, &rx = call ? back : there;
  o.tx_carrier = tx.carrier;
  o.rx_carrier = rx.carrier;
  o.tx_pre_emphasis = tx.pre_emphasis;
  o.rx_pre_emphasis = rx.pre_emphasis;
  o.tx_projected_rate = tx.max_rate;
  o.rx_projected_rate = rx.max_rate;
  const uint8_t asked = call ? o.info1a.min_power_reduction : o.info1c.min_power_reduction;
  o.tx_power_reduction_db = o.own_info0.can_reduce_power ? asked : 0;
  o.far_md_length = call ? o.info1a.md_length : o.info1c.md_length;
  o.frequency_offset_hz = probe_.frequency_offset_hz();
  o.samples_since_info1a = samples_since_info1a;
  modulator_.silence();
  state_ = Phase2State::kDone;
  enter(Step::kIdle);
}

}  // namespace offhook::v34
