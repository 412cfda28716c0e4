// SPDX-License-Identifier: MIT
#include "src/measure/host_description.h"

#include <fmt/format.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string_view>

#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#endif

namespace offhook::measure {

namespace fs = std::filesystem;

namespace {

std::string first_line(const fs::path& file) {
  std::ifstream in(file);
  std::string line;
  std::getline(in, line);
  const std::size_t end = line.find_last_not_of(" \t");
  return end == std::string::npos ? "" : line.substr(0, end + 1);
}

std::string or_else(const std::string& text, const char* otherwise) {
  return text.empty() || text == "(null)" ? otherwise : text;
}

/// The value of the first line of /proc/cpuinfo or /proc/self/status that begins with `name`.
std::string value_of(const fs::path& file, std::string_view name) {
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    if (!line.starts_with(name)) continue;
    const std::size_t value = line.find_first_not_of(" \t:", name.size());
    return value == std::string::npos ? "" : line.substr(value);
  }
  return "";
}

/// A choice such as "none voluntary (full)", the chosen one.
std::string chosen(const std::string& line) {
  const std::size_t open = line.find_first_of("(["), close = line.find_first_of(")]");
  return open < close && close != std::string::npos ? line.substr(open + 1, close - open - 1) : "";
}

/// CONFIG_HZ is not exported everywhere; the coarse clocks' resolution is one tick (TICK_NSEC).
long tick_hz() {
  timespec t{};
  if (clock_getres(CLOCK_MONOTONIC_COARSE, &t) != 0 || t.tv_nsec == 0) return 0;
  return (1'000'000'000 + t.tv_nsec / 2) / t.tv_nsec;
}

/// The signature at CPUID leaf 0x40000000, valid if leaf 1 reports a hypervisor.
std::string hypervisor_of_cpuid() {
#if defined(__x86_64__) || defined(__i386__)
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (__get_cpuid(1, &a, &b, &c, &d) == 0 || (c >> 31) == 0) return "none";
  __cpuid(0x40000000, a, b, c, d);
  std::array<char, 13> text{};
  std::memcpy(text.data(), &b, 4);
  std::memcpy(text.data() + 4, &c, 4);
  std::memcpy(text.data() + 8, &d, 4);
  return or_else(text.data(), "an unnamed one");
#else
  return "";
#endif
}

std::string hypervisor(const fs::path& root) {
  if (std::string xen = first_line(root / "sys/hypervisor/type"); !xen.empty()) return xen;
  if (std::string tree = first_line(root / "proc/device-tree/hypervisor/compatible"); !tree.empty()) return tree;
  return or_else(hypervisor_of_cpuid(), "unknown");
}

std::string container(const fs::path& root) {
  if (std::string name = first_line(root / "run/systemd/container"); !name.empty()) return name;
  return fs::exists(root / ".dockerenv") ? "docker" : "none";
}

/// The time that the process's control group may have, "max" or "20000 of 100000 us": beyond it everything is
/// throttled.
std::string cpu_quota(const fs::path& root) {
  const std::string group = value_of(root / "proc/self/cgroup", "0::");
  if (group.empty()) return "unknown";
  std::istringstream in(first_line(root / "sys/fs/cgroup" / group.substr(1) / "cpu.max"));
  std::string quota, period;
  in >> quota >> period;
  if (quota.empty() || quota == "max") return "none";
  return fmt::format("{} of every {} us", quota, period);
}

std::string limit_of(__rlimit_resource which, rlim_t unit) {
  rlimit limit{};
  if (getrlimit(which, &limit) != 0) return "unknown";
  return limit.rlim_cur == RLIM_INFINITY ? "unlimited" : fmt::format("{}", limit.rlim_cur / unit);
}

std::string allowed_cpus() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) != 0) return "unknown";
  std::string text;
  for (int cpu = 0, first = -1; cpu <= CPU_SETSIZE; ++cpu) {
    const bool in = cpu < CPU_SETSIZE && CPU_ISSET(cpu, &set);
    if (in && first < 0) first = cpu;
    if (in || first < 0) continue;
    text += fmt::format("{}{}", text.empty() ? "" : ",", first);
    if (cpu - 1 > first) text += fmt::format("-{}", cpu - 1);
    first = -1;
  }
  return text;
}

/// CAP_SYS_NICE of the effective set: real-time priorities without a limit.
std::string may_nice(const fs::path& root) {
  constexpr int kCapSysNice = 23;
  const std::string mask = value_of(root / "proc/self/status", "CapEff");
  if (mask.empty()) return "unknown";
  return (std::strtoull(mask.c_str(), nullptr, 16) >> kCapSysNice & 1) != 0 ? "yes" : "no";
}

constexpr std::pair<std::string_view, std::string_view> kTitles[] = {
    {"kernel", "kernel"},
    {"machine", "machine"},
    {"command_line", "kernel command line"},
    {"preemption", "preemption"},
    {"real_time_kernel", "PREEMPT_RT"},
    {"tick_hz", "tick (CONFIG_HZ), Hz"},
    {"clock_source", "clock source"},
    {"cpu", "CPU"},
    {"microcode", "microcode"},
    {"cpus_online", "CPUs online"},
    {"cpus_allowed", "CPUs allowed to this process"},
    {"smt", "SMT siblings in use"},
    {"governor", "frequency governor"},
    {"idle_driver", "idle driver and governor"},
    {"isolated_cpus", "isolated CPUs (isolcpus)"},
    {"nohz_full_cpus", "CPUs without tick (nohz_full)"},
    {"hypervisor", "hypervisor"},
    {"container", "container"},
    {"smi", "system management interrupts"},
    {"rtprio_limit", "rtprio limit"},
    {"memlock_limit_kib", "memlock limit, KiB"},
    {"cap_sys_nice", "CAP_SYS_NICE"},
    {"sched_rt_runtime_us", "sched_rt_runtime_us"},
    {"sched_rt_period_us", "sched_rt_period_us"},
    {"cpu_quota", "CPU quota of the control group"},
    {"load_average", "load average before"},
    {"user_id", "user id"},
};

}  // namespace

nlohmann::ordered_json host_description(const fs::path& root) {
  utsname kernel{};
  uname(&kernel);
  const fs::path cpu = root / "sys/devices/system/cpu", sched = root / "proc/sys/kernel";
  const std::string cpuinfo_name = value_of(root / "proc/cpuinfo", "model name");
  const std::string driver = first_line(cpu / "cpuidle/current_driver");
  const long hz = tick_hz();
  return {
      {"kernel", fmt::format("{} {} {}", kernel.sysname, kernel.release, kernel.version)},
      {"machine", kernel.machine},
      {"command_line", or_else(first_line(root / "proc/cmdline"), "unknown")},
      {"preemption",
       or_else(chosen(first_line(root / "sys/kernel/debug/sched/preempt")), "by the kernel's version string")},
      {"real_time_kernel", first_line(root / "sys/kernel/realtime") == "1" ? "yes" : "no"},
      {"tick_hz", hz > 0 ? nlohmann::ordered_json(hz) : nlohmann::ordered_json("unknown")},
      {"clock_source",
       or_else(first_line(root / "sys/devices/system/clocksource/clocksource0/current_clocksource"), "unknown")},
      {"cpu", or_else(cpuinfo_name.empty() ? value_of(root / "proc/cpuinfo", "Model") : cpuinfo_name, "unknown")},
      {"microcode", or_else(value_of(root / "proc/cpuinfo", "microcode"), "unknown")},
      {"cpus_online", sysconf(_SC_NPROCESSORS_ONLN)},
      {"cpus_allowed", allowed_cpus()},
      {"smt", first_line(cpu / "smt/active") == "1" ? "yes" : "no"},
      {"governor", or_else(first_line(cpu / "cpu0/cpufreq/scaling_governor"), "none: no cpufreq driver")},
      {"idle_driver", driver.empty() || driver == "none"
                          ? "none"
                          : fmt::format("{}, {}", driver,
                                        or_else(first_line(cpu / "cpuidle/current_governor_ro"), "governor unknown"))},
      {"isolated_cpus", or_else(first_line(cpu / "isolated"), "none")},
      {"nohz_full_cpus", or_else(first_line(cpu / "nohz_full"), "none")},
      {"hypervisor", hypervisor(root)},
      {"container", container(root)},
      {"smi", "unknown: the firmware takes their time without the kernel's knowledge"},
      {"rtprio_limit", limit_of(RLIMIT_RTPRIO, 1)},
      {"memlock_limit_kib", limit_of(RLIMIT_MEMLOCK, 1024)},
      {"cap_sys_nice", may_nice(root)},
      {"sched_rt_runtime_us", or_else(first_line(sched / "sched_rt_runtime_us"), "unknown")},
      {"sched_rt_period_us", or_else(first_line(sched / "sched_rt_period_us"), "unknown")},
      {"cpu_quota", cpu_quota(root)},
      {"load_average", or_else(first_line(root / "proc/loadavg"), "unknown")},
      {"user_id", geteuid()},
  };
}

std::vector<std::pair<std::string, std::string>> host_in_words(const nlohmann::json& host) {
  std::vector<std::pair<std::string, std::string>> words;
  const auto text = [](const nlohmann::json& value) {
    return value.is_string() ? value.get<std::string>() : value.dump();
  };
  for (const auto& [key, title] : kTitles) {
    if (const auto found = host.find(std::string(key)); found != host.end())
      words.emplace_back(std::string(title), text(*found));
  }
  for (const auto& [key, value] : host.items()) {
    const bool known =
        std::any_of(std::begin(kTitles), std::end(kTitles), [&k = key](const auto& t) { return t.first == k; });
    if (!known) words.emplace_back(key, text(value));
  }
  return words;
}

}  // namespace offhook::measure
