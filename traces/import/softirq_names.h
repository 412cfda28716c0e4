// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace offhook::traces {

/// The kernel's softirqs by vector (include/linux/interrupt.h, enum).
inline constexpr std::array<std::string_view, 10> kSoftirqNames = {"HI",       "TIMER",   "NET_TX", "NET_RX",  "BLOCK",
                                                                   "IRQ_POLL", "TASKLET", "SCHED",  "HRTIMER", "RCU"};
constexpr std::string_view softirq_name(std::uint64_t vector) {
  return vector < kSoftirqNames.size() ? kSoftirqNames[vector] : "softirq";
}

}  // namespace offhook::traces
