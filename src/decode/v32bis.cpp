// SPDX-License-Identifier: MIT
//
// V.32bis, heard passively: 2400 symbols/s around 1800 Hz in both directions. Each direction trains with TRN, scrambled
// ones of known beginning, which is found by its first 256 symbols and fits the equaliser; then come rate signals, E
// and the data.
#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <numbers>

#include "dsp/v32/coding.h"
#include "dsp/v32/viterbi.h"
#include "dsp/v34/scrambler.h"
#include "src/decode/fallback.h"
#include "src/decode/symbol_receiver.h"

namespace offhook::decode {
namespace {

constexpr double kSymbolRateHz = 2400;
constexpr double kCarrierHz = 1800;
constexpr double kStep = kRateHz / kSymbolRateHz;
constexpr std::size_t kTwoPoints = 256;  // symbols of TRN that are A or C (5.2.3)
constexpr std::size_t kLeastTrn = 1280;  // and in all
constexpr std::size_t kMostTrn = 8192;
constexpr double kLeastLikeness = 0.35;  // of the 256 with what is heard, squared correlation
constexpr double kGoodFit = 0.1;         // mean square error of the equaliser, of the signal

Cf point(v32::Point p) {
  return {static_cast<float>(p.re), static_cast<float>(p.im)};
}

v34::Scrambling scrambling(bool answer) {
  return answer ? v34::Scrambling::kAnswer : v34::Scrambling::kCall;
}

// Labels Y1 Y2 of TRN.
std::vector<int> trn_labels(bool answer, std::size_t n) {
  v34::Scrambler scrambler(scrambling(answer));
  std::vector<int> labels;
  for (std::size_t i = 0; i < n; ++i) {
    const int first = scrambler.scramble(1), second = scrambler.scramble(1);
    labels.push_back(i < kTwoPoints ? 3 * first : 2 * first + second);
  }
  return labels;
}

struct TrnHeard {
  double t;  // of TRN's first symbol, samples
  double likeness;
  double power;
};

// Where TRN begins, best first in each half second: its first 256 symbols, in pieces short enough for any carrier
// offset.
std::vector<TrnHeard> find_trn(const Baseband& line, bool answer) {
  constexpr std::size_t kPiece = 64;
  const std::vector<int> labels = trn_labels(answer, kTwoPoints);
  std::array<float, kTwoPoints> sign;
  for (std::size_t i = 0; i < kTwoPoints; ++i) sign[i] = labels[i] != 0 ? 1.f : -1.f;
  const auto half_symbols = static_cast<std::size_t>(static_cast<double>(line.size()) / (kStep / 2));
  std::vector<Cf> y(half_symbols);
  for (std::size_t i = 0; i < half_symbols; ++i) y[i] = line.at(static_cast<double>(i) * kStep / 2);
  std::vector<TrnHeard> found;
  for (std::size_t i = 0; i + 2 * kTwoPoints < half_symbols; ++i) {
    double like = 0, power = 0;
    for (std::size_t piece = 0; piece < kTwoPoints; piece += kPiece) {
      Cf sum{};
      for (std::size_t k = piece; k < piece + kPiece; ++k) {
        const Cf v = y[i + 2 * k];
        sum += sign[k] * v;
        power += std::norm(v);
      }
      like += std::norm(sum);
    }
    like /= static_cast<double>(kPiece);
    if (power < 10 * kTwoPoints || like < kLeastLikeness * power) continue;
    const TrnHeard t{static_cast<double>(i) * kStep / 2, like / power, power / kTwoPoints};
    if (!found.empty() && t.t - found.back().t < kRateHz / 2.0) {
      if (t.likeness > found.back().likeness) found.back() = t;
    } else {
      found.push_back(t);
    }
  }
  return found;
}

int nearest_4800(Cf y) {
  int best = 0;
  float least = 1e30f;
  for (int label = 0; label < 4; ++label) {
    const float d = std::norm(y - point(v32::kPoints4800[label]));
    if (d < least) least = d, best = label;
  }
  return best;
}

std::string rates_in_words(const v32::RateSignal& r) {
  std::string words;
  for (int k = 0; k < 5; ++k) {
    if (r.rates >> k & 1) words += (words.empty() ? "" : ", ") + std::to_string(v32::kRates[k].bit_rate);
  }
  return words.empty() ? "cleardown" : words + " bit/s";
}

// One training and what follows it.
class V32Passage {
 public:
  V32Passage(const Baseband& line, const Baseband* other, bool answer, double end)
      : receiver_(line, other, kSymbolRateHz, 700), answer_(answer), end_(end) {}

  // @return whether the equaliser could be fitted
  bool fit(double t) {
    const std::vector<int> labels = trn_labels(answer_, kLeastTrn);
    std::vector<Cf> known;
    for (const int label : labels) known.push_back(point(v32::kPoints4800[label]));
    // The matched symbol may be a neighbour of the one that the channel's main cursor makes.
    fit_error_ = receiver_.fit(t, known);
    trn_t_ = t;
    return fit_error_ < kGoodFit;
  }

  void follow(Fallback::Side& side) {
    read_training();
    const auto at = [](double samples) { return samples / kRateHz; };
    side.signals.push_back({at(trn_t_ - 272 * kStep), at(trn_t_ - 16 * kStep), "S"});
    side.signals.push_back({at(trn_t_), at(trn_end_), "TRN"});
    side.clock_ppm = (kStep / receiver_.state.step - 1) * 1e6;
    side.frequency_offset_hz = receiver_.state.turn * kSymbolRateHz / (2 * std::numbers::pi);
    for (const Heard& h : rate_signals_) {
      side.signals.push_back({at(h.t), h.t_end > h.t ? at(h.t_end) : 0,
                              std::string(h.signal.end ? "E: " : "rate signal: ") + rates_in_words(h.signal)});
    }
    if (!rate_signals_.empty() && rate_signals_.back().signal.end) read_data(rate_signals_.back().signal, side);
  }

  bool v32bis() const { return !rate_signals_.empty() && rate_signals_.front().signal.v32bis; }

 private:
  struct Heard {
    double t, t_end;
    v32::RateSignal signal;
  };

  // TRN to its end, then rate signals up to E or until the signal is gone.
  void read_training() {
    const std::vector<int> trn = trn_labels(answer_, kMostTrn + 64);
    v34::Descrambler descrambler(scrambling(answer_));
    std::uint16_t bits = 0;
    int bits_since = 0, before = 0;
    std::size_t others = 0, symbol = 0, limit = kMostTrn + 4 * 2400;
    bool in_trn = true;
    double error = 0;
    trn_end_ = trn_t_;
    for (; receiver_.state.t < end_ && symbol < limit; ++symbol) {
      const double t = receiver_.state.t;
      const Cf y = receiver_.equalise();
      const bool known = in_trn && symbol < kLeastTrn;
      const int label = known ? trn[symbol] : nearest_4800(y);
      const Cf decided = point(v32::kPoints4800[label]);
      error += 0.02 * (std::norm(y - decided) / 10 - error);
      receiver_.decided(decided, 0.002f);
      if (in_trn) {
        others = symbol < trn.size() && label == trn[symbol] ? 0 : others + 1;
        if (others == 0) trn_end_ = t;
        // The rate signal shares dibits with TRN by chance: three in a row that differ are its beginning.
        if (symbol >= kLeastTrn && others == 3) {
          in_trn = false;
          limit = symbol + 4 * 2400;
        }
      } else if (error > 0.4) {
        break;  // silence, or another signal
      }
      // The descrambler needs 23 bits; by the time of R it has had them.
      const int q = v32::undo(v32::differential_4800, label, before);
      const int first = descrambler.descramble(known || in_trn ? label >> 1 : q >> 1);
      const int second = descrambler.descramble(known || in_trn ? label & 1 : q & 1);
      before = label;
      if (in_trn) continue;
      for (const int bit : {first, second}) {
        bits = static_cast<std::uint16_t>(bits >> 1 | bit << 15);  // the first in time lowest
        ++bits_since;
        v32::RateSignal r;
        if (bits_since < 16 || !v32::RateSignal::decode(bits, &r)) continue;
        if (r.rates == 0 && !r.end) continue;
        if (!accept(r, t)) continue;
        bits_since = 0;
        if (r.end) {
          last_label_ = label;
          return;
        }
      }
    }
  }

  // Two alike in a row make a rate signal; E is believed after one, if it names one rate of it.
  bool accept(const v32::RateSignal& r, double t) {
    if (r.end) {
      if (rate_signals_.empty()) return false;
      rate_signals_.push_back({t, 0, r});
      return true;
    }
    if (r.rates == candidate_ && !rate_signals_.empty() && rate_signals_.back().signal.rates == r.rates) {
      rate_signals_.back().t_end = t;
    } else if (r.rates == candidate_) {
      rate_signals_.push_back({t - 15 * kStep, t, r});
    }
    candidate_ = r.rates;
    return true;
  }

  void read_data(const v32::RateSignal& e, Fallback::Side& side) {
    const v32::Rate* rate = nullptr;
    for (int k = 0; k < 5; ++k) {
      if ((e.rates & 31) == 1 << k) rate = &v32::kRates[k];
    }
    if (rate == nullptr) return;
    receiver_.scale(rate->scale);
    DataHeard d;
    d.parameters.bit_rate = rate->bit_rate;
    d.t0 = receiver_.state.t / kRateHz;
    v34::Descrambler descrambler(scrambling(answer_));
    v32::ViterbiDecoder decoder(*rate);
    const int uncoded = rate->bits - 2;
    int before = last_label_;
    const auto take = [&](int label) {
      const int now = rate->bits == 2 ? label : label >> uncoded & 3;
      const int q =
          rate->bits == 2 ? v32::undo(v32::differential_4800, now, before) : v32::undo(v32::differential, now, before);
      before = now;
      const int value = q << uncoded | (label & ((1 << uncoded) - 1));
      for (int b = rate->bits - 1; b >= 0; --b) {
        d.bits.push_back(static_cast<std::uint8_t>(descrambler.descramble(value >> b & 1)));
      }
    };
    const double power = 10.0 * rate->scale * rate->scale;
    double error = 0, all = 0;
    std::size_t n = 0;
    for (; receiver_.state.t < end_; ++n) {
      const Cf y = receiver_.equalise();
      int newest = 0;
      if (rate->bits == 2) {
        newest = nearest_4800(y);
        take(newest);
      } else {
        const int label = decoder.put({y.real(), y.imag()});
        newest = decoder.newest();
        if (label >= 0) take(label);
      }
      const Cf decided = point(rate->points[newest]);
      error += 0.01 * (std::norm(y - decided) / power - error);
      all += std::norm(y - decided);
      if (n % 240 == 0) {
        d.times.emplace_back(receiver_.state.t / kRateHz, d.bits.size());
        d.snr_track.emplace_back(receiver_.state.t / kRateHz, -10 * std::log10(std::max(error, 1e-6)));
      }
      if (n % 16 == 0 && d.constellation.size() < 4000) d.constellation.push_back(y);
      receiver_.decided(decided, 0.001f);
      if (n > 240 && error > kLost / rate->count) break;  // a retrain, a renegotiation, or the end
    }
    if (rate->bits > 2) {
      int rest[v32::ViterbiDecoder::kDepth];
      const int left = decoder.finish(rest);
      for (int k = 0; k < left; ++k) take(rest[k]);
    }
    d.t1 = receiver_.state.t / kRateHz;
    d.snr_db = n == 0 ? 0 : 10 * std::log10(power * static_cast<double>(n) / std::max(all, 1e-9));
    side.data.push_back(std::move(d));
    side.links.push_back(read_link(side.data.back()));
  }

  static constexpr double kLost = 0.6;  // mean square error of random symbols: about 2/3 of a point's cell

  SymbolReceiver receiver_;
  bool answer_;
  double end_;
  double fit_error_ = 1, trn_t_ = 0, trn_end_ = 0;
  int candidate_ = -1;
  int last_label_ = 0;
  std::vector<Heard> rate_signals_;
};

}  // namespace

Fallback find_v32bis(const Recording& recording) {
  Fallback found;
  std::vector<std::unique_ptr<Baseband>> bands;
  for (const auto& x : recording.channel) bands.push_back(std::make_unique<Baseband>(x, kCarrierHz, kSymbolRateHz));
  bool bis = false;
  for (const bool answer : {false, true}) {
    Fallback::Side& side = answer ? found.answer : found.call;
    // An echo trains as well as the signal itself: the channel where it is loudest.
    std::vector<TrnHeard> trainings;
    for (std::size_t c = 0; c < bands.size(); ++c) {
      const std::vector<TrnHeard> here = find_trn(*bands[c], answer);
      if (here.empty()) continue;
      if (trainings.empty() || here.front().power > trainings.front().power) {
        trainings = here;
        side.channel = static_cast<int>(c);
      }
    }
    if (side.channel < 0) continue;
    side.carrier_hz = static_cast<int>(kCarrierHz);
    const auto own = static_cast<std::size_t>(side.channel);
    const Baseband* other = bands.size() == 2 ? bands[1 - own].get() : nullptr;
    bool any = false;
    for (std::size_t k = 0; k < trainings.size(); ++k) {
      const double end =
          k + 1 < trainings.size() ? trainings[k + 1].t - 272 * kStep : static_cast<double>(bands[own]->size());
      V32Passage passage(*bands[own], other, answer, end);
      if (!passage.fit(trainings[k].t)) continue;
      passage.follow(side);
      bis = bis || passage.v32bis();
      any = true;
    }
    if (!any) side = {};
  }
  if (found.call.channel < 0 && found.answer.channel < 0) return {};
  found.modulation = bis ? "V.32bis" : "V.32";
  for (std::size_t k = 0; k < std::min(found.call.links.size(), found.answer.links.size()); ++k) {
    uncompress(found.call.links[k], found.answer.links[k]);
  }
  return found;
}

}  // namespace offhook::decode
