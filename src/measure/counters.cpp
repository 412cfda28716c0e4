// SPDX-License-Identifier: MIT
#include "src/measure/counters.h"

#include <fmt/format.h>
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <stdexcept>
#include <system_error>

namespace offhook::measure {

namespace {

constexpr std::uint64_t cache(std::uint64_t which, std::uint64_t operation, std::uint64_t result) {
  return which | operation << 8 | result << 16;
}

}  // namespace

const std::vector<CounterKind>& counter_kinds() {
  constexpr std::uint64_t kRead = PERF_COUNT_HW_CACHE_OP_READ, kWrite = PERF_COUNT_HW_CACHE_OP_WRITE;
  constexpr std::uint64_t kAccess = PERF_COUNT_HW_CACHE_RESULT_ACCESS, kMiss = PERF_COUNT_HW_CACHE_RESULT_MISS;
  static const std::vector<CounterKind> all = {
      {"cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, true},
      {"instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS, true},
      {"data reads", PERF_TYPE_HW_CACHE, cache(PERF_COUNT_HW_CACHE_L1D, kRead, kAccess), true},
      {"data writes", PERF_TYPE_HW_CACHE, cache(PERF_COUNT_HW_CACHE_L1D, kWrite, kAccess), true},
      {"data TLB misses", PERF_TYPE_HW_CACHE, cache(PERF_COUNT_HW_CACHE_DTLB, kRead, kMiss), true},
      {"data cache misses", PERF_TYPE_HW_CACHE, cache(PERF_COUNT_HW_CACHE_L1D, kRead, kMiss), true},
      {"code TLB misses", PERF_TYPE_HW_CACHE, cache(PERF_COUNT_HW_CACHE_ITLB, kRead, kMiss), true},
      {"code cache misses", PERF_TYPE_HW_CACHE, cache(PERF_COUNT_HW_CACHE_L1I, kRead, kMiss), true},
      {"page faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, false},
      {"context switches", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES, false},
      {"migrations", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_MIGRATIONS, false},
  };
  return all;
}

Counter::Counter(const CounterKind& kind) {
  perf_event_attr attributes{};
  attributes.size = sizeof attributes;
  attributes.type = kind.type;
  attributes.config = kind.config;
  attributes.disabled = 1;
  attributes.inherit = 1;
  attributes.exclude_hv = 1;
  attributes.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
  fd_ = static_cast<int>(syscall(SYS_perf_event_open, &attributes, 0, -1, -1, PERF_FLAG_FD_CLOEXEC));
  if (fd_ >= 0) return;
  switch (errno) {
    case EACCES:
    case EPERM:
      throw std::runtime_error("not permitted: run as root, or sysctl kernel.perf_event_paranoid=1");
    case ENOENT:
    case EOPNOTSUPP:
    case ENODEV:
    case EINVAL:
      throw std::runtime_error("not available on this machine (virtual machines often hide their host's counters)");
    default:
      throw std::runtime_error("perf_event_open: " + std::generic_category().message(errno));
  }
}

Counter::~Counter() {
  close(fd_);
}

void Counter::start() {
  ioctl(fd_, PERF_EVENT_IOC_RESET, 0);
  ioctl(fd_, PERF_EVENT_IOC_ENABLE, 0);
}

double Counter::stop() {
  ioctl(fd_, PERF_EVENT_IOC_DISABLE, 0);
  struct {
    std::uint64_t value, enabled, running;
  } read_out{};
  if (read(fd_, &read_out, sizeof read_out) != sizeof read_out || read_out.running == 0) return 0;
  return static_cast<double>(read_out.value) * static_cast<double>(read_out.enabled) /
         static_cast<double>(read_out.running);
}

CountersHere counters_here() {
  CountersHere here;
  std::string names, why;
  for (const CounterKind& kind : counter_kinds()) {
    try {
      Counter counter(kind);
      here.kinds.push_back(&kind);
    } catch (const std::runtime_error& e) {
      names += fmt::format("{}{}", names.empty() ? "" : ", ", kind.name);
      why = e.what();
    }
  }
  if (!names.empty()) here.statement = fmt::format("no counters of {}: {}", names, why);
  return here;
}

std::uint64_t interrupts_so_far() {
  std::ifstream in("/proc/stat");
  for (std::string word; in >> word;) {
    if (word != "intr") continue;
    std::uint64_t all = 0;
    in >> all;
    return all;
  }
  return 0;
}

}  // namespace offhook::measure
