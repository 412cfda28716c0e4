// SPDX-License-Identifier: MIT
//
// The CPU of a host, or its CPUs: each has its interrupt levels and its FIFO queue of deferred procedure calls; threads
// under scheduling policies run on one of them or on any (sched/migration.h). On one CPU the semantics, down to the
// tie-breaks, are those of docs/scheduling-semantics.md; comments cite its sections. This engine runs for
// `offhook schedule` and for every modem call. With several CPUs, each follows them by itself, and threads change CPUs
// between steps 7 and 8 of section 8.
//
// An entity (interrupt, DPC, thread) has a queue of jobs. A job is run by the entity's Program in segments. next() is
// called when the job first gets the CPU and again at the end of every segment. It returns the CPU time of the next
// segment; 0 ends the job. A driver's actions at those moments (take input, queue output) happen at exact
// instants of virtual time while the CPU time in between can be preempted, stolen or throttled.
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
  /// @return CPU time of the next segment in ns (> 0), or 0: the job is done.
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
  int cpu = 0;  ///< in whose queue it waits: as a rule that of the interrupt
};

/// Sees every event of section 9. Costs nothing when absent.
class CpuObserver {
 public:
  enum class Kind : std::uint8_t { kStart, kResume, kPreempt, kFinish, kMiss, kThrottle, kReplenish };
  virtual ~CpuObserver() = default;
  virtual void on_event(Ns time, EntityId entity, Kind kind) = 0;
};

/// Whether the reservations of a CPU must fit into it together. A bare system under study may be overloaded.
enum class Admission { kRequired, kNone };

/// One job of an entity, and the CPU time that its only segment will cost; 0: that is not known.
struct PlannedJob {
  EntityId entity;
  Ns cost;
  bool ticks = false;  ///< of the clock's interrupt: its program calls Cpu::clock_tick() as it ends
};

/// A chain of planned jobs that comes again and again, alone.
class RepeatedChain {
 public:
  virtual ~RepeatedChain() = default;
  /// The costs of the jobs of the chain that begins at `at`; a thread's is always the same. @param costs [n] of them
  /// @return false: none begins then, or one that does not end before the next one begins
  virtual bool costs(Ns at, std::span<Ns> costs) = 0;
  /// It ran: do all actions of its jobs' programs now. @return when the next one begins
  virtual Ns passed(Ns at) = 0;
};

/// The time that a thread loses on a CPU before it continues its work: the switch and the refill of the caches,
/// in one. Both are CPU time of that thread, and of its budget.
struct SwitchCosts {
  Ns another = 0;    ///< another thread ran on this CPU meanwhile
  Ns migration = 0;  ///< more, if it last ran on another CPU
  bool any() const { return another > 0 || migration > 0; }
};

class Cpu {
 public:
  /// Several hosts may share an engine; releases from one to another at one instant come before any dispatch of it.
  /// @param cpus 1 to kMaxCpus, numbered from 0
  explicit Cpu(Engine& engine, Admission admission = Admission::kRequired, int cpus = 1);
  ~Cpu();
  Cpu(const Cpu&) = delete;
  Cpu& operator=(const Cpu&) = delete;

  /// Entities are declared before the engine first runs; declaration order breaks ties (section 2).
  EntityId add_interrupt(InterruptSpec spec, Program& program);
  EntityId add_dpc(DpcSpec spec, Program& program);
  /// @param deadline relative to the release; kNever: none.
  /// @param cpu that it is pinned to, or kAnyCpu: its policy controls migration; one that never migrates is on CPU 0
  /// @throws std::invalid_argument as set_policy()
  EntityId add_thread(std::string name, Policy policy, Program& program, Ns deadline = kNever, int cpu = kAnyCpu);

  /// An interrupt whose handler is a thread, as on PREEMPT_RT: at interrupt level only a stub of `stub` ns runs, which
  /// wakes the thread. spec.dpc is released when a job of the thread finishes.
  struct ThreadedInterrupt {
    EntityId interrupt, thread;
  };
  ThreadedInterrupt add_threaded_interrupt(InterruptSpec spec, Ns stub, Policy policy, Program& handler);

  /// One more job of this entity, released now (section 8 step 5, or step 2 when called from a Program's last next()).
  void release(EntityId entity);
  /// Releases the first of `jobs` now and runs at once as many of them as it can, each as the one before it releases
  /// it: while nothing else happens and each goes before the thread that has the CPU. Outcome, log and observed events
  /// are the same. If a next one is released that must wait, the engine's clock is at that time. Called by an event
  /// that fires, and puts itself back for a time at which they would all be over.
  /// @param jobs an interrupt, then DPCs and threads; their programs release the next one, if at all, and nothing else
  /// (or InterruptSpec::dpc does). One of cost 0 waits.
  /// @return false: there would be a visible difference, and nothing was done
  bool run_unbroken(std::span<const PlannedJob> jobs);
  /// As run_unbroken(), and continues with the chain's next ones while the outcome is the same. Programs are not
  /// called; the engine's clock is at the start of the last one.
  /// @param jobs at most three, none of which waits
  /// @return when the first one begins that did not run: now, if nothing was done
  Ns repeat_unbroken(std::span<const PlannedJob> jobs, RepeatedChain& chain);
  /// Called by a clock's event that fires: whether its interrupts, from this one on, do nothing but take CPU time, and
  /// have no observer. They then have no events any more and are accounted for as time passes: the outcome is the same.
  /// Ends, by clock.resume(), as soon as there could be a difference.
  /// @param interrupt  goes before all others  @param cost  of each, > 0 and less than the interval
  bool keep_ticking(EntityId interrupt, Ns cost, const TickTimes& times, SteadyClock& clock);
  /// resume() now, if that is a clock of this CPU's.
  void resume_clock();
  /// Change a thread's policy from now on, e.g. when a driver requests its reservation after the on-hook phase.
  /// @throws std::invalid_argument naming the reservation when it cannot be admitted: X > Y, a sum over 100 % of a CPU
  /// among those that stay on it, or of all CPUs among all
  void set_policy(EntityId thread, Policy policy);

  Ns now() const;  ///< of the engine
  std::uint32_t unfinished_jobs(EntityId entity) const;
  Ns cpu_time(EntityId entity) const;   ///< up to now
  Ns dpc_time(int cpu = 0) const;       ///< of all DPCs of that CPU, up to now
  EntityId running(int cpu = 0) const;  ///< kNoEntity when idle
  int cpus() const;
  std::string_view name(EntityId entity) const;
  std::size_t entities() const;

  /// The clock interrupts on this CPU now: DPCs that waited for it are requested.
  void clock_tick(int cpu);
  /// Before the engine first runs; nothing unless set.
  void set_switch_costs(const SwitchCosts& costs);
  /// Before the engine first runs: from a thread that interrupts and deferred work hit, they take CPU time that counts
  /// as its own in its budget, slice or virtual runtime (not in cpu_time()). So Linux does without
  /// CONFIG_IRQ_TIME_ACCOUNTING. Policies without ThreadPolicy::stolen are not affected.
  void charge_stolen_time();
  /// Sets the deferred work of each CPU, before the engine first runs; otherwise a DpcQueue.
  void set_deferred_work(const std::function<std::unique_ptr<DeferredWork>(int cpu)>& make);

  void set_observer(CpuObserver* observer);
  /// RUN, IDLE and FINISH events go here; may be null. While a program runs, the log's CPU is the program's, so that
  /// its events differ from the other CPUs', too.
  void set_log(oh_event_log* log);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace offhook::hostsim
