// SPDX-License-Identifier: MIT
#include "hostsim/channel/gaussian_noise.h"

#include <cmath>
#include <limits>

#include "dsp/blocks/sincos.h"
#include "hostsim/channel/vector.h"

namespace offhook::hostsim {

GaussianNoise::GaussianNoise(const Random& random, double rate_hz, const std::function<double(double)>& psd)
    : random_(random), taps_(kTaps), normals_(kTaps + kBlock) {
  // White noise of power 1 has a density of 2 / rate per Hz. The response is sampled at twice its length, and windowed
  // to avoid wrapping.
  constexpr std::size_t kGrid = 2 * kTaps;
  std::vector<double> gain(kGrid / 2 + 1);
  for (std::size_t k = 0; k < gain.size(); ++k)
    gain[k] = std::sqrt(psd(static_cast<double>(k) * rate_hz / kGrid) * rate_hz / 2);
  for (std::size_t t = 0; t < kTaps; ++t) {
    const double from_middle = static_cast<double>(t) - kTaps / 2.0;
    double sum = gain[0] + gain[kGrid / 2] * sincos_turns(from_middle / 2).cos;
    for (std::size_t k = 1; k < kGrid / 2; ++k)
      sum += 2 * gain[k] * sincos_turns(static_cast<double>(k) * from_middle / kGrid).cos;
    const double window = 0.5 + 0.5 * sincos_turns(from_middle / kTaps).cos;
    taps_[t] = static_cast<float>(sum / kGrid * window);
  }
  random_.normals(0, normals_.data(), kTaps);
  drawn_ = kTaps;
  std::copy(normals_.begin(), normals_.begin() + kTaps, normals_.end() - static_cast<std::ptrdiff_t>(kTaps));
}

float GaussianNoise::next() {
  if (at_ == kBlock) {
    std::copy(normals_.end() - static_cast<std::ptrdiff_t>(kTaps), normals_.end(), normals_.begin());
    random_.normals(drawn_, &normals_[kTaps], kBlock);
    drawn_ += kBlock;
    at_ = 0;
  }
  return dot(taps_.data(), &normals_[at_++], kTaps);
}

LoopImpulses::LoopImpulses(const Random& random, double rate_hz, double mean_hz, double peak)
    : random_(random), mean_gap_(mean_hz > 0 ? rate_hz / mean_hz : 0) {
  const auto length = static_cast<std::size_t>(rate_hz * kLengthS);
  for (std::size_t k = 0; k < length; ++k) {
    const double t = static_cast<double>(k) / rate_hz;
    shape_.push_back(static_cast<float>(peak * natural_exp(-t / kDecayS) * sincos_turns(kHz * t).cos));
  }
  pending_.assign(length, 0);
  next_at_ = mean_gap_ > 0 ? mean_gap_ * random_.exponential(0) : std::numeric_limits<double>::infinity();
}

float LoopImpulses::next() {
  while (static_cast<double>(now_) >= next_at_) {
    const float sign = random_.uniform(2 * impulses_ + 1) < 0.5 ? -1.f : 1.f;
    for (std::size_t k = 0; k < shape_.size(); ++k) pending_[(now_ + k) % pending_.size()] += sign * shape_[k];
    ++impulses_;
    next_at_ += mean_gap_ * random_.exponential(2 * impulses_);
  }
  float& slot = pending_[now_++ % pending_.size()];
  const float y = slot;
  slot = 0;
  return y;
}

}  // namespace offhook::hostsim
