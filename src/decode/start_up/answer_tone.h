// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "src/decode/line/recording.h"

namespace offhook::decode {

/// ANS, ANSam or ANSpcm. Times in seconds, the amplitude is a peak in int16 units.
struct AnswerToneHeard {
  int channel = 0;
  double t0 = 0, t1 = 0;
  double amplitude = 0;
  double frequency_hz = 0;
  double depth = 0;  ///< of the 15 Hz modulation
  std::vector<double> reversals;
  bool ansam = false;
  const char* kind() const;  ///< "ANSam with reversals", "ANSam", "ANS with reversals", "ANS"
};

/// In order of channel and time, echoes removed.
std::vector<AnswerToneHeard> find_answer_tones(const Recording& recording);

}  // namespace offhook::decode
