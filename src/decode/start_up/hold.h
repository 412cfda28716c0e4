// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "dsp/v90/coding/hold_sequence.h"
#include "src/decode/line/recording.h"

namespace offhook::decode {

/// MH sequences of V.92's modem-on-hold, one like the other, each with a good CRC. Times in seconds, the amplitude is a
/// peak in int16 units.
struct HoldHeard {
  int channel = 0;
  int carrier_hz = 0;     ///< 1200 of the digital modem, 2400 of the analogue one
  double t0 = 0, t1 = 0;  ///< begin of the first and end of the last, fill bits included
  double amplitude = 0;
  int count = 0;
  v90::HoldMessage message{};
};

/// In order of time, echoes removed.
std::vector<HoldHeard> find_hold(const Recording& recording);

}  // namespace offhook::decode
