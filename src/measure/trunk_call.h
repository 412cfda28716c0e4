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
  std::function<void()> started;       ///< called when both cards run; may be empty
  std::function<std::string()> ended;  ///< why the call is over; empty while it continues
};

/// Shortest test, in seconds.
inline constexpr double kLeastTrunkSeconds = 12;

/// @param progress  finished share; if it returns false, stops with a result for the data so far
/// @throws std::runtime_error for missing privileges, a lost card or an ended call; std::invalid_argument if a card has
/// no octets of G.711
TrunkResult test_trunk(LiveCard& a, LiveCard& b, const TrunkConfig& config,
                       const std::function<bool(double)>& progress);

}  // namespace offhook::measure
