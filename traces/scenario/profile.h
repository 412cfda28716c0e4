// SPDX-License-Identifier: MIT
//
// Cost profiles from traces/data/profiles/*.toml.
#pragma once

#include <string_view>

#include "hostsim/call/cost_profile.h"
#include "traces/scenario/document.h"
#include "traces/scenario/key.h"

namespace offhook::config {

const KeyTable& profile_keys();

/// traces/data/profiles/NAME.toml. The file can have measured.*: the time of an interrupt handler that did all the
/// work, with the kernel's event logging on. Then the cost of a connected block is that time without the interrupt
/// routine and without the logging; the worst case of a phase is computed in the same way. @throws Error
hostsim::CostProfile load_profile(std::string_view name);
/// The same from a document. @throws Error
hostsim::CostProfile read_profile(const Document& document, std::string_view name);

}  // namespace offhook::config
