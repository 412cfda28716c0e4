// SPDX-License-Identifier: MIT
#include "src/decode/call/verdict.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <optional>
#include <string_view>
#include <utility>

#include "driver/user_modem/v21.h"
#include "dsp/modulation/modulation.h"
#include "dsp/v34/phase2/tones.h"
#include "src/decode/call/call.h"
#include "src/decode/v34/data_only.h"
#include "src/decode/v34/second_reading.h"

namespace offhook::decode {
namespace {

using Way = Verdict::Direction;

const InfoHeard* info(const StartUp& s, std::string_view type) {
  const auto i = std::find_if(s.info.begin(), s.info.end(), [&](const InfoHeard& x) { return x.type() == type; });
  return i == s.info.end() ? nullptr : &*i;
}

// A non-standard field of T.35 provider 0094, country United States. Modems with K56flex send it, also when they then
// train as V.34 or V.90 do; no public text has its contents.
bool has_field_of_provider_0094(const StartUp& s) {
  const auto is_it = [](const v8bis::NonStandard& n) {
    return n.country == 0xB5 && n.provider_size == 2 && n.provider()[0] == 0x00 && n.provider()[1] == 0x94;
  };
  return std::any_of(s.v8bis.begin(), s.v8bis.end(), [&](const V8bisMessage& m) {
    return m.fcs_good && std::any_of(m.message.non_standard, m.message.non_standard + m.message.non_standards, is_it);
  });
}

// Whether a direction has parts of V.34's training.
bool trained(const Training::Side& side) {
  return std::any_of(side.segments.begin(), side.segments.end(), [](const Segment& p) { return p.trn_symbols > 0; });
}
bool has_mp(const Training::Side& side) {
  return side.mp() != nullptr;
}

// The only side with V.34 training, if the other side sends a signal without any part of V.34: then the call is not
// V.34 there.
const Training::Side* lone_v34_side(const Call& call) {
  if (call.trainings.empty() || call.recording.channel.size() != 2) return nullptr;
  const Training& t = call.trainings.back();
  if (t.pcm || t.begins_in_data || t.without_info1a || trained(t.from_1200) == trained(t.from_2400)) return nullptr;
  const Training::Side& v34 = trained(t.from_1200) ? t.from_1200 : t.from_2400;
  const auto other = static_cast<std::size_t>(1 - v34.direction.channel);
  const double begins = v34.segments.front().begins();
  // Longer than Phase 3 of both ends: a call that ends in Phase 3 proves nothing.
  const bool came_far = std::any_of(v34.segments.begin(), v34.segments.end(),
                                    [](const Segment& p) { return p.j_points > 0 || !p.mp.empty() || p.t_e_end > 0; });
  return came_far && call.activity_end_s[other] > begins + 3 ? &v34 : nullptr;
}

constexpr double kCloseS = 0.3;  // of a signal's end: data were read up to it
constexpr double kRoundTripS = 0.3;

double end_of(const Call& call, int channel) {
  return channel >= 0 && static_cast<std::size_t>(channel) < call.activity_end_s.size()
             ? call.activity_end_s[static_cast<std::size_t>(channel)]
             : 0;
}

constexpr const char* kEndsInTraining = "the recording ends in its training";

// The end of the last decoded part of a training.
double last_read(const Segment& p) {
  double t = std::max({p.t_trn_end, p.t_j_end, p.t_j_prime});
  for (const MpHeard& m : p.mp) t = std::max(t, m.t_last_end);
  for (const CpHeard& c : p.cp) t = std::max(t, c.t_last_end);
  return t;
}

// A receiver that follows symbols to the end may have left the training behind without noticing.
bool ends_in_training(const Call& call, const Segment& last) {
  constexpr double kUnreadS = 1;  // the longest part of a training that is not read: waiting for the far end
  return last.t_lost > call.recording.duration_s - kCloseS && last_read(last) > call.recording.duration_s - kUnreadS;
}

void count(const std::vector<Link>& links, Way& way) {
  for (const Link& link : links) {
    if (!link.format.empty()) {
      way.format = link.format;
      way.characters += link.characters.size();
    }
    way.good_frames += link.frames.size();
    way.bad_frames += link.bad_frames;
    if (link.detection != nullptr) way.detection = link.detection;
  }
}

double b1_s(const V34DataHeard& data) {
  const v34::Framing& f = data.parameters.coding.framing;
  return f.symbols_per_data_frame() / v34::symbol_rate_hz(f.symbol_rate);
}

// The searches for data that were not read.
std::string not_read(const Call& call, const Training::Side& side, const V34DataHeard& data) {
  if (data.due_t + b1_s(data) > call.recording.duration_s) return "the recording ends within B1";
  if (side.direction.pcm)
    return fmt::format("B1u does not match CPd ({:.0f} % of its energy explained)", 100 * data.b1_match);
  const LatticeSearch& search = data.lattice;
  const std::string b1 = fmt::format(
      "B1 does not match the negotiated MP parameters ({:.0f} % of its energy explained)", 100 * data.b1_match);
  switch (search.result) {
    case LatticeSearch::Result::kNoPlace:
      return fmt::format("{}, and the trellis code does not fit the points from {:.1f} s on", b1, search.from_s);
    case LatticeSearch::Result::kNoHdlc:
      return fmt::format("{}, and the bits of the points from {:.1f} s on are not HDLC", b1, search.from_s);
    default:
      return fmt::format("{}, and no points of {} bit/s were found up to {:.1f} s", b1, data.bit_rate, search.to_s);
  }
}

// Whether decoded data continue to their expected end: the signal's end, or the next signal of the direction.
void judge_data(const Call& call, const std::vector<V34DataHeard>& data, const Training::Side& side, Way& way) {
  const V34DataHeard& last = data.back();
  if (!last.was_read()) {
    way.since_s = last.due_t;
    way.reason = not_read(call, side, last);
    return;
  }
  if (last.unsure_t > 0) {
    way.since_s = last.unsure_t;
    way.reason = "the constellation points can no longer be distinguished";
    if (last.unsure_t > last.t0 + kCloseS) return;
    way.reason = fmt::format("its SNR is below {:.0f} dB, too low for {} bit/s",
                             10 * std::log10(last.parameters.mean_energy() / kUnsureSquared), last.bit_rate);
    return;
  }
  double end = end_of(call, way.channel);
  for (const Segment& p : side.segments) {
    const double begins = p.t_s > 0 ? p.t_s : p.t_trn;
    if (begins <= last.t0) continue;
    end = std::min(end, begins);
    if (p.t_e_end == 0) continue;
    way.since_s = p.t_e_end;
    way.reason = "the data coding after the rate renegotiation is unknown";
    return;
  }
  if (last.lost || (last.t1 < end - kCloseS && !last.s_after && !last.silence_after)) {
    way.since_s = last.t1;
    way.reason = "the constellation points can no longer be distinguished";
    return;
  }
  way.to_the_end = true;
}

// The first data that were not decoded although later ones were: a whole data mode, or the beginning of one.
void find_hole(const std::vector<V34DataHeard>& data, Way& way) {
  for (const V34DataHeard& d : data) {
    if (d.was_read() && d.t0 > d.due_t + b1_s(d)) {
      way.hole_s = d.due_t;
      way.hole_end_s = d.t0;
    } else if (&d != &data.back() && (!d.was_read() || d.unsure_t > 0)) {
      way.hole_s = d.was_read() ? d.unsure_t : d.due_t;
    }
    if (way.hole_s > 0) return;
  }
}

// How much weaker the INFO sequences of one side are than the other's, dB; 0: those of one side were not heard.
double weaker_db(const StartUp& s, bool from_1200) {
  double own = 0, far = 0;
  for (const InfoHeard& i : s.info) {
    double& most = (i.carrier_hz == v34::kDpskCallHz) == from_1200 ? own : far;
    most = std::max(most, i.amplitude);
  }
  return own > 0 && far > 0 ? 20 * std::log10(far / own) : 0;
}

// Why a side cannot be decoded: it was not recorded separately. One channel of a call has the other side too, as its
// echo, in which INFO sequences and parts of the training can be read. @return empty: it was recorded
std::string not_recorded(const Call& call, const Training::Side& side, const Training::Side& far, bool from_1200) {
  constexpr double kEchoDb = 6;  // the least return loss of a hybrid that modems train over
  const double db = weaker_db(call.start_up, from_1200);
  if (side.direction.channel == far.direction.channel && trained(far) && db > kEchoDb)
    return fmt::format("this side was not recorded by itself: channel {} has it {:.0f} dB weaker than the other side",
                       far.direction.channel, db);
  const bool silent = side.direction.channel >= 0 && end_of(call, side.direction.channel) == 0;
  return silent ? "this side was not recorded: its channel is silent" : "";
}

Way v34_way(const Call& call, const Training& t, bool call_to_answer, const Training::Side* lone) {
  const Training::Side& side = call_to_answer ? t.from_1200 : t.from_2400;
  const Training::Side& far = call_to_answer ? t.from_2400 : t.from_1200;
  Way way;
  way.name = call_to_answer ? "call to answer" : "answer to call";
  way.channel = side.direction.channel;
  if (way.channel < 0) {
    way.reason = "it was not recorded";
    return way;
  }
  if (lone != nullptr && lone != &side) {
    way.reason = "it is not V.34";
    way.since_s = t.info1a_t;
    return way;
  }
  const bool own_mp = has_mp(side), far_mp = has_mp(far);
  const int rate = 2400 * (call_to_answer ? t.rates.call_to_answer : t.rates.answer_to_call);
  if (own_mp && far_mp) {  // a single one has only its sender's limits
    way.bit_rate = !side.data.empty() ? static_cast<int>(side.data.back().bit_rate) : rate;
    way.rate_from = "both MPs";
  }
  for (const Training& each : call.trainings) count(call_to_answer ? each.from_1200.links : each.from_2400.links, way);
  const Segment* start = side.started();
  if (!side.data.empty()) {
    judge_data(call, side.data, side, way);
    find_hole(side.data, way);
  } else if (std::string why = not_recorded(call, side, far, call_to_answer); !why.empty()) {
    way.since_s = t.info1a_t;
    way.reason = std::move(why);
  } else if (start != nullptr) {
    way.since_s = start->t_e_end;
    way.reason = !call.data_mode ? "data mode was not requested"
                 : !far_mp       ? "the far modem's MP, which defines the data coding, was not decoded"
                 : !own_mp       ? "its own MP, which also limits the rate, was not decoded"
                 : t.precoder_is_missing(side, start->t_e_end)
                     ? "MP leaves the precoder's coefficients unchanged, and they were sent before the recording"
                     : "the MPs agree on no rate";
  } else if (side.segments.empty()) {
    way.since_s = t.info1a_t;
    way.reason = "no S, PP or TRN was found";
  } else {
    const Segment& last = side.segments.back();
    const Segment* far_start = far.started();
    // Both ends send E within a round trip, so after the far end's E this end also sends data.
    const bool trained = far_start != nullptr && call.recording.duration_s > far_start->t_e_end + kRoundTripS;
    way.since_s = trained ? far_start->t_e_end : std::min(last.t_lost, last_read(last));
    way.reason = ends_in_training(call, last) && !trained ? kEndsInTraining
                 : last.mp.empty() && last.j_points == 0  ? "no J or MP was decoded"
                                                          : "no E was decoded";
  }
  return way;
}

void add_v34(const Call& call, const Training::Side* lone, Verdict& v) {
  const Training& t = call.trainings.back();
  v.directions.push_back(v34_way(call, t, true, lone));
  v.directions.push_back(v34_way(call, t, false, lone));
}

Way pcm_upstream_way(const Call& call, const Training& t) {
  const Training::Side& side = t.from_2400;
  Way up;
  up.name = "upstream";
  up.channel = side.direction.channel;
  for (const Training& each : call.trainings) count(each.from_2400.links, up);
  if (!t.downstream.cpds.empty()) {
    up.bit_rate = (2 * t.downstream.cpds.back().cpd.rate_thirds() + 3) / 6;
    up.rate_from = "CPd";
  }
  const Segment* start = side.started();
  up.since_s = start != nullptr ? start->t_e_end : t.info1a_t;
  if (!side.data.empty()) {
    judge_data(call, side.data, side, up);
    find_hole(side.data, up);
  } else if (t.downstream.cpds.empty()) {
    up.reason = "the digital modem's CPd, which defines the data coding, was not decoded";
    if (!t.downstream.stopped.empty()) up.reason += ": " + t.downstream.stopped;
  } else {
    up.reason = start != nullptr ? "CPd lacks a part of the data coding" : "no E2u was decoded";
  }
  return up;
}

Way upstream_way(const Call& call, const Training& t) {
  if (t.from_2400.direction.pcm) return pcm_upstream_way(call, t);
  const Training::Side& side = t.from_2400;
  Way up;
  up.name = "upstream";
  up.channel = side.direction.channel;
  for (const Training& each : call.trainings) count(each.from_2400.links, up);
  const Segment* start = side.started();
  if (!side.data.empty()) {
    up.bit_rate = static_cast<int>(side.data.back().bit_rate);
    up.rate_from = "CP and MP";
    judge_data(call, side.data, side, up);
    find_hole(side.data, up);
  } else if (std::string why = not_recorded(call, side, t.from_1200, false); !why.empty()) {
    up.since_s = t.info1a_t;
    up.reason = std::move(why);
  } else if (start != nullptr) {
    up.since_s = start->t_e_end;
    up.reason = !call.data_mode ? "data mode was not requested"
                : t.downstream.mp.empty()
                    ? "the digital modem's MP, which defines the data coding, was not decoded" +
                          (t.downstream.stopped.empty() ? std::string() : ": " + t.downstream.stopped)
                    : "CP and MP agree on no rate";
  } else if (side.segments.empty()) {
    up.since_s = t.info1a_t;
    up.reason = "no S, PP or TRN was found";
  } else {
    up.since_s = std::min(side.segments.back().t_lost, last_read(side.segments.back()));
    up.reason = ends_in_training(call, side.segments.back()) ? kEndsInTraining
                : side.cp() != nullptr                       ? "no E was decoded"
                                                             : "no CP for data mode was decoded";
  }
  return up;
}

Way downstream_way(const Call& call, const Training& t) {
  const DownstreamHeard& heard = t.downstream;
  Way down;
  down.name = "downstream";
  down.channel = call.start_up.channel_1200;
  if (const CpHeard* cp = t.from_2400.cp()) {
    down.bit_rate = downstream_bit_rate(cp->cp);
    down.rate_from = "CP";
  }
  for (const Training& each : call.trainings) count(each.downstream_links, down);
  const double lost = heard.stopped.empty() ? end_of(call, down.channel) : heard.t_lost;
  down.to_the_end = !heard.data.empty() && lost > end_of(call, down.channel) - kCloseS;
  if (down.to_the_end) return down;
  const bool trains = heard.stopped.empty() && heard.t_trn1d > 0 && t.from_2400.started() == nullptr;
  down.since_s = !heard.stopped.empty() ? heard.t_lost : trains ? end_of(call, down.channel) : t.info1a_t;
  down.reason = !call.data_mode          ? "data mode was not requested"
                : !heard.stopped.empty() ? heard.stopped
                : trains                 ? kEndsInTraining
                : heard.mp.empty()       ? "no MP was decoded"
                                         : "no Ed was decoded";
  return down;
}

void add_pcm(const Call& call, Verdict& v) {
  v.directions.push_back(upstream_way(call, call.trainings.back()));
  v.directions.push_back(downstream_way(call, call.trainings.back()));
}

void judge_pcm(const Call& call, Verdict& v) {
  const StartUp& s = call.start_up;
  const InfoHeard *d = info(s, "INFO0d"), *a = info(s, "INFO0a");
  const bool v92 = d != nullptr && a != nullptr && d->v92_capable() && a->v92_capable();
  // Short Phase 2: no INFO1d, and both requested it.
  const bool short_phase2 = v92 && info(s, "INFO1d") == nullptr && d->v92_short_phase2() && a->v92_short_phase2();
  const bool pcm_upstream = call.trainings.back().from_2400.direction.pcm;
  v.technology = pcm_upstream ? kPcmUpstream : short_phase2 ? kQuickConnect : v92 ? "V.92" : "V.90";
  v.evidence.emplace_back(pcm_upstream ? "INFO1a chooses PCM in both directions" : "INFO1a chooses PCM downstream");
  if (v92) v.evidence.emplace_back("INFO0d and INFO0a have V.92's capability bit");
  if (v92) v.evidence.emplace_back(short_phase2 ? "short Phase 2: no INFO1d, no probing" : "full Phase 2");
  if (!s.v8.quick_connect.empty()) v.evidence.emplace_back("QC1 or QCA1 of V.92 before V.8's menus");
  const auto pcm = std::find_if(s.answer_tones.begin(), s.answer_tones.end(),
                                [](const auto& x) { return x.kind == AnswerToneHeard::Kind::kAnspcm; });
  if (pcm != s.answer_tones.end()) v.evidence.emplace_back(fmt::format("ANSpcm at {:.2f} s", pcm->t0));
  const bool one_of_v92 = (d != nullptr && d->v92_capable()) != (a != nullptr && a->v92_capable());
  v.scores.add_messages(call);
  if (pcm_upstream) {
    v.scores.add(EvidenceKind::kMessages, 2 * kMessageBits, {v.technology});  // INFO1a
    v.scores.add(EvidenceKind::kMessages, kMessageBits, {"V.92"});
    return;
  }
  const Training& last = call.trainings.back();
  // An only INFO sequence may be right by chance.
  if (call.start_up.info.size() == 1 && !trained(last.from_2400) && last.downstream.t_trn1d == 0) {
    v.scores.add(EvidenceKind::kMessages, kMessageBits, {kV90, kV34.title});
    return;
  }
  v.scores.add(EvidenceKind::kMessages, kMessageBits, {kV90, "V.92", kQuickConnect});  // INFO1a
  // Without the bit of both, V.92 is not possible; with it of one, that modem might be read wrongly.
  if (v92) v.scores.add(EvidenceKind::kMessages, 2 * kMessageBits, {"V.92", kQuickConnect});
  if (!v92) v.scores.add(EvidenceKind::kMessages, (one_of_v92 ? 1 : 2) * kMessageBits, {kV90});
  if (v92)
    v.scores.add(EvidenceKind::kMessages, kMessageBits, {short_phase2 ? std::string_view(kQuickConnect) : "V.92"});
}

std::string words(const SymbolClock& c) {
  if (c.symbol_rate == 0)
    return fmt::format("several symbol clocks in channel {} from {:.1f} to {:.1f} s", c.channel, c.t0, c.t1);
  const std::string clock =
      c.carrier_hz > 0 ? fmt::format(" {:+.0f} ppm around {:.0f} Hz", c.clock_ppm, c.carrier_hz) : std::string();
  return fmt::format("a symbol clock of {} symbols/s{} in channel {} from {:.1f} to {:.1f} s", c.symbol_rate, clock,
                     c.channel, c.t0, c.t1);
}

// Whether the training that INFO1a of V.34 chooses was found, or the recording ends before it. K56flex sends such an
// INFO1a, too, and of an only INFO sequence the check sequence may be right by chance.
bool is_confirmed(const Call& call, const Training& last) {
  constexpr double kBeginsWithinS = 3;  // Phase 3 of both ends
  if (trained(last.from_1200) || trained(last.from_2400)) return true;
  const bool goes_on = std::any_of(call.activity_end_s.begin(), call.activity_end_s.end(),
                                   [&](double end) { return end > last.info1a_t + kBeginsWithinS; });
  return !goes_on && call.start_up.info.size() > 1 && !has_field_of_provider_0094(call.start_up);
}

void judge_v34(const Call& call, const Training::Side* lone, Verdict& v) {
  const StartUp& s = call.start_up;
  if (lone == nullptr) {
    const Training& last = call.trainings.back();
    v.technology = kV34.title;
    v.scores.add_messages(call);
    v.scores.add(EvidenceKind::kTraining, kMessageBits * (trained(last.from_1200) + trained(last.from_2400)),
                 {kV34.title});
    if (!last.without_info1a && !last.begins_in_data) {
      // INFO1a, behind which a modem of another kind may train in another way
      v.scores.add(EvidenceKind::kMessages, kMessageBits, {kV34.title});
      v.scores.add(EvidenceKind::kMessages, is_confirmed(call, last) ? kHintBits : kMessageBits, {kK56flex, kOtherPcm});
    }
    if (last.begins_in_data) {
      for (const SymbolClock& c : call.symbol_clocks) v.evidence.push_back(words(c));
      v.evidence.emplace_back("TRN of V.34 after data");
      return;
    }
    v.evidence.emplace_back(call.trainings.back().without_info1a
                                ? "V.34 INFO sequences and training; INFO1a was not decoded"
                                : "INFO1a of V.34");
    if (std::any_of(call.trainings.begin(), call.trainings.end(), [](const Training& t) { return t.pcm; }))
      v.evidence.emplace_back("an earlier INFO1a chose PCM downstream");
    if (call.begins_behind_start_up)
      v.evidence.emplace_back(
          "the first Phase 2 has no INFO0: the recording begins after the start-up, and this is a retrain");
    if (std::any_of(call.trainings.begin(), call.trainings.end(),
                    [](const Training& t) { return trained(t.from_1200) && trained(t.from_2400); }))
      v.evidence.emplace_back("both directions have V.34 training");
    return;
  }
  const bool k56flex = has_field_of_provider_0094(s);
  v.technology = k56flex ? kK56flex : kOtherPcm;
  v.scores.add_messages(call);
  v.scores.add(EvidenceKind::kMessages, kMessageBits, {kV34.title});  // INFO1a
  v.scores.add(EvidenceKind::kMessages, kHintBits, {kK56flex, kOtherPcm});
  v.scores.add(EvidenceKind::kTraining, 2 * kMessageBits, {kK56flex, kOtherPcm});  // of one side alone
  v.scores.add(EvidenceKind::kMessages, kMessageBits, {v.technology});             // its field, or none
  if (k56flex)
    v.evidence.emplace_back("V.8bis with the non-standard field of provider 0094, which modems with K56flex send");
  v.evidence.push_back(fmt::format(
      "INFO1a is V.34's, and channel {} has V.34 training, but channel {}, which also carries a signal, has not",
      lone->direction.channel, 1 - lone->direction.channel));
}

// Whether the signal of a channel falls silent at `t`, except for the other direction's echo.
bool falls_silent(const Call& call, int channel, double t) {
  constexpr double kBeforeS = 0.5, kApartS = 0.1, kAfterS = 0.25, kSilence = 0.05;  // of the power
  if (static_cast<std::size_t>(channel) >= call.power.size()) return false;
  const std::vector<double>& x = call.power[static_cast<std::size_t>(channel)];
  const auto power = [&](double from_s, double to_s) {  // of the blocks between
    const auto at = [&](double blocks) { return std::min(x.size(), static_cast<std::size_t>(std::max(0.0, blocks))); };
    const std::size_t from = at(std::ceil(from_s / Call::kPowerS)), to = at(std::floor(to_s / Call::kPowerS));
    double sum = 0;
    for (std::size_t i = from; i < to; ++i) sum += x[i];
    return to > from ? sum / static_cast<double>(to - from) : 0;
  };
  return power(t + kApartS, t + kApartS + kAfterS) < kSilence * power(t - kBeforeS, t - kApartS);
}

// Whether data of V.32bis or V.22bis continue to their expected end.
void judge_connection_data(const Call& call, const Connection::Side& side, Way& way) {
  constexpr double kCloseToChangeS = 1;
  const DataHeard& last = side.data.back();
  for (const DataHeard& d : side.data) {
    if (!d.spoilt.empty() && way.spoilt_s == 0) way.spoilt_s = d.spoilt.front().first;
  }
  double end = end_of(call, way.channel);
  const Change* after = nullptr;  // that other data would follow
  for (const Change& change : call.connection.changes) {
    if (change.t <= last.t0 || change.t > end) continue;
    end = change.t;
    after = change.kind == Change::Kind::kCleardown ? nullptr : &change;
  }
  way.since_s = last.t1;
  const bool early = last.t1 <= end - kCloseToChangeS;
  if (early && !falls_silent(call, way.channel, last.t1)) {
    way.reason = "the constellation points can no longer be distinguished";
  } else if (!early && after != nullptr && end_of(call, way.channel) > end + kCloseToChangeS) {
    way.bit_rate = 0;
    way.rate_from = "not read";
    way.reason = after->kind == Change::Kind::kRetrain ? "no data mode was found after the retrain"
                                                       : "no data mode was found after the rate renegotiation";
  } else {
    way.to_the_end = true;
  }
}

bool has_training(const Connection& c) {
  const auto trains = [](const Connection::Side& side) { return !side.signals.empty() || !side.rate_signals.empty(); };
  return trains(c.call) || trains(c.answer);
}

void judge_connection(const Call& call, Verdict& v) {
  const Connection& c = call.connection;
  v.technology = c.modulation;
  v.scores.add_connection(c);
  v.evidence.push_back(has_training(c) ? fmt::format("training and data of {}", c.modulation)
                                       : fmt::format("data of {}; no training was found", c.modulation));
  if (call.bell_answer_s > 0) {
    v.technology = "Bell 212A";
    v.scores.add_training(c, v.technology, {v.technology});
    v.scores.add(EvidenceKind::kTone, kHintBits, {v.technology});
    v.evidence.push_back(fmt::format("Bell's answer tone, 2225 Hz, at {:.2f} s", call.bell_answer_s));
  }
  for (const auto& [side, name] : {std::pair{&c.call, "call to answer"}, std::pair{&c.answer, "answer to call"}}) {
    Way way;
    way.name = name;
    way.channel = side->channel;
    count(side->links, way);
    const auto e = std::find_if(side->rate_signals.rbegin(), side->rate_signals.rend(),
                                [](const RateSignalHeard& r) { return r.signal.end && r.signal.rates != 0; });
    if (side->channel < 0 && call.recording.channel.size() == 2) {
      way.channel = 1 - (side == &c.call ? c.answer : c.call).channel;
      way.reason = "its training was not found";
    } else if (side->channel < 0) {
      way.reason = "it was not recorded";
    } else if (side->data.empty()) {
      if (e != side->rate_signals.rend()) {
        way.bit_rate = static_cast<int>(v32::kRates[v32::highest(e->signal.rates)].bit_rate);
        way.rate_from = "rate signals";
      }
      way.since_s = side->signals.empty() ? 0 : side->signals.back().t1;
      way.reason = way.since_s > call.recording.duration_s - kCloseS ? kEndsInTraining
                                                                     : "no data mode was found after its training";
    } else {
      way.bit_rate = static_cast<int>(side->data.back().bit_rate);
      way.rate_from = side->rate_signals.empty() ? "its symbols" : "rate signals";
      judge_connection_data(call, *side, way);
    }
    v.directions.push_back(std::move(way));
  }
}

void judge_fsk(const Call& call, Verdict& v) {
  v.scores.add_two_tones(call);
  const FskHeard& best = *best_fsk(call, v.scores);
  v.technology = best.modulation;
  for (const bool calling : {true, false}) {
    const auto at = std::find_if(call.fsk.begin(), call.fsk.end(), [&](const FskHeard& f) {
      return f.calling == calling && std::string_view(f.modulation) == v.technology;
    });
    Way way;
    way.name = calling ? "call to answer" : "answer to call";
    if (at != call.fsk.end() && at->one_band) way.name = at->channel == 0 ? "channel 0" : "channel 1";
    if (at == call.fsk.end() && best.one_band) continue;  // there is no other band
    if (at == call.fsk.end()) {
      way.channel = call.recording.channel.size() == 2 ? 1 - best.channel : best.channel;
      way.reason = fmt::format("no signal of {} was found other than, at most, its mark tone", v.technology);
      v.directions.push_back(std::move(way));
      continue;
    }
    const char* station = at->one_band ? "" : calling ? ", calling station" : ", answering station";
    v.evidence.push_back(
        fmt::format("two frequencies of {}{}, {} bit/s from {:.2f} s", at->modulation, station, at->bit_rate, at->t0));
    way.channel = at->channel;
    way.bit_rate = at->bit_rate;
    way.rate_from = "nominal";
    way.since_s = at->t0;
    way.to_the_end = true;
    for (const FskHeard& f : call.fsk) {
      if (f.modulation != at->modulation || f.calling != at->calling) continue;
      way.characters += f.text.characters.size();
      if (way.format.empty()) way.format = f.text.format;
    }
    if (way.format.empty()) {
      way.to_the_end = false;
      way.reason = "its bits are not start-stop characters";
    }
    v.directions.push_back(std::move(way));
  }
}

void judge_fax(const Call& call, Verdict& v) {
  v.technology = "fax";
  v.scores.add_messages(call);
  v.scores.add_fax(call);
  if (!call.fax.cng.empty()) v.evidence.push_back(fmt::format("CNG at {:.2f} s", call.fax.cng.front().t0));
  if (!call.fax.frames.empty()) {
    const FaxFrame& f = call.fax.frames.front();
    v.evidence.push_back(fmt::format("{} of T.30 at {:.2f} s", f.name, f.t));
  } else if (call.fax.flags_channel >= 0) {
    v.evidence.push_back(
        fmt::format("T.30's preamble of flags in V.21's upper band, channel {}", call.fax.flags_channel));
  }
  if (call.cm_is_of_fax()) v.evidence.emplace_back("the call function of CM");
}

// A recording that begins in data mode, with no training in it.
void judge_symbol_clocks(const Call& call, Verdict& v) {
  const auto strongest =
      std::max_element(call.symbol_clocks.begin(), call.symbol_clocks.end(),
                       [](const SymbolClock& a, const SymbolClock& b) { return a.over_noise_db < b.over_noise_db; });
  // 2400 symbols/s are V.32's, V.29's and V.17's, too.
  const auto is_v34 = [](const SymbolClock& c) { return c.symbol_rate > 2400 && v34_band(c).has_value(); };
  // Two tones and music also have such a clock, so a rate is only stated if it is certain.
  const std::string name = is_v34(*strongest) ? std::string(kV34.title)
                                              : fmt::format("another signal of {} symbols/s", strongest->symbol_rate);
  Scores scores;
  scores.add_symbol_clock(*strongest, name);
  const bool rate = strongest->symbol_rate > 0 && scores.weight_of(name).probability > kUnknownProbability;
  v.technology = is_v34(*strongest) || rate ? name : "an unidentified signal";
  if (is_v34(*strongest) || rate) v.scores = scores;
  for (const SymbolClock& c : call.symbol_clocks)
    v.evidence.push_back(fmt::format("{}, {:.0f} dB over noise", words(c), c.over_noise_db));
  v.evidence.emplace_back("no training was found");
  for (std::size_t k = 0; k < call.recording.channel.size(); ++k) {
    const auto clock = std::find_if(call.symbol_clocks.begin(), call.symbol_clocks.end(),
                                    [&](const SymbolClock& c) { return c.channel == static_cast<int>(k); });
    Way way;
    way.name = k == 0 ? "channel 0" : "channel 1";
    way.channel = static_cast<int>(k);
    if (clock == call.symbol_clocks.end()) {
      way.reason = "no symbol clock was found in it";
    } else {
      const std::optional<V34Band> band = is_v34(*clock) ? v34_band(*clock) : std::nullopt;
      way.since_s = clock->t0;
      if (!band) {
        way.reason = clock->symbol_rate == 0
                         ? "no training was found, and several symbol clocks are not specific to a modulation"
                         : fmt::format("no training was found, and its {} symbols/s are not specific to a modulation",
                                       clock->symbol_rate);
        v.directions.push_back(std::move(way));
        continue;
      }
      way.reason = fmt::format(
          "no training was found before it to define the data coding: data mode of V.34 at {} symbols/s, carrier "
          "{:.0f} Hz",
          clock->symbol_rate, carrier_hz(band->rate, band->carrier));
    }
    v.directions.push_back(std::move(way));
  }
}

// The verdict if no connection could be read: its last phase.
constexpr double kUnreadSignalS = 1;  // a signal of this length behind the decoded part is mentioned

double last_menu_end(const StartUp& s) {
  double end = s.v8.cj > 0 ? s.v8.cj_end() : 0;
  for (const auto* menus : {&s.v8.cm, &s.v8.jm}) {
    for (const MenuHeard& m : *menus) end = std::max(end, m.t1);
  }
  return end;
}

void judge_start_up(const Call& call, Verdict& v) {
  const StartUp& s = call.start_up;
  const auto goes_on_after = [&](double t) {
    return std::any_of(call.activity_end_s.begin(), call.activity_end_s.end(),
                       [&](double end) { return end > t + kUnreadSignalS; });
  };
  const auto behind = [&](const char* what, double t) {
    return std::string(what) +
           (goes_on_after(t) ? "; the signal after them was not decoded" : ", but no modulation after them");
  };
  if (!s.info.empty()) {
    v.technology = info(s, "INFO0d") != nullptr ? "V.90" : kV34.title;
    v.evidence.emplace_back("INFO sequences, but no INFO1a: Phase 2 did not end");
    v.scores.add_messages(call);
    v.scores.add(EvidenceKind::kMessages, kMessageBits, {v.technology});  // INFO0d, or none
    v.scores.add(EvidenceKind::kMessages, kHintBits, {info(s, "INFO0d") != nullptr ? "V.92" : kV90});
  } else if (!call.symbol_clocks.empty() && s.answer_tones.empty()) {
    judge_symbol_clocks(call, v);
  } else if (!s.v8.cm.empty() || !s.v8.jm.empty()) {
    v.technology = "V.8";
    v.evidence.push_back(behind("V.8 menus", last_menu_end(s)));
    v.scores.add_messages(call);
    v.scores.add(EvidenceKind::kMessages, kHintBits, {v.technology});  // no modulation behind it was found
  } else if (!s.v8bis.empty()) {
    v.technology = "V.8bis";
    v.evidence.push_back(behind("V.8bis messages", s.v8bis.back().t));
    v.scores.add_messages(call);
    v.scores.add(EvidenceKind::kMessages, kHintBits, {v.technology});  // no modulation behind it was found
  } else if (!s.answer_tones.empty()) {
    const bool more = goes_on_after(s.answer_tones.back().t1);
    v.technology = s.answer_tones.front().name() + std::string(more ? ", then an unidentified signal" : " alone");
    v.evidence.emplace_back(more ? "an answer tone; the signal after it was not decoded" : "an answer tone only");
    for (const SymbolClock& c : call.symbol_clocks) v.evidence.push_back(words(c));
    double tone_s = 0;
    for (const AnswerToneHeard& tone : s.answer_tones) tone_s = std::max(tone_s, tone.steady_s);
    v.scores.add(EvidenceKind::kTone, tone_s, {v.technology});
    v.scores.add(EvidenceKind::kTone, 0,
                 {s.answer_tones.front().kind == AnswerToneHeard::Kind::kAns ? "ANSam" : "ANS"});
  } else if (const auto id = std::find_if(call.signals.begin(), call.signals.end(),
                                          [](const CallSignal& x) { return x.name == kCallerId; });
             id != call.signals.end()) {
    v.technology = kCallerId;
    v.evidence.push_back(fmt::format("a caller ID message at {:.2f} s", id->t0));
    v.scores.add_messages(call);
  } else {
    v.technology = "no modem found";
    v.found = false;
  }
}

}  // namespace

Verdict verdict_of(const Call& call) {
  Verdict v;
  const Training::Side* const lone = lone_v34_side(call);
  if (!call.trainings.empty()) {
    if (call.trainings.back().pcm) {
      judge_pcm(call, v);
      add_pcm(call, v);
    } else {
      judge_v34(call, lone, v);
      add_v34(call, lone, v);
    }
  } else if (call.is_fax()) {
    judge_fax(call, v);
  } else if (call.connection.modulation != nullptr) {
    judge_connection(call, v);
  } else if (!call.fsk.empty()) {
    judge_fsk(call, v);
  } else {
    judge_start_up(call, v);
  }
  v.scores.add(call.rivals);
  v.weight = v.scores.weight_of(v.technology);
  v.retrains = call.retrains();
  for (const Change& c : call.changes()) {
    v.retrains += c.kind == Change::Kind::kRetrain;
    v.renegotiations += c.kind == Change::Kind::kRenegotiation;
    v.cleardowns += c.kind == Change::Kind::kCleardown;
  }
  return v;
}

std::string describe_weight(const Verdict& v) {
  if (v.weight.kind == EvidenceKind::kNone) return {};
  return fmt::format("{:.0f} %, next best hypothesis: {}", 100 * v.weight.probability, v.weight.next_best);
}

std::string describe_frames(const Verdict::Direction& d) {
  if (!d.format.empty() && d.good_frames == 0) return fmt::format("{} characters, {}", d.characters, d.format);
  if (d.good_frames > 0 || d.bad_frames > 0) return fmt::format("{} good frames, {} bad", d.good_frames, d.bad_frames);
  return d.detection != nullptr ? fmt::format("no frames, V.42's {} alone", d.detection) : "no frames";
}

std::string describe(const Way& way) {
  if (way.to_the_end && way.hole_end_s > 0)
    return fmt::format("data decoded to the end, but not those from {:.2f} to {:.2f} s", way.hole_s, way.hole_end_s);
  if (way.to_the_end && way.hole_s > 0)
    return fmt::format("data decoded to the end, but not those after {:.1f} s", way.hole_s);
  if (way.to_the_end && way.spoilt_s > 0)
    return fmt::format("data decoded to the end, but damaged at {:.1f} s", way.spoilt_s);
  if (way.to_the_end) return "data decoded to the end";
  if (way.channel < 0) return fmt::format("data not decoded because {}", way.reason);
  return fmt::format("data not decoded after {:.1f} s because {}", way.since_s, way.reason);
}

}  // namespace offhook::decode
