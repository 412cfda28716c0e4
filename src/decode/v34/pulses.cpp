// SPDX-License-Identifier: MIT
#include "src/decode/v34/pulses.h"

#include <algorithm>
#include <cmath>

#include "dsp/blocks/sincos.h"

namespace offhook::decode {

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

// How the envelope of a pulse is turned at a symbol beside its own.
Cf PulseShape::turn(std::size_t symbol, int shift, int m) const {
  const double middle = symbols_[symbol].t + samples_a_symbol_ * shift / kFine;
  const double phase = radians_a_sample_ * middle + symbols_[beside(symbol, m)].phase;
  return Cf(std::polar(1.0, -std::remainder(phase, 2 * kPi)));
}

Cf PulseShape::added(const Pulse& p, int m) const {
  return p.height * times(at(m * kFine - p.shift), turn(p.symbol, p.shift, m));
}

PulseShape::Fit PulseShape::fit(std::span<const Cf> errors, std::size_t symbol) const {
  Fit best;
  best.pulse.symbol = symbol;
  for (int shift = -kReach; shift <= kReach; ++shift) {
    const Pulse unit{symbol, shift, 1};
    double dot = 0, energy = 1e-12;
    for (int m = -kBefore; m <= kAfter; ++m) {
      const Cf h = added(unit, m);
      dot += times_conj(errors[beside(symbol, m)], h).real();
      energy += std::norm(h);
    }
    if (one_sided_ && dot < 0) continue;
    if (const double gain = dot * dot / energy; gain > best.gain)
      best = {{symbol, shift, static_cast<float>(dot / energy)}, gain};
  }
  return best;
}

// The errors around a pulse as its envelope, times its height.
void PulseShape::add_to(std::vector<Cf>& shape, std::span<const Cf> errors, const Pulse& p) const {
  for (int m = -kWide - kBefore; m <= kWide + kAfter; ++m) {
    const Cf e = p.height * times_conj(errors[beside(p.symbol, m)], turn(p.symbol, p.shift, m));
    const int first = (m - kWide) * kFine - p.shift;
    for (int step = std::max(kLow, first); step <= std::min(kHigh, first + 2 * kWide * kFine); ++step)
      at(shape, step) += sinc_[static_cast<std::size_t>(step - first)] * e;
  }
}

bool PulseShape::learn(std::span<const Cf> errors, std::span<const std::size_t> loud, double least_gain) {
  constexpr std::size_t kLeastPulses = 6, kMostPulses = 60;
  constexpr int kRounds = 8;
  constexpr double kLeastExcess = 0.1;
  constexpr double kAgainst = 0.15;  // of the pulses, the other way up, where all go one way
  loud = loud.first(std::min(loud.size(), kMostPulses));
  if (loud.size() < kLeastPulses) return false;
  one_sided_ = false;
  std::fill(shape_.begin(), shape_.end(), Cf{});
  add_to(shape_, errors, {loud[0], 0, 1});
  for (int round = 0; round < kRounds; ++round) {
    std::vector<Cf> next(shape_.size());
    std::vector<double> heights;
    float squared = 0;
    for (const std::size_t symbol : loud) {
      const Fit f = fit(errors, symbol);
      if (f.gain < least_gain) continue;
      add_to(next, errors, f.pulse);
      heights.push_back(f.pulse.height);
      squared += f.pulse.height * f.pulse.height;
    }
    if (heights.size() < kLeastPulses) return false;
    // The middle one of the heights shall be 1.
    const double middle = median(heights);
    for (Cf& v : next) v *= static_cast<float>(middle) / squared;
    shape_ = std::move(next);
    double sum = 0, least = std::abs(middle);
    for (const double h : heights) sum += std::abs(h), least = std::min(least, std::abs(h));
    mean_excess_ = std::max((sum / static_cast<double>(heights.size()) - least) / std::abs(middle), kLeastExcess);
    const auto against = std::count_if(heights.begin(), heights.end(), [&](double h) { return h * middle < 0; });
    one_sided_ = static_cast<double>(against) <= kAgainst * static_cast<double>(heights.size());
  }
  return true;
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
