// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <vector>

#include "src/decode/line/recording.h"

namespace offhook::decode {

/// ANS, ANSam or ANSpcm. Times in seconds, the amplitude is a peak in int16 units.
struct AnswerToneHeard {
  int channel = 0;
  double t0 = 0, t1 = 0;
  double amplitude = 0;
  double frequency_hz = 0;
  double depth = 0;               ///< of the 15 Hz modulation
  std::vector<double> reversals;  ///< those that are 450 ms apart
  double steady_s = 0;            ///< the longest part without another change of phase, as each note of music has
  enum class Kind : std::uint8_t { kAns, kAnsam, kAnspcm } kind = Kind::kAns;
  const char* name() const;  ///< "ANS", "ANSam", "ANSpcm"
};

/// In order of channel and time, echoes removed. A tone whose modulation begins or ends in its middle is two. 2100 Hz
/// among other sounds, as in music, is not an answer tone.
/// @param v92  Quick Connect was requested: a tone without modulation is ANSpcm, whatever the recording's clock
std::vector<AnswerToneHeard> find_answer_tones(const Recording& recording, bool v92);

}  // namespace offhook::decode
