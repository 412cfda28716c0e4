// SPDX-License-Identifier: MIT
//
// Converts kernel scheduling events, one after the other, to a host load. Each CPU has a thread, over it perhaps a
// softirq, over that perhaps an interrupt; each is charged for the time that none above it took.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "hostsim/host/host_load.h"

namespace offhook::traces {

class LoadBuilder {
 public:
  /// @param without  names of threads and interrupts that are not load: the tested driver, the recorder
  explicit LoadBuilder(std::vector<std::string> without = {}) : without_(std::move(without)) {}

  struct Thread {
    std::string_view name;
    int pid = 0;   ///< 0: idle
    int prio = 0;  ///< the kernel's, as for sched_switch
  };

  // Times in ns, any origin; on one CPU they never decrease (an earlier time counts as the previous one).
  void enter(hostsim::Ns time, int cpu, hostsim::HostLoad::Kind kind, std::string_view name);
  void leave(hostsim::Ns time, int cpu, hostsim::HostLoad::Kind kind, std::string_view name);
  void switched(hostsim::Ns time, int cpu, const Thread& from, const Thread& to);
  /// The kernel dropped events of this CPU before `time`: the work in between is unknown.
  void lost(hostsim::Ns time, int cpu, std::uint64_t events);
  /// A timer's expiry function: counts as the timer interrupt's time if the trace has no event of that interrupt.
  void enter_timer(hostsim::Ns time, int cpu);
  void leave_timer(hostsim::Ns time, int cpu);

  std::uint64_t events() const { return events_; }
  /// @param origin the trace's name. No CPUs if there were no events. Call it once.
  hostsim::HostLoad finish(std::string origin);

 private:
  static constexpr std::uint32_t kNobody = UINT32_MAX;  // idle, unknown, or not load
  struct Frame {
    std::uint32_t source = kNobody;
    hostsim::Ns start = 0, own = 0;
  };
  struct PerCpu {
    hostsim::Ns mark = 0;
    bool known = false;  // `thread` is
    Frame thread;
    std::vector<Frame> over;  // softirqs and interrupts, the innermost last
    hostsim::HostLoad::CpuLoad load;
  };

  PerCpu& at(int cpu, hostsim::Ns& time);
  std::uint32_t source(hostsim::HostLoad::Kind kind, int priority, std::string_view name);
  std::uint32_t source(const Thread& thread);
  bool is_load(std::string_view name) const;
  void close(PerCpu& cpu, const Frame& frame) const;

  std::vector<std::string> without_;
  std::map<int, PerCpu> cpus_;
  std::vector<hostsim::HostLoad::Source> sources_;
  std::map<std::string, std::uint32_t, std::less<>> ids_;
  std::string key_;
  hostsim::Ns first_ = 0, last_ = 0;
  std::uint64_t events_ = 0;
};

}  // namespace offhook::traces
