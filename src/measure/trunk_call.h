// SPDX-License-Identifier: MIT
//
// The trunk test on two live cards, which a call connects: end A sends its signal, then end B.
#pragma once

#include <functional>

#include "driver/context/live_context.h"
#include "driver/live/live_card.h"
#include "src/measure/trunk.h"

namespace offhook::measure {

struct TrunkConfig {
  LiveContextConfig context;
  int interrupt_priority = 80;
  double seconds = 40;                 ///< both signals
  std::function<void()> started;       ///< when both cards run; may be empty
  std::function<std::string()> ended;  ///< why the call is over; empty: it is not
};

/// Shortest test, in seconds.
inline constexpr double kLeastTrunkSeconds = 12;

/// @param progress  share done; false: stop, and the result covers the data so far
/// @throws std::runtime_error: privileges, a card vanished, the call ended; std::invalid_argument: a card has no octets
/// of G.711
TrunkResult test_trunk(LiveCard& a, LiveCard& b, const TrunkConfig& config,
                       const std::function<bool(double)>& progress);

}  // namespace offhook::measure
