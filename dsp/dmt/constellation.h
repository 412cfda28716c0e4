// SPDX-License-Identifier: MIT
//
// Constellations of a tone: 2 to 15 bits on odd integers. With an even number of bits a square; with 3 bits a separate
// set of eight points; with another odd number a cross, whose two highest bits of each coordinate come from a table.
// The two lowest bits select one of the four cosets of the trellis.
#pragma once

#include <stdint.h>

#include "dsp/blocks/complex.h"

namespace offhook::dmt {

inline constexpr int kLeastBits = 2, kMostBits = 15;

struct Point {
  int16_t x, y;  ///< odd
  friend constexpr bool operator==(Point, Point) = default;
};

/// @param bits  kLeastBits to kMostBits  @param label  below 2^bits. Source: G.992.1 7.8.
Point point_of(int bits, uint32_t label);
/// @pre p is a point of the constellation
uint32_t label_of(int bits, Point p);
/// The nearest point. @param z  in the units of the points. Real-time: yes, O(1).
Point nearest_point(int bits, Complex z);
/// The nearest of those with label mod 4 == coset.
Point nearest_point(int bits, int coset, Complex z);
/// Coordinates are at most `outer` in both directions. In a cross, at most one is beyond `inner`. The eight points of 3
/// bits are not a square either.
struct CoordinateLimits {
  int inner, outer;
};
CoordinateLimits coordinate_limits(int bits);
/// Mean of x^2 + y^2. Real-time: yes, O(1).
float mean_power(int bits);

}  // namespace offhook::dmt
