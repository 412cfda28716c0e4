// SPDX-License-Identifier: MIT
//
// The signal points of V.34 (9.1, Figure 5) and the labels of their subsets (9.6.3.1, Figure 9).
//
// All points have odd coordinates. A quarter of the constellation, the points with both coordinates 1 modulo 4, is
// numbered by rising magnitude; of two equally far points the one with the greater imaginary part comes first. Turning
// it by 90, 180 and 270 degrees gives the rest. A ring is 2^q points of neighbouring numbers.
#pragma once

#include <stdint.h>

#include "dsp/blocks/complex.h"

namespace offhook::v34 {

/// A 2D point with integer coordinates, in the units of Figure 5 (points of the grid are 2 apart).
struct Point {
  int16_t re;
  int16_t im;
  friend constexpr bool operator==(const Point&, const Point&) = default;
};

constexpr Complex to_complex(Point p) {
  return {static_cast<float>(p.re), static_cast<float>(p.im)};
}

inline constexpr int kQuarterPoints = 416;  ///< one quarter of the 1664-point superconstellation

/// `p` turned clockwise by k * 90 degrees, any k (negative: counter-clockwise). Without branches, because k is as
/// random as the data.
constexpr Point rotate_cw(Point p, int k) {
  const int swapped = (p.re ^ p.im) & -(k & 1);
  const int re = p.re ^ swapped, im = p.im ^ swapped;
  const int minus_re = -(k >> 1 & 1), minus_im = -((k + 1) >> 1 & 1);
  return {static_cast<int16_t>((re ^ minus_re) - minus_re), static_cast<int16_t>((im ^ minus_im) - minus_im)};
}

namespace detail {

inline constexpr int kQuarterExtent = 24;  // columns and rows: coordinates -47 .. 45 in steps of 4

struct Quarter {
  Point point[kQuarterPoints];
  int16_t label[kQuarterExtent][kQuarterExtent];  // by (im + 47) / 4, (re + 47) / 4; kQuarterPoints if there is none
};

// Squared magnitudes of points with coordinates 1 modulo 4 are 2 modulo 8. Each has a bucket, filled from the greatest
// imaginary part downwards.
constexpr Quarter make_quarter() {
  constexpr int kBuckets = 2 * 47 * 47 / 8 + 1;
  int start[kBuckets + 1]{};
  for (int y = -47; y <= 45; y += 4) {
    for (int x = -47; x <= 45; x += 4) ++start[(x * x + y * y) / 8 + 1];
  }
  for (int k = 0; k < kBuckets; ++k) start[k + 1] += start[k];
  Quarter q{};
  for (int y = 45; y >= -47; y -= 4) {
    for (int x = -47; x <= 45; x += 4) {
      const int label = start[(x * x + y * y) / 8]++;
      const bool inside = label < kQuarterPoints;
      if (inside) q.point[label] = {static_cast<int16_t>(x), static_cast<int16_t>(y)};
      q.label[(y + 47) / 4][(x + 47) / 4] = static_cast<int16_t>(inside ? label : kQuarterPoints);
    }
  }
  return q;
}

inline constexpr Quarter kQuarter = make_quarter();

// Figure 9 repeats with period 8 in both directions: the two low bits give the subset of (im - 1) / 2 and (re - 1) / 2.
struct SubsetTable {
  uint8_t subset[4][4];
};

constexpr SubsetTable make_subsets() {
  SubsetTable t{};
  for (int row = 0; row < 4; ++row) {
    for (int column = 0; column < 4; ++column) {
      Point p{static_cast<int16_t>(2 * column + 1), static_cast<int16_t>(2 * row + 1)};
      int turns = 0;
      while ((p.re & 3) != 1 || (p.im & 3) != 1) {
        p = rotate_cw(p, -1);
        ++turns;
      }
      const int parity = ((p.re - 1) / 4 + (p.im - 1) / 4) & 1;
      t.subset[row][column] = static_cast<uint8_t>(4 * parity + turns);
    }
  }
  return t;
}

inline constexpr SubsetTable kSubsets = make_subsets();

}  // namespace detail

/// Point `label` of Figure 5. @pre 0 <= label < 416.  Real-time: yes, O(1).
constexpr Point quarter_point(int label) {
  return detail::kQuarter.point[label];
}

/// How many times 90 degrees `p` must be turned counter-clockwise to be in the quarter constellation, 0..3: the
/// rotation that the mapper applied.  @pre p has odd coordinates.  Real-time: yes, O(1).
constexpr int quadrant(Point p) {
  return detail::kSubsets.subset[p.im >> 1 & 3][p.re >> 1 & 3] & 3;
}

/// The 3-bit subset label of Figure 9.  @pre p has odd coordinates.  Real-time: yes, O(1).
constexpr int subset_label(Point p) {
  return detail::kSubsets.subset[p.im >> 1 & 3][p.re >> 1 & 3];
}

/// The number of a point of the quarter constellation, below `limit`; a point without a number (only after line errors)
/// is moved towards the origin, the larger coordinate first, to one with a number.
/// @pre both coordinates 1 modulo 4; 1 <= limit <= 416.  Real-time: yes, at most 48 steps.
constexpr int quarter_label(Point p, int limit) {
  const auto clamp = [](int16_t v) { return v > 45 ? int16_t{45} : v < -47 ? int16_t{-47} : v; };
  p = {clamp(p.re), clamp(p.im)};
  for (;;) {
    const int label = detail::kQuarter.label[(p.im + 47) >> 2][(p.re + 47) >> 2];
    if (label < limit) return label;
    int16_t& larger = p.re * p.re > p.im * p.im ? p.re : p.im;
    larger = static_cast<int16_t>(larger > 0 ? larger - 4 : larger + 4);
  }
}

}  // namespace offhook::v34
