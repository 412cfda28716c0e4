// SPDX-License-Identifier: MIT
#include "hostsim/call/host_policies.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "hostsim/random/random.h"
#include "hostsim/sched/linux_deadline.h"
#include "hostsim/sched/slot_plan.h"
#include "hostsim/sched/windows_nt.h"

namespace offhook::hostsim {
namespace {

constexpr std::uint64_t kPhaseStream = 2;  // as in call.cpp

// Windows 2000 counts quanta in intervals of 1/64 s when its clock is the real-time clock.
constexpr int kNtIntervalHz = 64;

// Linux gives interrupt threads SCHED_FIFO 50 (kernel/irq/manage.c).
constexpr int kInterruptThread = 50;

bool has_own(const Scenario& s) {
  return s.context.kind == ContextKind::kReservation;
}

struct Wanted {
  Reservation reservation;
  int cpu;
};

// The driver's own first, if it has one.
std::vector<Wanted> all_reservations(const Scenario& s) {
  std::vector<Wanted> all;
  const auto on = [&](int cpu) { return HostPolicies::reservation_cpu(s, cpu); };
  if (has_own(s)) all.push_back({{"modem thread", s.context.x_ticks, s.context.y_ticks}, on(s.context.cpu)});
  for (const ReservedThread& r : s.load.reservations) all.push_back({{r.name, r.x_ticks, r.y_ticks}, on(r.cpu)});
  return all;
}

/// Of one CPU, in the same order; kAnyCpu: those that are not pinned.
std::vector<Reservation> reservations_on(const std::vector<Wanted>& all, int cpu) {
  std::vector<Reservation> there;
  for (const Wanted& w : all)
    if (w.cpu == cpu) there.push_back(w.reservation);
  return there;
}

Ns ticks_to_ns(std::int64_t ticks, int hz) {
  return static_cast<Ns>(static_cast<double>(ticks) * 1e9 / hz);
}

}  // namespace

int HostPolicies::reservation_cpu(const Scenario& s, int cpu) {
  const bool moves = s.host.reservations == ReservationScheduler::kDeadline ||
                     s.host.reservations == ReservationScheduler::kDeadlineTicks;
  return moves ? cpu : std::max(cpu, 0);
}

void check_reservations(const Scenario& s) {
  if (s.load.reservations.empty()) return;
  const std::vector<Wanted> all = all_reservations(s);
  double everywhere = 0;
  for (int cpu = kAnyCpu; cpu < s.host.cpus; cpu++) {
    const std::vector<Reservation> here = reservations_on(all, cpu);
    if (s.host.reservations == ReservationScheduler::kRialto) {
      (void)plan_slots(here);
      continue;
    }
    double sum = 0;
    for (const Reservation& r : here) {
      const double share = static_cast<double>(r.x_ticks) / static_cast<double>(r.y_ticks);
      sum += share;
      everywhere += share;
      const bool fits = (cpu == kAnyCpu || sum <= 1 + 1e-12) && everywhere <= s.host.cpus + 1e-12;
      if (r.x_ticks <= r.y_ticks && fits) continue;
      const double percent = 100 * (cpu != kAnyCpu && sum > 1 ? sum : everywhere / s.host.cpus);
      throw std::invalid_argument("reservation of '" + r.name + "' (" + std::to_string(r.x_ticks) + " of every " +
                                  std::to_string(r.y_ticks) + " ticks) cannot be admitted: " +
                                  (r.x_ticks > r.y_ticks ? "expected X <= Y"
                                                         : "all together would take " +
                                                               std::to_string(std::lround(percent)) + " % of the CPU"));
    }
  }
}

HostPolicies::HostPolicies(const Scenario& scenario, Cpu& cpu) : scenario_(scenario) {
  const HostScenario& host = scenario.host;
  const ContextScenario& c = scenario.context;
  if (has_own(scenario)) {
    const double share = c.slot_phase >= 0 ? c.slot_phase : Random(scenario.seed, kPhaseStream).uniform(0);
    phase_ = static_cast<Ns>(share * static_cast<double>(ticks_to_ns(c.y_ticks, host.tick_hz)));
  }
  check_reservations(scenario);
  const std::vector<Wanted> all = all_reservations(scenario);
  offsets_.assign(all.size(), phase_);
  if (host.reservations == ReservationScheduler::kRialto && !scenario.load.reservations.empty()) {
    for (int n = 0; n < host.cpus; n++) {
      const std::vector<std::int64_t> slots = plan_slots(reservations_on(all, n));
      for (std::size_t i = 0, k = 0; i < all.size(); i++)
        if (all[i].cpu == n) offsets_[i] += ticks_to_ns(slots[k++], host.tick_hz);
    }
  }
  switch (host.reservations) {
    case ReservationScheduler::kRezTicks:
    case ReservationScheduler::kRezC:
    case ReservationScheduler::kRezFb: {
      const RezForm form = host.reservations == ReservationScheduler::kRezC    ? RezForm::kRezC
                           : host.reservations == ReservationScheduler::kRezFb ? RezForm::kRezFb
                                                                               : RezForm::kRez;
      for (int n = 0; n < host.cpus; n++)
        rez_.push_back(std::make_shared<RezScheduler>(form, host.tick_hz, [&cpu, n] { return cpu.dpc_time(n); }));
      break;
    }
    default:
      break;
  }
  if (host.scheduler == ThreadScheduler::kLinux) {
    real_time_ = std::make_shared<LinuxRealTimeGroup>(host.tick_hz, host.cpus);
    fair_ = std::make_shared<LinuxFairGroup>(host.tick_hz, host.cpus);
    cpu.limit_dpcs({}, program(0));
  }
}

Policy HostPolicies::thread(int priority, int boost) {
  const HostScenario& host = scenario_.host;
  switch (host.scheduler) {
    case ThreadScheduler::kWindowsNt: {
      const double intervals = static_cast<double>(host.quantum_ns) * kNtIntervalHz / 1e9;
      const WindowsNt nt{priority, boost, std::max(1, static_cast<int>(std::lround(intervals))), kNtIntervalHz};
      return OwnPolicy([nt] { return std::make_unique<WindowsNtThread>(nt); });
    }
    case ThreadScheduler::kLinux: {
      const LinuxRealTime fifo{priority, 0};
      return OwnPolicy([fifo, group = real_time_] { return std::make_unique<LinuxRealTimeThread>(fifo, group); });
    }
    case ThreadScheduler::kFixedPriority:
      break;
  }
  // Normal priorities (1 to 15) are time-sliced; real-time ones are too, but have no equals here.
  return FixedPriority{priority, priority < 16 ? host.quantum_ns : 0};
}

Policy HostPolicies::program(int priority, int boost) {
  switch (scenario_.host.scheduler) {
    case ThreadScheduler::kWindowsNt:
      return thread(priority, boost);
    case ThreadScheduler::kLinux:
      return OwnPolicy([group = fair_] { return std::make_unique<LinuxFairThread>(group); });
    case ThreadScheduler::kFixedPriority:
      break;
  }
  return FixedPriority{priority, scenario_.host.quantum_ns};
}

Policy HostPolicies::reservation() {
  const ContextScenario& c = scenario_.context;
  return reserve(c.x_ticks, c.y_ticks, offsets_.at(0), reservation_cpu(scenario_, c.cpu));
}

Policy HostPolicies::reservation(std::size_t i) {
  const ReservedThread& r = scenario_.load.reservations.at(i);
  return reserve(r.x_ticks, r.y_ticks, offsets_.at(i + (has_own(scenario_) ? 1 : 0)),
                 reservation_cpu(scenario_, r.cpu));
}

Policy HostPolicies::reserve(std::int64_t x_ticks, std::int64_t y_ticks, Ns offset, int cpu) {
  const HostScenario& host = scenario_.host;
  const ContextScenario& c = scenario_.context;
  const Ns budget = ticks_to_ns(x_ticks, host.tick_hz), period = ticks_to_ns(y_ticks, host.tick_hz);
  switch (host.reservations) {
    case ReservationScheduler::kRialto: {
      Slot slot;
      slot.offset = offset;
      slot.length = x_ticks;
      slot.period = y_ticks;
      slot.strict = c.strict;
      slot.priority = c.background_priority;
      slot.tick_hz = host.tick_hz;
      slot.slot_priority = host.priorities < kLinuxPriorities ? kSlotPriority : kLinuxPriorities - 1;
      return slot;
    }
    case ReservationScheduler::kRez:
      return Rez{.budget = budget, .period = period, .offset = offset, .background = -1};
    case ReservationScheduler::kRezTicks:
    case ReservationScheduler::kRezC:
    case ReservationScheduler::kRezFb:
      return OwnPolicy(
          [rez = rez_.at(static_cast<std::size_t>(cpu)), budget, period] { return rez->reserve(budget, period); });
    case ReservationScheduler::kDeadline:
      return ConstantBandwidth{budget, period};
    case ReservationScheduler::kDeadlineTicks: {
      const LinuxDeadline deadline{budget, period, host.tick_hz};
      return OwnPolicy([deadline] { return std::make_unique<LinuxDeadlineThread>(deadline); });
    }
  }
  throw std::logic_error("no such reservation");
}

Policy HostPolicies::interrupt_thread() {
  return thread(kInterruptThread);
}

DeviceHost HostPolicies::device_host() {
  DeviceHost host;
  host.reader = [this](int priority) { return program(priority, 2); };  // NT: 2 for a network
  if (scenario_.host.threaded_interrupts) host.handler = [this] { return interrupt_thread(); };
  host.hard_irq_ns = scenario_.host.hard_irq_ns;
  return host;
}

}  // namespace offhook::hostsim
