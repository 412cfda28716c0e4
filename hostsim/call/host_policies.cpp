// SPDX-License-Identifier: MIT
#include "hostsim/call/host_policies.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <stdexcept>

#include "hostsim/call/random_streams.h"
#include "hostsim/engine/random.h"
#include "hostsim/host/host_load.h"
#include "hostsim/sched/linux_admission.h"
#include "hostsim/sched/slot_plan.h"

namespace offhook::hostsim {
namespace {

constexpr int kMostRealTime = 99;  // of SCHED_FIFO and SCHED_RR (sched_get_priority_max)
constexpr int kRealTimeFrom = 40;  // SCHED_FIFO p in a replayed trace is priority 40 + p (host_load.h)
constexpr int kNormalProgram = 8;  // of Windows NT
constexpr int kNiceZero = 19;      // SCHED_OTHER at nice 0 in a replayed trace

// Windows NT gives worker threads normal priorities.
constexpr int kWorkerPriority = 8;

bool has_own(const Scenario& s) {
  return s.context.kind == OH_CONTEXT_RESERVATION;
}

bool is_deadline(const LoadThread& t) {
  return t.scheduling == ThreadClass::kDeadline;
}

/// Reservations other than the driver's own.
bool has_others(const Scenario& s) {
  return !s.load.reservations.empty() || std::any_of(s.load.threads.begin(), s.load.threads.end(), is_deadline) ||
         std::any_of(s.load.soft_devices.begin(), s.load.soft_devices.end(),
                     [](const CompetingDevice& d) { return d.context.kind == OH_CONTEXT_RESERVATION; });
}

Ns ticks_to_ns(std::int64_t ticks, int hz) {
  return static_cast<Ns>(static_cast<double>(ticks) * 1e9 / hz);
}

/// In whole clock interrupts; 0 if it is not a whole number.
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

ContextSpec spec_of(const LoadThread& t) {
  ContextSpec spec;
  spec.kind = OH_CONTEXT_RESERVATION;
  spec.budget_ns = t.budget_ns > 0 ? t.budget_ns : t.work_ns;
  spec.period_ns = t.period_ns > 0 ? t.period_ns : t.every_ns;
  return spec;
}

SchedulerHost host_of(const HostScenario& host) {
  return {.cpus = host.cpus,
          .tick_hz = host.tick_hz,
          .quantum = host.quantum_ns,
          .slot_priority = host.priorities < kLinuxPriorities ? host.slot_priority : kLinuxPriorities - 1};
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
  for (const LoadThread& t : s.load.threads)
    if (is_deadline(t)) all.push_back({t.name, spec_of(t), on(t.cpu)});
  return all;
}

/// The reservations of one CPU in the same order; kAnyCpu: those not pinned.
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

std::optional<DeadlineAdmission> deadline_admission(const HostScenario& host) {
  const auto threads = scheduler_of(host);
  // "deadline", the ideal server, means SCHED_DEADLINE if the host is Linux.
  const bool ideal = host.reservations == "deadline" && threads->has(ThreadRequest::Class::kFifo);
  if (!ideal && !reservations_of(host)->admits_by_bandwidth()) return std::nullopt;
  return DeadlineAdmission{host.cpus, threads->has_fair_server()};
}

void check_reservations(const Scenario& s) {
  if (!has_others(s) && !has_own(s)) return;
  const auto reservations = reservations_of(s.host);
  const std::vector<Wanted> all = all_reservations(s, *reservations);
  if (const auto admission = deadline_admission(s.host)) {
    std::vector<DeadlineAdmission::Asked> asked;
    for (const Wanted& w : all) {
      const ReservationRequest r = request_of(w.spec, s.host);
      asked.push_back({w.name, r.budget, r.period});
    }
    if (const std::string why = admission->problem(asked); !why.empty()) throw std::invalid_argument(why);
    return;
  }
  if (!has_others(s)) return;
  if (!reservations->slots()) return check_shares(all, s.host.cpus);
  for (int cpu = kAnyCpu; cpu < s.host.cpus; cpu++) (void)plan_slots(reservations_on(all, cpu, s.host));
}

ThreadKind thread_kind(const ContextSpec& spec) {
  return spec.kind == OH_CONTEXT_RESERVATION ? ThreadKind::kDeadline
         : spec.kind == OH_CONTEXT_NORMAL    ? ThreadKind::kNormal
                                             : ThreadKind::kRealTime;
}

bool has_linux_classes(const HostScenario& host) {
  return scheduler_of(host)->has(ThreadRequest::Class::kFifo);
}

bool wants_threaded_interrupts(const HostScenario& host) {
  return scheduler_of(host)->wants_threaded_interrupts();
}

std::string scheduler_problem(const HostScenario& host) {
  if (has_linux_classes(host) && reservations_of(host)->slots())
    return "host.reservations is \"" + host.reservations +
           "\", whose slots do not exist on Linux (host.scheduler is \"" + host.scheduler +
           "\"); expected deadline-ticks or deadline-hrtick, as SCHED_DEADLINE does";
  if (host.charge_stolen_time) {
    const auto problem = [](std::string_view key, const std::string& name) {
      return "host.charge_stolen_time is true, but host." + std::string(key) + " is \"" + name +
             "\", which charges threads only for their own time; expected a scheduler of Linux that charges it, or "
             "false";
    };
    if (!scheduler_of(host)->charges_stolen_time()) return problem("scheduler", host.scheduler);
    if (!reservations_of(host)->charges_stolen_time()) return problem("reservations", host.reservations);
  }
  if (host.threaded_interrupts || !scheduler_of(host)->wants_threaded_interrupts()) return "";
  return "host.scheduler is \"" + host.scheduler +
         "\", of PREEMPT_RT, where interrupt handlers are threads; expected host.threaded_interrupts = true";
}

std::string load_thread_problem(const HostScenario& host, const LoadThread& t) {
  const bool linux_classes = scheduler_of(host)->has(ThreadRequest::Class::kFifo);
  // The host of a replayed trace: all of Linux's classes on one scale of fixed priorities (host_load.h).
  const bool one_scale = !linux_classes && host.priorities == kLinuxPriorities;
  const std::string_view name = kThreadClasses.at(static_cast<std::size_t>(t.scheduling));
  const std::string what = "load.thread \"" + t.name + "\": ";
  const std::string at_most = std::to_string(host.priorities - 1);
  switch (t.scheduling) {
    case ThreadClass::kDefault:
      if (linux_classes && t.priority > kMostRealTime)
        return what + "priority is " + std::to_string(t.priority) + "; expected 1 to 99 of SCHED_FIFO on host " +
               host.name;
      if (t.nice != 0 && (!linux_classes || t.priority > 0))
        return what + "nice belongs to SCHED_OTHER; expected class = \"other\", and no priority";
      break;
    case ThreadClass::kNt:
      if (linux_classes || one_scale)
        return what + "class is \"nt\", but host " + host.name + " is Linux; expected fifo, rr, deadline or other";
      break;
    default:
      if (!linux_classes && !one_scale)
        return what + "class is \"" + std::string(name) + "\", which host " + host.name + " with scheduler " +
               host.scheduler + " does not have; expected class = \"nt\" and a priority of 1 to " + at_most;
  }
  if (!linux_classes && t.priority >= host.priorities)
    return what + "priority is " + std::to_string(t.priority) + "; expected at most " + at_most + " on host " +
           host.name;
  if (t.scheduling == ThreadClass::kFifo || t.scheduling == ThreadClass::kRoundRobin) {
    if (t.priority < 1 || t.priority > kMostRealTime)
      return what + "class is \"" + std::string(name) + "\" and priority " + std::to_string(t.priority) +
             "; expected a priority of 1 to 99";
    if (t.nice != 0) return what + "nice belongs to SCHED_OTHER; expected class = \"other\"";
  } else if ((t.scheduling == ThreadClass::kOther || is_deadline(t)) && t.priority > 0) {
    return what + "class is \"" + std::string(name) + "\", which has no priority; expected " +
           (is_deadline(t) ? "budget_us and period_us" : "nice");
  }
  if (!is_deadline(t)) {
    if (t.budget_ns > 0 || t.period_ns > 0)
      return what + "budget_us and period_us belong to SCHED_DEADLINE; expected class = \"deadline\"";
    return "";
  }
  const ContextSpec spec = spec_of(t);
  if (spec.period_ns == 0) return what + "a thread that never blocks needs period_us, the period of SCHED_DEADLINE";
  if (spec.budget_ns > spec.period_ns)
    return what + "its budget is longer than its period; expected budget_us up to period_us";
  if (!one_scale && !host.reservations.starts_with("deadline"))
    return what + "class is \"deadline\", but host.reservations is \"" + host.reservations +
           "\"; expected deadline-ticks, as Linux's SCHED_DEADLINE";
  return "";
}

std::string lock_problem(const Scenario& s) {
  const auto scheduler = scheduler_of(s.host);
  const bool ext = s.host.scheduler.ends_with("scx-simple");
  if (s.host.locks == LockProtocol::kProxy && (scheduler->wants_threaded_interrupts() || ext))
    return "host.locks is \"proxy\", which a kernel with " + std::string(ext ? "sched_ext" : "PREEMPT_RT") +
           " lacks; expected plain or inherit, or another host.scheduler";
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
      return what + "its work ends earlier; expected lock_after_us and lock_us within work_us";
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
  if (const auto admission = deadline_admission(host)) {
    const DeadlineAdmission::Asked own[] = {{spec.str(), r.budget, r.period}};
    return admission->problem(own);
  }
  if (!reservations_of(host)->slots()) return "";
  if (r.x_ticks == 0 || r.y_ticks == 0)
    return what + "slots are whole clock interrupts, and this host has " + std::to_string(host.tick_hz) +
           " per second (expected RES X/Y, in ticks)";
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

// When the first slot or the first period begins. A device is switched on while its slots already run, so that its
// first wait is no longer than any other. A call is on hook meanwhile, and cannot lose samples.
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

Policy HostPolicies::load_thread(const LoadThread& t) {
  using Class = ThreadRequest::Class;
  if (const std::string why = load_thread_problem(scenario_.host, t); !why.empty()) throw std::invalid_argument(why);
  const bool linux_classes = scheduler_->has(Class::kFifo);
  if (!linux_classes) {
    const bool one_scale = scenario_.host.priorities == kLinuxPriorities;
    switch (t.scheduling) {
      case ThreadClass::kFifo:
      case ThreadClass::kRoundRobin:
        return thread(kRealTimeFrom + t.priority);
      case ThreadClass::kDeadline:
        return thread(kLinuxPriorities - 1);
      case ThreadClass::kOther:
        return program(kNiceZero - t.nice);
      default:
        return program(t.priority > 0 ? t.priority : one_scale ? kNiceZero : kNormalProgram);
    }
  }
  switch (t.scheduling) {
    case ThreadClass::kRoundRobin:
      return scheduler_->thread({.wants = Class::kRoundRobin, .priority = t.priority});
    case ThreadClass::kDeadline:
      return reserve(spec_of(t), 0, reservation_cpu(t.cpu));
    default:
      if (t.priority > 0) return scheduler_->thread({.wants = Class::kFifo, .priority = t.priority});
      return scheduler_->thread({.wants = Class::kNice, .nice = t.nice});
  }
}

// A recorded deadline thread precedes every real-time thread: its budget is unknown, but the recording observes it.
std::optional<Policy> HostPolicies::recorded(const HostLoad::Source& source) {
  using Class = ThreadRequest::Class;
  constexpr int kAboveRealTime = 1000;
  if (!scheduler_->has(Class::kFifo) || source.kind == HostLoad::Kind::kInterrupt) return std::nullopt;
  if (source.kind == HostLoad::Kind::kSoftirq)
    return scenario_.host.threaded_interrupts ? std::optional(interrupt_thread()) : std::nullopt;
  if (source.priority > kRealTimeFrom + kMostRealTime) return FixedPriority{kAboveRealTime, 0};
  if (source.priority > kRealTimeFrom)
    return scheduler_->thread({.wants = Class::kFifo, .priority = source.priority - kRealTimeFrom});
  return scheduler_->thread({.wants = Class::kNice, .nice = std::clamp(kNiceZero - source.priority, -20, 19)});
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

// A soft device is switched on while its slots already run; see phase_of().
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
  return scheduler_->thread({.priority = kInterruptThreadPriority, .handler = true});
}

DeviceHost HostPolicies::device_host() {
  DeviceHost host;
  host.reader = [this](int priority) { return program(priority, 2); };  // NT: 2 for a network
  if (scenario_.host.threaded_interrupts) host.handler = [this] { return interrupt_thread(); };
  host.hard_irq_ns = scenario_.host.hard_irq_ns;
  return host;
}

}  // namespace offhook::hostsim
