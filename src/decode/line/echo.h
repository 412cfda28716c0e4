// SPDX-License-Identifier: MIT
//
// Cancels the echo of one direction in the other. A tap of a two-wire line, or of the network behind a hybrid, receives
// each direction with the other's echo, and the other direction's channel is that echo's source.
//
// Modems train one after the other, so that in some stretches one channel holds the other's echo and nothing
// else. These are found in the samples, whatever the modulation, and the echo's path is fitted to them by least
// squares. A recording without such a stretch is not changed.
#pragma once

#include <array>
#include <span>
#include <vector>

namespace offhook::decode {

/// A path of the echo, learnt from stretches that lie together.
struct EchoPath {
  double t0 = 0, t1 = 0;      ///< s: of the first and of the last of them
  double learnt_s = 0;        ///< their length together
  std::vector<int> lag;       ///< samples that the echo is late, increasing
  std::vector<float> taps;    ///< one for each lag
  double loss_db = 0;         ///< of the path: the source's power over the echo's
  double enhancement_db = 0;  ///< power of the channel there, over its residual
  double delay_ms() const;    ///< of its strongest tap
};

/// @param own, other  the two channels at 8000 Hz, equally long
std::vector<EchoPath> find_echo_paths(std::span<const float> own, std::span<const float> other);

/// Cancels the other channel's echo in each channel, in place. Each path is used from its stretch to the next one's,
/// and the first path also before its stretch, but only while there is such an echo. Beyond the channels it needs a few
/// seconds of samples.
/// @param channel  [2], equally long  @param paths  [2], of the echo in each channel; none: the channel is unchanged
void take_echo_off(const std::array<std::span<float>, 2>& channel,
                   const std::array<std::span<const EchoPath>, 2>& paths);

}  // namespace offhook::decode
