// SPDX-License-Identifier: MIT
//
// The CPUs of a host. Each has its interrupt levels and its FIFO queue of deferred procedure calls. Threads under
// scheduling policies run on one CPU or on any (sched/migration.h). On one CPU the semantics, including tie-breaks, are
// those of docs/scheduling-semantics.md; comments cite its sections. This engine runs for `offhook schedule` and for
// every modem call. With several CPUs, each CPU follows these semantics, and threads change CPUs between steps 7 and 8
// of section 8.
//
// An entity (interrupt, DPC, thread) has a queue of jobs. A job is run by the entity's Program in segments. next() is
// called when the job first gets the CPU and again at the end of every segment. It returns the CPU time of the next
// segment; 0 ends the job. A driver's actions at those moments (take input, queue output) happen at exact instants of
// virtual time. The CPU time between them can be preempted, stolen or throttled.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "hostsim/cpu/steady_clock.h"
#include "hostsim/engine/engine.h"
#include "hostsim/sched/deferred_work.h"
#include "hostsim/sched/policy.h"
#include "offhook/event_log.h"

namespace offhook::hostsim {

/// The work of one entity's jobs. next() may release jobs of other entities and schedule events.
class Program {
 public:
  virtual ~Program() = default;
  /// @return CPU time of the next segment in ns (> 0); 0: the job is done
  virtual Ns next(Ns now) = 0;
};

using EntityId = std::uint16_t;
inline constexpr EntityId kNoEntity = 0xffff;
inline constexpr int kMaxCpus = 64;

/// A thread may run on any CPU.
inline constexpr int kAnyCpu = -1;

struct InterruptSpec {
  std::string name;
  int level = 0;             ///< higher preempts lower
  EntityId dpc = kNoEntity;  ///< released when a job of the interrupt finishes
  int cpu = 0;               ///< that takes it
};
struct DpcSpec {
  std::string name;
  DpcImportance importance = DpcImportance::kMedium;
  int cpu = 0;  ///< queue in which it waits, usually that of the interrupt
};

/// Receives every event of section 9. No cost if absent.
class CpuObserver {
 public:
  enum class Kind : std::uint8_t { kStart, kResume, kPreempt, kFinish, kMiss, kThrottle, kReplenish };
  virtual ~CpuObserver() = default;
  virtual void on_event(Ns time, EntityId entity, Kind kind) = 0;
};

/// Whether the reservations of a CPU must fit into it together. A system of `offhook schedule` may be overloaded.
enum class Admission { kRequired, kNone };

/// One job of an entity, and the CPU time of its only segment; 0: unknown.
struct PlannedJob {
  EntityId entity;
  Ns cost;
  bool ticks = false;  ///< of the clock's interrupt, whose program calls Cpu::clock_tick() at its end
};

/// A chain of planned jobs that repeats without other events.
class RepeatedChain {
 public:
  virtual ~RepeatedChain() = default;
  /// The costs of the jobs of the chain that begins at `at`;
  /// the cost of a thread is constant. @param costs [n] of them
  /// @return false if no chain begins then, or it does not end before the next one begins
  virtual bool costs(Ns at, std::span<Ns> costs) = 0;
  /// The chain has run: perform all actions of its jobs' programs now. @return when the next chain begins
  virtual Ns passed(Ns at) = 0;
};

/// The time that a thread loses on a CPU before it continues its work: the sum of the switch and the refill of the
/// caches. It counts as CPU time of that thread and in its budget.
struct SwitchCosts {
  Ns another = 0;    ///< if another thread ran on this CPU meanwhile
  Ns migration = 0;  ///< additional, if it last ran on another CPU
  bool any() const { return another > 0 || migration > 0; }
};

class Cpu {
 public:
  /// Several hosts may share an engine. Releases from one host to another at one instant precede every dispatch of that
  /// instant.
  /// @param cpus 1 to kMaxCpus; they are numbered from 0
  explicit Cpu(Engine& engine, Admission admission = Admission::kRequired, int cpus = 1);
  ~Cpu();
  Cpu(const Cpu&) = delete;
  Cpu& operator=(const Cpu&) = delete;

  /// Entities are declared before the engine first runs; declaration order breaks ties (section 2).
  EntityId add_interrupt(InterruptSpec spec, Program& program);
  EntityId add_dpc(DpcSpec spec, Program& program);
  /// @param deadline relative to the release; kNever: none.
  /// @param cpu to which it is pinned, or kAnyCpu: then its policy controls migration (none: it is on CPU 0)
  /// @throws std::invalid_argument as set_policy()
  EntityId add_thread(std::string name, Policy policy, Program& program, Ns deadline = kNever, int cpu = kAnyCpu);

  /// An interrupt whose handler is a thread, as on PREEMPT_RT. At interrupt level, only a stub of `stub` ns runs, which
  /// wakes the thread. spec.dpc is released when a job of the thread finishes.
  struct ThreadedInterrupt {
    EntityId interrupt, thread;
  };
  ThreadedInterrupt add_threaded_interrupt(InterruptSpec spec, Ns stub, Policy policy, Program& handler);

  /// Releases one more job of this entity now (section 8 step 5, or step 2 when called from a Program's last next()).
  void release(EntityId entity);
  /// Releases the first of `jobs` now, and runs as many of them as possible immediately. Each job is released by the
  /// previous one. It stops before the first other event, or at a job that does not preempt the thread on the CPU.
  /// Outcome, log and observed events do not change. If the next job must wait, the engine's clock is at the time of
  /// its release. Called by an event that fires; the event is then scheduled for a time at which all jobs would be
  /// over.
  /// @param jobs an interrupt, then DPCs and threads; their programs (or InterruptSpec::dpc) release at most the next
  /// job. A job of cost 0 waits.
  /// @return false if there would be a visible difference; then nothing was done
  bool run_unbroken(std::span<const PlannedJob> jobs);
  /// As run_unbroken(), and continues with the next repetitions of the chain while the outcome does not change.
  /// Programs are not called; the engine's clock is at the start of the last repetition.
  /// @param jobs at most three, none of which waits
  /// @return when the first repetition begins that did not run; now if none did
  Ns repeat_unbroken(std::span<const PlannedJob> jobs, RepeatedChain& chain);
  /// Called by the event of a clock. If its interrupts only take CPU time from now on, and have no observer, they need
  /// no events. Their time is then charged as time passes, with the same result. clock.resume() ends this when there
  /// could be a difference.
  /// @param interrupt  precedes all others  @param cost  of each, > 0 and less than the interval  @return whether the
  /// clock has no events now
  bool keep_ticking(EntityId interrupt, Ns cost, const TickTimes& times, SteadyClock& clock);
  /// Calls resume() now if that is a clock of this CPU.
  void resume_clock();
  /// Changes a thread's policy, for example when a driver requests its reservation after the on-hook phase.
  /// @throws std::invalid_argument naming the reservation if it cannot be admitted: X > Y, or a total over 100 % of a
  /// CPU (for those pinned to it) or of all CPUs
  void set_policy(EntityId thread, Policy policy);

  Ns now() const;  ///< of the engine
  std::uint32_t unfinished_jobs(EntityId entity) const;
  Ns cpu_time(EntityId entity) const;   ///< up to now
  Ns dpc_time(int cpu = 0) const;       ///< total of all DPCs of that CPU so far
  EntityId running(int cpu = 0) const;  ///< kNoEntity when idle
  int cpus() const;
  std::string_view name(EntityId entity) const;
  std::size_t entities() const;

  /// The clock interrupts on this CPU now, which requests the DPCs that waited for it.
  void clock_tick(int cpu);
  /// Call before the engine first runs. The default is no cost.
  void set_switch_costs(const SwitchCosts& costs);
  /// Before the engine first runs: charges interrupts and deferred work to the thread that they interrupt. Their time
  /// counts in its budget, slice or virtual runtime, but not in cpu_time(). Linux does so without
  /// CONFIG_IRQ_TIME_ACCOUNTING. Policies without ThreadPolicy::stolen are not affected.
  void charge_stolen_time();
  /// Sets the deferred work of each CPU, before the engine first runs. The default is a DpcQueue.
  void set_deferred_work(const std::function<std::unique_ptr<DeferredWork>(int cpu)>& make);

  void set_observer(CpuObserver* observer);
  /// RUN, IDLE and FINISH events go here; may be null. While a program runs, the log's CPU is the program's CPU, also
  /// for events of the program.
  void set_log(oh_event_log* log);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace offhook::hostsim
