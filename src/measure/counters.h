// SPDX-License-Identifier: MIT
//
// Counts of a piece of work's effects, by the kernel's perf_event: the counters that Chen et al. read from
// the Pentium (Table 2), under today's names, and the kernel's own, which every machine has.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace offhook::measure {

struct CounterKind {
  std::string_view name;  ///< "instructions"
  std::uint32_t type;     ///< PERF_TYPE_*
  std::uint64_t config;
  bool hardware;
};
/// Hardware counters (cycles, instructions, data reads and writes, misses of caches and TLBs) and kernel counters (page
/// faults, context switches, migrations).
const std::vector<CounterKind>& counter_kinds();

/// One counter of this thread and all threads that it starts, for user and kernel mode together (as in the paper).
class Counter {
 public:
  /// @throws std::runtime_error with the reason why this machine or this user does not have it
  explicit Counter(const CounterKind& kind);
  ~Counter();
  Counter(const Counter&) = delete;
  Counter& operator=(const Counter&) = delete;
  void start();
  /// @return counted since start(), scaled up if the hardware was shared with other counters
  double stop();

 private:
  int fd_ = -1;
};

/// The available counter_kinds(), and one sentence why hardware counters are missing.
struct CountersHere {
  std::vector<const CounterKind*> kinds;
  std::string statement;  ///< empty: all are available
};
CountersHere counters_here();

/// Interrupts of the whole machine since boot (/proc/stat): the paper's count of disk accesses.
std::uint64_t interrupts_so_far();

}  // namespace offhook::measure
