// SPDX-License-Identifier: MIT
//
// A recorded call as the analysis sees it: one or two channels of samples at 8000 Hz in int16 units, whatever the file
// holds.
#pragma once

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "src/decode/line/rate_converter.h"
#include "src/decode/line/samples.h"

namespace offhook::decode {

/// How the second channel follows from the first.
struct ChannelLikeness {
  double gain_db = 0;        ///< of the second over the first
  double difference_db = 0;  ///< power of what the gain does not explain, below the second channel
  double delay_s = 0;        ///< the second is later, or earlier if negative
};

struct Recording {
  std::string name;                         ///< file name without its folder
  int file_rate_hz = 0;                     ///< of the file; `channel` is at kRateHz
  double duration_s = 0;                    ///< of the file
  bool truncated = false;                   ///< the file ended before its header said
  bool channels_alike = false;              ///< the file had two, sample for sample the same: one is here
  std::optional<ChannelLikeness> likeness;  ///< the file had two that are nearly the same: one is here
  std::vector<int> peak;                    ///< by channel, int16 units, as in the file
  std::vector<int> clipped;                 ///< by channel, samples at either end of the scale in runs of two or more
  std::vector<std::vector<float>> channel;  ///< [1 or 2][samples]
  std::size_t most = SIZE_MAX;              ///< samples of each that are looked at for a training

  std::span<const float> samples(std::size_t c) const {
    return std::span(channel[c]).first(std::min(most, channel[c].size()));
  }
};

/// Makes a recording while its samples are read: each block is brought to 8000 Hz at once, so that the memory is that
/// of the recording at 8000 Hz, whatever rate and container the file has.
class RecordingBuilder {
 public:
  /// @param channels  1 or 2  @param rate_hz  4000 to 192 000  @param name  for messages
  RecordingBuilder(int channels, int rate_hz, std::string name);
  /// @param frames  [channels * n], interleaved, full scale 1  @throws std::runtime_error beyond an hour
  void add(std::span<const float> frames);
  /// @throws std::runtime_error without samples
  Recording finish();

 private:
  struct Channel {
    std::optional<RateConverter> resampler;
    float peak = 0, last = 0;
    int clipped = 0;
    double sum = 0;
  };
  std::string name_;
  int rate_hz_;
  std::size_t samples_ = 0;
  bool alike_ = true;
  std::vector<Channel> channels_;
  std::vector<float> scaled_;
};

/// @param channels  [1 or 2][samples], full scale 1  @param name  for messages
/// @throws std::runtime_error: no samples, unequal channels, more than two, over an hour, a rate beyond 4000 to 192 000
Recording make_recording(const std::vector<std::vector<float>>& channels, int rate_hz, const std::string& name);

/// Reads any format of libsndfile at 4000 to 192 000 Hz.
/// @throws std::runtime_error naming the file and what is wrong: not audio, empty, more than two channels, over an
/// hour, not enough memory
Recording read_recording(const std::filesystem::path& file);

}  // namespace offhook::decode
