// SPDX-License-Identifier: MIT
#include "src/decode/v34/second_reading.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "src/decode/v34/known_symbols.h"
#include "src/decode/v34/likely_sequence.h"

namespace offhook::decode {
namespace {

// Energies in variances of the errors.
constexpr double kLoud = 8;                   // of a symbol that a pulse may have spoilt
constexpr double kMuch = 1.5;                 // a symbol, around a pulse: of noise alone it is 1
constexpr double kNoiseLeft = 1.25;           // the same, if it may be noise alone
constexpr std::size_t kSymbolsASearch = 128;  // of all symbols, to bound the time
constexpr int kTakings = 4;                   // searches for pulses, each with better decisions

class SecondReader {
 public:
  SecondReader(std::span<const EqualisedSymbol> symbols, const v34::DataParameters& p, const v34::EncoderStart& start,
               double carrier_hz)
      : symbols_(symbols.first(symbols.size() / kFrame * kFrame)),
        parameters_(p),
        start_(start),
        nonlinear_(p.nonlinear ? v34::kNonlinearTheta : 0.f, p.mean_energy()),
        shape_(symbols_, carrier_hz),
        taken_off_(symbols_.size()),
        sent_(symbols_.size()),
        errors_(symbols_.size()) {
    v34::FramePosition frame(p.coding.framing);
    for (int k = 0; k < start.frame; ++k) frame.advance();
    for (std::size_t k = 0; k < symbols_.size(); k += kFrame) {
      frames_.push_back(frame);
      frame.advance();
    }
  }

  SecondReading plain() {
    decode(0);
    return result(0);
  }

  // @param begun  plain reading of these symbols, or of more
  SecondReading without_pulses(const SecondReading& begun) {
    likely_.points = begun.points;
    likely_.states = begun.states;
    // Symbols behind the last one have influenced the last decisions.
    constexpr std::size_t kTail = 64 * kFrame;
    const bool more = begun.points.size() > symbols_.size();
    decode(more ? symbols_.size() - std::min(symbols_.size(), kTail) : symbols_.size());
    std::size_t pulses = 0;
    for (int k = 0; k < kTakings; ++k) {
      pulses = take_pulses_off(k > 0);
      if (pulses == 0 && k == 0) break;
      const std::vector<v34::Point> before = likely_.points;
      decode(0);
      if (likely_.points == before) break;
    }
    return result(pulses);
  }

 private:
  static constexpr std::size_t kFrame = v34::kSymbolsPerMappingFrame;

  // Symbols [first, last), whole pairs.
  struct Window {
    std::size_t first, last;
    std::size_t size() const { return last - first; }
  };

  TrellisPlace place(std::size_t symbol, int state) const {
    return {frames_[symbol / kFrame], static_cast<int>(symbol % kFrame / 2), state};
  }

  SecondReading result(std::size_t pulses) {
    SecondReading r;
    r.pulses = pulses;
    for (std::size_t k = 0; k < y_.size(); ++k) r.squared.push_back(std::norm(y_[k] - to_cf(likely_.points[k])));
    r.points = std::move(likely_.points);
    r.states = std::move(likely_.states);
    return r;
  }

  // @param known  symbols, whole mapping frames, whose points likely_ has
  void decode(std::size_t known) {
    y_ = whitened({0, symbols_.size()}, [&](std::size_t k) { return taken_off_[k]; });
    likely_.points.resize(known);
    const int state = known == 0 || known == symbols_.size() ? start_.trellis_state : likely_.states[known / 2];
    likely_.states.resize(known / 2);
    if (known < symbols_.size()) {
      const LikelySequence rest =
          likely_sequence(std::span(y_).subspan(known), parameters_.coding.trellis, place(known, state));
      likely_.points.insert(likely_.points.end(), rest.points.begin(), rest.points.end());
      likely_.states.insert(likely_.states.end(), rest.states.begin(), rest.states.end());
    }
    for (std::size_t k = 0; k < symbols_.size(); ++k) decide(k, likely_.points[k]);
  }

  // The output of the whitening filter after `taken_off(symbol)` is subtracted.
  template <class TakenOff>
  std::vector<Cf> whitened(const Window& window, const TakenOff& taken_off) const {
    constexpr std::size_t kMemory = 3;
    std::vector<Cf> y;
    WhiteningFilter filter(parameters_.coding.precoder);
    for (std::size_t k = window.first - std::min(window.first, kMemory); k < window.last; ++k) {
      const Cf out = symbols_[k].out - taken_off(k);
      float re = out.real(), im = out.imag();
      nonlinear_.decode(&re, &im);
      const Cf v = filter.put({re, im});
      if (k >= window.first) y.push_back(v);
    }
    return y;
  }

  // The precoder's output if this point is right and those before are, and the remaining error, including
  // pulses.
  void decide(std::size_t k, v34::Point point) {
    Cf x = to_cf(point);
    for (std::size_t i = 0; i < std::min<std::size_t>(3, k); ++i) {
      const auto& h = parameters_.coding.precoder.h[i];
      x -= times(Cf(h.re, h.im) / 16384.f, sent_[k - 1 - i]);
    }
    sent_[k] = x;
    float re = x.real(), im = x.imag();
    nonlinear_.encode(&re, &im);
    errors_[k] = symbols_[k].out - Cf(re, im);
  }

  // The symbols of stretches longer than a pulse whose points are mostly guesses: the signal was away, or loud noise
  // came. They are not pulses, and a pulse subtracted at their edge would spoil good points.
  std::vector<bool> guessed() const {
    constexpr std::size_t kStretch = 4 * (PulseShape::kBefore + PulseShape::kAfter + 1);
    const double most = (variance_ + kGuessSquared) / 2 * kStretch;
    std::vector<bool> all(y_.size());
    double sum = 0;
    for (std::size_t k = 0; k < y_.size(); ++k) {
      sum += std::norm(y_[k] - to_cf(likely_.points[k]));
      if (k < kStretch) continue;
      sum -= std::norm(y_[k - kStretch] - to_cf(likely_.points[k - kStretch]));
      if (sum > most) std::fill_n(all.begin() + static_cast<std::ptrdiff_t>(k + 1 - kStretch), kStretch, true);
    }
    return all;
  }

  // @param again  only if there is more than noise  @return how many
  std::size_t take_pulses_off(bool again) {
    std::vector<double> squared;
    for (const Cf e : errors_) squared.push_back(std::norm(e));
    variance_ = median(std::move(squared)) / std::log(2.0);  // rare pulses do not move it
    if (variance_ > kUnsureSquared) return 0;                // they would be lost in it
    std::vector<std::size_t> loud = PulseShape::loudest(errors_, kLoud * variance_);
    const std::vector<bool> guesses = guessed();
    std::erase_if(loud, [&](std::size_t symbol) { return guesses[symbol]; });
    std::fill(taken_off_.begin(), taken_off_.end(), Cf{});
    if (!shape_.learn(errors_, loud, variance_)) return 0;
    std::size_t count = 0;
    for (const std::size_t symbol : loud) {
      const PulseShape::Fit found = pulse_at(symbol, again);
      if (found.gain < PulseShape::kLeastGain) continue;
      ++count;
      for (int m = -PulseShape::kBefore; m <= PulseShape::kAfter; ++m)
        taken_off_[PulseShape::beside(found.pulse.symbol, m)] += shape_.added(found.pulse, m);
    }
    return count;
  }

  // The pulse near a loud symbol that leaves the least error, with other decisions if necessary.
  PulseShape::Fit pulse_at(std::size_t symbol, bool again) {
    constexpr std::size_t kAround = 14;  // symbols beyond a pulse at which the paths part and join
    const Window window{(symbol - PulseShape::kBefore - kAround) / 2 * 2,
                        std::min((symbol + PulseShape::kAfter + kAround) / 2 * 2, symbols_.size() - 2)};
    const PulseShape::Fit plain = shape_.fit(errors_, symbol);
    const double before = energy(window);
    const auto noise = static_cast<double>(window.size());
    const bool only_noise = before - plain.gain < kNoiseLeft * noise && plain.score > plain.gain;
    if (before < kMuch * noise || (again && only_noise) || searches_ * kSymbolsASearch >= symbols_.size()) return plain;
    ++searches_;
    return other_decisions(window, symbol, plain, before);
  }

  // Tries pulses of all heights and places: each pulse makes other decisions likely, and these make another pulse
  // likely.
  // @param plain  the pulse with the decisions so far  @param before  energy of the errors then, without a pulse
  PulseShape::Fit other_decisions(const Window& window, std::size_t symbol, const PulseShape::Fit& plain,
                                  double before) {
    constexpr int kBeside = 4;  // symbols: with wrong decisions the loudest need not be the pulse's own
    constexpr int kShiftStep = PulseShape::kFine / 8;
    constexpr float kHeightStep = 0.3f;
    constexpr int kLeastHeight = 2, kMostHeight = 11;  // steps
    PulseShape::Fit best = plain;
    double least = before - plain.score;
    const auto in_window = [&](std::vector<Cf>& of) {
      return std::span(of).subspan(window.first, window.last - window.first);
    };
    const auto errors_here = in_window(errors_), sent_here = in_window(sent_);
    const std::vector<Cf> errors(errors_here.begin(), errors_here.end()), sent(sent_here.begin(), sent_here.end());
    std::set<std::vector<std::int16_t>> seen;
    const auto try_one = [&](const Pulse& p) {
      const std::vector<Cf> y = whitened(window, [&](std::size_t k) {
        const auto m = static_cast<std::ptrdiff_t>(k) - static_cast<std::ptrdiff_t>(p.symbol);
        const bool inside = m >= -PulseShape::kBefore && m <= PulseShape::kAfter;
        return inside ? shape_.added(p, static_cast<int>(m)) : Cf{};
      });
      const std::size_t pair = window.first / 2;
      const LikelySequence path =
          likely_sequence(y, parameters_.coding.trellis, place(window.first, likely_.states[pair]),
                          likely_.states[pair + window.size() / 2]);
      std::vector<std::int16_t> key;
      for (const v34::Point q : path.points) key.push_back(q.re), key.push_back(q.im);
      if (!seen.insert(std::move(key)).second) return;
      for (std::size_t k = window.first; k < window.last; ++k) decide(k, path.points[k - window.first]);
      const PulseShape::Fit fit = shape_.fit(errors_, p.symbol);
      const double here = energy(window);
      if (here - fit.score < least) {
        least = here - fit.score;
        best = fit;
        best.gain = before - here + fit.gain;
      }
    };
    for (int beside = -kBeside; beside <= kBeside; ++beside) {
      for (int shift = -PulseShape::kFine / 2; shift < PulseShape::kFine / 2; shift += kShiftStep) {
        for (int steps = kLeastHeight; steps <= kMostHeight; ++steps) {
          const float height = static_cast<float>(steps) * kHeightStep;
          try_one({PulseShape::beside(symbol, beside), shift, height});
          if (!shape_.one_sided()) try_one({PulseShape::beside(symbol, beside), shift, -height});
        }
      }
    }
    std::copy(errors.begin(), errors.end(), errors_here.begin());
    std::copy(sent.begin(), sent.end(), sent_here.begin());
    return best;
  }

  // Energy of the errors, in variances.
  double energy(const Window& window) const {
    double sum = 0;
    for (std::size_t k = window.first; k < window.last; ++k) sum += std::norm(errors_[k]);
    return sum / variance_;
  }

  std::span<const EqualisedSymbol> symbols_;
  const v34::DataParameters& parameters_;
  v34::EncoderStart start_;
  qam::NonlinearEncoder nonlinear_;
  PulseShape shape_;
  std::vector<v34::FramePosition> frames_;
  std::vector<Cf> taken_off_, sent_, errors_, y_;
  LikelySequence likely_;
  double variance_ = 0;
  std::size_t searches_ = 0;
};

}  // namespace

WhiteningFilter::WhiteningFilter(const v34::PrecoderCoefficients& c) {
  for (int k = 0; k < 3; ++k) h_[k] = {static_cast<float>(c.h[k].re) / 16384, static_cast<float>(c.h[k].im) / 16384};
}

Cf WhiteningFilter::put(Cf x) {
  const Cf y = x + h_[0] * x_[0] + h_[1] * x_[1] + h_[2] * x_[2];
  x_[2] = x_[1];
  x_[1] = x_[0];
  x_[0] = x;
  return y;
}

SecondReading read_plainly(std::span<const EqualisedSymbol> symbols, const v34::DataParameters& parameters,
                           const v34::EncoderStart& start) {
  if (symbols.size() < v34::kSymbolsPerMappingFrame) return {};
  return SecondReader(symbols, parameters, start, 0).plain();
}

SecondReading read_without_pulses(std::span<const EqualisedSymbol> symbols, const v34::DataParameters& parameters,
                                  const v34::EncoderStart& start, double carrier_hz, const SecondReading& plain) {
  if (symbols.size() < v34::kSymbolsPerMappingFrame) return {};
  return SecondReader(symbols, parameters, start, carrier_hz).without_pulses(plain);
}

SecondReading SegmentedReading::read(std::span<const EqualisedSymbol> symbols) const {
  const auto here = symbols.first(last() + kBeside);
  return read_without_pulses(here, read_plainly(here));
}

std::size_t SegmentedReading::go_on(const SecondReading& read) {
  const std::size_t gone = last() - kBeside;
  start_.trellis_state = read.states[gone / 2];
  start_.frame += static_cast<int>(gone / v34::kSymbolsPerMappingFrame);
  first_ = kBeside;
  return gone;
}

SecondReading SegmentedReading::read_plainly(std::span<const EqualisedSymbol> symbols) const {
  return decode::read_plainly(symbols, parameters_, start_);
}

SecondReading SegmentedReading::read_without_pulses(std::span<const EqualisedSymbol> symbols,
                                                    const SecondReading& plain) const {
  return decode::read_without_pulses(symbols, parameters_, start_, carrier_hz_, plain);
}

}  // namespace offhook::decode
