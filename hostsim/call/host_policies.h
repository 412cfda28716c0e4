// SPDX-License-Identifier: MIT
//
// The policy of hostsim/sched for each thread of a call on the scenario's host, and the contexts that the host refuses.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "hostsim/call/scenario.h"
#include "hostsim/cpu/cpu.h"
#include "hostsim/host/context.h"
#include "hostsim/host/device_load.h"
#include "hostsim/host/host_load.h"
#include "hostsim/sched/linux_admission.h"
#include "hostsim/sched/scheduler.h"

namespace offhook::hostsim {

/// Checks that the driver's reservation and those of the load, including its soft devices, fit into the CPU together.
/// @throws std::invalid_argument naming the one that does not fit, and the reason
void check_reservations(const Scenario& scenario);
/// The admission test of this host's reservations. None if they are not SCHED_DEADLINE.
std::optional<DeadlineAdmission> deadline_admission(const HostScenario& host);
/// The kind of entity as which a thread in this context waits for the CPU.
ThreadKind thread_kind(const ContextSpec& spec);
/// Whether the host has SCHED_FIFO, SCHED_RR and SCHED_OTHER.
bool has_linux_classes(const HostScenario& host);
/// Whether its scheduler is one of PREEMPT_RT.
bool wants_threaded_interrupts(const HostScenario& host);
/// Why its scheduler does not fit such a host. Empty if it fits.
std::string scheduler_problem(const HostScenario& host);
/// Why the host cannot run this context: it belongs to another operating system. Empty if it can.
std::string refusal(const HostScenario& host, const ContextSpec& spec);
/// Why this host cannot run a thread of the load as its file requests. Empty if it can.
std::string load_thread_problem(const HostScenario& host, const LoadThread& thread);
/// Why its mutexes contradict the host. Empty if they do not.
std::string lock_problem(const Scenario& scenario);
/// Why its reservation cannot be admitted even without others. Empty if it can, or if there is none.
std::string admission_problem(const HostScenario& host, const ContextSpec& spec);

/// Linux gives interrupt threads SCHED_FIFO 50 (kernel/irq/manage.c).
inline constexpr int kInterruptThreadPriority = 50;

class HostPolicies {
 public:
  /// Gives the scheduler's deferred work to the CPU; it must outlive this object.
  HostPolicies(const Scenario& scenario, Cpu& cpu);

  /// The policy of the driver's thread at a fixed or dynamic priority, SCHED_FIFO on Linux.
  Policy thread(int priority);
  /// The policy of programs: time-sliced, SCHED_OTHER on Linux. @param boost on Windows NT, after its waits
  Policy program(int priority, int boost = 0);
  /// The policy of a thread of the load. @throws std::invalid_argument with load_thread_problem()
  Policy load_thread(const LoadThread& thread);
  /// The policy of a source of a recorded load that is a thread of this host's classes; none on a host of fixed
  /// priorities.
  std::optional<Policy> recorded(const HostLoad::Source& source);
  /// The policy of the driver's thread in this context. @throws std::invalid_argument for a context that is not a
  /// thread or that this host does not have; std::runtime_error for slots that were not planned
  Policy of(const ContextSpec& spec);
  /// The policy of load.reservations[i].
  Policy reservation(std::size_t i);
  /// The policy of load.soft_devices[i], in its context. @throws std::invalid_argument as of()
  Policy beside(std::size_t i);
  /// The policy of an interrupt's handler if handlers are threads.
  Policy interrupt_thread();
  /// A driver's environment on this host, without `policy`. @param level  of its card's interrupt
  ContextParts place(const ContextScenario& where, Cpu& cpu, oh_driver& driver, ServiceCost& cost, int level);
  DeviceHost device_host();
  /// The CPU to which a thread with a reservation is pinned if it requests `cpu`: Rialto and Rez use one CPU.
  int reservation_cpu(int cpu) const;
  /// Time of the clock's first interrupt: slots begin and end at clock interrupts.
  Ns clock_phase() const { return reservations_->slots() ? phase_of(scenario_.context) : 0; }

 private:
  Ns phase_of(const ContextSpec& spec) const;
  Policy reserve(const ContextSpec& spec, Ns offset, int cpu);

  const Scenario scenario_;                              // as at the creation of the host
  std::shared_ptr<Scheduler> scheduler_, reservations_;  // the same object if both have the same name
  std::vector<Ns> offsets_;  // of the slots: first the driver's own, if any, then load.reservations and soft_devices
};

}  // namespace offhook::hostsim
