// SPDX-License-Identifier: MIT
#include "src/decode/v34/trainings.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <variant>

#include "src/decode/v34/pcm_upstream_data.h"
#include "src/decode/v34/s_search.h"

namespace offhook::decode {
namespace {

constexpr double kRoundTripS = 0.3;
constexpr std::size_t kHighCarrierBit = 33;  // of INFO1a of V.92's short Phase 2; V.90 reserves it

// The two channels as one direction's receiver takes them.
struct Lines {
  Lines(const Recording& r, const Direction& d) {
    const double carrier = carrier_hz(d.rate, d.carrier), rate = symbol_rate_hz(d.rate);
    const auto own = static_cast<std::size_t>(d.channel);
    line = std::make_unique<Baseband>(r.samples(own), carrier, rate);
    if (r.channel.size() == 2) other = std::make_unique<Baseband>(r.samples(1 - own), carrier, rate);
  }
  std::unique_ptr<Baseband> line, other;
};

// The next MP; one of type 0 does not change the coefficients.
template <class Mp>
void take_mp(std::optional<Mp>& last, const Mp& next) {
  const v34::PrecoderCoefficients before = last ? last->precoder : v34::PrecoderCoefficients{};
  last = next;
  if (!next.type1) last->precoder = before;
}

// The last MP before `t` of all that a side sent, with the coefficients of its last type 1.
std::optional<v34::Mp> mp_before(const Training::Side& side, double t) {
  std::optional<v34::Mp> mp;
  for (const Segment& p : side.segments) {
    for (const MpHeard& m : p.mp) {
      if (m.t_first <= t) take_mp(mp, m.mp);
    }
  }
  return mp;
}

// The data parameters of a V.34 direction, from both directions' MPs. Both ends send E within a round trip of each
// other; the far end's MP decides how this end transmits.
std::optional<v34::DataParameters> v34_parameters(const Training::Side& side, const Training::Side& far,
                                                  bool call_to_answer, double e_end) {
  const Direction& d = side.direction;
  const auto own_mp = mp_before(side, e_end), far_mp = mp_before(far, e_end + kRoundTripS);
  if (!own_mp || !far_mp) return std::nullopt;
  const v34::RatePair rates = resolve_rates(*own_mp, *far_mp);
  const std::uint32_t rate = 2400u * (call_to_answer ? rates.call_to_answer : rates.answer_to_call);
  if (!v34::is_supported(d.rate, rate)) return std::nullopt;
  const bool aux = own_mp->aux && far_mp->aux;
  return v34::DataParameters{
      {make_framing(d.rate, rate, aux, far_mp->expanded), d.scrambling, far_mp->trellis, far_mp->precoder},
      far_mp->nonlinear,
      rate};
}

// The same of V.90's upstream: CP and the digital modem's MP.
std::optional<v34::DataParameters> upstream_parameters(const Training& t, double e_end) {
  const Direction& d = t.from_2400.direction;
  const v90::Cp* cp = nullptr;
  for (const CpHeard* h : t.from_2400.cps()) {
    if (h->cp.data_mode && h->t_first < e_end) cp = &h->cp;
  }
  std::optional<v90::Mp> mp;
  for (const DownstreamMp& m : t.downstream.mp) {
    if (m.t_first <= e_end + kRoundTripS) take_mp(mp, m.mp);
  }
  if (cp == nullptr || !mp) return std::nullopt;
  const std::uint32_t rate = 2400u * static_cast<std::uint32_t>(upstream_rate(cp->upstream_mask, *mp));
  if (!v34::is_supported(d.rate, rate)) return std::nullopt;
  return v34::DataParameters{
      {make_framing(d.rate, rate, false, mp->expanded), d.scrambling, mp->trellis, mp->precoder}, mp->nonlinear, rate};
}

// The link that the next one of a direction continues; null: none.
const Link* last_of(const std::vector<Link>& links, const Link* before) {
  return links.empty() ? before : &links.back();
}

// The data after one segment that ends with E. @param before  the direction's last link before this training, or null
void listen_data(const Lines& lines, Training::Side& side, std::size_t k, const v34::DataParameters& parameters,
                 const Link* before) {
  const Direction& d = side.direction;
  const Segment& p = side.segments[k];
  double end = static_cast<double>(lines.line->size());
  if (k + 1 < side.segments.size()) {
    const Segment& next = side.segments[k + 1];
    end = (next.t_s > 0 ? next.t_s : next.t_trn) * kRateHz;
  }
  for (const double t : side.own_tone_s) {
    if (t > p.t_e_end) end = std::min(end, t * kRateHz);
  }
  side.data.push_back(read_data(*lines.line, lines.other.get(), d, parameters, p.at_data, end));
  const V34DataHeard& heard = side.data.back();
  side.links.push_back(read_link(heard, last_of(side.links, before)));
  if (heard.s_after && heard.t1 * kRateHz < end - 400) {
    Segment after = follow_sequences(*lines.line, lines.other.get(), d, heard.at_end, end);
    after.t_s = heard.t_s;
    after.t_s_bar = heard.t_s + 128 / symbol_rate_hz(d.rate);
    if (!after.mp.empty()) side.segments.insert(side.segments.begin() + static_cast<long>(k) + 1, after);
  }
}

// All data modes of both sides in order of time: a side's requests in a renegotiation without TRN come only
// behind its data.
void listen_data(const std::unique_ptr<Lines> (&lines)[2], Training& t, const LastLinks& before) {
  Training::Side* const sides[2] = {&t.from_1200, &t.from_2400};
  std::size_t next[2]{};
  for (;;) {
    int first = -1;
    for (int i = 0; i < 2; ++i) {
      const auto& segments = sides[i]->segments;
      while (next[i] < segments.size() && segments[next[i]].t_e_end == 0) ++next[i];
      if (lines[i] == nullptr || next[i] == segments.size()) continue;
      if (first < 0 || segments[next[i]].t_e_end < sides[first]->segments[next[first]].t_e_end) first = i;
    }
    if (first < 0) return;
    const std::size_t k = next[first]++;
    const double e_end = sides[first]->segments[k].t_e_end;
    const auto parameters = v34_parameters(*sides[first], *sides[1 - first], first == 0, e_end);
    if (parameters && !t.precoder_is_missing(*sides[first], e_end))
      listen_data(*lines[first], *sides[first], k, *parameters, first == 0 ? before.from_1200 : before.from_2400);
  }
}

// Both directions of V.90 or V.92, of which the digital modem's is `own`.
PcmLine pcm_line(const Recording& r, std::size_t own) {
  PcmLine line{.own = r.samples(own), .other = r.samples(1 - own)};
  if (!r.wide.empty()) line.wide = std::span(r.wide[own]).first(std::min(r.wide[own].size(), 2 * line.own.size()));
  return line;
}

// Law and Ucode of TRN1d, by INFO0d and INFO1a.
DownstreamAsked asked_by_info(const StartUp& s, double info1a_t) {
  DownstreamAsked asked;
  for (const InfoHeard& i : s.info) {
    if (i.t0 > info1a_t + 0.001) break;
    if (const auto* d = std::get_if<v34::Info0d>(&i.info)) asked.law = d->a_law ? v90::Law::kA : v90::Law::kMu;
    if (const auto* a = std::get_if<v34::Info1aV90>(&i.info)) asked.u_info = a->u_info;
  }
  return asked;
}

void take_downstream(Training& t, const StartUp& s, DownstreamHeard heard, const LastLinks& before) {
  t.downstream = std::move(heard);
  t.downstream.channel = s.channel_1200;
  for (const DataHeard& d : t.downstream.data)
    t.downstream_links.push_back(read_link(d, last_of(t.downstream_links, before.downstream)));
}

constexpr const char* kNoChannel = "it has no separate channel";

// Whether the digital modem's direction has a channel of its own.
bool are_separate(const Recording& r, const StartUp& s, const Training& t) {
  const auto own = static_cast<std::size_t>(s.channel_1200);
  return own < r.channel.size() && own != static_cast<std::size_t>(t.from_2400.direction.channel) &&
         t.from_2400.direction.channel >= 0;
}

// The data upstream behind each E2u, with the last usable CPd before it.
void listen_pcm_upstream_data(const NetworkSamples& samples, Training& t, const LastLinks& before) {
  constexpr long kRu = 400;  // symbols of Ru before its reversal (V.92 9.8), and some more
  Training::Side& up = t.from_2400;
  std::size_t next = 0;
  for (std::size_t k = 0; k < up.segments.size(); ++k) {
    const double e_end = up.segments[k].t_e_end;
    if (e_end == 0 || next == t.pcm_upstream.e2u_ends.size()) continue;
    const long e2u_end = t.pcm_upstream.e2u_ends[next++];
    const v90::Cpd* cpd = nullptr;
    for (const DownstreamHeard::CpdAt& c : t.downstream.cpds) {
      if (c.t <= e_end + kRoundTripS && is_usable(c.cpd)) cpd = &c.cpd;
    }
    if (cpd == nullptr) continue;
    auto to = static_cast<long>(samples.x.size());
    if (k + 1 < up.segments.size())
      to = std::min(to, static_cast<long>(samples.sample_at(up.segments[k + 1].t_trn)) - kRu);
    for (const double tone : up.own_tone_s) {
      if (tone > e_end) to = std::min(to, static_cast<long>(samples.sample_at(tone)));
    }
    up.data.push_back(read_pcm_upstream_data(samples, *cpd, e2u_end + (cpd->extend_e2u ? 1 : 0), to));
    up.links.push_back(read_link(up.data.back(), last_of(up.links, before.from_2400)));
  }
}

// V.92 with PCM upstream: the downstream's Jp gives the upstream's points, and the upstream's CPs those downstream.
void listen_pcm_both_ways(const Recording& r, const StartUp& s, Training& t, double to_s, const LastLinks& before) {
  constexpr double kPhase3S = 20;  // at most, from Sd to Jp'
  const auto own = static_cast<std::size_t>(s.channel_1200);
  PcmLine line = pcm_line(r, own);
  const double phase3_end = std::min(to_s, t.info1a_t + kPhase3S);
  t.pcm_upstream = read_ja(line.other, t.info1a_t, phase3_end);
  const PcmUpstreamHeard ja = t.pcm_upstream;
  if (!ja.dil) {
    t.downstream.stopped = "Ja of the PCM upstream was not decoded";
    t.downstream.t_lost = ja.t_ru_bar > 0 ? ja.t_ru_bar : t.info1a_t;
    return;
  }
  line.train_s = ja.t_ru_bar;
  line.train_end_s = ja.t_ja_end;
  DownstreamAsked asked = asked_by_info(s, t.info1a_t);
  asked.v92 = true;
  asked.tones_s = t.from_1200.own_tone_s;
  asked.from_s = ja.t_ja_end;
  asked.to_s = std::min(to_s, ja.t_ja_end + kPhase3S);
  asked.dil = ja.dil;
  const DownstreamHeard first = read_downstream(line, asked);
  const NetworkSamples samples(line.other, t.info1a_t, to_s, first.clock_ppm.value_or(0));
  t.pcm_upstream = read_pcm_upstream(samples, first.jp);
  t.from_2400.segments = std::move(t.pcm_upstream.segments);
  asked.to_s = to_s;
  asked.r_from_s = t.pcm_upstream.t_e1u;
  for (const CpHeard* h : t.from_2400.cps()) asked.cps.push_back({h->cp, h->t_first});
  take_downstream(t, s, asked.cps.empty() ? first : read_downstream(line, asked), before);
  listen_pcm_upstream_data(samples, t, before);
}

// V.90: the digital modem's direction, and the analogue modem's data with the MP that was found there.
void listen_pcm(const Recording& r, const StartUp& s, const Lines& lines, Training& t, double to_s,
                const LastLinks& before) {
  const auto own = static_cast<std::size_t>(s.channel_1200);
  Training::Side& up = t.from_2400;
  const auto trained =
      std::find_if(up.segments.begin(), up.segments.end(), [](const Segment& p) { return p.trn_symbols > 0; });
  const bool recorded = are_separate(r, s, t);
  if (!recorded || trained == up.segments.end()) {
    t.downstream.stopped = recorded ? "the upstream training was not decoded" : kNoChannel;
    t.downstream.t_lost = t.info1a_t;
    return;
  }
  DownstreamAsked asked = asked_by_info(s, t.info1a_t);
  asked.from_s = trained->t_trn;
  asked.tones_s = t.from_1200.own_tone_s;
  asked.to_s = to_s;
  for (const CpHeard* h : up.cps()) asked.cps.push_back({h->cp, h->t_first});
  for (const Segment& p : up.segments) {
    if (p.dil && !asked.dil) asked.dil = p.dil;
    if (p.t_s > trained->t_trn_end) asked.s_s.push_back(p.t_s);
  }
  PcmLine line = pcm_line(r, own);
  line.train_s = trained->t_trn;
  line.train_end_s = trained->t_trn_end;
  take_downstream(t, s, read_downstream(line, asked), before);
  for (std::size_t k = 0; k < up.segments.size(); ++k) {
    if (up.segments[k].t_e_end == 0) continue;
    const auto parameters = upstream_parameters(t, up.segments[k].t_e_end);
    if (parameters) listen_data(lines, up, k, *parameters, before.from_2400);
  }
}

// Follows an S without a TRN after it, if no segment has read it to its CP. Such an S comes after DIL that was received
// in silence, in a rate renegotiation, and where SCR began with the scrambler in any state.
void listen_s_bar(const Lines& lines, Training::Side& side, double to_s) {
  const Direction& d = side.direction;
  std::vector<Segment> more;
  const auto first = std::find_if(side.segments.begin(), side.segments.end(),
                                  [](const Segment& p) { return p.t_pp > 0 && p.trn_symbols > 0; });
  if (first == side.segments.end()) return;
  const std::vector<double> s_bar = find_s_bar(*lines.line, d, first->t_trn_end, to_s);
  for (std::size_t k = 0; k < s_bar.size(); ++k) {
    const double t = s_bar[k] / kRateHz;
    double end = k + 1 < s_bar.size() ? s_bar[k + 1] : to_s * kRateHz;
    // The part after another anchor is read from there.
    for (const Segment& p : side.segments) {
      if (p.begins() > t + 0.01) end = std::min(end, p.t_trn * kRateHz);
    }
    const Segment* trained = nullptr;
    Segment* around = nullptr;  // continues through this S
    bool anchor = false;        // of its own TRN
    for (Segment& p : side.segments) {
      if (p.trn_symbols > 0 && p.t_trn_end < t + 0.01) trained = &p;
      if (t > p.begins() && t < p.t_lost) around = &p;
      anchor |= std::abs(p.begins() - t) < 0.01;
    }
    if (anchor || trained == nullptr) continue;
    Segment p = follow_s_bar(*lines.line, lines.other.get(), d, trained->trained, s_bar[k], end);
    if (p.s_correlation < 0.5) continue;
    if (around == nullptr) {
      more.push_back(std::move(p));
    } else if (p.cp.size() > around->cp.size()) {
      around->cp = p.cp;
      around->t_e = p.t_e, around->t_e_end = p.t_e_end;
    }
  }
  side.segments.insert(side.segments.end(), more.begin(), more.end());
  std::stable_sort(side.segments.begin(), side.segments.end(),
                   [](const Segment& a, const Segment& b) { return a.begins() < b.begins(); });
}

// Phase 3 of V.34 has no TRN before PP: a similar signal is MD, the maker's own (10.1.3.5).
void drop_md(std::vector<Segment>& segments) {
  const auto pp = std::find_if(segments.begin(), segments.end(), [](const Segment& p) { return p.t_pp > 0; });
  if (pp == segments.end()) return;
  const bool only_trn = std::all_of(segments.begin(), pp, [](const Segment& p) {
    return p.j_points == 0 && p.mp.empty() && p.cp.empty() && p.t_e_end == 0;
  });
  if (only_trn) segments.erase(segments.begin(), pp);
}

// INFO1a
bool chooses_training(const InfoHeard& i) {
  return std::holds_alternative<v34::Info1a>(i.info) || std::holds_alternative<v34::Info1aV90>(i.info);
}

// One training for each INFO1a, with its choices and those of the INFO1c or INFO1d before it.
std::vector<Training> chosen_by_info(const StartUp& s) {
  std::vector<Training> all;
  const v34::Info1c* info1c = nullptr;
  double info1c_t = 0;
  for (const InfoHeard& i : s.info) {
    if (const auto* c = std::get_if<v34::Info1c>(&i.info)) {
      info1c = c;
      info1c_t = i.t0;
    }
    const auto* v34 = std::get_if<v34::Info1a>(&i.info);
    const auto* v90 = std::get_if<v34::Info1aV90>(&i.info);
    if (!chooses_training(i)) continue;
    if (!all.empty() && i.t0 - all.back().info1a_t < 1) continue;  // repeated
    Training& t = all.emplace_back();
    t.info1a_t = i.t0;
    t.pcm = v90 != nullptr;
    Direction& up = t.from_2400.direction;
    up.rate = v90 != nullptr ? v90->rate_upstream : v34->rate_answer_to_call;
    up.scrambling = kGpa;
    up.v90 = t.pcm;
    up.pcm = v90 != nullptr && v90->pcm_upstream;
    up.channel = s.channel_2400;
    const auto take = [](Direction& d, v34::Carrier carrier, int pre_emphasis, int max_rate) {
      d.carrier = carrier;
      d.pre_emphasis = pre_emphasis;
      d.projected_rate = 2400 * max_rate;
    };
    if (info1c != nullptr && i.t0 - info1c_t < kOnePhase2S) {
      const v34::ProbingResult& p = info1c->probing[static_cast<int>(up.rate)];
      take(up, p.carrier, p.pre_emphasis, p.max_rate);
    } else if (v90 != nullptr) {  // V.92's short Phase 2 has no INFO1d: the analogue modem chooses
      up.carrier = i.bits[kHighCarrierBit] != 0 ? v34::Carrier::kHigh : v34::Carrier::kLow;
    }
    Direction& down = t.from_1200.direction;
    down.channel = t.pcm ? -1 : s.channel_1200;
    for (const auto& [from, to] : s.tone_a.segments) t.from_2400.own_tone_s.push_back(from);
    for (const auto& [from, to] : s.tone_b.segments) t.from_1200.own_tone_s.push_back(from);
    if (v34 == nullptr) continue;
    down.rate = v34->rate_call_to_answer;
    const v34::ProbingResult& p = v34->call_to_answer;
    take(down, p.carrier, p.pre_emphasis, p.max_rate);
  }
  return all;
}

}  // namespace

bool chooses_training(const StartUp& s) {
  return std::any_of(s.info.begin(), s.info.end(), [](const InfoHeard& i) { return chooses_training(i); });
}

bool chooses_pcm(const StartUp& s) {
  return std::any_of(s.info.begin(), s.info.end(),
                     [](const InfoHeard& i) { return std::holds_alternative<v34::Info1aV90>(i.info); });
}

bool Training::precoder_is_missing(const Side& side, double e_end) const {
  if (!begins_in_data) return false;
  const Side& far = &side == &from_1200 ? from_2400 : from_1200;
  return std::none_of(far.segments.begin(), far.segments.end(), [&](const Segment& p) {
    return std::any_of(p.mp.begin(), p.mp.end(),
                       [&](const MpHeard& m) { return m.mp.type1 && m.t_first <= e_end + kRoundTripS; });
  });
}

const Segment* Training::Side::started() const {
  const auto p = std::find_if(segments.begin(), segments.end(), [](const Segment& x) { return x.t_e_end > 0; });
  return p == segments.end() ? nullptr : &*p;
}

const MpHeard* Training::Side::mp() const {
  const auto last_of = [](const Segment& p) -> const MpHeard* {
    const auto mp = std::find_if(p.mp.rbegin(), p.mp.rend(), [](const MpHeard& m) { return !m.is_cleardown(); });
    return mp == p.mp.rend() ? nullptr : &*mp;
  };
  if (const Segment* p = started()) return last_of(*p);
  for (const Segment& p : segments) {
    if (const MpHeard* mp = last_of(p)) return mp;
  }
  return nullptr;
}

std::vector<const CpHeard*> Training::Side::cps() const {
  std::vector<const CpHeard*> all;
  for (const Segment& p : segments) {
    for (const CpHeard& h : p.cp) all.push_back(&h);
  }
  return all;
}

const CpHeard* Training::Side::cp() const {
  const CpHeard* last = nullptr;
  for (const Segment& p : segments) {
    for (const CpHeard& h : p.cp) {
      if (h.cp.data_mode && h.cp.drn > 0) last = &h;
    }
    if (last != nullptr) break;
  }
  return last;
}

void read_training(const Recording& r, const StartUp& s, double to_s, bool data_mode, Training& t,
                   const LastLinks& before) {
  if (t.from_2400.direction.pcm) {
    if (!data_mode) return;
    if (are_separate(r, s, t)) {
      listen_pcm_both_ways(r, s, t, to_s, before);
    } else {
      t.downstream.stopped = kNoChannel;
      t.downstream.t_lost = t.info1a_t;
    }
    return;
  }
  std::unique_ptr<Lines> lines[2];
  Training::Side* const sides[2] = {&t.from_1200, &t.from_2400};
  for (int i = 0; i < 2; ++i) {
    Direction& d = sides[i]->direction;
    if (d.channel < 0) continue;
    lines[i] = std::make_unique<Lines>(r, d);
    sides[i]->segments =
        follow(*lines[i]->line, lines[i]->other.get(), d, find_anchors(*lines[i]->line, d, t.info1a_t, to_s));
    if (!t.begins_in_data) drop_md(sides[i]->segments);
    if (d.v90) listen_s_bar(*lines[i], *sides[i], to_s);
  }
  const MpHeard* a = t.from_1200.mp();
  const MpHeard* b = t.from_2400.mp();
  if (a != nullptr && b != nullptr) t.rates = resolve_rates(a->mp, b->mp);
  if (data_mode && t.pcm && lines[1]) {
    listen_pcm(r, s, *lines[1], t, to_s, before);
  } else if (data_mode) {
    listen_data(lines, t, before);
  }
}

void join_links(std::vector<Training>& trainings, int call_channel) {
  LinksInOrder call, answer;
  for (Training& t : trainings) {
    // The analogue modem of V.90 may be either.
    const bool answers = !t.pcm || (call_channel >= 0 && call_channel != t.from_2400.direction.channel);
    for (Link& link : t.pcm ? t.downstream_links : t.from_1200.links) (answers ? call : answer).push_back(&link);
    for (Link& link : t.from_2400.links) (answers ? answer : call).push_back(&link);
  }
  uncompress(call, answer);
}

std::vector<Training> find_trainings(const Recording& r, const StartUp& s, bool data_mode) {
  std::vector<Training> all = chosen_by_info(s);
  LastLinks before;
  for (std::size_t k = 0; k < all.size(); ++k) {
    read_training(r, s, k + 1 < all.size() ? all[k + 1].info1a_t : r.duration_s, data_mode, all[k], before);
    before.from_1200 = last_of(all[k].from_1200.links, before.from_1200);
    before.from_2400 = last_of(all[k].from_2400.links, before.from_2400);
    before.downstream = last_of(all[k].downstream_links, before.downstream);
  }
  return all;
}

std::vector<Change> find_changes(const std::vector<Training>& trainings, int call_channel) {
  constexpr double kOneExchangeS = 2, kOneTrainingS = 6;
  constexpr double kLeastDataS = 2;  // before a change, if the recording begins in data mode
  std::vector<Change> all;
  for (const Training& t : trainings) {
    const bool one_channel = t.from_1200.direction.channel == t.from_2400.direction.channel;
    const auto trains_between = [&](double from, double to) {
      return std::any_of(t.from_1200.segments.begin(), t.from_1200.segments.end(),
                         [&](const Segment& p) { return p.is_phase3() && p.begins() > from && p.begins() < to; }) ||
             std::any_of(t.from_2400.segments.begin(), t.from_2400.segments.end(),
                         [&](const Segment& p) { return p.is_phase3() && p.begins() > from && p.begins() < to; });
    };
    for (const Training::Side* side : {&t.from_1200, &t.from_2400}) {
      bool data = t.begins_in_data;
      double since = 0;  // data begin
      for (const Segment& p : side->segments) {
        Change c;
        c.kind = p.is_phase3()      ? Change::Kind::kRetrain
                 : p.is_cleardown() ? Change::Kind::kCleardown
                                    : Change::Kind::kRenegotiation;
        c.t = p.t_s > 0 ? p.t_s : p.t_trn;
        c.channel = side->direction.channel;
        c.by = (one_channel ? side == &t.from_1200 : c.channel == call_channel) ? "call" : "answer";
        // Phase 3 behind data is a retrain whose INFO sequences were not read; Phase 4 belongs to it.
        const bool begun = p.is_phase3() ? since > 0 : (since > 0 || c.t > kLeastDataS) && !trains_between(since, c.t);
        if (data && begun && (p.is_phase3() || !p.mp.empty() || !p.cp.empty())) all.push_back(c);
        if (p.t_e_end > 0) data = true, since = p.t_e_end;
      }
    }
  }
  std::stable_sort(all.begin(), all.end(), [](const Change& a, const Change& b) { return a.t < b.t; });
  // An answer is not a separate change, except a cleardown as the answer to a renegotiation.
  std::vector<Change> changes;
  double begun = -kOneTrainingS;
  for (const Change& c : all) {
    const bool retrains = c.kind == Change::Kind::kRetrain;
    if (c.t - begun >= (retrains ? kOneTrainingS : kOneExchangeS)) {
      changes.push_back(c);
      begun = c.t;
    } else if (c.kind == Change::Kind::kCleardown && changes.back().kind != c.kind) {
      changes.back() = c;
    }
  }
  return changes;
}

}  // namespace offhook::decode
