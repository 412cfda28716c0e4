// SPDX-License-Identifier: MIT
//
// A scenario's call by a modem of the kernel driver instead of a simulated host. The scenario defines pump, context,
// blocks and file; host and load are this machine's, and line and far modem are the card's: `offhook line card
// --scenario` reads them from the same file, and sends the same octets.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "driver/kernel/kernel_device.h"
#include "hostsim/call/scenario.h"
#include "src/program/command/call_run.h"

namespace offhook::command {

/// @param host  from --host: "kernel", "kernel:N"  @throws std::runtime_error if it does not exist or is in use
std::unique_ptr<KernelDevice> open_kernel_host(const std::string& host);

/// The kernel's form of the call. @throws std::runtime_error with the key that the kernel's modem does not support
oh_kernel_call kernel_call_of(const hostsim::Scenario& scenario);

/// @param file  the far modem's data; empty: those of the
/// scenario  @throws std::runtime_error if the device is gone
CallOutcome run_kernel_call(KernelDevice& device, const hostsim::Scenario& scenario, std::span<const std::uint8_t> file,
                            const CallSinks& sinks);

}  // namespace offhook::command
