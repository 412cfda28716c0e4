// SPDX-License-Identifier: MIT
#include "src/decode/line/silence.h"

#include <algorithm>
#include <cstddef>

namespace offhook::decode {
namespace {

constexpr double kLeastSoundS = 0.3;
constexpr double kLoudS = 3;                    // the loudest 3 s are the signal, not a click
constexpr float kNoise = 10;                    // of a signal's power over that of the quietest blocks
constexpr float kLeast = 1e-4F, kSure = 1e-2F;  // of the loud power
constexpr float kSilentPower = 16.F / (32768.F * 32768.F);

// The least power of a signal in this channel.
float threshold(std::vector<float> power, double block_s) {
  if (power.empty()) return kSilentPower;
  const std::size_t loudest =
      std::max<std::size_t>(1, std::min(power.size() / 10, static_cast<std::size_t>(kLoudS / block_s)));
  const auto quiet = power.begin() + static_cast<std::ptrdiff_t>(power.size() / 20);
  std::nth_element(power.begin(), quiet, power.end());
  const float noise = *quiet;
  const auto loud = power.end() - static_cast<std::ptrdiff_t>(loudest);
  std::nth_element(power.begin(), loud, power.end());
  return std::max(kSilentPower, std::clamp(kNoise * noise, kLeast * *loud, kSure * *loud));
}

}  // namespace

std::vector<SoundSpan> sound_spans(const std::vector<std::vector<float>>& power, double block_s) {
  std::vector<bool> sound;
  for (const auto& channel : power) {
    const float least = threshold(channel, block_s);
    sound.resize(std::max(sound.size(), channel.size()));
    for (std::size_t k = 0; k < channel.size(); ++k) sound[k] = sound[k] || channel[k] > least;
  }
  const auto separates = static_cast<std::size_t>(kSeparatesS / block_s);
  const auto least = static_cast<std::size_t>(kLeastSoundS / block_s);
  std::vector<SoundSpan> spans;
  std::size_t first = 0, last = 0, blocks = 0;  // of the stretch that is open
  const auto close = [&] {
    if (blocks >= least)
      spans.push_back({static_cast<double>(first) * block_s, static_cast<double>(last + 1) * block_s});
    blocks = 0;
  };
  for (std::size_t k = 0; k < sound.size(); ++k) {
    if (!sound[k]) continue;
    if (blocks > 0 && k - last > separates) close();
    if (blocks == 0) first = k;
    last = k;
    ++blocks;
  }
  close();
  return spans;
}

}  // namespace offhook::decode
