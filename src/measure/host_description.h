// SPDX-License-Identifier: MIT
//
// The properties of this machine that determine its latencies, for the record. Every live measurement has them, and a
// live call's event log has them in its header, so that a report made elsewhere can still name the host of the call.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

namespace offhook::measure {

/// Kernel, command line, CPU, frequency and idle governors, isolation, tick rate, clock source, hypervisor, limits,
/// load. Unavailable values are "unknown" or "none", with the reason if known.
/// @param root  the parent of /proc, /sys and /run (a test's own tree; system calls use the real system)
nlohmann::ordered_json host_description(const std::filesystem::path& root = "/");

/// Name and value of each entry, for people: in the order of host_description(), then unknown keys.
/// @param host  any JSON object, of a log of any version
std::vector<std::pair<std::string, std::string>> host_in_words(const nlohmann::json& host);

}  // namespace offhook::measure
