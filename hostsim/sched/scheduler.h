// SPDX-License-Identifier: MIT
//
// The schedulers of a simulated host, by name: the values of host.scheduler and host.reservations in a scenario, and
// further kinds of thread in `offhook schedule`. A Scheduler makes a ThreadPolicy for each thread. It owns the state
// that its threads share (a group's budget, a virtual time), one for each host.
//
// To add a scheduler, derive from Scheduler. In a program that links the library, register its name by
// register_policy() before any file is read. In this tree, write a file with its row and name the row in
// scheduler.cpp.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hostsim/sched/deferred_work.h"
#include "hostsim/sched/policy.h"

namespace offhook::hostsim {

class Scheduler;

/// Properties of the host that a scheduler may use.
struct SchedulerHost {
  int cpus = 1;
  int tick_hz = 1024;                     ///< clock interrupts
  Ns quantum = 0;                         ///< of normal threads; 0: none
  int slot_priority = 0;                  ///< priority of a thread inside its slot; 0: above all others
  std::function<Ns(int cpu)> dpc_time{};  ///< CPU time of deferred work so far
  std::shared_ptr<Scheduler>
      threads{};  ///< scheduler of threads without a reservation, for a scheduler of reservations; or null
};

/// A thread that reserves nothing.
struct ThreadRequest {
  enum class Class {
    kPriority,  ///< at `priority`; a higher one is more urgent
    kProgram,   ///< time-sliced with others, at `priority` if the host has priorities for programs
    kFifo,      ///< SCHED_FIFO, kRoundRobin SCHED_RR: 1 to 99
    kRoundRobin,
    kNice  ///< SCHED_OTHER at `nice`
  };
  Class wants = Class::kPriority;
  int priority = 8;
  int boost = 1;  ///< on Windows NT: boost after a wait
  int nice = 0;
  bool handler = false;  ///< with kPriority: its jobs are the handler of an interrupt
};

/// A thread with a reservation of X of every Y.
struct ReservationRequest {
  Ns budget = 0, period = 0;
  std::int64_t x_ticks = 0, y_ticks = 0;  ///< X and Y in clock interrupts; 0: not a whole number
  Ns offset = 0;                          ///< beginning of the first slot or period
  bool strict = true;
  int background_priority = 8;  ///< outside the slots, unless strict
  int cpu = 0;                  ///< CPU on which it stays, unless moves()
  std::string group{};          ///< threads of one group share the budget, if groups(); empty: a separate budget
};

class Scheduler {
 public:
  virtual ~Scheduler() = default;
  /// @return whether the scheduler has this class of threads
  virtual bool has(ThreadRequest::Class) const { return false; }
  /// @pre has(request.wants)
  virtual Policy thread(const ThreadRequest& request);
  /// @throws std::invalid_argument if it has no reservations (the default)
  virtual Policy reserve(const ReservationRequest& request);
  /// Whether threads with reservations move between CPUs.
  virtual bool moves() const { return false; }
  /// Whether several threads may share a budget.
  virtual bool groups() const { return false; }
  /// Whether reservations are slots of whole ticks, which are planned together (slot_plan.h) and begin at clock
  /// interrupts.
  virtual bool slots() const { return false; }
  /// Whether its threads can be charged for the time of interrupts (Cpu::charge_stolen_time).
  virtual bool charges_stolen_time() const { return false; }
  /// Whether interrupt handlers of devices are threads in this kernel.
  virtual bool wants_threaded_interrupts() const { return false; }
  /// Whether its reservations pass SCHED_DEADLINE's admission test (linux_admission.h).
  virtual bool admits_by_bandwidth() const { return false; }
  /// Whether the fair class has a deadline server, whose bandwidth that test subtracts.
  virtual bool has_fair_server() const { return false; }
  /// Policy of deferred work on one CPU; a DpcQueue by default.
  virtual std::unique_ptr<DeferredWork> deferred_work(int cpu);
};

using SchedulerFactory = std::function<std::unique_ptr<Scheduler>(const SchedulerHost&)>;

enum class PolicyUse { kThreads, kReservations, kBoth };

/// Row of a scheduler, in the file that implements it.
struct SchedulerRow {
  std::string name;
  PolicyUse use;
  SchedulerFactory make;
};

/// Adds `name` as a value of host.scheduler (kThreads), host.reservations (kReservations) or both. Thread-safe.
/// @throws std::invalid_argument if the name is taken
void register_policy(std::string name, SchedulerFactory make, PolicyUse use = PolicyUse::kThreads);
/// The names that can be chosen. @param use kThreads or kReservations
std::span<const std::string_view> policy_names(PolicyUse use);
/// @throws std::invalid_argument if the name does not have this use
std::unique_ptr<Scheduler> make_scheduler(PolicyUse use, std::string_view name, const SchedulerHost& host);

}  // namespace offhook::hostsim
