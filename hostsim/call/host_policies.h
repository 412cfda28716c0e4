// SPDX-License-Identifier: MIT
//
// Which policy of hostsim/sched each thread of a call gets on the scenario's host.
#pragma once

#include <memory>

#include "hostsim/call/scenario.h"
#include "hostsim/cpu/cpu.h"
#include "hostsim/load/device_load.h"
#include "hostsim/sched/augmented_rez.h"
#include "hostsim/sched/linux_fair.h"
#include "hostsim/sched/linux_realtime.h"

namespace offhook::hostsim {

/// Whether the driver's reservation (kReservation) and those of the load fit into the CPU together.
/// @throws std::invalid_argument naming the one that does not, and why
void check_reservations(const Scenario& scenario);

class HostPolicies {
 public:
  // Rialto/NT runs on top of the priority scheduler (Jones and Regehr 1999), so that inside its slot a thread has a
  // high priority, not the CPU itself. Which one is not published; it is below 31, since a callback at 31 is as
  // predictable beside a reservation as beside a thread at 24 (Jones and Saroiu, 6.4.3).
  static constexpr int kSlotPriority = 30;

  /// Makes the CPU's DPCs softirqs on Linux. Both must outlive this.
  HostPolicies(const Scenario& scenario, Cpu& cpu);

  /// Of the driver's thread: a fixed or dynamic priority, SCHED_FIFO on Linux.
  /// @param boost on Windows NT, for what ends its waits
  Policy thread(int priority, int boost = 1);
  /// Of programs: time-sliced, SCHED_OTHER on Linux.
  Policy program(int priority, int boost = 0);
  /// Of the driver's thread. @pre the context is a reservation
  Policy reservation();
  /// Of load.reservations[i].
  Policy reservation(std::size_t i);
  /// Of an interrupt's handler where these are threads.
  Policy interrupt_thread();
  DeviceHost device_host();
  /// The CPU that a thread with a reservation is pinned to, if it asks for `cpu`: Rialto and Rez know one CPU.
  static int reservation_cpu(const Scenario& scenario, int cpu);
  /// When the clock's first interrupt comes: the slots of Rialto/NT begin and end with them.
  Ns clock_phase() const { return scenario_.host.reservations == ReservationScheduler::kRialto ? phase_ : 0; }

 private:
  Policy reserve(std::int64_t x_ticks, std::int64_t y_ticks, Ns offset, int cpu);

  const Scenario& scenario_;
  Ns phase_ = 0;             // when the first slot, or the first period, begins
  std::vector<Ns> offsets_;  // of the slots: the driver's own first, if it has one
  std::shared_ptr<LinuxRealTimeGroup> real_time_;
  std::shared_ptr<LinuxFairGroup> fair_;
  std::vector<std::shared_ptr<RezScheduler>> rez_;  // one on each CPU
};

}  // namespace offhook::hostsim
