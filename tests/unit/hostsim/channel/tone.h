// SPDX-License-Identifier: MIT
// Sines, and what is measured of them.
#pragma once

#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace offhook::hostsim::test {

inline constexpr double kTwoPi = 6.283185307179586476925;

/// n samples of a sine, beginning with sample `first`.
inline std::vector<std::int16_t> sine(double hz, double peak, std::size_t n, std::size_t first = 0) {
  std::vector<std::int16_t> x(n);
  for (std::size_t i = 0; i < n; ++i)
    x[i] = static_cast<std::int16_t>(
        std::lrint(peak * std::cos(kTwoPi * std::fmod(hz * static_cast<double>(first + i) / 8000, 1.0))));
  return x;
}

/// Amplitude and phase of the cosine of frequency hz in x[first, first + n): a least-squares fit, exact for the exact
/// frequency.
template <class Sample>
std::complex<double> cosine_in(const std::vector<Sample>& x, double hz, std::size_t first, std::size_t n) {
  double cc = 0, cs = 0, ss = 0, xc = 0, xs = 0;
  for (std::size_t i = first; i < first + n; ++i) {
    const double a = kTwoPi * std::fmod(hz * static_cast<double>(i) / 8000, 1.0);
    const double c = std::cos(a), s = std::sin(a), v = static_cast<double>(x[i]);
    cc += c * c, cs += c * s, ss += s * s, xc += v * c, xs += v * s;
  }
  const double det = cc * ss - cs * cs;
  return {(xc * ss - xs * cs) / det, -(xs * cc - xc * cs) / det};
}

/// Power of the rest of x[first, first + n) without the cosine, relative to the cosine's, in dB.
template <class Sample>
double residue_db(const std::vector<Sample>& x, double hz, std::size_t first, std::size_t n) {
  const std::complex<double> z = cosine_in(x, hz, first, n);
  double rest = 0;
  for (std::size_t i = first; i < first + n; ++i) {
    const double a = kTwoPi * std::fmod(hz * static_cast<double>(i) / 8000, 1.0);
    const double d = static_cast<double>(x[i]) - z.real() * std::cos(a) + z.imag() * std::sin(a);
    rest += d * d;
  }
  return 10 * std::log10(rest / static_cast<double>(n) / (std::norm(z) / 2));
}

inline double db(double ratio) {
  return 20 * std::log10(ratio);
}

}  // namespace offhook::hostsim::test
