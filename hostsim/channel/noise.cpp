// SPDX-License-Identifier: MIT
#include "hostsim/channel/noise.h"

#include "dsp/blocks/level.h"
#include "dsp/blocks/sincos.h"
#include "hostsim/channel/line_config.h"

namespace offhook::hostsim {
namespace {
constexpr double kNeverSamples = 1e18;
}

WhiteNoise::WhiteNoise(const Random& random, double dbm0)
    : random_(random), rms_(static_cast<float>(dbm0_to_rms(dbm0))) {}

float WhiteNoise::next() {
  const std::size_t at = index_ % block_.size();
  if (at == 0) random_.normals(index_, block_.data(), block_.size());
  ++index_;
  return block_[at] * rms_;
}

ImpulseNoise::ImpulseNoise(const Random& random, double rate_hz, double dbm0)
    : random_(random), mean_gap_samples_(rate_hz > 0 ? kLineRateHz / rate_hz : 0) {
  next_at_ = rate_hz > 0 ? mean_gap_samples_ * random_.exponential(0) : kNeverSamples;
  double envelope = dbm0_to_peak(dbm0);
  for (std::size_t i = 0; i < kLength; ++i) {
    shape_[i] = static_cast<float>(envelope * sincos_turns(static_cast<double>(i) / 4).cos);
    envelope *= 0.77880078307140487;  // exp(-1/4): 0.5 ms is four samples
  }
}

float ImpulseNoise::next() {
  while (next_at_ <= static_cast<double>(now_)) {
    // Words 2k and 2k + 1 of the stream belong to impulse k: the gap before it and its sign.
    const float sign = random_.word(2 * impulses_ + 1) & 1 ? 1.f : -1.f;
    for (std::size_t i = 0; i < kLength; ++i) pending_[(now_ + i) % kLength] += sign * shape_[i];
    ++impulses_;
    next_at_ += mean_gap_samples_ * random_.exponential(2 * impulses_);
  }
  float& slot = pending_[now_++ % kLength];
  const float value = slot;
  slot = 0;
  return value;
}

}  // namespace offhook::hostsim
