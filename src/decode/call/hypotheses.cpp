// SPDX-License-Identifier: MIT
#include "src/decode/call/hypotheses.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "dsp/modulation/modulation.h"
#include "src/decode/call/call.h"
#include "src/decode/v34/data_only.h"

namespace offhook::decode {
namespace {

// From `strength` on a name is true with `probability`, as `tests/decode/signals.py PROGRAM FOLDER --fit FILE` writes
// it. A probability is no more than the number of signals supports: of n names that were all true, (n + 1/2) / (n + 1).
struct Step {
  EvidenceKind kind;
  double strength, probability;
};
constexpr Step kSteps[] = {
    {EvidenceKind::kMessages, 1.0, 0.991},      // 55 of 55
    {EvidenceKind::kSymbolClock, 15.8, 0.992},  // 59 of 59
    {EvidenceKind::kTone, 2.6, 0.950},          // 9 of 9
    {EvidenceKind::kTraining, 0.0, 0.972},      // 17 of 17
    {EvidenceKind::kTwoTones, 192.3, 0.990},    // 49 of 49
};

Weight weight(EvidenceKind kind, double strength, std::string next_best) {
  return {kind, strength, probability_of(kind, strength), std::move(next_best)};
}

int messages(const Training& t) {
  int n = 0;
  for (const Training::Side* side : {&t.from_1200, &t.from_2400}) {
    for (const Segment& s : side->segments) {
      for (const MpHeard& m : s.mp) n += m.count;
      for (const CpHeard& c : s.cp) n += c.count;
    }
  }
  for (const DownstreamMp& m : t.downstream.mp) n += m.count;
  return n;
}

// Other technologies with these symbol rates.
std::string neighbour_of(const SymbolClock& clock) {
  switch (clock.symbol_rate) {
    case 1200:
      return "V.27ter at 2400 bit/s";
    case 1600:
      return "V.27ter at 4800 bit/s";
    case 2400:
      return "V.17, V.29 or V.32bis";
    default:
      return v34_band(clock) ? kV34.title : "an unidentified signal";
  }
}

}  // namespace

const char* name_of(EvidenceKind kind) {
  constexpr const char* kNames[] = {nullptr, "messages", "training", "two tones", "symbol clock", "tone"};
  return kNames[static_cast<int>(kind)];
}

double probability_of(EvidenceKind kind, double strength) {
  double probability = kind == EvidenceKind::kNone ? 0 : kUnknownProbability;
  for (const Step& step : kSteps) {
    if (step.kind == kind && strength >= step.strength) probability = step.probability;
  }
  return probability;
}

Weight by_messages(const Call& call, std::string next_best) {
  const StartUp& s = call.start_up;
  std::size_t n = s.info.size() + call.fax.frames.size();
  for (const auto* menus : {&s.v8.cm, &s.v8.jm}) {
    for (const MenuHeard& m : *menus) n += static_cast<std::size_t>(m.identical);
  }
  n += static_cast<std::size_t>(
      std::count_if(s.v8bis.begin(), s.v8bis.end(), [](const V8bisMessage& m) { return m.fcs_good; }));
  n += static_cast<std::size_t>(
      std::count_if(call.signals.begin(), call.signals.end(), [](const CallSignal& x) { return x.name == kCallerId; }));
  for (const Training& t : call.trainings) n += static_cast<std::size_t>(messages(t));
  return weight(EvidenceKind::kMessages, static_cast<double>(n), std::move(next_best));
}

Weight by_training(const Call& call) {
  const Connection& c = call.connection;
  double snr_db = 0;
  for (const Connection::Side* side : {&c.call, &c.answer}) {
    for (const DataHeard& d : side->data) snr_db = std::max(snr_db, d.snr_db);
  }
  const bool v22 = c.modulation == kV22.title, v22bis = c.modulation == kV22bis.title;
  return weight(EvidenceKind::kTraining, snr_db,
                v22bis                          ? kV22.title
                : v22 && call.bell_answer_s > 0 ? kV22.title
                : v22                           ? kV22bis.title
                : c.modulation == kV32bis.title ? "V.32"
                                                : kV32bis.title);
}

Weight by_two_tones(const Call& call) {
  const FskHeard& first = call.fsk.front();
  double most = 0;
  for (const FskHeard& f : call.fsk) {
    if (std::string_view(f.modulation) == first.modulation)
      most = std::max(most, f.changes * f.step_match * f.step_match);
  }
  return weight(EvidenceKind::kTwoTones, most, nearest_modulation(first));
}

Weight by_calling_tones(const Call& call) {
  double s = 0;
  for (const CallingTone& tone : call.fax.cng) s += tone.t1 - tone.t0;
  return weight(EvidenceKind::kTone, s, "a tone of 1100 Hz");
}

Weight by_answer_tones(const Call& call) {
  const auto& tones = call.start_up.answer_tones;
  double s = 0;
  for (const AnswerToneHeard& tone : tones) s += tone.t1 - tone.t0;
  return weight(EvidenceKind::kTone, s, tones.front().kind == AnswerToneHeard::Kind::kAns ? "ANSam" : "ANS");
}

Weight by_symbol_clock(const SymbolClock& clock, bool named) {
  return weight(EvidenceKind::kSymbolClock, clock.over_noise_db,
                named ? fmt::format("another signal of {} symbols/s", clock.symbol_rate) : neighbour_of(clock));
}

}  // namespace offhook::decode
