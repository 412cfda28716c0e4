// SPDX-License-Identifier: MIT
#pragma once

#include <nlohmann/json.hpp>

namespace offhook::modem {

/// What of this machine decides its latencies, for the record: kernel, command line, CPU, governor, isolation, tick
/// rate, limits. What cannot be read is left out.
nlohmann::json host_facts();

}  // namespace offhook::modem
