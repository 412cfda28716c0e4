// SPDX-License-Identifier: MIT
#include "src/decode/v34/pulses.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>

#include "dsp/blocks/sincos.h"

namespace offhook::decode {
namespace {

constexpr std::size_t place(int k) {
  return static_cast<std::size_t>(k);
}

}  // namespace

PulseShape::PulseShape(std::span<const EqualisedSymbol> symbols, double carrier_hz)
    : symbols_(symbols),
      radians_a_sample_(2 * kPi * carrier_hz / kRateHz),
      samples_a_symbol_((symbols.back().t - symbols.front().t) / static_cast<double>(symbols.size() - 1)),
      shape_(kHigh - kLow + 1) {
  for (int k = 0; k <= 2 * kWide * kFine; ++k) {
    const double x = static_cast<double>(k) / kFine - kWide;
    const double window = 0.5 + 0.5 * std::cos(kPi * x / (kWide + 1));
    sinc_.push_back(static_cast<float>((x == 0 ? 1 : std::sin(kPi * x) / (kPi * x)) * window));
  }
}

Cf PulseShape::added(const Pulse& p, int m) const {
  const Cf back = times(carrier_at(p.symbol, p.shift), Cf(std::polar(1.0, symbols_[beside(p.symbol, m)].phase)));
  return p.height * times_conj(at(m * kFine - p.shift), back);
}

PulseShape::Fit PulseShape::fit(std::span<const Cf> errors, std::size_t symbol) const {
  // Both without the turning that the receiver did.
  std::array<Cf, kBefore + 1 + kAfter> left;
  for (int m = -kBefore; m <= kAfter; ++m) left[place(m + kBefore)] = unturned(errors, symbol, m);
  const Signal signal = signal_around(errors, symbol);
  Fit best;
  best.pulse.symbol = symbol;
  best.score = std::numeric_limits<double>::lowest();
  for (int shift = -kReach; shift <= kReach; ++shift) {
    Cf likeness;
    float energy = 1e-12f;
    for (int m = -kBefore; m <= kAfter; ++m) {
      const Cf h = at(m * kFine - shift);
      likeness += times_conj(left[place(m + kBefore)], h);
      energy += std::norm(h);
    }
    const Cf turned = carrier_at(symbol, shift);
    const float dot = times(likeness, turned).real();
    if (one_sided_ && dot < 0) continue;
    const Pulse pulse{symbol, shift, dot / energy};
    const double gain = static_cast<double>(dot) * dot / energy / variance_;
    const double score = gain - surprise(pulse, times(signal_at(signal, shift), turned));
    if (score > best.score) best = {pulse, gain, score};
  }
  return best;
}

Cf PulseShape::carrier_at(std::size_t symbol, int shift) const {
  const double phase = radians_a_sample_ * (symbols_[symbol].t + samples_a_symbol_ * shift / kFine);
  return Cf(std::polar(1.0, std::remainder(phase, 2 * kPi)));
}

Cf PulseShape::unturned(std::span<const Cf> x, std::size_t symbol, int m) const {
  const std::size_t k = beside(symbol, m);
  return times(x[k], Cf(std::polar(1.0, symbols_[k].phase)));
}

PulseShape::Signal PulseShape::signal_around(std::span<const Cf> errors, std::size_t symbol) const {
  Signal around;
  for (int m = -kWide; m <= kWide; ++m) {
    const std::size_t k = beside(symbol, m);
    around[place(m + kWide)] =
        times(symbols_[k].out - errors[k], Cf(std::polar(1 / std::sqrt(mean_square_), symbols_[k].phase)));
  }
  return around;
}

Cf PulseShape::signal_at(const Signal& around, int shift) const {
  Cf sum;
  for (int m = -kWide; m <= kWide; ++m) {
    const int step = (m + kWide) * kFine - shift;
    if (step < 0 || step > 2 * kWide * kFine) continue;
    sum += sinc_[static_cast<std::size_t>(step)] * around[place(m + kWide)];
  }
  return sum;
}

// Minus the logarithm of a pulse's likelihood, except for a constant: high ones are rare, and most come where the
// sender's waveform is alike. @param signal  without errors, at the pulse's place; its real part is the line's
double PulseShape::surprise(const Pulse& p, Cf signal) const {
  const double high = std::abs(p.height) / mean_excess_;
  return alike_ == 0 ? high : high - std::log(alike(p.height < 0 ? -signal : signal) + 1 - alike_);
}

// Ratio of the frequency of pulses at this place to that at a random place, for pulses that occur at similar places.
double PulseShape::alike(Cf signal) const {
  constexpr double kMost = 30;  // e to this is enough
  const double more = std::norm(signal) - std::norm(signal - middle_) / spread_;
  return alike_ / spread_ * std::exp(std::min(more, kMost));
}

// Some pulses occur at similar places; the others, and wrongly estimated places, are anywhere.
void PulseShape::learn_place(std::span<const Cf> errors, std::span<const Pulse> pulses) {
  constexpr int kRounds = 12;
  constexpr double kLeastSpread = 0.05, kMostAlike = 0.95;
  std::vector<Cf> signals;
  middle_ = {};
  for (const Pulse& p : pulses) {
    const Cf signal = times(signal_at(signal_around(errors, p.symbol), p.shift), carrier_at(p.symbol, p.shift));
    signals.push_back(p.height < 0 ? -signal : signal);
    middle_ += signals.back() / static_cast<float>(pulses.size());
  }
  alike_ = spread_ = 0.5;
  for (int round = 0; round < kRounds; ++round) {
    double weight = 1e-6, around = 0;
    Cd sum;
    for (const Cf signal : signals) {
      const double here = alike(signal), share = here / (here + 1 - alike_);
      weight += share;
      sum += share * Cd(signal);
      around += share * std::norm(signal - middle_);
    }
    middle_ = Cf(sum / weight);
    spread_ = std::clamp(around / weight, kLeastSpread, 1.0);
    alike_ = std::min(weight / static_cast<double>(signals.size()), kMostAlike);
  }
}

// The errors around a pulse as its envelope, times its height.
void PulseShape::add_to(std::vector<Cf>& shape, std::span<const Cf> errors, const Pulse& p) const {
  const Cf carrier = carrier_at(p.symbol, p.shift);
  for (int m = -kWide - kBefore; m <= kWide + kAfter; ++m) {
    const Cf e = p.height * times(unturned(errors, p.symbol, m), carrier);
    const int first = (m - kWide) * kFine - p.shift;
    for (int step = std::max(kLow, first); step <= std::min(kHigh, first + 2 * kWide * kFine); ++step)
      at(shape, step) += sinc_[static_cast<std::size_t>(step - first)] * e;
  }
}

bool PulseShape::learn(std::span<const Cf> errors, std::span<const std::size_t> loud, double variance) {
  constexpr std::size_t kMostPulses = 60, kFirstOnes = 5;
  constexpr double kOneSided = 1.5;  // of pulses both ways half would be found, and with it most is
  loud = loud.first(std::min(loud.size(), kMostPulses));
  variance_ = variance;
  mean_square_ = 1e-9;
  for (std::size_t k = 0; k < errors.size(); ++k)
    mean_square_ += std::norm(symbols_[k].out - errors[k]) / static_cast<double>(errors.size());
  // Which of them it begins with decides how well all of them lie upon each other: half a period of the carrier off and
  // the other way up, a pulse is much like itself.
  std::optional<PulseShape> best;
  double most = 0;
  for (const std::size_t first : loud.first(std::min(loud.size(), kFirstOnes))) {
    for (const bool one_sided : {true, false}) {
      PulseShape tried = *this;
      tried.one_sided_ = one_sided;
      const double score = (one_sided ? kOneSided : 1) * tried.learn_from(first, errors, loud);
      if (score > most) most = score, best = std::move(tried);
    }
  }
  if (best) *this = std::move(*best);
  return most > 0;
}

// @return the gain of all, in variances, or 0
double PulseShape::learn_from(std::size_t first, std::span<const Cf> errors, std::span<const std::size_t> loud) {
  constexpr std::size_t kLeastPulses = 6;
  constexpr int kRounds = 10;
  constexpr double kLeastExcess = 0.1;
  alike_ = 0;
  mean_excess_ = 1;
  std::fill(shape_.begin(), shape_.end(), Cf{});
  add_to(shape_, errors, {first, 0, 1});
  double score = 0;
  for (int round = 0; round < kRounds; ++round) {
    std::vector<Cf> next(shape_.size());
    std::vector<Pulse> pulses;
    std::vector<double> heights;
    float squared = 0;
    score = 0;
    for (const std::size_t symbol : loud) {
      const Fit f = fit(errors, symbol);
      if (f.gain < kLeastGain) continue;
      add_to(next, errors, f.pulse);
      pulses.push_back(f.pulse);
      heights.push_back(f.pulse.height);
      squared += f.pulse.height * f.pulse.height;
      score += f.score;
    }
    if (pulses.size() < kLeastPulses) return 0;
    // Scale the middle one of the heights to 1.
    const double middle = median(heights);
    for (Cf& v : next) v *= static_cast<float>(middle) / squared;
    shape_ = std::move(next);
    double sum = 0, least = std::abs(middle);
    for (Pulse& p : pulses) {
      p.height /= static_cast<float>(middle);
      sum += std::abs(p.height);
      least = std::min<double>(least, std::abs(p.height));
    }
    const auto n = static_cast<double>(pulses.size());
    mean_excess_ = std::max(sum / n - least, kLeastExcess);
    learn_place(errors, pulses);
  }
  return score;
}

std::vector<std::size_t> PulseShape::loudest(std::span<const Cf> errors, double more_than) {
  std::vector<std::size_t> loud, kept;
  for (std::size_t k = kMargin; k + kMargin < errors.size(); ++k) {
    if (std::norm(errors[k]) > more_than) loud.push_back(k);
  }
  std::sort(loud.begin(), loud.end(), [&](auto a, auto b) { return std::norm(errors[a]) > std::norm(errors[b]); });
  for (const std::size_t k : loud) {
    const bool apart = std::all_of(kept.begin(), kept.end(), [&](std::size_t other) {
      return std::max(k, other) - std::min(k, other) > kBefore + kAfter;
    });
    if (apart) kept.push_back(k);
  }
  return kept;
}

}  // namespace offhook::decode
