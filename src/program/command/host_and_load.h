// SPDX-License-Identifier: MIT
//
// The host and the load that a command line names.
#pragma once

#include <string>

#include "traces/scenario/scenario.h"

namespace offhook::command {

/// A host by its name, with a spinner as load; or a file with the keys of a scenario's host and load, or only those of
/// a host.
/// @throws config::Error
config::ScenarioBuilder host_and_load(const std::string& host);

}  // namespace offhook::command
