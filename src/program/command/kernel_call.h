// SPDX-License-Identifier: MIT
//
// What `offhook kernel`, `offhook run --host kernel` and `offhook card` have in common, so that a call of a kernel and
// one in process are the same.
#pragma once

#include <cstdint>

namespace offhook::command {

inline constexpr std::uint32_t kKernelBlock = 80;               ///< samples an interrupt: 10 ms
inline constexpr std::uint32_t kKernelLead = 2 * kKernelBlock;  ///< queued ahead

/// Of a scenario, whatever host it names: the contexts that it may name are a Linux kernel's.
inline constexpr const char* kKernelHost = "host.name=linux-hz250";

}  // namespace offhook::command
