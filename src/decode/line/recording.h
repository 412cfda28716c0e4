// SPDX-License-Identifier: MIT
//
// A recorded call as the analysis sees it: one or two channels of samples at 8000 Hz in int16 units, whatever the file
// holds.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace offhook::decode {

inline constexpr int kRateHz = 8000;

struct Recording {
  std::string name;                         ///< file name without its folder
  int file_rate_hz = 0;                     ///< of the file; `channel` is at kRateHz
  double duration_s = 0;                    ///< of the file
  bool truncated = false;                   ///< the file ended before its header said
  std::vector<int> peak;                    ///< by channel, int16 units, as in the file
  std::vector<int> clipped;                 ///< by channel, samples at either end of the scale in runs of two or more
  std::vector<std::vector<float>> channel;  ///< [1 or 2][samples]
};

/// Reads any format of libsndfile at 4000 to 192 000 Hz.
/// @throws std::runtime_error naming the file and what is wrong: not audio, empty, more than two channels, over an hour
Recording read_recording(const std::filesystem::path& file);

/// As read_recording, from memory. @param name  for messages
Recording read_recording(std::span<const unsigned char> bytes, const std::string& name);

/// Band-limited conversion of a whole signal to 8000 Hz. @param from_hz  4000 to 192 000
std::vector<float> resample(std::span<const float> x, int from_hz);

}  // namespace offhook::decode
