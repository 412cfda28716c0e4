// SPDX-License-Identifier: MIT
//
// The interface between a processor and the policy of a thread. To write a policy, start here.
//
// Every thread has a policy object. The processor handles interrupts, DPCs, the queue of jobs, deadlines, and the
// time that really ran. It calls two functions of the policy. standing() returns the thread's place among the others.
// allowance() (running time) and next_change() (wall-clock time) return how long that answer holds. It reports three
// events to the policy: a job became current (begin_job), the thread ran (charge), and one of these times was
// reached (update).
//
// Threads of one policy that share state (lottery tickets, a group's budget) do so through a pointer of their own.
// The processor calls standing() again after an event of the thread itself; while the thread waits, only if
// shares(). tests/unit/hostsim/sched/own_policy_test.cpp is a complete example: stride scheduling in 30 lines.
#pragma once

#include "hostsim/engine/engine.h"
#include "hostsim/sched/migration.h"

namespace offhook::hostsim {

/// Classes of section 2 that a thread may have; interrupts and DPCs (1 and 2) always come first.
enum class Band : int { kSlot = 3, kReserved = 4, kDeadline = 5, kPriority = 6, kCannotRun = 7 };

/// Position of a thread among others: the lowest band runs. Within a band, the smallest key runs; among equal keys the
/// thread that was queued first, then the one declared first.
struct Standing {
  Band band = Band::kCannotRun;
  Ns key = 0;
};

struct CurrentJob {
  Ns release;
  Ns deadline;  ///< absolute; kNever: none
};

/// Result of update().
struct Change {
  bool requeue = false;      ///< section 3: moves the thread behind its equals
  bool replenished = false;  ///< its budget was empty but no longer is (section 9)
};

class ThreadPolicy {
 public:
  virtual ~ThreadPolicy() = default;
  /// section 3 (a): `job` becomes current. @param woken true: the thread had no unfinished job before
  virtual void begin_job(Ns /*now*/, const CurrentJob& /*job*/, bool /*woken*/) {}
  /// The last unfinished job of the thread is done, so it sleeps until the next begin_job().
  virtual void sleep(Ns /*now*/) {}
  /// The thread ran for `ran` ns, at most as long as allowance() permitted.
  virtual void charge(Ns /*ran*/) {}
  /// Interrupts or deferred work that preempted the thread had the CPU for `time`, which counts as its running time
  /// (Cpu::charge_stolen_time). May exceed allowance().
  virtual void stolen(Ns /*time*/) {}
  /// The thread lost the CPU before its job was done.
  virtual void stopped() {}
  /// Another thread has the CPU on which this one last ran and still waits for. @return whether standing() has changed
  virtual bool replaced() { return false; }
  /// section 8, steps 3 and 4, while a job is current: the thread ran, or next_change() came. May also be called at
  /// other times.
  virtual Change update(Ns /*now*/) { return {}; }
  /// Valid only while a job is current. @param now not before the last begin_job() or update()
  virtual Standing standing(Ns now) const = 0;
  /// Longest running time before the next update(); > 0 while the thread can run.
  virtual Ns allowance() const { return kNever; }
  /// Time, after now, at which standing() changes even if the thread does not run.
  virtual Ns next_change(Ns /*now*/) const { return kNever; }
  /// How the thread moves between CPUs, unless it is pinned.
  virtual Migration migration() const { return Migration::kGlobal; }
  /// The thread is now in the queue of this CPU. Called once before all other functions, and at every change.
  virtual void moved(int /*cpu*/) {}
  /// Whether events of others may change its standing. It is then read again after any event of a thread that shares,
  /// or of deferred work. The answer must be constant.
  virtual bool shares() const { return false; }
  /// If shares(): time since which its standing() counts among equal ones. @param by_cpu since its job became current
  /// or an update() requested it
  virtual Ns queued(Ns by_cpu) const { return by_cpu; }
  /// Whether its budget is spent. A throttle is logged when this becomes true while a job is current (section 9).
  virtual bool exhausted() const { return false; }
};

}  // namespace offhook::hostsim
