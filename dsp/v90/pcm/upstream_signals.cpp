// SPDX-License-Identifier: MIT
#include "dsp/v90/pcm/upstream_signals.h"

#include "dsp/blocks/renew.h"

namespace offhook::v90 {
namespace {

constexpr float kRoot5 = 2.2360680f, kRoot21 = 4.5825757f, kRoot3Halves = 1.2247449f;

int bits_of(int points) {
  return points == 8 ? 3 : 2;
}

}  // namespace

float upstream_point(int points, int magnitude) {
  if (points == 2) return 1;
  return static_cast<float>(2 * magnitude + 1) / (points == 8 ? kRoot21 : kRoot5);
}

void UpstreamSignals::start(Signal s, int symbols) {
  signal_ = s;
  sent_ = 0;
  length_ = symbols;
  if (s == Signal::kTrn1u || s == Signal::kTrn2u || s == Signal::kB1u) scrambler_.reset();
  if (s == Signal::kE1u || s == Signal::kE2u) length_ = kUpstreamIntervals + symbols;
  if (s == Signal::kB1u) length_ = kB1uFrames * kUpstreamIntervals;
}

void UpstreamSignals::start_two_points(const uint8_t* bits, int size) {
  start(Signal::kTwoPoints, size);
  bits_ = bits;
}

void UpstreamSignals::start_sequence(const uint8_t* bits, int size) {
  const int a_frame = bits_of(points_) * kUpstreamIntervals;
  start(Signal::kSequence, (size + a_frame - 1) / a_frame * kUpstreamIntervals);
  bits_ = bits;
  size_ = size;
  at_ = 0;
}

void UpstreamSignals::set_data(const Cpd& cpd) {
  renew(modulus_, cpd.modulus, cpd.bits());
  renew(precoder_, cpd);
}

float UpstreamSignals::coded(int bit) {
  sign_ ^= scrambler_.scramble(bit);
  return sign_ != 0 ? -1.f : 1.f;
}

// The sign first in time. @param bit_of_all  0 or 1; -1: the sequence's
float UpstreamSignals::multi_level(int bit_of_all) {
  const auto next = [&] {
    if (bit_of_all >= 0) return bit_of_all;
    return at_ < size_ ? int{bits_[at_++]} : 0;
  };
  const float sign = coded(next());
  int magnitude = 0;
  for (int k = 1; k < bits_of(points_); ++k) magnitude = magnitude << 1 | scrambler_.scramble(next());
  return sign * upstream_point(points_, magnitude);
}

float UpstreamSignals::data(const oh_bit_port& port, bool live) {
  if (precoder_.interval() == 0) {
    const int n = modulus_.bits();
    static_assert(kMostUpstreamBits > 64 && kMostUpstreamBits <= 96);
    const int in_low = n < 64 ? n : 64;
    uint64_t low = ~uint64_t{0}, high = ~uint64_t{0};
    if (live) {
      uint8_t octets[(kMostUpstreamBits + 7) / 8]{};
      oh_port_get(&port, octets, static_cast<size_t>(n));
      bits_sent_ += static_cast<uint64_t>(n);
      low = high = 0;
      for (int k = 0; k < 8; ++k) low |= uint64_t{octets[k]} << 8 * k;
      for (int k = 8; k < static_cast<int>(sizeof octets); ++k) high |= uint64_t{octets[k]} << 8 * (k - 8);
    }
    low = scrambler_.scramble(low, in_low);
    high = scrambler_.scramble(high, n - in_low);
    modulus_.encode({{static_cast<uint32_t>(low), static_cast<uint32_t>(low >> 32), static_cast<uint32_t>(high)}},
                    digits_);
  }
  return precoder_.put(digits_[precoder_.interval()]);
}

float UpstreamSignals::next(const oh_bit_port& port, bool live) {
  const int64_t n = sent_++;
  const int i = static_cast<int>(n % 6);
  const float half = i < 3 ? 1.f : -1.f;
  switch (signal_) {
    case Signal::kRu:
      return half;
    case Signal::kRuBar:
      return -half;
    case Signal::kSu:
      return i % 3 == 1 ? 0 : kRoot3Halves * half;
    case Signal::kSuBar:
      return i % 3 == 1 ? 0 : -kRoot3Halves * half;
    case Signal::kTrn1u:
      sign_ = scrambler_.scramble(1);
      return sign_ != 0 ? -1.f : 1.f;
    case Signal::kTwoPoints:
      return coded(bits_[n]);
    case Signal::kE1u:
      return coded(0);
    case Signal::kTrn2u:
      return multi_level(1);
    case Signal::kSequence:
      return multi_level(-1);
    case Signal::kE2u:
      return multi_level(0);
    case Signal::kB1u:
      return data(port, false);
    case Signal::kData:
      return data(port, live);
    default:
      return 0;
  }
}

}  // namespace offhook::v90
