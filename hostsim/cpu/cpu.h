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

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "driver/core/event_log.h"
#include "hostsim/engine/engine.h"
#include "hostsim/sched/policy.h"

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
  int level = 0;             ///< higher preempts lower
  EntityId dpc = kNoEntity;  ///< released when a job of the interrupt finishes
};
struct DpcSpec {
  std::string name;
  bool high = false;  ///< Windows NT's HighImportance: goes to the head of the queue; none is preempted by another
};

/// Linux (kernel/softirq.c): deferred work runs before all threads as DPCs do, but after so many passes over the queue,
/// or when a pass ends after so long, what is left goes on in the thread ksoftirqd until the queue is empty.
struct SoftirqLimit {
  Ns budget = 2'000'000;
  int passes = 10;
};

/// Sees every event of S9. Costs nothing when absent.
class CpuObserver {
 public:
  enum class Kind : std::uint8_t { kStart, kResume, kPreempt, kFinish, kMiss, kThrottle, kReplenish };
  virtual ~CpuObserver() = default;
  virtual void on_event(Ns time, EntityId entity, Kind kind) = 0;
};

/// Whether the reservations of a CPU must fit into it together. A bare system under study may be overloaded.
enum class Admission { kRequired, kNone };

class Cpu {
 public:
  /// Several CPUs may share an engine; releases from one to another at one instant come before any dispatch of it.
  explicit Cpu(Engine& engine, Admission admission = Admission::kRequired);
  ~Cpu();
  Cpu(const Cpu&) = delete;
  Cpu& operator=(const Cpu&) = delete;

  /// Entities are declared before the engine first runs; declaration order breaks ties (S2).
  EntityId add_interrupt(InterruptSpec spec, Program& program);
  EntityId add_dpc(DpcSpec spec, Program& program);
  /// @param deadline relative to the release; kNever: none.
  /// @throws std::invalid_argument as set_policy()
  EntityId add_thread(std::string name, Policy policy, Program& program, Ns deadline = kNever);

  /// One more job of this entity, released now (S8 step 5, or step 2 when called from a Program's last next()).
  void release(EntityId entity);
  /// Change a thread's policy from now on, e.g. when a driver asks for its reservation after the on-hook phase.
  /// @throws std::invalid_argument naming the reservation when it cannot be admitted (X > Y, sum over 100 %).
  void set_policy(EntityId thread, Policy policy);

  std::uint32_t unfinished_jobs(EntityId entity) const;
  Ns cpu_time(EntityId entity) const;  ///< up to now
  Ns dpc_time() const;                 ///< of all DPCs, up to now
  EntityId running() const;            ///< kNoEntity when idle
  std::string_view name(EntityId entity) const;
  std::size_t entities() const;

  /// From now on DPCs are softirqs. @param ksoftirqd the policy of the thread that takes over
  void limit_dpcs(const SoftirqLimit& limit, Policy ksoftirqd);

  void set_observer(CpuObserver* observer);
  /// RUN, IDLE and FINISH events go here; may be null.
  void set_log(oh_event_log* log);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace offhook::hostsim
