// SPDX-License-Identifier: MIT
//
// What becomes of work that interrupt routines defer: one queue for each CPU. It runs before all threads, each job to
// its end before the next begins. The policy says when the queue may be worked off, and in whose place. The processor
// does the rest, and asks:
//
//   queued()   a job came. May the queue run now?
//   begins()   a job has the CPU for the first time
//   finished() a job is done. Is what is left handed over to a thread?
//   tick()     the clock interrupts on this CPU
//
// dpc_queue.h is Windows NT's, softirq.h Linux's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "hostsim/sched/thread_policy.h"

namespace offhook::hostsim {

/// Of a DPC on Windows NT; see dpc_queue.h. What is `high` goes to the head of the queue.
enum class DpcImportance : std::uint8_t { kLow, kMedium, kHigh };

class DeferredWork {
 public:
  virtual ~DeferredWork() = default;
  std::size_t jobs() const { return jobs_; }  ///< that are not done
  bool runs() const { return runs_; }         ///< the queue is being worked off
  /// In whose place it runs; null: before all threads.
  ThreadPolicy* thread() const { return thread_; }

  // Each is told at the time that it happens. @return whether what is queued has another place than before
  bool queue(Ns now, DpcImportance importance, bool on_own_cpu) {
    const bool waited = ++jobs_ > 1 && !runs_;
    runs_ = queued(now, importance, on_own_cpu) || runs_;
    return waited && runs_;
  }
  bool done(Ns now) {
    if (--jobs_ == 0) runs_ = false;
    return finished(now);
  }
  bool idle() { return jobs_ > 0 && !std::exchange(runs_, true); }  ///< the CPU has nothing else to do
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
