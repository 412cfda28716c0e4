// SPDX-License-Identifier: MIT
#include "src/decode/call/hypotheses.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string_view>
#include <utility>

#include "driver/user_modem/v21.h"
#include "dsp/modulation/modulation.h"
#include "src/decode/call/call.h"
#include "src/decode/v34/data_only.h"

namespace offhook::decode {
namespace {

// From a margin of `strength` on a name is true with `probability`, as `tests/decode/signals.py PROGRAM FOLDER --fit
// FILE` writes it. A probability is no more than the number of signals supports: of n names that were all true, (n +
// 1/2) / (n + 1).
struct Step {
  EvidenceKind kind;
  double strength, probability;
};
constexpr Step kSteps[] = {
    {EvidenceKind::kMessages, 8.0, 0.990},     // 51 of 51
    {EvidenceKind::kSymbolClock, 2.1, 0.992},  // 59 of 59
    {EvidenceKind::kTone, 2.6, 0.950},         // 9 of 9
    {EvidenceKind::kTraining, 9.1, 0.977},     // 21 of 21
    {EvidenceKind::kTwoTones, 191.2, 0.990},   // 49 of 49
};

struct Sequences {
  int mp = 0, cp = 0;
};
Sequences sequences(const Training& t) {
  Sequences n;
  for (const Training::Side* side : {&t.from_1200, &t.from_2400}) {
    for (const Segment& s : side->segments) {
      for (const MpHeard& m : s.mp) n.mp += m.count;
      for (const CpHeard& c : s.cp) n.cp += c.count;
    }
  }
  for (const DownstreamMp& m : t.downstream.mp) n.mp += m.count;
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

const double kBitsPerDb = std::log2(10.0) / 10;

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

void Scores::add(EvidenceKind kind, double bits, std::initializer_list<std::string_view> technologies) {
  for (const std::string_view name : technologies) {
    auto known = std::find_if(all_.begin(), all_.end(), [&](const auto& x) { return x.first == name; });
    if (known == all_.end()) known = all_.insert(known, {std::string(name), Bits{}});
    known->second[static_cast<std::size_t>(kind)] += bits;
  }
}

void Scores::add_messages(const Call& call) {
  using enum EvidenceKind;
  const StartUp& s = call.start_up;
  const auto times = [](std::ptrdiff_t n) { return kMessageBits * static_cast<double>(n); };
  const auto add_family = [&](double bits) {
    add(kMessages, bits, {kV34.title, kV90, "V.92", kQuickConnect, kPcmUpstream, kK56flex, kOtherPcm});
  };
  for (const auto* menus : {&s.v8.cm, &s.v8.jm}) {
    for (const MenuHeard& m : *menus) {
      add_family(times(m.identical));
      add(kMessages, times(m.identical), {"V.8"});
      if (call.cm_is_of_fax()) add(kMessages, times(m.identical), {"fax"});
      add(kMessages, times(m.identical) / 2, {kV21.title});  // its frequencies and bit rate
    }
  }
  const auto v8bis = std::count_if(s.v8bis.begin(), s.v8bis.end(), [](const V8bisMessage& m) { return m.fcs_good; });
  if (v8bis > 0) {
    add_family(times(v8bis));
    add(kMessages, times(v8bis), {"V.8bis"});
    add(kMessages, times(v8bis) / 2, {kV21.title});
  }
  if (!s.info.empty()) add_family(times(static_cast<std::ptrdiff_t>(s.info.size())));
  for (const Training& t : call.trainings) {
    const Sequences n = sequences(t);
    add_family(times(n.mp));
    // The last training gives the name: V.90 may have ended in a retrain to V.34.
    if (call.trainings.back().pcm) add(kMessages, times(n.cp), {kV90, "V.92", kQuickConnect, kPcmUpstream});
  }
  if (const auto frames = static_cast<std::ptrdiff_t>(call.fax.frames.size()); frames > 0) {
    add(kMessages, times(frames), {"fax"});
    add(kMessages, times(frames) / 2, {kV21.title});
  }
  const auto ids =
      std::count_if(call.signals.begin(), call.signals.end(), [](const CallSignal& x) { return x.name == kCallerId; });
  if (ids > 0) {
    add(kMessages, times(ids), {kCallerId});
    add(kMessages, times(ids) / 2, {"Bell 202 or V.23"});
  }
}

void Scores::add_training(const Connection& c, std::string_view own, std::initializer_list<std::string_view> family) {
  double snr_db = 0;
  for (const Connection::Side* side : {&c.call, &c.answer}) {
    for (const DataHeard& d : side->data) snr_db = std::max(snr_db, d.snr_db);
  }
  add(EvidenceKind::kTraining, kMessageBits, family);
  add(EvidenceKind::kTraining, snr_db * kBitsPerDb, {own});  // its constellation
}

void Scores::add_connection(const Connection& c) {
  const bool v22 = c.modulation == kV22.title || c.modulation == kV22bis.title;
  if (v22) add_training(c, c.modulation, {kV22.title, kV22bis.title});
  if (!v22) add_training(c, c.modulation, {"V.32", kV32bis.title, c.modulation});
}

// A change on the grid of bits has a bit, if frequencies and grid fit.
void Scores::add_two_tones(const Call& call) {
  for (const FskHeard& f : call.fsk) {
    add(EvidenceKind::kTwoTones, bits_of(f), {f.modulation});
    add(EvidenceKind::kTwoTones, f.rival_bits, {f.rival != nullptr ? f.rival : nearest_modulation(f)});
  }
}

void Scores::add_fax(const Call& call) {
  const std::string_view fax = "fax";
  if (call.cm_is_of_fax()) add(EvidenceKind::kMessages, kHintBits, {fax});
  if (call.fax.flags_channel >= 0) add(EvidenceKind::kTwoTones, kHintBits, {fax});
  double cng_s = 0;
  for (const CallingTone& tone : call.fax.cng) cng_s += tone.t1 - tone.t0;
  add(EvidenceKind::kTone, cng_s, {fax});
  add(EvidenceKind::kTone, 0, {"a tone of 1100 Hz"});
}

void Scores::add_symbol_clock(const SymbolClock& clock, const std::string& technology) {
  using enum EvidenceKind;
  constexpr double kCarrierHz = 50, kBandHz = 2000;  // the error of the middle, and where it might be
  const auto band = v34_band(clock);
  const std::string neighbour =
      technology == kV34.title ? fmt::format("another signal of {} symbols/s", clock.symbol_rate) : neighbour_of(clock);
  const double off = band ? (clock.carrier_hz - carrier_hz(band->rate, band->carrier)) / kCarrierHz : 0;
  const double carrier = band ? std::max(0.0, std::log2(kBandHz / kCarrierHz) - off * off / 2) : 0;
  add(kSymbolClock, clock.over_noise_db * kBitsPerDb, {technology});
  if (technology == kV34.title) {
    add(kSymbolClock, carrier, {technology});
    add(kSymbolClock, 0, {neighbour});
  } else {
    add(kSymbolClock, carrier, {neighbour});
  }
}

void Scores::add(const Scores& other) {
  for (const auto& [name, bits] : other.all_) {
    for (std::size_t k = 0; k < kKinds; ++k) add(static_cast<EvidenceKind>(k), bits[k], {name});
  }
}

double Scores::sum_of(std::string_view technology) const {
  const auto known = std::find_if(all_.begin(), all_.end(), [&](const auto& x) { return x.first == technology; });
  return known == all_.end() ? 0 : std::accumulate(known->second.begin(), known->second.end(), 0.0);
}

Scores Scores::only(std::string_view technology) const {
  Scores one;
  for (const auto& x : all_) {
    if (x.first == technology) one.all_.push_back(x);
  }
  return one;
}

const FskHeard* best_fsk(const Call& call, const Scores& scores) {
  const auto best = std::max_element(call.fsk.begin(), call.fsk.end(), [&](const FskHeard& a, const FskHeard& b) {
    return scores.sum_of(a.modulation) < scores.sum_of(b.modulation);
  });
  return best == call.fsk.end() ? nullptr : &*best;
}

Weight Scores::weight_of(std::string_view technology) const {
  const auto sum = [](const Bits& bits) { return std::accumulate(bits.begin(), bits.end(), 0.0); };
  const Bits* own = nullptr;
  const std::pair<std::string, Bits>* next = nullptr;  // of equal ones the first
  for (const auto& x : all_) {
    if (x.first == technology) {
      own = &x.second;
    } else if (next == nullptr || sum(x.second) > sum(next->second)) {
      next = &x;
    }
  }
  if (own == nullptr) return {};
  const Bits other = next == nullptr ? Bits{} : next->second;
  std::size_t most = 1;
  for (std::size_t k = 1; k < kKinds; ++k) {
    if ((*own)[k] - other[k] > (*own)[most] - other[most]) most = k;
  }
  const auto kind = static_cast<EvidenceKind>(most);
  const double margin = sum(*own) - sum(other);
  return {kind, margin, probability_of(kind, margin), next == nullptr ? "an unidentified signal" : next->first};
}

}  // namespace offhook::decode
