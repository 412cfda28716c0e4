// SPDX-License-Identifier: MIT
//
// The state of an entity and of a CPU in cpu.cpp.
#pragma once

#include <memory>
#include <string>

#include "hostsim/cpu/cpu.h"
#include "hostsim/cpu/job_queue.h"
#include "hostsim/sched/dpc_queue.h"
#include "hostsim/sched/ready_list.h"

namespace offhook::hostsim {

enum class EntityKind : std::uint8_t { kInterrupt, kDpc, kThread };

struct Entity {
  Program* program = nullptr;
  std::unique_ptr<ThreadPolicy> policy;  // of a thread
  JobQueue jobs;                         // unfinished jobs, the current one first
  Ns remaining = 0;                      // of the current segment
  Ns switching = 0;                      // cost of the switch to it, not yet part of a segment
  Ns queued = 0;                         // q of section 3
  Ns cpu_time = 0;
  Ns deadline = kNever;    // relative
  std::size_t missed = 0;  // number of unfinished jobs that were logged as missed
  Rank rank{};
  EntityKind kind = EntityKind::kThread;
  bool started = false;    // whether the current job has had the CPU
  bool listed = false;     // whether it is in the ready list, under `rank`
  bool touched = false;    // whether an event of this instant concerned it
  bool shares = false;     // its policy does
  bool plain = false;      // whether its policy has no operations except begin_job() and standing()
  bool quiet = false;      // whether update() and standing() return the same values while it runs without a timer
  bool exhausted = false;  // at the previous instant: its budget was spent and it had a current job
  DpcImportance importance = DpcImportance::kMedium;  // of a DPC
  EntityId dpc = kNoEntity;
  int level = 0;
  int cpu = 0;              // of its queue; while it sleeps: the last one
  bool pinned = true;       // to that one
  int ideal = 0, last = 0;  // Windows NT's ideal CPU, or the last one
  int turn_ended_on = -1;   // the CPU of its expired turn, at `queued`; -1: it queued for another reason
  Ns waiting_since = 0;     // since it became ready or lost the CPU
  Policy reservation;
  std::string name;

  bool ready() const { return !jobs.empty(); }
  Ns next_miss() const { return deadline == kNever || missed == jobs.size() ? kNever : jobs[missed] + deadline; }
  CurrentJob current_job() const { return {jobs.front(), deadline == kNever ? kNever : jobs.front() + deadline}; }
  bool stays() const { return pinned || policy->migration() == Migration::kPinned; }
};

/// The part of a threaded interrupt at interrupt level.
class Stub final : public Program {
 public:
  explicit Stub(Ns cost) : cost_(cost) {}
  Ns next(Ns) override {
    entered_ = !entered_ && cost_ > 0;
    return entered_ ? cost_ : 0;
  }

 private:
  Ns cost_;
  bool entered_ = false;
};

/// One CPU.
struct Core {
  ReadyList ready;
  EntityId current = kNoEntity;
  EntityId thread = kNoEntity;  // that has it, or had it until an interrupt or a DPC; only with several CPUs
  EntityId warm = kNoEntity;    // the thread that last ran here, which owns the caches
  EntityId robbed = kNoEntity;  // the thread that was preempted by the current interrupt or DPC
  Ns charged = 0;               // up to when
  Ns dpc_time = 0;              // total of all DPCs so far
  std::unique_ptr<DeferredWork> deferred = std::make_unique<DpcQueue>();
};

}  // namespace offhook::hostsim
