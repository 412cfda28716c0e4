// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "driver/base/output.h"
#include "src/measure/kernel_trace.h"
#include "traces/import/perf_sched.h"

namespace offhook::measure {

inline constexpr const char* kKernelName = "kernel.txt";  ///< in a live call's folder

/// The kernel's scheduling, interrupts and softirqs while a call runs, on the call's clock, as text: input of
/// `offhook report export --perfetto`, which shows it next to the event log, and of `offhook trace`, which makes a host
/// load.
class KernelRecording {
 public:
  /// Begins. @throws std::runtime_error for the file, or a missing requirement of the kernel's trace
  explicit KernelRecording(OutputFile file);
  /// Reads new events. Ten times per second is sufficient.
  void drain();
  /// Ends it. @throws std::runtime_error if the file could not be written
  void close();
  std::uint64_t lost() const { return trace_.lost(); }
  std::uint64_t events() const { return events_; }

 private:
  OutputStream out_;
  KernelTrace trace_;
  traces::PerfSchedWriter writer_;
  std::uint64_t events_ = 0;
};

}  // namespace offhook::measure
