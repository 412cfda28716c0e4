// SPDX-License-Identifier: MIT
#include "dsp/v90/coding/upstream.h"

#include <bit>

namespace offhook::v90 {
namespace {

WideNumber product_less_one(const uint8_t* moduli) {
  WideNumber most;
  for (int i = kUpstreamIntervals - 1; i >= 0; --i) most.multiply_add(moduli[i], static_cast<uint32_t>(moduli[i] - 1));
  return most;
}

float absolute(float x) {
  return std::bit_cast<float>(std::bit_cast<uint32_t>(x) & 0x7FFFFFFF);
}

/// The filters of a far end may be unstable; their output stays finite. Levels are below 2^16.
float limited(float x) {
  constexpr float kMost = 1 << 24;
  return x > kMost ? kMost : x < -kMost ? -kMost : x;
}

}  // namespace

void set_taps(const FilterSection& section, float unit, float* taps) {
  for (int k = 0; k < section.length; ++k) taps[kMostFilterTaps - 1 - k] = static_cast<float>(section.tap[k]) * unit;
}

uint32_t WideNumber::divide(uint32_t divisor) {
  uint64_t rest = 0;
  for (int k = 2; k >= 0; --k) {
    rest = rest << 32 | limb[k];
    limb[k] = static_cast<uint32_t>(rest / divisor);
    rest %= divisor;
  }
  return static_cast<uint32_t>(rest);
}

void WideNumber::multiply_add(uint32_t factor, uint32_t summand) {
  uint64_t carry = summand;
  for (uint32_t& l : limb) {
    carry += uint64_t{l} * factor;
    l = static_cast<uint32_t>(carry);
    carry >>= 32;
  }
}

WideNumber WideNumber::difference(const WideNumber& a, const WideNumber& b) {
  WideNumber out;
  uint64_t borrow = 0;
  for (int k = 0; k < 3; ++k) {
    const uint64_t d = uint64_t{a.limb[k]} - b.limb[k] - borrow;
    out.limb[k] = static_cast<uint32_t>(d);
    borrow = d >> 63;
  }
  return out;
}

bool WideNumber::operator>(const WideNumber& other) const {
  for (int k = 2; k >= 0; --k) {
    if (limb[k] != other.limb[k]) return limb[k] > other.limb[k];
  }
  return false;
}

UpstreamModulus::UpstreamModulus(const uint8_t* moduli, int k) : k_(k), most_(product_less_one(moduli)) {
  for (int i = 0; i < kUpstreamIntervals; ++i) moduli_[i] = moduli[i];
  for (int g = 0; g < kUpstreamIntervals / kGroup; ++g) {
    group_[g] = 1;
    for (int i = 0; i < kGroup; ++i) group_[g] *= moduli[kGroup * g + i];
  }
}

void UpstreamModulus::encode(const WideNumber& r, uint8_t* digits) {
  const WideNumber mirrored = WideNumber::difference(most_, r);
  const bool sign = r > mirrored;
  WideNumber r0 = d_ ? mirrored : r;
  d_ ^= sign;
  for (int g = 0; g < kUpstreamIntervals / kGroup; ++g) {
    uint32_t rest = r0.divide(group_[g]);
    for (int i = kGroup * g; i < kGroup * (g + 1); ++i) {
      digits[i] = static_cast<uint8_t>(rest % moduli_[i]);
      rest /= moduli_[i];
    }
  }
}

bool UpstreamModulus::decode(const uint8_t* digits, WideNumber* number) {
  WideNumber r0;
  for (int g = kUpstreamIntervals / kGroup - 1; g >= 0; --g) {
    uint32_t some = 0;
    for (int i = kGroup * (g + 1) - 1; i >= kGroup * g; --i) some = some * moduli_[i] + digits[i];
    r0.multiply_add(group_[g], some);
  }
  const WideNumber mirrored = WideNumber::difference(most_, r0);
  const WideNumber& r = d_ ? mirrored : r0;
  const bool sign = r > (d_ ? r0 : mirrored);
  d_ ^= sign;
  *number = r;
  const uint64_t above = k_ >= 64 ? 0 : r.low() >> k_;
  return above == 0 && r.limb[2] >> (k_ > 64 ? k_ - 64 : 0) == 0;
}

bool is_usable(const Cpd& p) {
  if (p.drn == 0 || p.drn > kMostUpstreamDrn || !p.has_moduli || !p.has_filters || !p.has_constellations) return false;
  if (p.gain == 0 || p.z2.length == 0) return false;
  for (int i = 0; i < kUpstreamIntervals; ++i) {
    const int set = p.interval[i % 6];
    const int classes = p.modulus[i] * (i % 4 == 3 ? 2 : 1);
    if (classes == 0 || 2 * p.points[set] < classes) return false;
    for (int n = 1; n < p.points[set]; ++n) {
      if (p.point[set][n] <= p.point[set][n - 1]) return false;
    }
    if (p.point[set][0] == 0) return false;
  }
  const WideNumber most = product_less_one(p.modulus);
  for (int k = p.bits(); k < 96; ++k) {
    if (most.bit(k) != 0) return true;
  }
  for (int k = 0; k < p.bits(); ++k) {
    if (most.bit(k) == 0) return false;
  }
  return true;  // exactly 2^K
}

Precoder::Precoder(const Cpd& p, const Kernels& kernels)
    : kernels_(&kernels),
      gain_(static_cast<float>(p.gain) / (4.f * 65536)),
      z1_taps_(taps_in_use(p.z1.length)),
      p1_taps_(taps_in_use(p.p1.length)),
      z2_taps_(taps_in_use(p.z2.length)),
      p2_taps_(taps_in_use(p.p2.length)),
      trellis_(p.trellis) {
  for (int i = 0; i < kUpstreamIntervals; ++i) modulus_[i] = p.modulus[i];
  for (int i = 0; i < 6; ++i) set_[i] = p.interval[i];
  for (int s = 0; s < kConstellationSets; ++s) {
    points_[s] = p.points[s];
    for (int n = 0; n < points_[s]; ++n) level_[s][n] = p.point[s][n];
  }
  set_taps(p.z1, kZUnit, z1_);
  set_taps(p.p1, kPUnit, p1_);
  set_taps(p.z2, kZUnit, z2_);
  set_taps(p.p2, kPUnit, p2_);
}

// The point of the digit's class for which |u + offset| is least.
void Precoder::choose(int digit, float offset) {
  const int k = interval_ % 4, set = set_[interval_ % 6], n = points_[set];
  const int parity = (frame_[0] + frame_[1] + frame_[2] + trellis_.output()) & 1;
  const int step = k == 3 ? 2 * modulus_[interval_] : modulus_[interval_];
  const int label = k == 3 ? 2 * digit + parity : digit;
  // The first index of the class that is not below -n.
  // No branch depends on the levels: no processor could foresee it.
  int index = label - (label + n) / step * step, best = index;
  float least = absolute(point_of(set, index) + offset);
  for (index += step; index < n; index += step) {
    const float size = absolute(point_of(set, index) + offset);
    best = size < least ? index : best;
    least = size < least ? size : least;
  }
  y_ = best;
  point_ = point_of(set, best);
}

float Precoder::put(int digit) {
  float offset = filtered(*kernels_, p1_, xs_, p1_taps_);
  if (z1_taps_ > 0) offset += filtered(*kernels_, z1_, u_, z1_taps_);
  choose(digit, offset);
  x_ = limited(point_ + offset);
  u_.put(point_);
  xs_.put(x_);
  float v = filtered(*kernels_, z2_, xs_, z2_taps_);
  if (p2_taps_ > 0) v += filtered(*kernels_, p2_, v_, p2_taps_);
  v = limited(v);
  v_.put(v);
  const int k = interval_ % 4;
  frame_[k] = y_;
  if (k == 3) {
    const auto point = [this](int at) {
      return v34::Point{static_cast<int16_t>(2 * frame_[at] + 1), static_cast<int16_t>(2 * frame_[at + 1] + 1)};
    };
    trellis_.put(point(0), point(2));
  }
  interval_ = interval_ + 1 == kUpstreamIntervals ? 0 : interval_ + 1;
  return gain_ * v;
}

}  // namespace offhook::v90
