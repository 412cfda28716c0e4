// SPDX-License-Identifier: MIT
#include "hostsim/call/call.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <stdexcept>

#include "hostsim/call/competing_device.h"
#include "hostsim/call/host_policies.h"
#include "hostsim/call/profile_cost.h"
#include "hostsim/call/random_streams.h"
#include "hostsim/cpu/critical_section.h"
#include "hostsim/engine/random.h"
#include "hostsim/host/card_event.h"
#include "hostsim/host/context.h"
#include "hostsim/host/hold_off.h"
#include "hostsim/host/load.h"
#include "hostsim/host/recorded_load.h"

namespace offhook::hostsim {

namespace {

// Interrupt levels as in Windows NT: the clock above all devices; the modem of the paper below most (5.1).
constexpr int kClockLevel = 28;
constexpr int kModemLevel = 10;

// The longest interruption that every DTMF receiver tolerates. Source: ITU-T Q.24, Annex A
constexpr std::uint64_t kBrokenTone_ms = 10;
// Time without an answer that ends a call: S7, counted from the last digit (driver/tty). Source: ITU-T V.250, 6.3.7
constexpr Ns kNoAnswer = 60'000'000'000;

constexpr int kTimerHz = 1000;  // of the load's multimedia timer
constexpr Ns kTimerPeriod = 1'000'000'000 / kTimerHz;

// Checks the conditions that a host or a driver would refuse later, in the middle of the call.
void check(const CostProfile& profile, std::uint32_t lead, const oh_streams& streams) {
  const std::uint32_t longest = oh_streams_block_max(&streams);
  const std::uint32_t ring = oh_ring_of(&streams, &streams.tx, nullptr).periods;
  for (const PhaseProfile& phase : profile.phases) {
    const auto& plan = phase.block_plan;
    if (plan.empty() || plan.size() > OH_BLOCK_PLAN_MAX) {
      throw std::invalid_argument("a block plan has " + std::to_string(plan.size()) + " blocks: expected 1 to " +
                                  std::to_string(OH_BLOCK_PLAN_MAX));
    }
    const auto [least, most] = std::minmax_element(plan.begin(), plan.end());
    if (*least == 0 || *most > longest) {
      throw std::invalid_argument("a block of " + std::to_string(*least == 0 ? 0 : *most) + " samples: expected 1 to " +
                                  std::to_string(longest));
    }
    if (lead < *most || lead > ring) {
      throw std::invalid_argument("transmit_lead_samples is " + std::to_string(lead) +
                                  ": expected at least the longest block, " + std::to_string(*most) + ", and at most " +
                                  std::to_string(ring));
    }
  }
}

// Whether some DPC may have to wait for the clock, see DpcImportance.
bool has_deferred_dpcs(const Scenario& s) {
  const bool elsewhere = s.context.dpc_cpu != kAnyCpu && s.context.dpc_cpu != s.context.interrupt_cpu;
  return elsewhere || s.context.dpc_importance == DpcImportance::kLow ||
         std::any_of(s.load.devices.begin(), s.load.devices.end(),
                     [](const LoadDevice& d) { return d.dpc_importance == DpcImportance::kLow; });
}

class Action final : public Event {
 public:
  explicit Action(std::function<void(Ns)> act) : act_(std::move(act)) {}
  void fire(Ns now) override { act_(now); }

 private:
  std::function<void(Ns)> act_;
};

}  // namespace

struct Call::Impl {
  Impl(const Scenario& s, const CostProfile& p, std::unique_ptr<Connection> c, oh_event_log* l, Logged what);

  // The parts of the constructor, in the order in which entities are declared.
  void place_context();
  void add_clocks();
  void add_load();
  EntityId add_locking_thread(const LoadThread& t);
  void replay_load();
  void configure_driver(const PhaseProfile& first);
  void schedule_script();

  void set_phase(Phase next, Ns now);
  void watch(Ns now);
  void watch_dialling();
  void end();

  Scenario scenario;
  CostProfile profile;
  oh_event_log *log, *cpu_log;
  Engine engine;
  Mutexes mutexes;
  Cpu cpu;
  std::optional<HostPolicies> policies;
  std::unique_ptr<Connection> connection;
  oh_driver driver{};
  std::vector<std::byte> staging;
  ProfileCost cost;
  std::optional<SimulatedCard> card;
  std::optional<CardEvent> card_event;
  std::unique_ptr<Context> context;
  std::optional<HoldOff> hold_off;
  Spinner spinner;
  std::vector<std::unique_ptr<ClockInterrupt>> clocks;
  std::optional<ClockInterrupt> timer_interrupt;
  std::vector<std::unique_ptr<PeriodicThread>> threads;
  std::vector<std::unique_ptr<SectionedJob>> locking_jobs;
  std::optional<TimerCallback> timer;
  std::optional<RecordedLoad> recorded_load;
  std::vector<std::unique_ptr<DeviceLoad>> devices;
  std::vector<std::unique_ptr<DeviceOnHost>> beside;
  std::vector<std::unique_ptr<Action>> script;

  Phase phase = Phase::kOnHook;
  bool over = false;
  bool misdialled = false;
  std::uint64_t underrun_seen = 0,
                hole = 0;  // in samples; the second one during dialling, for successive blocks with losses
  Ns reserves_from = kNever;
  CallResult result;
  oh_driver_counters at_answer{};
  Ns connected_since = -1;
  Ns busy_at_connect = 0;
  Ns first_loss = -1;
};

Call::Impl::Impl(const Scenario& s, const CostProfile& p, std::unique_ptr<Connection> c, oh_event_log* l, Logged what)
    : scenario(s),
      profile(p),
      log(l),
      cpu_log(what == Logged::kAll ? l : nullptr),
      mutexes(s.host.locks),
      cpu(engine, Admission::kRequired, s.host.cpus),
      connection(std::move(c)),
      cost(profile, s.event_logging_cost, Random(s.seed, kIsrStream), Random(s.seed, kCostStream)) {
  cpu.set_log(cpu_log);
  cpu.set_switch_costs({scenario.host.switch_ns, scenario.host.migration_ns});
  if (scenario.host.charge_stolen_time) cpu.charge_stolen_time();
  if (!scenario.block_plan.empty()) {
    profile.phases[static_cast<int>(Phase::kConnected)].block_plan = scenario.block_plan;
  }
  const oh_streams streams = connection->streams();
  check(profile, scenario.transmit_lead_samples, streams);
  policies.emplace(scenario, cpu);
  if (const std::string why = refusal(scenario.host, scenario.context); !why.empty()) throw std::invalid_argument(why);
  if (const std::string why = lock_problem(scenario); !why.empty()) throw std::invalid_argument(why);
  if (scenario.context.kind == OH_CONTEXT_RESERVATION) {
    const bool ticks = s.context.in_ticks();
    (void)reserved_share("modem thread", Slot{.length = ticks ? s.context.x_ticks : s.context.budget_ns,
                                              .period = ticks ? s.context.y_ticks : s.context.period_ns});
  }
  const PhaseProfile& first = profile.phases[static_cast<int>(scenario.dial ? Phase::kOnHook : Phase::kConnecting)];
  const double ppm =
      scenario.host.clock_ppm + scenario.host.clock_ppm_spread * (2 * Random(scenario.seed, kPpmStream).uniform(0) - 1);
  card.emplace(CardConfig{streams, ppm, first.block_plan.at(0), 0, log},
               connection->has_samples() ? connection->line() : oh_line_end{});
  card->set_rate(0, first.rate_hz);
  card_event.emplace(engine, *card);

  place_context();
  if (scenario.load.spinner) {
    const EntityId id = cpu.add_thread("spinner", policies->program(scenario.load.spinner_priority), spinner, kNever,
                                       scenario.load.spinner_cpu);
    cpu.release(id);
  }
  add_clocks();
  add_load();
  replay_load();
  configure_driver(first);
  schedule_script();
}

void Call::Impl::place_context() {
  const ContextScenario& where = scenario.context;
  const bool reserves = where.kind == OH_CONTEXT_RESERVATION;
  ContextParts parts = policies->place(where, cpu, driver, cost, kModemLevel);
  parts.policy = [this](const ContextSpec& spec) {
    // The reservation is requested after the on-hook phase (paper, 5.4).
    const bool later = spec.kind == OH_CONTEXT_RESERVATION && engine.now() < reserves_from;
    return later ? policies->thread(spec.priority) : policies->of(spec);
  };
  if (!where.lock.empty()) {
    parts.held.emplace(ContextParts::HeldMutex{mutexes, mutexes.member("modem thread"), mutexes.mutex(where.lock)});
    parts.policy = [this, own = parts.policy, member = parts.held->thread](const ContextSpec& spec) {
      return mutexes.policy(member, own(spec));
    };
  }
  context = make_context(parts);
  if (scenario.host.latency) {
    const int priority = reserves ? scenario.host.slot_priority : where.priority;
    hold_off.emplace(cpu, *scenario.host.latency, thread_kind(where), priority, scenario.seed, kLatencyStream);
  }
}

// High-resolution timers have their own interrupt, which wakes the thread. Others wait for the clock and a DPC.
void Call::Impl::add_clocks() {
  const HostScenario& host = scenario.host;
  const bool precise = host.high_resolution_timers;
  const auto add_timer = [&](ClockInterrupt& expires) {
    timer.emplace(cpu, cpu_log, kTimerPeriod, host.callback_ns, precise ? -1 : host.dispatch_ns,
                  scenario.load.timer_cpu);
    expires.set_listener(&*timer);
  };
  const bool clock_matters = host.clock_isr_ns > 0 || has_deferred_dpcs(scenario);
  for (int n = 0; n < host.cpus; n++) {
    const bool expires = n == 0 && scenario.load.timer_callback && !precise;
    if (!clock_matters && !expires) continue;
    clocks.push_back(std::make_unique<ClockInterrupt>(engine, cpu, host.tick_hz, kClockLevel, host.clock_isr_ns, n));
    if (expires) add_timer(*clocks.back());
    clocks.back()->start(policies->clock_phase());
  }
  if (scenario.load.timer_callback && precise) {
    timer_interrupt.emplace(engine, cpu, kTimerHz, kClockLevel, host.clock_isr_ns, 0, "timer");
    add_timer(*timer_interrupt);
    timer_interrupt->start();
  }
}

void Call::Impl::add_load() {
  for (std::size_t i = 0; i < scenario.load.reservations.size(); i++) {
    const ReservedThread& r = scenario.load.reservations[i];
    cpu.release(cpu.add_thread(r.name, policies->reservation(i), spinner, kNever, policies->reservation_cpu(r.cpu)));
  }
  for (const LoadThread& t : scenario.load.threads) {
    if (t.every_ns == 0) {
      cpu.release(cpu.add_thread(t.name, policies->load_thread(t), spinner, kNever, t.cpu));
      continue;
    }
    threads.push_back(std::make_unique<PeriodicThread>(engine, cpu, t.every_ns, t.work_ns));
    threads.back()->start(t.lock.empty()
                              ? cpu.add_thread(t.name, policies->load_thread(t), *threads.back(), kNever, t.cpu)
                              : add_locking_thread(t));
  }
  for (const LoadDevice& device : scenario.load.devices) {
    devices.push_back(
        make_device_load(engine, cpu, device, scenario.seed, kDeviceStream + devices.size(), policies->device_host()));
    devices.back()->start();
  }
  for (std::size_t i = 0; i < scenario.load.soft_devices.size(); i++)
    beside.push_back(std::make_unique<DeviceOnHost>(scenario, i, engine, cpu, *policies, kModemLevel));
}

EntityId Call::Impl::add_locking_thread(const LoadThread& t) {
  const auto member = mutexes.member(t.name);
  const std::vector<CriticalSection> sections = {
      {mutexes.mutex(t.lock), t.lock_after_ns, t.lock_ns > 0 ? t.lock_ns : t.work_ns - t.lock_after_ns}};
  locking_jobs.push_back(std::make_unique<SectionedJob>(t.work_ns, sections, mutexes, member));
  return cpu.add_thread(t.name, mutexes.policy(member, policies->load_thread(t)), *locking_jobs.back(), kNever, t.cpu);
}

void Call::Impl::replay_load() {
  if (!scenario.load.recorded) return;
  const auto& load = scenario.load.recorded;
  const auto cpu_load = std::find_if(load->cpus.begin(), load->cpus.end(),
                                     [&](const auto& one) { return one.number == scenario.load.trace_cpu; });
  if (cpu_load == load->cpus.end()) throw std::invalid_argument("load.trace has no such CPU");
  recorded_load.emplace(engine, cpu, load, *cpu_load, kModemLevel, scenario.host.priorities, scenario.host.quantum_ns,
                        [this](const HostLoad::Source& source) { return policies->recorded(source); });
  const double from_s = scenario.load.trace_from_s;
  recorded_load->start(from_s >= 0 ? static_cast<Ns>(from_s * 1e9)
                                   : static_cast<Ns>(Random(scenario.seed, kTraceStream).uniform(0) *
                                                     static_cast<double>(load->duration)));
}

void Call::Impl::configure_driver(const PhaseProfile& first) {
  oh_driver_config config{};
  config.card = card->card();
  if (connection->has_samples()) {
    staging.resize(oh_driver_staging_size(&config.card));
    config.staging = staging.data();
    config.pump = connection->near_pump();
  }
  config.context = context->driver_context();
  config.now_ns = [](void* e) { return static_cast<std::uint64_t>(static_cast<Engine*>(e)->now()); };
  config.clock = &engine;
  config.log = log;
  config.policy = scenario.policy;
  config.transmit_lead_samples = scenario.transmit_lead_samples;
  std::copy(first.block_plan.begin(), first.block_plan.end(), config.block_plan);
  config.block_plan_length = static_cast<std::uint32_t>(first.block_plan.size());
  if (oh_driver_init(&driver, &config) != 0) throw std::invalid_argument("the driver refused its configuration");
  connection->bind(engine, *card, driver);
  card->on_interrupt([this](Ns now) {
    watch(now);
    if (hold_off) hold_off->interrupt(context->server());
    context->interrupt(card->next_interrupt());
  });
  const oh_context table = context->driver_context();
  (void)table.ops->start(table.self);
}

void Call::Impl::schedule_script() {
  // The card starts at a random phase of the host's clock.
  const Ns begin = static_cast<Ns>(20e6 * Random(scenario.seed, kCardStartStream).uniform(0));
  Ns at = begin;
  for (int i = static_cast<int>(scenario.dial ? Phase::kOnHook : Phase::kConnecting); i < kPhases - 1; i++) {
    script.push_back(std::make_unique<Action>([this, i](Ns now) {
      if (!misdialled) set_phase(static_cast<Phase>(i), now);
    }));
    engine.at(at, *script.back());
    at += profile.phases[i].lasts_ns;
  }
  if (scenario.dial) {
    const Ns dialled = at - profile.phases[static_cast<int>(Phase::kConnecting)].lasts_ns;
    script.push_back(std::make_unique<Action>([this](Ns) {
      if (misdialled) end();
    }));
    engine.at(dialled + kNoAnswer, *script.back());
  }
  script.push_back(std::make_unique<Action>([this](Ns) { card_event->start(); }));
  engine.at(begin, *script.back());
}

void Call::Impl::set_phase(Phase next, Ns now) {
  phase = next;
  const PhaseProfile& p = profile.phases[static_cast<int>(next)];
  oh_event_log_write(log, static_cast<std::uint64_t>(now), OH_EV_PHASE, 0, static_cast<std::uint32_t>(next));
  cost.enter(next);
  if (card->rate_hz() != p.rate_hz) card_event->set_rate(p.rate_hz);
  oh_driver_set_block_plan(&driver, p.block_plan.data(), static_cast<std::uint32_t>(p.block_plan.size()));
  if (next == (scenario.dial ? Phase::kDialling : Phase::kConnecting)) {
    reserves_from = now;
    if (scenario.context.kind == OH_CONTEXT_RESERVATION) context->reconfigure(scenario.context);
  }
  if (next == Phase::kDialling) underrun_seen = card->counters().underrun_samples;
  if (next == Phase::kConnecting) {
    at_answer = driver.counters;
    connection->start(now);
  }
  if (next == Phase::kConnected) {
    connected_since = now;
    busy_at_connect = cpu.cpu_time(context->server());
  }
  driver.counters.pending_max = 0;
}

// A gap in the digits: the exchange receives another number or none, so there is no answer.
void Call::Impl::watch_dialling() {
  const std::uint64_t underrun = card->counters().underrun_samples;
  hole = underrun > underrun_seen ? hole + underrun - underrun_seen : 0;
  underrun_seen = underrun;
  misdialled |= hole * 1000 > kBrokenTone_ms * card->rate_hz();
}

void Call::Impl::end() {
  over = true;
  engine.stop();
}

// Once per block: checks whether the connection was established, has ended, or has failed.
void Call::Impl::watch(Ns now) {
  std::uint32_t& most = result.pending_max[static_cast<std::size_t>(phase)];
  most = std::max(most, driver.counters.pending_max);
  if (first_loss < 0 && samples_lost(driver, *card)) first_loss = now;
  connection->exchange_user_data(now);
  const TransferStatus status = connection->status();
  if (status.connected && phase == Phase::kConnecting) set_phase(Phase::kConnected, now);
  cost.set_service(connection->trains_again() ? profile.link.retrain_service_ns : 0);
  if (phase == Phase::kDialling) watch_dialling();
  if (status.done || status.failed) end();
}

Call::Call(const Scenario& scenario, const CostProfile& profile, std::unique_ptr<Connection> connection,
           oh_event_log* log, Logged what)
    : impl_(std::make_unique<Impl>(scenario, profile, std::move(connection), log, what)) {}
Call::~Call() = default;

bool Call::advance(Ns horizon) {
  const Ns limit = static_cast<Ns>(impl_->scenario.time_limit_s * 1e9);
  if (!impl_->over) impl_->engine.run_until(std::min(horizon, limit));
  if (impl_->engine.now() >= limit) impl_->over = true;
  return !impl_->over;
}

void Call::reconfigure(const ContextSpec& spec) {
  impl_->context->reconfigure(spec);
  static_cast<ContextSpec&>(impl_->scenario.context) = spec;
}

oh_context Call::context() const {
  return impl_->context->driver_context();
}

Ns Call::now() const {
  return impl_->engine.now();
}
const Connection& Call::connection() const {
  return *impl_->connection;
}
std::uint64_t Call::events_handled() const {
  return impl_->engine.events_handled();
}

std::vector<std::string> Call::entity_names() const {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < impl_->cpu.entities(); i++) {
    names.emplace_back(impl_->cpu.name(static_cast<EntityId>(i)));
  }
  return names;
}

CallResult Call::result() const {
  const Impl& s = *impl_;
  CallResult r = s.result;
  r.transfer = s.connection->status();
  r.dmt = s.connection->dmt_status();
  r.radio = s.connection->radio_status();
  r.pump = s.connection->pump_status();
  r.fax = s.connection->fax_status();
  r.completed = r.transfer.done;
  if (s.misdialled) {
    r.transfer.failed = true;
    r.transfer.failure =
        "the number was not dialled: a gap of more than " + std::to_string(kBrokenTone_ms) + " ms broke a tone";
  }
  if (r.completed) r.transfer_s = static_cast<double>(r.transfer.done_at - r.transfer.connected_at) / 1e9;
  r.simulated_s = static_cast<double>(s.engine.now()) / 1e9;
  r.driver = s.driver.counters;
  r.card = s.card->counters();
  r.served = s.context->served();
  r.blocks = s.driver.counters.blocks_served - s.at_answer.blocks_served;
  r.blocks_late = s.driver.counters.blocks_late - s.at_answer.blocks_late;
  r.samples_late = s.driver.counters.samples_late - s.at_answer.samples_late;
  r.driver.pending_max = *std::max_element(r.pending_max.begin(), r.pending_max.end());
  if (s.connected_since >= 0 && s.engine.now() > s.connected_since) {
    r.pump_share = static_cast<double>(s.cpu.cpu_time(s.context->server()) - s.busy_at_connect) /
                   static_cast<double>(s.engine.now() - s.connected_since);
  }
  r.devices.push_back({.name = s.scenario.pump == PumpKind::kDevice ? s.scenario.device.name : "modem",
                       .context = s.scenario.context.str(),
                       .driver = r.driver,
                       .card = r.card,
                       .first_loss_s = s.first_loss >= 0 ? static_cast<double>(s.first_loss) * 1e-9 : -1,
                       .share = r.pump_share});
  for (const auto& device : s.beside) r.devices.push_back(device->result());
  return r;
}

namespace {

std::unique_ptr<Call> device_call(const Scenario& scenario, const SoftDevice& device,
                                  std::unique_ptr<Connection> connection, oh_event_log* log, Logged what) {
  const CostProfile profile = device.profile();
  Scenario at_work = scenario;
  at_work.transmit_lead_samples = device.lead();
  at_work.block_plan.clear();
  at_work.dial = false;
  at_work.time_limit_s = scenario.device_s + 1;
  return std::make_unique<Call>(at_work, profile, std::move(connection), log, what);
}

}  // namespace

std::unique_ptr<Call> make_device_call(const Scenario& scenario, const DeviceWork& work, oh_event_log* log,
                                       Logged what) {
  return device_call(scenario, scenario.device,
                     make_device_connection(work, static_cast<Ns>(scenario.device_s * 1e9), scenario.stop_at_loss), log,
                     what);
}

std::unique_ptr<Call> make_device_call(const Scenario& scenario, oh_event_log* log, Logged what, LineTap tap) {
  return device_call(scenario, device_at_work(scenario), make_device_connection(scenario, log, std::move(tap)), log,
                     what);
}

}  // namespace offhook::hostsim
