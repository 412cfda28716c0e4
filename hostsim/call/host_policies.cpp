// SPDX-License-Identifier: MIT
#include "hostsim/call/host_policies.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <stdexcept>

#include "hostsim/host/host_load.h"
#include "hostsim/engine/random.h"
#include "hostsim/sched/slot_plan.h"

namespace offhook::hostsim {
namespace {

constexpr std::uint64_t kPhaseStream = 2;  // as in call.cpp

// Linux gives interrupt threads SCHED_FIFO 50 (kernel/irq/manage.c).
constexpr int kInterruptThread = 50;
// Windows NT gives worker threads normal priorities.
constexpr int kWorkerPriority = 8;

bool has_own(const Scenario& s) {
  return s.context.kind == OH_CONTEXT_RESERVATION;
}

/// Reservations besides the driver's own.
bool has_others(const Scenario& s) {
  return !s.load.reservations.empty() ||
         std::any_of(s.load.soft_devices.begin(), s.load.soft_devices.end(),
                     [](const CompetingDevice& d) { return d.context.kind == OH_CONTEXT_RESERVATION; });
}

Ns ticks_to_ns(std::int64_t ticks, int hz) {
  return static_cast<Ns>(static_cast<double>(ticks) * 1e9 / hz);
}

/// In whole clock interrupts; 0: it is no whole number of them.
std::int64_t in_ticks(Ns ns, int hz) {
  const auto ticks = std::llround(static_cast<double>(ns) * hz / 1e9);
  return ticks_to_ns(ticks, hz) == ns ? ticks : 0;
}

ContextSpec spec_of(const ReservedThread& r) {
  ContextSpec spec;
  spec.kind = OH_CONTEXT_RESERVATION;
  spec.x_ticks = r.x_ticks;
  spec.y_ticks = r.y_ticks;
  return spec;
}

SchedulerHost host_of(const HostScenario& host) {
  return {.cpus = host.cpus,
          .tick_hz = host.tick_hz,
          .quantum = host.quantum_ns,
          .slot_priority = host.priorities < kLinuxPriorities ? HostPolicies::kSlotPriority : kLinuxPriorities - 1};
}

std::unique_ptr<Scheduler> scheduler_of(const HostScenario& host) {
  return make_scheduler(PolicyUse::kThreads, host.scheduler, host_of(host));
}
std::unique_ptr<Scheduler> reservations_of(const HostScenario& host) {
  return make_scheduler(PolicyUse::kReservations, host.reservations, host_of(host));
}

ReservationRequest request_of(const ContextSpec& spec, const HostScenario& host) {
  ReservationRequest r;
  if (spec.in_ticks()) {
    r.x_ticks = spec.x_ticks;
    r.y_ticks = spec.y_ticks;
    r.budget = ticks_to_ns(r.x_ticks, host.tick_hz);
    r.period = ticks_to_ns(r.y_ticks, host.tick_hz);
  } else {
    r.budget = spec.budget_ns;
    r.period = spec.period_ns;
    r.x_ticks = in_ticks(r.budget, host.tick_hz);
    r.y_ticks = in_ticks(r.period, host.tick_hz);
  }
  return r;
}

struct Wanted {
  std::string name;
  ContextSpec spec;
  int cpu;
};

// The driver's own first, if it has one.
std::vector<Wanted> all_reservations(const Scenario& s, const Scheduler& reservations) {
  std::vector<Wanted> all;
  const auto on = [&](int cpu) { return reservations.moves() ? cpu : std::max(cpu, 0); };
  if (has_own(s)) all.push_back({"modem thread", s.context, on(s.context.cpu)});
  for (const ReservedThread& r : s.load.reservations) all.push_back({r.name, spec_of(r), on(r.cpu)});
  for (const CompetingDevice& d : s.load.soft_devices)
    if (d.context.kind == OH_CONTEXT_RESERVATION) all.push_back({d.name, d.context, on(d.context.cpu)});
  return all;
}

/// Of one CPU, in the same order; kAnyCpu: those that are not pinned.
std::vector<Reservation> reservations_on(const std::vector<Wanted>& all, int cpu, const HostScenario& host) {
  std::vector<Reservation> there;
  for (const Wanted& w : all) {
    const ReservationRequest r = request_of(w.spec, host);
    if (w.cpu == cpu) there.push_back({w.name, r.x_ticks, r.y_ticks});
  }
  return there;
}

void check_shares(const std::vector<Wanted>& all, int cpus) {
  double everywhere = 0;
  for (int cpu = kAnyCpu; cpu < cpus; cpu++) {
    double sum = 0;
    for (const Wanted& w : all) {
      if (w.cpu != cpu) continue;
      const double share = w.spec.share();
      sum += share;
      everywhere += share;
      const bool fits = (cpu == kAnyCpu || sum <= 1 + 1e-12) && everywhere <= cpus + 1e-12;
      if (share <= 1 && fits) continue;
      const double percent = 100 * (cpu != kAnyCpu && sum > 1 ? sum : everywhere / cpus);
      const std::string xy =
          w.spec.in_ticks() ? std::to_string(w.spec.x_ticks) + " of every " + std::to_string(w.spec.y_ticks) + " ticks"
                            : w.spec.str();
      throw std::invalid_argument(
          "reservation of '" + w.name + "' (" + xy + ") cannot be admitted: " +
          (share > 1 ? "expected X <= Y"
                     : "all together would take " + std::to_string(std::lround(percent)) + " % of the CPU"));
    }
  }
}

}  // namespace

void check_reservations(const Scenario& s) {
  if (!has_others(s)) return;
  const auto reservations = reservations_of(s.host);
  const std::vector<Wanted> all = all_reservations(s, *reservations);
  if (!reservations->slots()) return check_shares(all, s.host.cpus);
  for (int cpu = kAnyCpu; cpu < s.host.cpus; cpu++) (void)plan_slots(reservations_on(all, cpu, s.host));
}

std::string scheduler_problem(const HostScenario& host) {
  if (host.charge_stolen_time) {
    const auto problem = [](std::string_view key, const std::string& name) {
      return "host.charge_stolen_time is true, but host." + std::string(key) + " is \"" + name +
             "\", which charges threads with their own time alone; expected one of Linux's that can, or false";
    };
    if (!scheduler_of(host)->charges_stolen_time()) return problem("scheduler", host.scheduler);
    if (!reservations_of(host)->charges_stolen_time()) return problem("reservations", host.reservations);
  }
  if (host.threaded_interrupts || !scheduler_of(host)->wants_threaded_interrupts()) return "";
  return "host.scheduler is \"" + host.scheduler +
         "\", of PREEMPT_RT, where interrupt handlers are threads; expected host.threaded_interrupts = true";
}

std::string lock_problem(const Scenario& s) {
  const auto scheduler = scheduler_of(s.host);
  const bool ext = s.host.scheduler.ends_with("scx-simple");
  if (s.host.locks == LockProtocol::kProxy && (scheduler->wants_threaded_interrupts() || ext))
    return "host.locks is \"proxy\", which a kernel with " + std::string(ext ? "sched_ext" : "PREEMPT_RT") +
           " has not; expected plain or inherit, or another host.scheduler";
  const oh_context_kind kind = s.context.kind;
  const bool is_thread = kind == OH_CONTEXT_THREAD || kind == OH_CONTEXT_RESERVATION || kind == OH_CONTEXT_WORKER ||
                         kind == OH_CONTEXT_FIFO || kind == OH_CONTEXT_ROUND_ROBIN || kind == OH_CONTEXT_NORMAL;
  if (!s.context.lock.empty() && !is_thread)
    return "context.lock is \"" + s.context.lock + "\", but " + s.context.str() +
           " cannot wait for a mutex; expected a thread or a reservation";
  for (const LoadThread& t : s.load.threads) {
    if (t.lock.empty()) continue;
    const std::string what = "load.thread \"" + t.name + "\": lock is \"" + t.lock + "\", but ";
    if (t.every_ns == 0) return what + "its work never ends; expected every_us above 0";
    if (t.lock_after_ns >= t.work_ns || t.lock_ns > t.work_ns - t.lock_after_ns)
      return what + "its work ends before; expected lock_after_us and lock_us within work_us";
  }
  return "";
}

std::string refusal(const HostScenario& host, const ContextSpec& spec) {
  using Class = ThreadRequest::Class;
  const auto scheduler = scheduler_of(host);
  const bool linux_classes = scheduler->has(Class::kFifo);
  std::vector<oh_context_kind> runs = {OH_CONTEXT_INTERRUPT, OH_CONTEXT_DPC, OH_CONTEXT_THREAD, OH_CONTEXT_RESERVATION,
                                       OH_CONTEXT_WORKER};
  if (linux_classes) {
    runs.insert(runs.end(), {OH_CONTEXT_SOFTIRQ, OH_CONTEXT_FIFO, OH_CONTEXT_ROUND_ROBIN, OH_CONTEXT_NORMAL});
  }
  if (linux_classes || host.threaded_interrupts) runs.push_back(OH_CONTEXT_THREADED);
  if (spec.kind >= OH_CONTEXT_OWN || std::find(runs.begin(), runs.end(), spec.kind) != runs.end()) return "";
  return not_of_this_host(spec, host.name + ", with scheduler " + host.scheduler, runs);
}

std::string admission_problem(const HostScenario& host, const ContextSpec& spec) {
  if (spec.kind != OH_CONTEXT_RESERVATION) return "";
  const ReservationRequest r = request_of(spec, host);
  const std::string what = spec.in_ticks() ? "reservation of " + std::to_string(spec.x_ticks) + " ticks in every " +
                                                 std::to_string(spec.y_ticks) + " cannot be admitted: "
                                           : spec.str() + " cannot be admitted: ";
  if (spec.share() > 1)
    return what + std::to_string(std::llrint(100 * spec.share())) + " % of the CPU; expected X <= Y";
  if (!reservations_of(host)->slots()) return "";
  if (r.x_ticks == 0 || r.y_ticks == 0)
    return what + "slots are whole clock interrupts, and this host's come " + std::to_string(host.tick_hz) +
           " times a second (expected RES X/Y, in ticks)";
  if (!spec.strict && !std::has_single_bit(static_cast<std::uint64_t>(r.y_ticks)))
    return what +
           "the standard scheduler's periods are powers of two (expected Y = 1, 2, 4, 8 ... or context.strict "
           "= true)";
  return "";
}

HostPolicies::HostPolicies(const Scenario& scenario, Cpu& cpu) : scenario_(scenario) {
  const HostScenario& host = scenario.host;
  SchedulerHost told = host_of(host);
  told.dpc_time = [&cpu](int n) { return cpu.dpc_time(n); };
  scheduler_ = make_scheduler(PolicyUse::kThreads, host.scheduler, told);
  told.threads = scheduler_;
  reservations_ = host.reservations == host.scheduler
                      ? scheduler_
                      : make_scheduler(PolicyUse::kReservations, host.reservations, told);
  check_reservations(scenario);
  const std::vector<Wanted> all = all_reservations(scenario, *reservations_);
  offsets_.assign(all.size(), phase_of(scenario.context));
  if (reservations_->slots() && has_others(scenario)) {
    for (int n = 0; n < host.cpus; n++) {
      const std::vector<std::int64_t> slots = plan_slots(reservations_on(all, n, host));
      for (std::size_t i = 0, k = 0; i < all.size(); i++)
        if (all[i].cpu == n) offsets_[i] += ticks_to_ns(slots[k++], host.tick_hz);
    }
  }
  cpu.set_deferred_work([this](int n) { return scheduler_->deferred_work(n); });
}

// When the first slot, or the first period, begins. A device is switched on while its slots already run, so that it
// does not wait for a first one longer than for any other; a call is on hook meanwhile, and has nothing to lose.
Ns HostPolicies::phase_of(const ContextSpec& spec) const {
  if (spec.kind != OH_CONTEXT_RESERVATION) return 0;
  const double given = scenario_.context.slot_phase;
  const double share = given >= 0 ? given : Random(scenario_.seed, kPhaseStream).uniform(0);
  const Ns period = request_of(spec, scenario_.host).period,
           phase = static_cast<Ns>(share * static_cast<double>(period));
  const bool runs_already = scenario_.pump == PumpKind::kDevice && reservations_->slots();
  return runs_already ? phase - period : phase;
}

int HostPolicies::reservation_cpu(int cpu) const {
  return reservations_->moves() ? cpu : std::max(cpu, 0);
}

ContextParts HostPolicies::place(const ContextScenario& where, Cpu& cpu, oh_driver& driver, ServiceCost& cost,
                                 int level) {
  const bool threaded = scenario_.host.threaded_interrupts || where.kind == OH_CONTEXT_THREADED;
  const bool reserves = where.kind == OH_CONTEXT_RESERVATION;
  return {.cpu = cpu,
          .driver = driver,
          .cost = cost,
          .level = level,
          .spec = where,
          .interrupt_cpu = where.interrupt_cpu,
          .dpc_cpu = where.dpc_cpu == kAnyCpu ? where.interrupt_cpu : where.dpc_cpu,
          .dpc_importance = where.dpc_importance,
          .handler = threaded ? std::optional(interrupt_thread()) : std::nullopt,
          .hard_irq = scenario_.host.hard_irq_ns,
          .thread_cpu = reserves ? reservation_cpu(where.cpu) : where.cpu,
          .dispatch = scenario_.host.dispatch_ns};
}

Policy HostPolicies::thread(int priority) {
  return scheduler_->thread({.priority = priority});
}

Policy HostPolicies::program(int priority, int boost) {
  return scheduler_->thread({.wants = ThreadRequest::Class::kProgram, .priority = priority, .boost = boost});
}

Policy HostPolicies::of(const ContextSpec& spec) {
  using Class = ThreadRequest::Class;
  if (const std::string why = refusal(scenario_.host, spec); !why.empty()) throw std::invalid_argument(why);
  switch (spec.kind) {
    case OH_CONTEXT_FIFO:
      return scheduler_->thread({.wants = Class::kFifo, .priority = spec.priority});
    case OH_CONTEXT_ROUND_ROBIN:
      return scheduler_->thread({.wants = Class::kRoundRobin, .priority = spec.priority});
    case OH_CONTEXT_NORMAL:
      return scheduler_->thread({.wants = Class::kNice, .nice = spec.nice});
    case OH_CONTEXT_WORKER:
      return program(kWorkerPriority);
    case OH_CONTEXT_THREAD:
      return thread(spec.priority);
    case OH_CONTEXT_RESERVATION: {
      const bool planned = has_own(scenario_) && spec.str() == scenario_.context.str();
      if (const std::string why = admission_problem(scenario_.host, spec); !planned && !why.empty())
        throw std::runtime_error(why);
      if (!planned && reservations_->slots() && has_others(scenario_))
        throw std::runtime_error(spec.str() + ": the slots of this host's reservations were planned without it");
      return reserve(spec, planned ? offsets_.at(0) : phase_of(spec), reservation_cpu(scenario_.context.cpu));
    }
    default:
      if (context_form(spec.kind).argument == ContextArgument::kPriority) return thread(spec.priority);
      throw std::invalid_argument(spec.str() + " is not a thread");
  }
}

Policy HostPolicies::reservation(std::size_t i) {
  const ReservedThread& r = scenario_.load.reservations.at(i);
  ContextSpec spec = spec_of(r);
  spec.strict = scenario_.context.strict;
  return reserve(spec, offsets_.at(i + (has_own(scenario_) ? 1 : 0)), reservation_cpu(r.cpu));
}

// A soft device is switched on while its slots already run, see phase_of().
Policy HostPolicies::beside(std::size_t i) {
  const auto& devices = scenario_.load.soft_devices;
  const ContextScenario& context = devices.at(i).context;
  if (context.kind != OH_CONTEXT_RESERVATION) return of(context);
  if (const std::string why = admission_problem(scenario_.host, context); !why.empty())
    throw std::invalid_argument(devices[i].name + ": " + why);
  std::size_t k = (has_own(scenario_) ? 1 : 0) + scenario_.load.reservations.size();
  for (std::size_t d = 0; d < i; ++d) k += devices[d].context.kind == OH_CONTEXT_RESERVATION;
  Ns offset = offsets_.at(k);
  if (const Ns period = request_of(context, scenario_.host).period; reservations_->slots() && offset > 0)
    offset -= (offset + period - 1) / period * period;
  return reserve(context, offset, reservation_cpu(context.cpu));
}

Policy HostPolicies::reserve(const ContextSpec& spec, Ns offset, int cpu) {
  ReservationRequest r = request_of(spec, scenario_.host);
  r.offset = offset;
  r.strict = spec.strict;
  r.background_priority = scenario_.context.background_priority;
  r.cpu = cpu;
  return reservations_->reserve(r);
}

Policy HostPolicies::interrupt_thread() {
  return scheduler_->thread({.priority = kInterruptThread, .handler = true});
}

DeviceHost HostPolicies::device_host() {
  DeviceHost host;
  host.reader = [this](int priority) { return program(priority, 2); };  // NT: 2 for a network
  if (scenario_.host.threaded_interrupts) host.handler = [this] { return interrupt_thread(); };
  host.hard_irq_ns = scenario_.host.hard_irq_ns;
  return host;
}

}  // namespace offhook::hostsim
