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
  JobQueue jobs;                         // unfinished ones, the current one first
  Ns remaining = 0;                      // of the current segment
  Ns switching = 0;                      // cost of the switch to it, not yet part of a segment
  Ns queued = 0;                         // q of section 3
  Ns cpu_time = 0;
  Ns deadline = kNever;    // relative
  std::size_t missed = 0;  // of the unfinished jobs, how many have been logged as missed
  Rank rank{};
  EntityKind kind = EntityKind::kThread;
  bool started = false;    // the current job has had the CPU
  bool listed = false;     // is in the ready list, under `rank`
  bool touched = false;    // something happened to it in this instant
  bool shares = false;     // its policy does
  bool plain = false;      // its policy has no operations but begin_job() and standing()
  bool quiet = false;      // update() and standing() return the same as before while it runs and no timer comes
  bool exhausted = false;  // as of the previous instant: its budget was spent and it had a current job
  DpcImportance importance = DpcImportance::kMedium;  // of a DPC
  EntityId dpc = kNoEntity;
  int level = 0;
  int cpu = 0;              // of its line; of one that sleeps: its last one
  bool pinned = true;       // to that one
  int ideal = 0, last = 0;  // Windows NT's ideal CPU; its last one
  int turn_ended_on = -1;   // the CPU of its used-up turn, at `queued`; -1: it queued for another reason
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
  EntityId thread = kNoEntity;  // that has it, or had it until an interrupt or a DPC came; of several CPUs only
  EntityId warm = kNoEntity;    // the thread that last ran here: the caches are its own
  EntityId robbed = kNoEntity;  // the thread that lost the CPU to the interrupt or DPC that has it
  Ns charged = 0;               // up to when
  Ns dpc_time = 0;              // of all DPCs, up to then
  std::unique_ptr<DeferredWork> deferred = std::make_unique<DpcQueue>();
};

}  // namespace offhook::hostsim
