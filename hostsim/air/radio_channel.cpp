// SPDX-License-Identifier: MIT
#include "hostsim/air/radio_channel.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "dsp/blocks/level.h"
#include "dsp/blocks/sincos.h"

namespace offhook::hostsim {
namespace {

constexpr std::uint64_t kFadingStream = 0x61697230, kNoiseStream = 0x61697231;

radio::Complex turned(double turns) {
  const SinCos a = sincos_turns(turns - std::floor(turns));
  return {static_cast<float>(a.cos), static_cast<float>(a.sin)};
}

}  // namespace

RadioChannel::RadioChannel(const RadioChannelConfig& config, std::uint64_t seed, unsigned direction)
    : noise_(seed, kNoiseStream + direction),
      noise_rms_(dbm0_to_rms(config.signal_dbm0 - config.snr_db)),
      offset_turns_((direction == 0 ? -1 : 1) * config.offset_hz / config.sample_rate_hz) {
  if (config.paths.empty()) throw std::invalid_argument("expected a radio channel with at least one path");
  const Random fading(seed, kFadingStream);
  std::uint64_t drawn = 0;
  std::size_t longest = 0;
  for (const RadioPath& path : config.paths) {
    Path p{};
    p.delay = static_cast<std::size_t>(std::lround(path.delay_s * config.sample_rate_hz));
    longest = std::max(longest, p.delay);
    const double amplitude = db_to_gain(-path.loss_db);
    const double steady = path.doppler_hz == 0 ? 1 : db_to_gain(2 * path.rice_db) / (1 + db_to_gain(2 * path.rice_db));
    p.steady = amplitude * std::sqrt(steady);
    p.scattered = amplitude * std::sqrt((1 - steady) / kWaves);
    for (unsigned k = 0; k < kWaves; ++k) {
      p.turns_a_sample[k] = path.doppler_hz * sincos_turns(fading.uniform(drawn++)).cos / config.sample_rate_hz;
      p.turns[k] = fading.uniform(drawn++);
    }
    paths_.push_back(p);
  }
  past_.resize(longest + 1);
  renew();
}

void RadioChannel::renew() {
  for (Path& p : paths_) {
    p.gain = {static_cast<float>(p.steady), 0};
    if (p.scattered == 0) continue;
    for (unsigned k = 0; k < kWaves; ++k) {
      p.gain += static_cast<float>(p.scattered) * turned(p.turns[k] + p.turns_a_sample[k] * static_cast<double>(now_));
    }
  }
}

void RadioChannel::step(std::array<float, 2>& pair) {
  if (now_ % kGainSamples == 0) renew();
  past_[now_ % past_.size()] = down_.step(pair[0], pair[1]);
  radio::Complex sum{};
  for (const Path& p : paths_) sum += p.gain * past_[(now_ + past_.size() - p.delay) % past_.size()];
  if (offset_turns_ != 0) sum *= turned(offset_turns_ * static_cast<double>(now_));
  pair = up_.step(sum);
  std::array<float, 2> noise;
  noise_.normals(2 * now_, noise.data(), noise.size());
  for (std::size_t k = 0; k < 2; ++k) pair[k] += static_cast<float>(noise_rms_) * noise[k];
  ++now_;
}

}  // namespace offhook::hostsim
