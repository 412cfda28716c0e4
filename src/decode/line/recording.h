// SPDX-License-Identifier: MIT
//
// A recorded call as the analysis sees it: one or two channels of samples at 8000 Hz in int16 units, whatever the file
// holds.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "src/decode/line/samples.h"

namespace offhook::decode {

struct Recording {
  std::string name;                         ///< file name without its folder
  int file_rate_hz = 0;                     ///< of the file; `channel` is at kRateHz
  double duration_s = 0;                    ///< of the file
  bool truncated = false;                   ///< the file ended before its header said
  bool channels_alike = false;              ///< the file had two, sample for sample the same: one is here
  std::vector<int> peak;                    ///< by channel, int16 units, as in the file
  std::vector<int> clipped;                 ///< by channel, samples at either end of the scale in runs of two or more
  std::vector<std::vector<float>> channel;  ///< [1 or 2][samples]
};

/// @param channels  [1 or 2][samples], full scale 1  @param name  for messages
/// @throws std::runtime_error: no samples, unequal channels, more than two, over an hour, a rate beyond 4000 to 192 000
Recording make_recording(std::vector<std::vector<float>> channels, int rate_hz, const std::string& name);

/// Reads any format of libsndfile at 4000 to 192 000 Hz.
/// @throws std::runtime_error naming the file and what is wrong: not audio, empty, more than two channels, over an hour
Recording read_recording(const std::filesystem::path& file);

/// Band-limited conversion of a whole signal to 8000 Hz. @param from_hz  4000 to 192 000
std::vector<float> resample(std::span<const float> x, int from_hz);

}  // namespace offhook::decode
