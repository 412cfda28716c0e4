// SPDX-License-Identifier: MIT
//
// One processor: interrupt levels, a FIFO queue of deferred procedure calls, and threads under scheduling policies.
// The semantics, down to the tie-breaks, are those of shared/schedule-semantics.md (S1 to S10), which this engine runs
// for `offhook schedule` and for every modem call alike.
//
// An entity (interrupt, DPC, thread) has a queue of jobs. A job is run by the entity's Program in segments: next() is
// called when the job first gets the CPU and again at the end of every segment, and says how much CPU time the next
// segment costs; 0 ends the job. What a driver does at those moments (take input, queue output) happens at exact
// instants of virtual time while the CPU time in between can be preempted, stolen or throttled.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "hostsim/engine/engine.h"

namespace offhook::hostsim {

/// What the jobs of one entity do. next() may release jobs of other entities and schedule events.
class Program {
 public:
  virtual ~Program() = default;
  /// @return CPU time of the next segment in ns (> 0), or 0: the job is done.
  virtual Ns next(Ns now) = 0;
};

using EntityId = std::uint16_t;
inline constexpr EntityId kNoEntity = 0xffff;

struct InterruptSpec {
  std::string name;
  int level = 0;                ///< higher preempts lower
  EntityId dpc = kNoEntity;     ///< released when a job of the interrupt finishes
};
struct DpcSpec {
  std::string name;
};

/// The policies a thread may have. Each lives in a file of its own in hostsim/sched/.
struct FixedPriority { int priority = 8; Ns quantum = 0; };                       ///< 0 to 31; quantum 0: none
struct EarliestDeadline {};
struct ConstantBandwidth { Ns budget = 0; Ns period = 0; };                       ///< hard CBS
struct Slot { Ns offset = 0; Ns length = 0; Ns period = 0; bool strict = true; int priority = 8; };  ///< Rialto/NT
struct Rez { Ns budget = 0; Ns period = 0; Ns offset = 0; int background = -1; };

/// Sees every event of S9. Costs nothing when absent.
class CpuObserver {
 public:
  enum class Kind : std::uint8_t { kStart, kResume, kPreempt, kFinish, kMiss, kThrottle, kReplenish };
  virtual ~CpuObserver() = default;
  virtual void on_event(Ns time, EntityId entity, Kind kind) = 0;
};

}  // namespace offhook::hostsim
