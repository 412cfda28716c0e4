// SPDX-License-Identifier: MIT
//
// A complex number without <complex>, which needs an OS; and freestanding replacements for libm.
#pragma once

#include "dsp/blocks/sincos.h"

namespace offhook {

struct Complex {
  float re = 0;
  float im = 0;
  friend constexpr bool operator==(const Complex&, const Complex&) = default;
};

constexpr Complex operator+(Complex a, Complex b) {
  return {a.re + b.re, a.im + b.im};
}
constexpr Complex operator-(Complex a, Complex b) {
  return {a.re - b.re, a.im - b.im};
}
constexpr Complex operator*(Complex a, Complex b) {
  return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}
constexpr Complex operator*(float k, Complex a) {
  return {k * a.re, k * a.im};
}
constexpr Complex& operator+=(Complex& a, Complex b) {
  return a = a + b;
}
constexpr Complex conj(Complex a) {
  return {a.re, -a.im};
}
/// |a|^2
constexpr float norm(Complex a) {
  return a.re * a.re + a.im * a.im;
}
/// Square root of x >= 0; one instruction with -fno-math-errno.
inline float square_root(float x) {
  return __builtin_sqrtf(x);
}
inline float magnitude(Complex a) {
  return square_root(norm(a));
}

/// Angle of a in turns, -0.5 to 0.5, error below 1e-7; 0 for 0.  Source: Abramowitz and Stegun 4.4.49.
constexpr float angle_turns(Complex a) {
  const float x = a.re < 0 ? -a.re : a.re;
  const float y = a.im < 0 ? -a.im : a.im;
  if (x == 0 && y == 0) return 0;
  const float z = y < x ? y / x : x / y;
  const float z2 = z * z;
  constexpr float kTerm[] = {0.0028662257f,  -0.0161657367f, 0.0429096138f,
                             -0.0752896400f, 0.1065626393f,  -0.1420889944f,
                             0.1999355085f,  -0.3333314528f, 1.f};
  float sum = 0;
  for (const float term : kTerm) sum = sum * z2 + term;
  float turns = z * sum * kTurnsPerRadian;
  if (y >= x) turns = 0.25f - turns;
  if (a.re < 0) turns = 0.5f - turns;
  return a.im < 0 ? -turns : turns;
}

}  // namespace offhook
