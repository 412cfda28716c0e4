// SPDX-License-Identifier: MIT
//
// V.32bis, heard passively: 2400 symbols/s around 1800 Hz in both directions. Each direction trains with TRN, scrambled
// ones of known beginning, which is found by its first 256 symbols and fits the equaliser; then come rate signals, E
// and the data. The tones, the rate signals and their order are interpreted when both directions have been read.
#include "src/decode/modulation/v32bis.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>

#include "dsp/modulation/modulation.h"
#include "src/decode/modulation/v32bis_tones.h"
#include "src/decode/modulation/v32bis_training.h"

namespace offhook::decode {
namespace {

constexpr double kCarrierHz = 1800;
constexpr double kSSymbols = 256, kSBarSymbols = 16;
constexpr double kReach = kV32Step * SymbolReceiver::kTaps / 4;  // of the equaliser, behind a symbol
constexpr double kSameS = 0.02;                                  // seconds between the end of S and TRN less S-bar
// A renegotiation's two preambles lie no further apart: a round trip of 1.2 s, R4, and the far end's time.
constexpr double kOneExchange = 2;
// An end that has heard the far end's preamble and two sequences of R4 begins this late; if it begins earlier, both
// ends began.
constexpr double kBothBegan = 75 / kV32SymbolRateHz;
// A retrain's tone lasts until the far end's has lasted 64 symbols (clause 7); the one of a renegotiation's
// preamble has 56.
constexpr double kLeastRetrainTone = 80 / kV32SymbolRateHz;

std::string rates_in_words(const RateSignalHeard& r) {
  std::string words;
  for (int k = 0; k < v32::kPlain9600; ++k) {
    if (r.signal.rates >> k & 1) words += (words.empty() ? "" : ", ") + std::to_string(v32::kRates[k].bit_rate);
  }
  if (r.signal.rates >> v32::kPlain9600 & 1 && !(r.signal.rates >> 2 & 1)) {
    words += words.empty() ? "9600" : ", 9600";
    words += " bit/s without trellis coding";
  } else {
    words = words.empty() ? "GSTN cleardown" : words + " bit/s";
  }
  return r.signal.v32bis || r.signal.rates == 0 ? words : words + " (V.32)";
}

// One direction: its channel, its signals and its tones.
struct OneWay {
  Connection::Side* side;
  std::vector<V32Tone> tones;
  double power = 0;  // of its signals
};

// The loudest of the trainings that the channels have of a direction: an echo trains as well as the signal itself.
std::vector<TrnHeard> loudest(const std::vector<TrnsHeard>& by_channel, bool answer, int* channel) {
  std::vector<TrnHeard> trainings;
  for (std::size_t c = 0; c < by_channel.size(); ++c) {
    const std::vector<TrnHeard>& here = answer ? by_channel[c].answer : by_channel[c].call;
    if (here.empty() || (!trainings.empty() && here.front().power <= trainings.front().power)) continue;
    trainings = here;
    *channel = static_cast<int>(c);
  }
  return trainings;
}

// S that TRN follows, and the tones that are neither a preamble nor S.
void add_tones(OneWay& d, bool answer) {
  auto& signals = d.side->signals;
  const std::vector<Connection::Signal> known = signals;
  std::erase_if(d.tones, [&](const V32Tone& tone) {
    return std::any_of(known.begin(), known.end(), [&](const Connection::Signal& s) {
      return s.what == "preamble" && seconds(tone.t0) < s.t1 && seconds(tone.t1) > s.t0;
    });
  });
  for (const V32Tone& tone : d.tones) {
    if (tone.kind != V32Tone::Kind::kS) {
      std::string turns;
      for (const double t : tone.reversals) turns += fmt::format("{}{:.4f}", turns.empty() ? " at " : ", ", seconds(t));
      signals.push_back({seconds(tone.t0), seconds(tone.t1), answer ? "AC" : "AA",
                         turns.empty() ? "no reversal" : "reversal" + turns + " s"});
      continue;
    }
    for (const Connection::Signal& s : known) {
      const double s_bar = s.t0 - kSBarSymbols / kV32SymbolRateHz;
      if (s.what != "TRN" || std::abs(seconds(tone.t1) - s_bar) > kSameS) continue;
      signals.push_back({seconds(tone.t0), s_bar, "S"});
      signals.push_back({s_bar, s.t0, "S-bar"});
    }
  }
  std::erase_if(d.tones, [](const V32Tone& tone) { return tone.kind == V32Tone::Kind::kS; });
}

// Start-up and retrain: the answerer's two trainings bring R1 and R3, the caller's one R2.
void name_rate_signals(OneWay& d, bool answer) {
  RateSignalHeard* before = nullptr;
  auto& all = d.side->rate_signals;
  for (std::size_t k = 0; k < all.size(); ++k) {
    RateSignalHeard& r = all[k];
    if (r.after_data || r.signal.end) continue;
    const bool goes_on = before != nullptr && before->name == "R1" && r.t0 - before->t0 < 15;
    const bool ends_with_e = k + 1 < all.size() && all[k + 1].signal.end;
    r.name = !answer ? "R2" : ends_with_e || goes_on ? "R3" : "R1";
    before = &r;
  }
}

// Data that cannot be decoded also follow an E.
double data_begins(const Connection::Side& side, double after) {
  double first = 1e9;
  for (const DataHeard& d : side.data) {
    if (d.t0 >= after) first = std::min(first, d.t0);
  }
  for (const RateSignalHeard& r : side.rate_signals) {
    if (r.signal.end && r.signal.rates != 0 && r.t1 >= after) first = std::min(first, r.t1);
  }
  return first;
}
std::uint32_t rate_after(const Connection& found, double t) {
  for (const Connection::Side* side : {&found.call, &found.answer}) {
    for (const DataHeard& d : side->data) {
      if (d.t0 >= t) return d.t0 < t + 20 ? d.bit_rate : 0;
    }
  }
  return 0;
}

// Renegotiations and cleardowns: the end whose preamble came first has sent R4.
void find_renegotiations(Connection& found) {
  struct Begun {
    double t;
    Connection::Side* side;
    RateSignalHeard* r;
    bool ends;  // E has no rate
  };
  std::vector<Begun> all;
  for (Connection::Side* side : {&found.call, &found.answer}) {
    for (const Connection::Signal& s : side->signals) {
      if (s.what != "preamble") continue;
      Begun b{s.t0, side, nullptr, false};
      for (RateSignalHeard& r : side->rate_signals) {
        const bool here = r.after_data && r.t0 > s.t1 - 0.01;
        if (b.r == nullptr && here && !r.signal.end && r.t0 < s.t1 + 1) b.r = &r;
        b.ends |= here && r.signal.end && r.signal.rates == 0 && r.t0 < s.t1 + kOneExchange;
      }
      all.push_back(b);
    }
  }
  std::stable_sort(all.begin(), all.end(), [](const Begun& a, const Begun& b) { return a.t < b.t; });
  const bool one_alone = found.call.channel < 0 || found.answer.channel < 0;
  const auto down = [](const RateSignalHeard* r) { return r != nullptr && r->signal.rates == 0; };
  for (std::size_t k = 0; k < all.size(); ++k) {
    const Begun& first = all[k];
    const Begun* second = k + 1 < all.size() && all[k + 1].side != first.side && all[k + 1].t < first.t + kOneExchange
                              ? &all[k + 1]
                              : nullptr;
    const bool both = second != nullptr && second->t < first.t + kBothBegan;
    if (first.r != nullptr) first.r->name = one_alone ? "R4 or R5" : "R4";
    if (second != nullptr && second->r != nullptr) second->r->name = both ? "R4" : "R5";
    Change c{};
    c.t = first.t;
    c.channel = first.side->channel;
    c.by = one_alone ? nullptr : both ? "both" : first.side == &found.call ? "call" : "answer";
    c.kind = Change::Kind::kRenegotiation;
    // An end that is requested to clear down has rates in its own rate signal, and none in its E.
    if (down(first.r) || first.ends || (second != nullptr && (down(second->r) || second->ends))) {
      c.kind = Change::Kind::kCleardown;
      if (!down(first.r) && second != nullptr) {
        c.t = second->t;
        c.channel = second->side->channel;
        c.by = second->side == &found.call ? "call" : "answer";
      }
    } else {
      c.bit_rate = rate_after(found, first.t);
    }
    found.changes.push_back(c);
    k += second != nullptr;
  }
}

// The first tone of a call follows silence (Figure 3). If its sender's signal continues up to it, the recording
// begins behind the start-up, and this is a retrain. @return that tone's direction, or null
const OneWay* retrains_at_once(const std::vector<std::unique_ptr<Baseband>>& bands,
                               const std::array<OneWay, 2>& directions) {
  constexpr double kBefore = 0.055, kUpTo = 0.005;  // s; the answerer's silence is 55 ms at the least (5.4)
  constexpr double kSignal = 0.5;                   // of the power that is the sender's own, and not an echo
  const OneWay* first = nullptr;
  for (const OneWay& d : directions) {
    if (d.tones.empty() || (first != nullptr && first->tones[0].t0 <= d.tones[0].t0)) continue;
    first = &d;
  }
  if (first == nullptr || seconds(first->tones[0].t1 - first->tones[0].t0) < kLeastRetrainTone) return nullptr;
  const double tone = first->tones[0].t0;
  for (const Connection::Signal& s : first->side->signals) {
    if (s.what == "TRN" && s.t0 < seconds(tone)) return nullptr;
  }
  const double from = tone - kBefore * kRateHz, to = tone - kUpTo * kRateHz;
  if (from < 0) return nullptr;
  double sum = 0;
  const auto n = static_cast<int>(std::ceil((to - from) / (kV32Step / 2)));
  for (int k = 0; k < n; ++k)
    sum += std::norm(bands[static_cast<std::size_t>(first->side->channel)]->at(from + k * kV32Step / 2));
  return sum > kSignal * first->power * n ? first : nullptr;
}

// A retrain begins with the first tone after data, or, if that was lost in noise, with the next training.
void find_retrains(Connection& found, const std::array<OneWay, 2>& directions) {
  struct Begun {
    double t;
    const Connection::Side* side;
  };
  std::vector<Begun> all;
  for (const OneWay& d : directions) {
    for (const V32Tone& tone : d.tones) {
      if (seconds(tone.t1 - tone.t0) >= kLeastRetrainTone) all.push_back({seconds(tone.t0), d.side});
    }
    for (const Connection::Signal& s : d.side->signals) {
      if (s.what == "TRN") all.push_back({s.t0 - (kSSymbols + kSBarSymbols) / kV32SymbolRateHz, d.side});
    }
  }
  std::stable_sort(all.begin(), all.end(), [](const Begun& a, const Begun& b) { return a.t < b.t; });
  const bool one_alone = found.call.channel < 0 || found.answer.channel < 0;
  double last = 0;
  for (const Begun& b : all) {
    if (data_begins(*b.side, last) > b.t) continue;
    last = b.t;
    found.changes.push_back({Change::Kind::kRetrain, b.t, b.side->channel,
                             one_alone               ? nullptr
                             : b.side == &found.call ? "call"
                                                     : "answer",
                             rate_after(found, b.t)});
  }
}

}  // namespace

Connection find_v32bis(const Recording& recording) {
  Connection found;
  std::vector<std::unique_ptr<Baseband>> bands;
  std::vector<TrnsHeard> by_channel;
  for (const auto& x : recording.channel) {
    bands.push_back(std::make_unique<Baseband>(x, kCarrierHz, kV32SymbolRateHz));
    by_channel.push_back(find_trn(*bands.back()));
  }
  bool bis = false;
  std::array<OneWay, 2> directions{OneWay{&found.call, {}, 0}, OneWay{&found.answer, {}, 0}};
  for (const bool answer : {false, true}) {
    OneWay& d = directions[answer];
    Connection::Side& side = *d.side;
    const std::vector<TrnHeard> trainings = loudest(by_channel, answer, &side.channel);
    if (side.channel < 0) continue;
    side.carrier_hz = static_cast<int>(kCarrierHz);
    const auto own = static_cast<std::size_t>(side.channel);
    const Baseband* other = bands.size() == 2 ? bands[1 - own].get() : nullptr;
    bool any = false;
    for (std::size_t k = 0; k < trainings.size(); ++k) {
      const double end = k + 1 < trainings.size() ? trainings[k + 1].t - (kSSymbols + kSBarSymbols) * kV32Step
                                                  : static_cast<double>(bands[own]->size()) - kReach;
      TrainingReader reader(*bands[own], other, answer, end);
      if (!reader.fit(trainings[k].t)) continue;
      reader.follow(side);
      bis = bis || reader.v32bis();
      any = true;
    }
    if (!any) {
      side = {};
      continue;
    }
    d.power = trainings.front().power;
    d.tones = find_v32_tones(*bands[own], answer, d.power);
    add_tones(d, answer);
    name_rate_signals(d, answer);
  }
  if (found.call.channel < 0 && found.answer.channel < 0) return {};
  const bool read = !found.call.rate_signals.empty() || !found.answer.rate_signals.empty();
  found.modulation = bis ? kV32bis.title : read ? "V.32" : "V.32 or V.32bis";
  find_renegotiations(found);
  find_retrains(found, directions);
  if (const OneWay* d = retrains_at_once(bands, directions)) {
    const bool one_alone = found.call.channel < 0 || found.answer.channel < 0;
    const double t = seconds(d->tones[0].t0);
    const char* const by = one_alone ? nullptr : d == &directions[0] ? "call" : "answer";
    found.changes.push_back({Change::Kind::kRetrain, t, d->side->channel, by, rate_after(found, t)});
  }
  std::stable_sort(found.changes.begin(), found.changes.end(),
                   [](const Change& a, const Change& b) { return a.t < b.t; });
  for (Connection::Side* side : {&found.call, &found.answer}) {
    for (const RateSignalHeard& r : side->rate_signals) {
      side->signals.push_back({r.t0, r.t1, r.name, fmt::format("{}, {} x", rates_in_words(r), r.count)});
    }
    std::stable_sort(side->signals.begin(), side->signals.end(),
                     [](const Connection::Signal& a, const Connection::Signal& b) { return a.t0 < b.t0; });
  }
  uncompress(found.call.links, found.answer.links);
  return found;
}

}  // namespace offhook::decode
