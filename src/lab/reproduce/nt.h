// SPDX-License-Identifier: MIT
//
// Constants of Windows NT and Windows 2000.
#pragma once

namespace offhook::reproduce {

constexpr int kClockLevel = 28;  ///< CLOCK_LEVEL: the interrupt level of the clock, above all devices

}  // namespace offhook::reproduce
