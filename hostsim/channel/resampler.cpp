// SPDX-License-Identifier: MIT
#include "hostsim/channel/resampler.h"

#include <algorithm>
#include <cmath>
#include <memory>

#include "dsp/blocks/sincos.h"
#include "hostsim/channel/vector.h"

namespace offhook::hostsim {
namespace {

constexpr std::size_t kPhases = 256;
constexpr std::size_t kTaps = Resampler::kTaps;
constexpr std::size_t kKeep = kTaps + 32;  // samples that the next outputs may still need

/// Row p has the taps, oldest sample first, for an output p/kPhases after the middle of the taps.
struct Table {
  alignas(32) float row[kPhases + 1][kTaps];
};

/// Modified Bessel function of order 0, by its power series.
double bessel_i0(double x) {
  double sum = 1;
  double term = 1;
  for (int k = 1; k < 60; ++k) {
    term *= (x / (2 * k)) * (x / (2 * k));
    sum += term;
  }
  return sum;
}

const Table& table() {
  static const std::unique_ptr<const Table> instance = [] {
    constexpr double kBeta = 7.857;  // Kaiser's formula for 80 dB: 0.1102 (80 - 8.7)
    constexpr double kHalf = kTaps / 2.0;
    auto t = std::make_unique<Table>();
    for (std::size_t p = 0; p <= kPhases; ++p) {
      double sum = 0;
      double row[kTaps];
      for (std::size_t k = 0; k < kTaps; ++k) {
        // Tap k weights the sample at k - (kHalf - 1); the output is at p / kPhases.
        const double x = static_cast<double>(k) - (kHalf - 1) - static_cast<double>(p) / kPhases;
        const double window =
            bessel_i0(kBeta * std::sqrt(std::max(0.0, 1 - x * x / (kHalf * kHalf)))) / bessel_i0(kBeta);
        row[k] = (x == 0 ? 1 : sincos_turns(x / 2).sin / (kPi * x)) * window;
        sum += row[k];
      }
      for (std::size_t k = 0; k < kTaps; ++k) t->row[p][k] = static_cast<float>(row[k] / sum);
    }
    return t;
  }();
  return *instance;
}

/// @param position  in phases
float interpolated(const float* x, double position) {
  const auto phase = std::min(static_cast<std::size_t>(position), kPhases - 1);
  const auto between = static_cast<float>(position - static_cast<double>(phase));
  const float a = dot(table().row[phase], x, kTaps);
  const float b = dot(table().row[phase + 1], x, kTaps);
  return a + between * (b - a);
}

}  // namespace

Resampler::Resampler(std::uint64_t numerator, std::uint64_t denominator)
    : numerator_(numerator), denominator_(denominator), end_(kKeep) {
  table();
}

void Resampler::push(float x) {
  if (end_ == kBuffer) {
    std::copy(buffer_.end() - kKeep, buffer_.end(), buffer_.begin());
    end_ = kKeep;
  }
  buffer_[end_++] = x;
  ++pushed_;
}

float Resampler::pull() {
  // The output is kDelay before `whole_`. Its newest tap is for sample whole_, its oldest for whole_ - kTaps + 1.
  const std::size_t newest = end_ - static_cast<std::size_t>(pushed_ - whole_);
  const float* x = &buffer_[newest + 1 - kTaps];
  if (numerator_ == denominator_) {  // equal clocks: outputs are exactly at samples
    ++whole_;
    return x[kTaps - 1 - kDelay];
  }
  const float y = interpolated(x, static_cast<double>(fraction_) * kPhases / static_cast<double>(denominator_));
  fraction_ += numerator_;
  while (fraction_ >= denominator_) {
    fraction_ -= denominator_;
    ++whole_;
  }
  return y;
}

float Resampler::between(const float* x, double fraction) {
  return interpolated(x, fraction * kPhases);
}

}  // namespace offhook::hostsim
