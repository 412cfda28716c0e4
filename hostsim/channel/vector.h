// SPDX-License-Identifier: MIT
//
// The two inner loops of the line, with a fixed order of additions, so that the result is the same on
// every machine and for every width of its vectors. Four-float vectors, which every x86-64 has.
#pragma once

#include <cstddef>
#include <cstring>

namespace offhook::hostsim {

using Float4 = float __attribute__((vector_size(16)));

inline Float4 load4(const float* p) {
  Float4 v;
  std::memcpy(&v, p, sizeof v);
  return v;
}

/// Sum over k of a[k] b[k]. @pre n is a multiple of 16
inline float dot(const float* a, const float* b, std::size_t n) {
  Float4 s0{}, s1{}, s2{}, s3{};
  for (std::size_t k = 0; k < n; k += 16) {
    s0 += load4(a + k) * load4(b + k);
    s1 += load4(a + k + 4) * load4(b + k + 4);
    s2 += load4(a + k + 8) * load4(b + k + 8);
    s3 += load4(a + k + 12) * load4(b + k + 12);
  }
  const Float4 s = (s0 + s1) + (s2 + s3);
  return (s[0] + s[1]) + (s[2] + s[3]);
}

/// y[i] = sum over k of taps[k] x[i - k], for i = 0 to 7. @param x points to the newest sample of y[0]; reads x[1 - n]
/// to x[7]. @pre n is even
inline void fir8(const float* taps, std::size_t n, const float* x, float* y) {
  Float4 even0{}, even1{}, odd0{}, odd1{};
  for (std::size_t k = 0; k < n; k += 2, x -= 2) {
    const Float4 a = {taps[k], taps[k], taps[k], taps[k]};
    const Float4 b = {taps[k + 1], taps[k + 1], taps[k + 1], taps[k + 1]};
    even0 += a * load4(x);
    even1 += a * load4(x + 4);
    odd0 += b * load4(x - 1);
    odd1 += b * load4(x + 3);
  }
  const Float4 y0 = even0 + odd0, y1 = even1 + odd1;
  std::memcpy(y, &y0, sizeof y0);
  std::memcpy(y + 4, &y1, sizeof y1);
}

}  // namespace offhook::hostsim
