// SPDX-License-Identifier: MIT
//
// Work that interrupt routines defer, in one queue per CPU. The queue runs before all threads, and each job runs to
// its end before the next one begins. The policy decides when the queue may run, and with which thread's priority.
// The processor does the rest, and calls the policy:
//
//   queued()   a job arrived; returns whether the queue may run now
//   begins()   a job has the CPU for the first time
//   finished() a job is done; returns whether a thread takes over the remaining jobs
//   tick()     the clock interrupts on this CPU
//
// dpc_queue.h has the policy of Windows NT, softirq.h that of Linux.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "hostsim/sched/thread_policy.h"

namespace offhook::hostsim {

/// Importance of a DPC on Windows NT; see dpc_queue.h. A job of importance `high` goes to the head of the queue.
enum class DpcImportance : std::uint8_t { kLow, kMedium, kHigh };

class DeferredWork {
 public:
  virtual ~DeferredWork() = default;
  std::size_t jobs() const { return jobs_; }  ///< number of unfinished jobs
  bool runs() const { return runs_; }         ///< whether the queue is running
  /// Policy whose standing the queue has; null: before all threads.
  ThreadPolicy* thread() const { return thread_; }

  // Each function is called at the time of the event. @return whether the standing of the queue has changed
  bool queue(Ns now, DpcImportance importance, bool on_own_cpu) {
    const bool waited = ++jobs_ > 1 && !runs_;
    runs_ = queued(now, importance, on_own_cpu) || runs_;
    return waited && runs_;
  }
  bool done(Ns now) {
    if (--jobs_ == 0) runs_ = false;
    return finished(now);
  }
  bool idle() { return jobs_ > 0 && !std::exchange(runs_, true); }  ///< the CPU is otherwise idle
  virtual void begins(Ns /*now*/) {}
  virtual bool tick() { return false; }

 protected:
  virtual bool queued(Ns now, DpcImportance importance, bool on_own_cpu) = 0;
  virtual bool finished(Ns /*now*/) { return false; }
  ThreadPolicy* thread_ = nullptr;

 private:
  std::size_t jobs_ = 0;
  bool runs_ = false;
};

}  // namespace offhook::hostsim
