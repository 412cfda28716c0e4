// SPDX-License-Identifier: MIT
//
// The signals of a telephone line around a modem call: digits, call progress, caller ID, calling tones.
#pragma once

#include <string>
#include <vector>

#include "src/decode/line/recording.h"

namespace offhook::decode {

struct CallSignal {
  int channel = 0;
  double t0 = 0, t1 = 0;  ///< s
  std::string name;    ///< "DTMF", "dial tone", "ringback", "busy", "special information tone", "calling tone 1300 Hz",
                       ///< "answer tone 2225 Hz", "caller ID"
  std::string detail;  ///< the digits, the cadence, the fields of a caller ID; may be empty
};

inline constexpr const char *kCallerId = "caller ID", *kBellAnswerTone = "answer tone 2225 Hz";

/// In order of time.
std::vector<CallSignal> find_call_signals(const Recording& recording);

}  // namespace offhook::decode
