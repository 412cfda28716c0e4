// SPDX-License-Identifier: MIT
#include "dsp/v90/pcm/upstream_reader.h"

namespace offhook::v90 {
namespace {

constexpr float kStep = 0.005f;

}  // namespace

UpstreamReader::UpstreamReader(const Cpd& cpd, const Kernels& kernels)
    : kernels_(&kernels), bits_(cpd.modulus, cpd.bits()), viterbi_(cpd.trellis, kernels.set) {
  viterbi_.reset(cpd.trellis, true);
  for (int i = 0; i < kUpstreamIntervals; ++i) modulus_[i] = cpd.modulus[i];
  for (int i = 0; i < 6; ++i) set_[i] = cpd.interval[i];
  for (int s = 0; s < kConstellationSets; ++s) {
    points_[s] = cpd.points[s];
    for (int n = -points_[s]; n < points_[s]; ++n)
      level_[s][n + points_[s]] = static_cast<float>(upstream_level(cpd.point[s], n));
  }
  taps_[kTaps - 1 - kAhead] = 1;
}

// 2 y + 1 for the level of point y, straight lines between.
float UpstreamReader::place_of(float level, int set, int* nearest) const {
  const float* of = level_[set];
  const int n = points_[set];
  int low = 0, high = 2 * n - 1;  // of[low] <= level < of[high], or the ends
  while (high - low > 1) {
    const int middle = (low + high) / 2;
    (of[middle] <= level ? low : high) = middle;
  }
  float between = (level - of[low]) / (of[high] - of[low]);
  *nearest = between < 0.5f ? low : high;
  constexpr float kBeyond = 8;  // points
  if (!(between > -kBeyond)) between = -kBeyond;
  if (between > kBeyond) between = kBeyond;
  return 2 * (static_cast<float>(low - n) + between) + 1;
}

void UpstreamReader::put(const float* samples, const oh_bit_port& port, bool live) {
  const float level = kernels_->dot(taps_, samples, kTaps);
  const int set = set_[interval_ % 6];
  int nearest = 0;
  const float place = place_of(level, set, &nearest);
  const float error = level_[set][nearest] - level;
  residual_ = -error;
  const float off = (place - static_cast<float>(2 * (nearest - points_[set]) + 1)) / 2;
  off_ = off < 0 ? -off : off;
  ++symbols_;
  variance_ += (off * off - variance_) / static_cast<float>(symbols_ < 2048 ? symbols_ : 2048);
  const float energy = kernels_->dot(samples, samples, kTaps);
  if (certain() && energy > kTaps) kernels_->accumulate(taps_, samples, kStep * error / energy, kTaps);
  const int k = interval_ % 4;
  received_[k] = place;
  interval_ = interval_ + 1 == kUpstreamIntervals ? 0 : interval_ + 1;
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
  uint8_t bits[kMostUpstreamBits];
  bits_.decode(digits_, bits);
  const int n = bits_.bits();
  for (int k = 0; k < n; ++k) bits[k] = static_cast<uint8_t>(descrambler_.descramble(bits[k]));
  if (frames_ < kB1uFrames) {
    ++frames_;
    return;
  }
  if (!live) return;
  for (int k = 0; k < n; ++k) oh_port_put_bit(&port, bits[k]);
  bits_received_ += static_cast<uint64_t>(n);
}

}  // namespace offhook::v90
