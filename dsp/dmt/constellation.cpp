// SPDX-License-Identifier: MIT
#include "dsp/dmt/constellation.h"

namespace offhook::dmt {
namespace {

// The two highest bits of x and y of a cross, indexed by its five highest bits; two's complement.
struct Top {
  int x, y;
};
constexpr Top kTop[32] = {{0, 0},  {0, 0},   {0, 0},  {0, 0},   {0, -1},  {0, -1},  {0, -1},  {0, -1},
                          {-1, 0}, {-1, 0},  {-1, 0}, {-1, 0},  {-1, -1}, {-1, -1}, {-1, -1}, {-1, -1},
                          {1, 0},  {1, 0},   {-2, 0}, {-2, 0},  {0, 1},   {0, -2},  {0, 1},   {0, -2},
                          {-1, 1}, {-1, -2}, {-1, 1}, {-1, -2}, {1, -1},  {1, -1},  {-2, -1}, {-2, -1}};
/// The inverse of kTop: indexed by the two lowest of the five bits, and the top of x and y modulo 4.
struct CrossLabels {
  uint8_t of[4][4][4];
};
constexpr CrossLabels make_cross_labels() {
  CrossLabels labels{};
  for (int k = 0; k < 32; ++k) labels.of[k & 3][kTop[k].x & 3][kTop[k].y & 3] = static_cast<uint8_t>(k);
  return labels;
}
constexpr CrossLabels kCrossLabels = make_cross_labels();
constexpr Point kEight[8] = {{1, 1}, {1, -1}, {-1, 1}, {-1, -1}, {-3, 1}, {1, 3}, {-1, -3}, {3, -1}};

/// An octet's bits, spread to every second position.
struct Spread {
  uint16_t apart[256];
};
constexpr Spread make_spread() {
  Spread s{};
  for (int n = 0; n < 256; ++n) {
    for (int k = 0; k < 8; ++k) s.apart[n] = static_cast<uint16_t>(s.apart[n] | (n >> k & 1) << 2 * k);
  }
  return s;
}
constexpr Spread kSpread = make_spread();

constexpr bool is_cross(int bits) {
  return bits % 2 == 1 && bits >= 5;
}

int floor_of(float x) {
  const int whole = static_cast<int>(x);
  return whole - (static_cast<float>(whole) > x ? 1 : 0);
}

/// The nearest of first, first + step, ... last. @param step  2 or 4, here and below, so no division is needed
int nearest_of(float x, int first, int step, int last) {
  if (!(x > static_cast<float>(first))) return first;  // also for NaN
  if (x >= static_cast<float>(last)) return last;
  return first + step * floor_of((x - static_cast<float>(first)) * (step == 2 ? 0.5f : 0.25f) + 0.5f);
}

/// The first number from `least` on that equals `like` modulo `step`.
int first_like(int least, int like, int step) {
  return least + ((like - least) & (step - 1));
}

struct Grid {
  int step;  // between coordinates: 2, or 4 within a coset
  int x, y;  // a coordinate of it
  int at_x(float v, int most) const { return at(v, x, most); }
  int at_y(float v, int most) const { return at(v, y, most); }

 private:
  int at(float v, int like, int most) const {
    const int first = first_like(-most, like, step);
    return nearest_of(v, first, step, first + ((most - first) & -step));
  }
};

Point nearest_on(int bits, const Grid& grid, Complex z) {
  const auto [inner, outer] = coordinate_limits(bits);
  const int x = grid.at_x(z.re, outer), y = grid.at_y(z.im, outer);
  const auto far = [inner = inner](int v) { return v > inner || v < -inner; };
  if (!far(x) || !far(y)) return {static_cast<int16_t>(x), static_cast<int16_t>(y)};
  // Beyond a missing corner: the better of the two arms.
  const int x_in = grid.at_x(z.re, inner), y_in = grid.at_y(z.im, inner);
  const auto square = [](float v) { return v * v; };
  const float first = square(z.re - static_cast<float>(x_in)) + square(z.im - static_cast<float>(y));
  const float second = square(z.re - static_cast<float>(x)) + square(z.im - static_cast<float>(y_in));
  if (first <= second) return {static_cast<int16_t>(x_in), static_cast<int16_t>(y)};
  return {static_cast<int16_t>(x), static_cast<int16_t>(y_in)};
}

Point nearest_of_eight(int coset, Complex z) {
  Point best = kEight[0];
  float least = 0;
  bool any = false;
  for (int k = coset < 0 ? 0 : coset; k < 8; k += coset < 0 ? 1 : 4) {
    const float dx = z.re - kEight[k].x, dy = z.im - kEight[k].y;
    const float d = dx * dx + dy * dy;
    if (!any || d < least) {
      least = d;
      best = kEight[k];
      any = true;
    }
  }
  return best;
}

}  // namespace

Point point_of(int bits, uint32_t label) {
  if (bits == 3) return kEight[label & 7];
  int x = 0, y = 0;  // including the sign, without the last bit, which is one
  int left = bits;
  if (is_cross(bits)) {
    const Top top = kTop[label >> (bits - 5) & 31];
    x = top.x;
    y = top.y;
    left = bits - 3;
  } else {
    x = -static_cast<int>(label >> (bits - 1) & 1);
    y = -static_cast<int>(label >> (bits - 2) & 1);
    left = bits - 2;
  }
  for (; left >= 2; left -= 2) {
    x = 2 * x + static_cast<int>(label >> (left - 1) & 1);
    y = 2 * y + static_cast<int>(label >> (left - 2) & 1);
  }
  return {static_cast<int16_t>(2 * x + 1), static_cast<int16_t>(2 * y + 1)};
}

uint32_t label_of(int bits, Point p) {
  if (bits == 3) {
    for (uint32_t k = 0; k < 8; ++k) {
      if (kEight[k] == p) return k;
    }
    return 0;
  }
  const int low = is_cross(bits) ? bits - 3 : bits - 2;  // bits below the top ones, for both coordinates
  const int x = (p.x - 1) >> 1, y = (p.y - 1) >> 1;
  const int below = (1 << low / 2) - 1;
  uint32_t label = static_cast<uint32_t>(kSpread.apart[x & below] << 1 | kSpread.apart[y & below]);
  const int top_x = x >> low / 2, top_y = y >> low / 2;
  if (!is_cross(bits))
    return label | static_cast<uint32_t>(top_x & 1) << (bits - 1) | static_cast<uint32_t>(top_y & 1) << (bits - 2);
  return label | static_cast<uint32_t>(kCrossLabels.of[label >> (bits - 5) & 3][top_x & 3][top_y & 3]) << (bits - 5);
}

Point nearest_point(int bits, Complex z) {
  if (bits == 3) return nearest_of_eight(-1, z);
  if (is_cross(bits)) return nearest_on(bits, {2, 1, 1}, z);
  const int most = (1 << bits / 2) - 1;
  return {static_cast<int16_t>(nearest_of(z.re, -most, 2, most)),
          static_cast<int16_t>(nearest_of(z.im, -most, 2, most))};
}

Point nearest_point(int bits, int coset, Complex z) {
  if (bits == 3) return nearest_of_eight(coset, z);
  return nearest_on(bits, {4, 1 + 2 * (coset >> 1), 1 + 2 * (coset & 1)}, z);
}

CoordinateLimits coordinate_limits(int bits) {
  if (is_cross(bits)) return {(2 << (bits - 3) / 2) - 1, 3 * (1 << (bits - 3) / 2) - 1};
  if (bits == 3) return {1, 3};
  const int most = (1 << bits / 2) - 1;
  return {most, most};
}

float mean_power(int bits) {
  if (bits == 3) return 6;
  const float points = static_cast<float>(1 << bits);
  // A square of side 2^(b/2): 2/3 (2^b - 1). A cross of b bits: 2/3 (31/32 2^b - 1).
  return 2.0f / 3.0f * ((is_cross(bits) ? 31.0f / 32.0f : 1.0f) * points - 1);
}

}  // namespace offhook::dmt
