// SPDX-License-Identifier: MIT
//
// The units of the whole analysis: samples at 8000 Hz, seconds, complex numbers.
#pragma once

#include <algorithm>
#include <complex>
#include <span>
#include <vector>

namespace offhook::decode {

inline constexpr int kRateHz = 8000;

using Cf = std::complex<float>;
using Cd = std::complex<double>;

template <class Number>
constexpr double seconds(Number samples) {
  return static_cast<double>(samples) / kRateHz;
}

/// The product without the operator's checks for infinities.
template <class T>
constexpr std::complex<T> times(std::complex<T> a, std::complex<T> b) {
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}
/// a times the conjugate of b
template <class T>
constexpr std::complex<T> times_conj(std::complex<T> a, std::complex<T> b) {
  return {a.real() * b.real() + a.imag() * b.imag(), a.imag() * b.real() - a.real() * b.imag()};
}

/// Mean of the squares; 0 of none.
inline double mean_power(std::span<const float> x) {
  double sum = 0;
  for (const float v : x) sum += static_cast<double>(v) * v;
  return x.empty() ? 0 : sum / static_cast<double>(x.size());
}

/// The upper one of two in the middle; 0 of none.
inline double median(std::vector<double> x) {
  if (x.empty()) return 0;
  const auto middle = x.begin() + static_cast<std::ptrdiff_t>(x.size() / 2);
  std::nth_element(x.begin(), middle, x.end());
  return *middle;
}

}  // namespace offhook::decode
