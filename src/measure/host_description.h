// SPDX-License-Identifier: MIT
//
// The properties of this machine that determine its latencies, for the record. Every live measurement has them, and a
// live call's event log has them in its header, so that a report made elsewhere can still name the host of the call.
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "driver/base/record.h"

namespace offhook::measure {

/// Values that are not available are "unknown" or "none", with the reason if known.
struct HostDescription {
  std::string kernel, machine, command_line, preemption, real_time_kernel, clock_source, cpu, microcode, cpus_allowed,
      smt, governor, idle_driver, isolated_cpus, nohz_full_cpus, hypervisor, container, rtprio_limit, memlock_limit_kib,
      cap_sys_nice, sched_rt_runtime_us, sched_rt_period_us, cpu_quota, load_average;
  long tick_hz = 0;  ///< 0: unknown
  long cpus_online = 0;
  unsigned user_id = 0;
};
extern const record::Table kHostDescription;

/// @param root  the parent of /proc, /sys and /run (for tests; system calls use the real system)
HostDescription describe_host(const std::filesystem::path& root = "/");
/// The description of this machine as JSON text, for the header of an event log.
std::string host_description();

/// Name and value of each entry for people, in the order of the table, then unknown keys.
/// @param host  any JSON object, from a log of any version
std::vector<std::pair<std::string, std::string>> host_in_words(const nlohmann::json& host);
/// The same from JSON text, as in the header of a log.
std::vector<std::pair<std::string, std::string>> host_text_in_words(std::string_view host);

}  // namespace offhook::measure
