// SPDX-License-Identifier: MIT
#include "src/modem/host_facts.h"

#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <fstream>
#include <string>

namespace offhook::modem {

namespace {

std::string first_line(const std::string& file) {
  std::ifstream in(file);
  std::string line;
  std::getline(in, line);
  return line;
}

std::string cpu_model() {
  std::ifstream in("/proc/cpuinfo");
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
  }
  return "";
}

/// CONFIG_HZ is not exported; the resolution of the coarse clock is one tick.
long tick_hz() {
  timespec t{};
  if (clock_getres(CLOCK_MONOTONIC_COARSE, &t) != 0 || t.tv_nsec == 0) return 0;
  return (1'000'000'000 + t.tv_nsec / 2) / t.tv_nsec;
}

}  // namespace

nlohmann::json host_facts() {
  nlohmann::json facts = nlohmann::json::object();
  const auto note = [&facts](const char* name, const std::string& value) {
    if (!value.empty()) facts[name] = value;
  };
  utsname kernel{};
  uname(&kernel);
  note("kernel", std::string(kernel.release) + " " + kernel.version);
  note("machine", kernel.machine);
  note("command line", first_line("/proc/cmdline"));
  note("cpu", cpu_model());
  facts["cpus"] = sysconf(_SC_NPROCESSORS_ONLN);
  note("governor", first_line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"));
  note("isolated cpus", first_line("/sys/devices/system/cpu/isolated"));
  note("real-time kernel", first_line("/sys/kernel/realtime"));
  note("clock source", first_line("/sys/devices/system/clocksource/clocksource0/current_clocksource"));
  note("sched_rt_runtime_us", first_line("/proc/sys/kernel/sched_rt_runtime_us"));
  if (const long hz = tick_hz()) facts["tick, Hz"] = hz;
  rlimit limit{};
  if (getrlimit(RLIMIT_RTPRIO, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY) facts["rtprio limit"] = limit.rlim_cur;
  facts["user"] = geteuid();
  return facts;
}

}  // namespace offhook::modem
