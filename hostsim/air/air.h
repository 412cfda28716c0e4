// SPDX-License-Identifier: MIT
//
// Soft radios for scenarios (hostsim/call/radio_call.h).
#pragma once

namespace offhook::hostsim {

/// Call it before a scenario with line.kind "air" is read.
void register_air();

}  // namespace offhook::hostsim
