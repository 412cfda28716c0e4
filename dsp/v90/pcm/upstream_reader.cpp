// SPDX-License-Identifier: MIT
#include "dsp/v90/pcm/upstream_reader.h"

namespace offhook::v90 {
namespace {

constexpr float kStep = 0.005f;

}  // namespace

UpstreamReader::UpstreamReader(const Cpd& cpd, const Kernels& kernels)
    : kernels_(&kernels), bits_(cpd.modulus, cpd.bits()), viterbi_(cpd.trellis, kernels.set), edge_(cpd, kernels) {
  viterbi_.reset(cpd.trellis, true);
  for (int i = 0; i < kUpstreamIntervals; ++i) modulus_[i] = cpd.modulus[i];
  for (int i = 0; i < 6; ++i) set_[i] = cpd.interval[i];
  for (int s = 0; s < kConstellationSets; ++s) {
    points_[s] = cpd.points[s];
    for (int n = -points_[s]; n < points_[s]; ++n)
      level_[s][n + points_[s]] = static_cast<float>(upstream_level(cpd.point[s], n));
    for (int k = 0; k + 1 < 2 * points_[s]; ++k) inverse_[s][k] = 1 / (level_[s][k + 1] - level_[s][k]);
  }
  taps_[kTaps - 1 - kAhead] = 1;
}

int16_t UpstreamReader::below(float level, int set) const {
  // The same steps for any level, as in nearest_label(). The highest level has no spacing above it.
  const float* of = level_[set];
  int low = 0;
  for (int n = 2 * points_[set] - 1; n > 1;) {  // from low to low + n - 1
    const int half = n / 2;
    low += half * static_cast<int>(of[low + half] <= level);
    n -= half;
  }
  return static_cast<int16_t>(low);
}

UpstreamReader::Place UpstreamReader::place_of(float level, int set, int near) const {
  const float* of = level_[set];
  const int n = points_[set];
  int low = near;
  while (low > 0 && of[low] > level) --low;
  while (low < 2 * n - 2 && of[low + 1] <= level) ++low;
  const float inverse = inverse_[set][low];
  float between = (level - of[low]) * inverse;
  constexpr float kBeyond = 8;  // points
  if (!(between > -kBeyond)) between = -kBeyond;
  if (between > kBeyond) between = kBeyond;
  const float off = between < 0.5f ? between : between - 1;
  const float ratio = 2 * of[n] * inverse;
  return {.below = static_cast<int16_t>(low),
          .value = 2 * (static_cast<float>(low - n) + between) + 1,
          .point = between < 0.5f ? of[low] : of[low + 1],
          .off = off < 0 ? -off : off,
          .weight = ratio < 1 ? ratio * ratio : 1};
}

void UpstreamReader::put(const float* samples, const oh_bit_port& port, bool live) {
  const auto [level, energy] = kernels_->dot_pair(taps_, samples, samples, kTaps, samples[kTaps - 1]);
  const int set = set_[interval_ % 6];
  const Place place = place_of(level, set, below(level, set));
  interval_ = interval_ + 1 == kUpstreamIntervals ? 0 : interval_ + 1;
  if (place.off < kCertain && energy > kTaps) {
    const float step = kStep * place.weight * (place.point - level) / energy;
    kernels_->accumulate(taps_, samples, step, kTaps);
  }
  // The level without the image is near.
  const int16_t near = below_[below_at_];
  below_[below_at_] = place.below;
  below_at_ = below_at_ + 1 == EdgeCanceller::kDelay ? 0 : below_at_ + 1;
  float cleared = 0;
  if (edge_.put(level, place.point, &cleared)) read(cleared, near, port, live);
}

void UpstreamReader::read(float level, int near, const oh_bit_port& port, bool live) {
  const Place place = place_of(level, set_[read_ % 6], near);
  residual_ = level - place.point;
  off_ = place.off;
  if (certain()) edge_.adapt(residual_, place.weight);
  ++symbols_;
  variance_ += (off_ * off_ - variance_) / static_cast<float>(symbols_ < 2048 ? symbols_ : 2048);
  const int k = read_ % 4;
  received_[k] = place.value;
  read_ = read_ + 1 == kUpstreamIntervals ? 0 : read_ + 1;
  if (k < 3) return;
  v34::Point decided[2];
  if (viterbi_.decode(received_, false, decided)) decide(decided, port, live);
}

void UpstreamReader::decide(const v34::Point decided[2], const oh_bit_port& port, bool live) {
  const int y[4] = {decided[0].re >> 1, decided[0].im >> 1, decided[1].re >> 1, decided[1].im >> 1};
  for (int k = 0; k < 4; ++k) {
    const int m = modulus_[digit_at_];
    digits_[digit_at_++] = static_cast<uint8_t>(upstream_digit(y[k], m, k));
  }
  if (digit_at_ < kUpstreamIntervals) return;
  digit_at_ = 0;
  WideNumber scrambled;
  bits_.decode(digits_, &scrambled);
  const int n = bits_.bits(), in_low = n < 64 ? n : 64;
  const uint64_t low = descrambler_.descramble(scrambled.low(), in_low);
  const uint64_t high = descrambler_.descramble(scrambled.limb[2], n - in_low);
  if (frames_ < kB1uFrames) {
    ++frames_;
    return;
  }
  if (!live) return;
  uint8_t octets[(kMostUpstreamBits + 7) / 8];
  for (int k = 0; k < static_cast<int>(sizeof octets); ++k)
    octets[k] = static_cast<uint8_t>(k < 8 ? low >> 8 * k : high >> 8 * (k - 8));
  oh_port_put(&port, octets, static_cast<size_t>(n));
  bits_received_ += static_cast<uint64_t>(n);
}

}  // namespace offhook::v90
