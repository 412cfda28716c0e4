// SPDX-License-Identifier: MIT
//
// What of this machine decides its latencies, for the record: every live measurement carries it, and a live call's
// event log has it in its header, so that a report made elsewhere can still say where the call was.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

namespace offhook::measure {

/// Kernel, command line, CPU, frequency and idle governors, isolation, tick rate, clock source, hypervisor, limits,
/// load. What this machine does not tell stands as "unknown" or "none", with the reason where there is one.
/// @param root  where /proc, /sys and /run are (a test's own tree; system calls are asked all the same)
nlohmann::ordered_json host_description(const std::filesystem::path& root = "/");

/// Name and value of each entry, for people: in the order of host_description(), then what it does not know.
/// @param host  any JSON object, of a log of any version
std::vector<std::pair<std::string, std::string>> host_in_words(const nlohmann::json& host);

}  // namespace offhook::measure
