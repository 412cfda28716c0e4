// SPDX-License-Identifier: MIT
//
// Several channels of DAHDI as the lines of one program: whole spans, or channels by their numbers.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "driver/network/dahdi_card.h"

namespace offhook {

struct DahdiGroupChannel {
  DahdiConfig config;
  bool of_whole_span = false;  ///< not named by the user: a program continues without it if it cannot be used
};

/// SPAN, SPAN/CHANNEL or SPAN/FIRST-LAST, several of them, and the options of a channel: "1", "1/1-15,1/17,law=pcma".
/// Reads the channels of a whole span from `folder`; opens none.
/// @throws std::runtime_error with the expected form, also for a span without channels or a channel that is named twice
std::vector<DahdiGroupChannel> parse_dahdi_group(std::string_view place, const std::string& folder = "/dev/dahdi/chan");

}  // namespace offhook
