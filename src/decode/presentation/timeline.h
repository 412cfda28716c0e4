// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "src/decode/call/call.h"

namespace offhook::decode {

/// One line of the timeline.
struct Event {
  /// The meaning of the page's colours.
  enum class Kind { kAnswerTone, kMenu, kInfo, kProbing, kTraining, kSequence, kData, kChange } kind;
  double t = 0;
  double t_end = 0;  ///< 0: a moment
  int channel = 0;
  std::string event;
  std::string detail;
};

/// All that was heard, in order of time.
std::vector<Event> timeline(const Call& call);

}  // namespace offhook::decode
