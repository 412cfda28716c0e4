// SPDX-License-Identifier: MIT
//
// The load of a recorded host: the interrupts, softirqs and threads that ran on each CPU, with begin and duration.
// traces/import makes it from a kernel trace and stores it in a file; RecordedLoad replays it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "hostsim/engine/engine.h"

namespace offhook::hostsim {

struct HostLoad {
  enum class Kind : std::uint8_t { kInterrupt, kSoftirq, kThread };
  struct Source {
    Kind kind = Kind::kThread;
    int priority = 0;  ///< of a thread, with Linux's in one rising scale: see linux_priority()
    std::string name;
    bool operator==(const Source&) const = default;
  };
  /// `source` began at `start` and used the CPU for `cpu`, without interruptions.
  struct Interval {
    Ns start = 0;  ///< since the trace began
    Ns cpu = 0;    ///< > 0
    std::uint32_t source = 0;
    bool operator==(const Interval&) const = default;
  };
  struct CpuLoad {
    int number = 0;
    std::vector<Interval> intervals;  ///< by start
    std::uint64_t lost = 0;           ///< events that the kernel dropped, or that have no partner
    bool operator==(const CpuLoad&) const = default;
  };

  std::string origin;  ///< its source file
  Ns duration = 0;
  std::vector<Source> sources;
  std::vector<CpuLoad> cpus;  ///< by number
  bool operator==(const HostLoad&) const = default;
};

inline constexpr int kLinuxPriorities = 141;

/// The kernel's prio (sched_switch: -1 SCHED_DEADLINE, 0 to 98 real-time, 100 to 139 normal) inverted: nice 0 is 19,
/// SCHED_FIFO p is 40 + p, SCHED_DEADLINE 140.
constexpr int linux_priority(int prio) {
  return prio < -1 ? 140 : prio > 139 ? 0 : 139 - prio;
}

/// The same on a host with fewer priorities: normal threads at 8, real-time ones from 16, in order; some share one.
constexpr int priority_on(int linux_scale, int priorities) {
  if (priorities >= kLinuxPriorities) return linux_scale;
  if (linux_scale < 40) return 8;
  return 16 + (linux_scale - 40) * (priorities - 1 - 16) / 100;
}

}  // namespace offhook::hostsim
