// SPDX-License-Identifier: MIT
//
// What the audio pump must send, by definition: the convolution as a sum, the equaliser as difference equations of
// direct form I, both in double.
#pragma once

#include <cmath>
#include <random>
#include <vector>

#include "dsp/audio/convolver.h"
#include "dsp/audio/equaliser.h"

namespace offhook::audio::test {

inline std::vector<float> noise(std::size_t n, unsigned seed, float peak) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> uniform(-peak, peak);
  std::vector<float> x(n);
  for (float& v : x) v = uniform(random);
  return x;
}

/// y[i] = sum over t of taps[t] x[i - t]
inline std::vector<double> convolved(const std::vector<float>& taps, const std::vector<float>& x) {
  std::vector<double> y(x.size());
  for (std::size_t i = 0; i < x.size(); ++i)
    for (std::size_t t = 0; t < taps.size() && t <= i; ++t) y[i] += static_cast<double>(taps[t]) * x[i - t];
  return y;
}

/// Source: Bristow-Johnson, Audio EQ Cookbook, peakingEQ, by libm.
inline std::vector<double> peaked(const std::vector<double>& x, double centre_hz, double rate_hz, double gain_db) {
  const double a = std::pow(10, gain_db / 40), w = 2 * M_PI * centre_hz / rate_hz;
  const double alpha = std::sin(w) / (2 * std::sqrt(2));
  std::vector<double> y(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double x1 = i > 0 ? x[i - 1] : 0, x2 = i > 1 ? x[i - 2] : 0;
    const double y1 = i > 0 ? y[i - 1] : 0, y2 = i > 1 ? y[i - 2] : 0;
    y[i] = ((1 + alpha * a) * x[i] - 2 * std::cos(w) * (x1 - y1) + (1 - alpha * a) * x2 - (1 - alpha / a) * y2) /
           (1 + alpha / a);
  }
  return y;
}

inline std::vector<double> equalised(std::vector<double> x, double rate_hz, const double* gain_db) {
  for (int k = 0; k < Equaliser::kBands; ++k) x = peaked(x, 31.25 * (1 << k), rate_hz, gain_db[k]);
  return x;
}

/// RMS of the difference, relative to the RMS of b.
template <class A>
double difference(const std::vector<A>& a, const std::vector<double>& b) {
  double error = 0, power = 0;
  for (std::size_t i = 0; i < b.size(); ++i) {
    error += (static_cast<double>(a[i]) - b[i]) * (static_cast<double>(a[i]) - b[i]);
    power += b[i] * b[i];
  }
  return std::sqrt(error / power);
}

inline std::vector<float> run(Convolver& convolver, const std::vector<float>& x) {
  std::vector<float> y(x.size());
  const auto step = static_cast<std::size_t>(convolver.partition());
  for (std::size_t i = 0; i + step <= x.size(); i += step) convolver.process(x.data() + i, y.data() + i);
  return y;
}

}  // namespace offhook::audio::test
