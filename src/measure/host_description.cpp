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
#include <nlohmann/json.hpp>
#include <sstream>
#include <string_view>

#include "driver/base/json.h"

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

/// The value in the first line of /proc/cpuinfo or /proc/self/status that begins with `name`.
std::string value_of(const fs::path& file, std::string_view name) {
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    if (!line.starts_with(name)) continue;
    const std::size_t value = line.find_first_not_of(" \t:", name.size());
    return value == std::string::npos ? "" : line.substr(value);
  }
  return "";
}

/// The chosen one in a text such as "none voluntary (full)".
std::string chosen(const std::string& line) {
  const std::size_t open = line.find_first_of("(["), close = line.find_first_of(")]");
  return open < close && close != std::string::npos ? line.substr(open + 1, close - open - 1) : "";
}

/// CONFIG_HZ is not exported everywhere, but the resolution of the coarse clocks is one tick (TICK_NSEC).
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

/// The time limit of the process's control group, "max" or
/// "20000 of 100000 us". Beyond it, the group is throttled.
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

/// CAP_SYS_NICE in the effective set: real-time priorities without a limit.
std::string may_nice(const fs::path& root) {
  constexpr int kCapSysNice = 23;
  const std::string mask = value_of(root / "proc/self/status", "CapEff");
  if (mask.empty()) return "unknown";
  return (std::strtoull(mask.c_str(), nullptr, 16) >> kCapSysNice & 1) != 0 ? "yes" : "no";
}

}  // namespace

HostDescription describe_host(const fs::path& root) {
  utsname kernel{};
  uname(&kernel);
  const fs::path cpu = root / "sys/devices/system/cpu", sched = root / "proc/sys/kernel";
  const std::string cpuinfo_name = value_of(root / "proc/cpuinfo", "model name");
  const std::string driver = first_line(cpu / "cpuidle/current_driver");
  HostDescription h;
  h.kernel = fmt::format("{} {} {}", kernel.sysname, kernel.release, kernel.version);
  h.machine = kernel.machine;
  h.command_line = or_else(first_line(root / "proc/cmdline"), "unknown");
  h.preemption = or_else(chosen(first_line(root / "sys/kernel/debug/sched/preempt")), "by the kernel's version string");
  h.real_time_kernel = first_line(root / "sys/kernel/realtime") == "1" ? "yes" : "no";
  h.tick_hz = tick_hz();
  h.clock_source =
      or_else(first_line(root / "sys/devices/system/clocksource/clocksource0/current_clocksource"), "unknown");
  h.cpu = or_else(cpuinfo_name.empty() ? value_of(root / "proc/cpuinfo", "Model") : cpuinfo_name, "unknown");
  h.microcode = or_else(value_of(root / "proc/cpuinfo", "microcode"), "unknown");
  h.cpus_online = sysconf(_SC_NPROCESSORS_ONLN);
  h.cpus_allowed = allowed_cpus();
  h.smt = first_line(cpu / "smt/active") == "1" ? "yes" : "no";
  h.governor = or_else(first_line(cpu / "cpu0/cpufreq/scaling_governor"), "none: no cpufreq driver");
  h.idle_driver =
      driver.empty() || driver == "none"
          ? "none"
          : fmt::format("{}, {}", driver, or_else(first_line(cpu / "cpuidle/current_governor_ro"), "governor unknown"));
  h.isolated_cpus = or_else(first_line(cpu / "isolated"), "none");
  h.nohz_full_cpus = or_else(first_line(cpu / "nohz_full"), "none");
  h.hypervisor = hypervisor(root);
  h.container = container(root);
  h.rtprio_limit = limit_of(RLIMIT_RTPRIO, 1);
  h.memlock_limit_kib = limit_of(RLIMIT_MEMLOCK, 1024);
  h.cap_sys_nice = may_nice(root);
  h.sched_rt_runtime_us = or_else(first_line(sched / "sched_rt_runtime_us"), "unknown");
  h.sched_rt_period_us = or_else(first_line(sched / "sched_rt_period_us"), "unknown");
  h.cpu_quota = cpu_quota(root);
  h.load_average = or_else(first_line(root / "proc/loadavg"), "unknown");
  h.user_id = geteuid();
  return h;
}

namespace {

using H = record::Written<HostDescription>;
constexpr record::Row kRows[] = {
    H::of<&HostDescription::kernel>("kernel", "", "operating system, release and build of the kernel").label("kernel"),
    H::of<&HostDescription::machine>("machine", "", "architecture").label("machine"),
    H::of<&HostDescription::command_line>("command_line", "", "command line of the kernel")
        .label("kernel command line"),
    H::of<&HostDescription::preemption>("preemption", "", "preemption model that is in force").label("preemption"),
    H::of<&HostDescription::real_time_kernel>("real_time_kernel", "", "yes: the kernel has PREEMPT_RT")
        .label("PREEMPT_RT"),
    H::of("tick_hz", "Hz", "rate of the tick, or unknown",
          [](const HostDescription& h) {
            return h.tick_hz > 0 ? record::Value(std::int64_t{h.tick_hz}) : record::Value(std::string("unknown"));
          })
        .label("tick (CONFIG_HZ), Hz"),
    H::of<&HostDescription::clock_source>("clock_source", "", "clock source of the kernel").label("clock source"),
    H::of<&HostDescription::cpu>("cpu", "", "name of the CPU").label("CPU"),
    H::of<&HostDescription::microcode>("microcode", "", "version of its microcode").label("microcode"),
    H::of<&HostDescription::cpus_online>("cpus_online", "", "number of CPUs that are online").label("CPUs online"),
    H::of<&HostDescription::cpus_allowed>("cpus_allowed", "", "CPUs that this process may use")
        .label("CPUs allowed to this process"),
    H::of<&HostDescription::smt>("smt", "", "yes: SMT siblings are in use").label("SMT siblings in use"),
    H::of<&HostDescription::governor>("governor", "", "frequency governor").label("frequency governor"),
    H::of<&HostDescription::idle_driver>("idle_driver", "", "idle driver and its governor")
        .label("idle driver and governor"),
    H::of<&HostDescription::isolated_cpus>("isolated_cpus", "", "CPUs of isolcpus").label("isolated CPUs (isolcpus)"),
    H::of<&HostDescription::nohz_full_cpus>("nohz_full_cpus", "", "CPUs of nohz_full")
        .label("CPUs without tick (nohz_full)"),
    H::of<&HostDescription::hypervisor>("hypervisor", "", "hypervisor, none or unknown").label("hypervisor"),
    H::of<&HostDescription::container>("container", "", "kind of container, or none").label("container"),
    H::of(
        "smi", "", "system management interrupts",
        [](const HostDescription&) { return "unknown: the firmware takes their time without the kernel's knowledge"; })
        .label("system management interrupts"),
    H::of<&HostDescription::rtprio_limit>("rtprio_limit", "", "highest real-time priority that is permitted")
        .label("rtprio limit"),
    H::of<&HostDescription::memlock_limit_kib>("memlock_limit_kib", "KiB", "memory that may be locked")
        .label("memlock limit, KiB"),
    H::of<&HostDescription::cap_sys_nice>("cap_sys_nice", "", "whether this process has CAP_SYS_NICE")
        .label("CAP_SYS_NICE"),
    H::of<&HostDescription::sched_rt_runtime_us>("sched_rt_runtime_us", "us", "time of real-time threads in a period")
        .label("sched_rt_runtime_us"),
    H::of<&HostDescription::sched_rt_period_us>("sched_rt_period_us", "us", "period of the limit of real-time threads")
        .label("sched_rt_period_us"),
    H::of<&HostDescription::cpu_quota>("cpu_quota", "", "CPU quota of the control group")
        .label("CPU quota of the control group"),
    H::of<&HostDescription::load_average>("load_average", "", "load average before the measurement")
        .label("load average before"),
    H::of<&HostDescription::user_id>("user_id", "", "effective user").label("user id"),
};

}  // namespace

constexpr record::Table kHostDescription{kRows, "host-description"};

std::string host_description() {
  const HostDescription here = describe_host();
  return record::json_text(kHostDescription, &here);
}

std::vector<std::pair<std::string, std::string>> host_in_words(const nlohmann::json& host) {
  std::vector<std::pair<std::string, std::string>> words;
  const auto text = [](const nlohmann::json& value) {
    return value.is_string() ? value.get<std::string>() : value.dump();
  };
  for (const record::Row& row : kRows) {
    if (const auto found = host.find(std::string(row.key)); found != host.end())
      words.emplace_back(std::string(row.name), text(*found));
  }
  for (const auto& [key, value] : host.items()) {
    const bool known =
        std::any_of(std::begin(kRows), std::end(kRows), [&k = key](const auto& r) { return r.key == k; });
    if (!known) words.emplace_back(key, text(value));
  }
  return words;
}

std::vector<std::pair<std::string, std::string>> host_text_in_words(std::string_view host) {
  return host_in_words(parse_json(host));
}

}  // namespace offhook::measure
