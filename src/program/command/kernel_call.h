// SPDX-License-Identifier: MIT
//
// What `offhook modem kernel`, `offhook run --host kernel` and `offhook line card` have in common, so that a call of a
// kernel and one in process are the same.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace offhook::command {

inline constexpr std::uint32_t kKernelBlock = 80;               ///< samples per interrupt: 10 ms
inline constexpr std::uint32_t kKernelLead = 2 * kKernelBlock;  ///< queued ahead
inline constexpr std::uint32_t kKernelLoopBlock = 1104;         ///< on a subscriber loop, in periods of 276 kHz: 4 ms
inline constexpr std::uint32_t kKernelLoopLead = 3 * kKernelLoopBlock;
inline constexpr std::uint16_t kKernelDriverId = 1;  ///< number of its events: driver/linux/device.c

/// For a scenario without a host: its contexts are those of a Linux kernel.
inline constexpr const char* kKernelHost = "host.name=linux-hz250";

/// A file for a call; empty: none. @throws config::Error if the file must consist of whole cells but does not
std::vector<std::uint8_t> octets_to_send(const std::string& path, bool cells);

}  // namespace offhook::command
