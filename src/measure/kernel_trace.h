// SPDX-License-Identifier: MIT
//
// The kernel's own trace, live: a private tracefs instance, on CLOCK_MONOTONIC, removed when this ends. Other people's
// tracing on the machine is not touched.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "traces/import/kernel_event.h"

namespace offhook::measure {

class KernelTrace {
 public:
  struct Wanted {
    std::string event;     ///< "sched/sched_switch", "irq_vectors/local_timer_entry"; optional ones may be absent
    std::string filter{};  ///< the kernel's filter, "next_pid == 17"; empty: all events
    bool optional = false;
  };
  /// Creates the instance, switched off. @param kilobytes of ring per CPU
  /// @throws std::runtime_error naming the missing requirement (root, or tracefs) and how to get it
  KernelTrace(const std::vector<Wanted>& wanted, int kilobytes);
  ~KernelTrace();
  KernelTrace(const KernelTrace&) = delete;
  KernelTrace& operator=(const KernelTrace&) = delete;

  /// One write to an open file: a real-time thread may call it.
  void on();
  void off();
  /// Appends the events so far, in order of time within one call.
  void read(std::vector<traces::KernelEvent>& into);
  std::uint64_t lost() const;  ///< events for which the rings had no room

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// Removes the instances of ended Offhook processes. After SIGKILL, an instance
/// continues to trace and keeps its rings. The kernel does not remove an instance
/// that another process has open. Without permission, there is no effect.
/// @param root  of tracefs
void remove_stale_instances(const std::filesystem::path& root);
/// In the tracefs of this machine.
void remove_stale_instances();

/// sched_switch, sched_waking, interrupts, softirqs, timers: everything that may occur between a timer and its thread.
std::vector<KernelTrace::Wanted> all_scheduling_events();
/// Memory of a CPU's ring for all of them: some 80,000 events, kB.
inline constexpr int kSchedulingRingKb = 4096;

}  // namespace offhook::measure
