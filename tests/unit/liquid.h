// SPDX-License-Identifier: MIT
//
// liquid-dsp, the independent reference of some tests; the product does not know it.
#pragma once

// clang-format off
#include <algorithm>
#include <cmath>
#include <complex>  // before liquid.h, which then takes std::complex
#include <vector>
#include <liquid/liquid.h>
// clang-format on

namespace offhook::test {

/// liquid's signal points of the scheme, by its own labels; unit mean power.
inline std::vector<std::complex<float>> liquid_points(modulation_scheme scheme) {
  modemcf modem = modemcf_create(scheme);
  std::vector<std::complex<float>> points(std::size_t{1} << modemcf_get_bps(modem));
  for (unsigned label = 0; label < points.size(); ++label) modemcf_modulate(modem, label, &points[label]);
  modemcf_destroy(modem);
  return points;
}

/// The largest distance of a point of `ours`, in units of its RMS, from the nearest point of liquid's.
/// @param scale  from ours to liquid's units
inline float farthest(const std::vector<std::complex<float>>& ours, const std::vector<std::complex<float>>& liquid,
                      std::complex<float> scale) {
  float worst = 0;
  for (const std::complex<float> p : ours) {
    float nearest = 1e9f;
    for (const std::complex<float> q : liquid) nearest = std::min(nearest, std::abs(p * scale - q));
    worst = std::max(worst, nearest);
  }
  return worst;
}

/// Complex gain of y relative to x = exp(2 pi i turns k): a mean over all of y.
template <class Sample>
std::complex<double> gain_at(const std::vector<Sample>& y, double turns, std::size_t from) {
  std::complex<double> sum = 0;
  for (std::size_t k = from; k < y.size(); ++k) {
    sum += std::complex<double>(y[k]) * std::polar(1.0, -2 * M_PI * std::fmod(turns * static_cast<double>(k), 1.0));
  }
  return sum / static_cast<double>(y.size() - from);
}

}  // namespace offhook::test
