// SPDX-License-Identifier: MIT
#include "dsp/v90/coding/upstream.h"

namespace offhook::v90 {
namespace {

WideNumber product_less_one(const uint8_t* moduli) {
  WideNumber most;
  for (int i = kUpstreamIntervals - 1; i >= 0; --i) most.multiply_add(moduli[i], static_cast<uint32_t>(moduli[i] - 1));
  return most;
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
}

void UpstreamModulus::encode(const uint8_t* bits, uint8_t* digits) {
  WideNumber r;
  for (int k = 0; k < k_; ++k) {
    if (bits[k] != 0) r.set_bit(k);
  }
  const WideNumber mirrored = WideNumber::difference(most_, r);
  const bool sign = r > mirrored;
  WideNumber r0 = d_ ? mirrored : r;
  d_ ^= sign;
  for (int i = 0; i < kUpstreamIntervals; ++i) digits[i] = static_cast<uint8_t>(r0.divide(moduli_[i]));
}

bool UpstreamModulus::decode(const uint8_t* digits, uint8_t* bits) {
  WideNumber r0;
  for (int i = kUpstreamIntervals - 1; i >= 0; --i) r0.multiply_add(moduli_[i], digits[i]);
  const WideNumber mirrored = WideNumber::difference(most_, r0);
  const WideNumber& r = d_ ? mirrored : r0;
  const bool sign = r > (d_ ? r0 : mirrored);
  d_ ^= sign;
  for (int k = 0; k < k_; ++k) bits[k] = static_cast<uint8_t>(r.bit(k));
  for (int k = k_; k < 96; ++k) {
    if (r.bit(k) != 0) return false;
  }
  return true;
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
      has_z1_(p.z1.length > 0),
      has_p2_(p.p2.length > 0),
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
  int index = label - (label + n) / step * step;
  float least = 0;
  bool found = false;
  for (; index < n; index += step) {
    const float u = index >= 0 ? level_[set][index] : -level_[set][-1 - index];
    const float size = u + offset > 0 ? u + offset : -(u + offset);
    if (found && size >= least) continue;
    found = true;
    least = size;
    y_ = index;
    point_ = u;
  }
}

float Precoder::put(int digit) {
  float offset = kernels_->dot(p1_, xs_.oldest(), kMostFilterTaps);
  if (has_z1_) offset += kernels_->dot(z1_, u_.oldest(), kMostFilterTaps);
  choose(digit, offset);
  x_ = limited(point_ + offset);
  u_.put(point_);
  xs_.put(x_);
  float v = kernels_->dot(z2_, xs_.oldest(), kMostFilterTaps);
  if (has_p2_) v += kernels_->dot(p2_, v_.oldest(), kMostFilterTaps);
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
