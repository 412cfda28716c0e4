// SPDX-License-Identifier: MIT
#include "traces/scenario/scenario.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <map>
#include <mutex>
#include <optional>

#include "hostsim/call/host_policies.h"
#include "hostsim/line/channel.h"
#include "traces/document/data.h"
#include "traces/import/import.h"
#include "traces/scenario/device.h"
#include "traces/scenario/latency.h"
#include "traces/scenario/load_device.h"
#include "traces/scenario/pump.h"

namespace offhook::config {

using hostsim::ContextKind;
using hostsim::ContextScenario;
using hostsim::HostScenario;
using hostsim::Scenario;

namespace {

constexpr std::array<std::string_view, 4> kContextKinds = {"interrupt", "dpc", "thread", "reservation"};
constexpr std::array<std::string_view, 3> kPumpKinds = {"real", "cost-profile", "device"};
constexpr std::array<std::string_view, 4> kModems = {kModemTypes[0].name, kModemTypes[1].name, kModemTypes[2].name,
                                                     kModemTypes[3].name};
constexpr std::array<std::string_view, 5> kFarModems = {"same", kModems[0], kModems[1], kModems[2], kModems[3]};
// Bits of enum oh_modulation.
constexpr std::array<std::string_view, 3> kModulations = {kModems[0], kModems[1], kModems[2]};
constexpr std::array<std::string_view, 2> kCompressions = {"none", "v42bis"};
constexpr std::array<std::string_view, 2> kRoles = {"call", "answer"};
constexpr std::array<std::string_view, 3> kSchedulers = {"fixed-priority", "windows-nt", "linux"};
constexpr std::array<std::string_view, 7> kReservations = {"rialto", "rez",      "rez-ticks",     "rez-c",
                                                           "rez-fb", "deadline", "deadline-ticks"};
constexpr std::array<std::string_view, 2> kPolicies = {"one-block", "drain-all"};
constexpr std::array<std::string_view, 3> kCodecs = {"none", "a-law", "mu-law"};
constexpr double kUs = 1e3, kMs = 1e6;
constexpr int kLastCpu = hostsim::kMaxCpus - 1;

/// A string field with a fixed set of values.
Choice one_of(std::string& field, std::span<const std::string_view> names) {
  return {names,
          [&field, names] {
            const auto found = std::find(names.begin(), names.end(), field);
            return found == names.end() ? 0 : static_cast<int>(found - names.begin());
          },
          [&field, names](int v) { field = names[static_cast<std::size_t>(v)]; }};
}

/// The keys of a host, in a file of its own (no prefix) or in a scenario ("host.").
template <typename Subject, typename Access>
KeyTable host_table(Access host, std::array<std::string_view, 17> paths) {
  const auto at = [&](std::size_t i) { return paths[i]; };
  return {
      key<Subject>(at(0), "the machine: a file of traces/hosts, loaded before the other host keys",
                   [=](Subject& s) -> Field { return &host(s).name; }),
      key<Subject>(at(1), 100, 10000, "clock interrupts a second; a reservation's tick",
                   [=](Subject& s) -> Field { return &host(s).tick_hz; }),
      key<Subject>(at(2), 0, 1000, "CPU time of a clock interrupt",
                   [=](Subject& s) -> Field {
                     return Duration{&host(s).clock_isr_ns, kUs};
                   }),
      key<Subject>(at(3), 0, 1000, "CPU time of a context switch",
                   [=](Subject& s) -> Field {
                     return Duration{&host(s).dispatch_ns, kUs};
                   }),
      key<Subject>(at(4), 0, 1000, "quantum of normal threads; 0: none",
                   [=](Subject& s) -> Field {
                     return Duration{&host(s).quantum_ns, kMs};
                   }),
      key<Subject>(at(5), -1000, 1000, "the card's crystal against the host's clock",
                   [=](Subject& s) -> Field { return &host(s).clock_ppm; }),
      key<Subject>(at(6), 0, 1000, "and up to this much more or less, drawn from the seed",
                   [=](Subject& s) -> Field { return &host(s).clock_ppm_spread; }),
      key<Subject>(at(7), 0, 1000, "CPU time of the 1 ms timer callback",
                   [=](Subject& s) -> Field {
                     return Duration{&host(s).callback_ns, kUs};
                   }),
      key<Subject>(at(8), 32, 256, "of threads: 0 to one less, the higher the more urgent",
                   [=](Subject& s) -> Field { return &host(s).priorities; }),
      key<Subject>(at(9), "a host with a table [latency], whose latencies this one draws; empty: none",
                   [=](Subject& s) -> Field { return &host(s).latencies; }),
      key<Subject>(at(10), "what the Plus! 98 virus scanner does to them",
                   [=](Subject& s) -> Field { return &host(s).virus_scanner; }),
      key<Subject>(at(11),
                   "what schedules threads: priorities alone, with NT's boosts, or Linux's classes and softirqs",
                   [=](Subject& s) -> Field { return choice(host(s).scheduler, kSchedulers); }),
      key<Subject>(at(12),
                   "what a reservation of X in every Y is: slots, Rez in its forms, SCHED_DEADLINE ideal or at ticks",
                   [=](Subject& s) -> Field { return choice(host(s).reservations, kReservations); }),
      key<Subject>(at(13), "devices' interrupt handlers are threads of priority 50, as on PREEMPT_RT",
                   [=](Subject& s) -> Field { return &host(s).threaded_interrupts; }),
      key<Subject>(at(14), 1, hostsim::kMaxCpus,
                   "numbered from 0; threads that are not pinned move by the scheduler's rules",
                   [=](Subject& s) -> Field { return &host(s).cpus; }),
      key<Subject>(at(15), 0, 1000, "what a threaded interrupt leaves at interrupt level, to wake its thread",
                   [=](Subject& s) -> Field {
                     return Duration{&host(s).hard_irq_ns, kUs};
                   }),
      key<Subject>(at(16), "the 1 ms timer expires when it is due, not when the clock interrupts, as on Linux",
                   [=](Subject& s) -> Field { return &host(s).high_resolution_timers; }),
  };
}

KeyTable make_scenario_keys() {
  using S = Scenario;
  KeyTable keys = {
      key<S>("name", "name of the run, shown in reports", [](S& s) -> Field { return &s.name; }),
      key<S>("seed", 0, kAnyMax, "same seed, same bytes", [](S& s) -> Field { return &s.seed; }),

      key<S>("context.kind", "who calls the driver's service routine",
             [](S& s) -> Field { return choice(s.context.kind, kContextKinds); }),
      key<S>("context.priority", 1, 255, "of the thread; of a reservation's thread before the reservation begins",
             [](S& s) -> Field { return &s.context.priority; }),
      key<S>("context.background_priority", 0, 31, "of a standard reservation's thread outside its slots",
             [](S& s) -> Field { return &s.context.background_priority; }),
      key<S>("context.x_ticks", 1, 1024, "reservation: X ticks of CPU time ...",
             [](S& s) -> Field { return &s.context.x_ticks; }),
      key<S>("context.y_ticks", 1, 1024, "... in every Y ticks", [](S& s) -> Field { return &s.context.y_ticks; }),
      key<S>("context.strict", "true: never outside the slots, any Y; false: leftover time shared, Y a power of two",
             [](S& s) -> Field { return &s.context.strict; }),
      key<S>("context.slot_phase", -1, 1, "start of the first slot as a share of Y; negative: drawn from the seed",
             [](S& s) -> Field { return &s.context.slot_phase; }),
      key<S>("context.cpu", -1, kLastCpu, "that the driver's thread is pinned to; -1: none",
             [](S& s) -> Field { return &s.context.cpu; }),
      key<S>("context.interrupt_cpu", 0, kLastCpu, "that takes the card's interrupt",
             [](S& s) -> Field { return &s.context.interrupt_cpu; }),
      key<S>("context.dpc_importance", "Windows: high goes to the head of the queue, low may wait for the clock",
             [](S& s) -> Field { return choice(s.context.dpc_importance, kDpcImportances); }),
      key<S>("context.dpc_cpu", -1, kLastCpu, "in whose queue the driver's DPC waits; -1: where the interrupt came",
             [](S& s) -> Field { return &s.context.dpc_cpu; }),

      key<S>("load.spinner", "a thread that never blocks", [](S& s) -> Field { return &s.load.spinner; }),
      key<S>("load.spinner_priority", 1, 31, "its priority", [](S& s) -> Field { return &s.load.spinner_priority; }),
      key<S>("load.spinner_cpu", -1, kLastCpu, "that it is pinned to; -1: none",
             [](S& s) -> Field { return &s.load.spinner_cpu; }),
      key<S>("load.timer_callback", "a 1 ms multimedia timer with its callback at priority 31",
             [](S& s) -> Field { return &s.load.timer_callback; }),
      key<S>("load.timer_cpu", -1, kLastCpu, "that the callback is pinned to; -1: none",
             [](S& s) -> Field { return &s.load.timer_cpu; }),
      key<S>("load.trace",
             "a recorded host replayed around the driver: trace-cmd's .dat, perf sched's text, a load of offhook trace",
             [](S& s) -> Field { return &s.load.trace; }),
      key<S>("load.trace_cpu", 0, 65535, "which of the trace's CPUs", [](S& s) -> Field { return &s.load.trace_cpu; }),
      key<S>("load.trace_from_s", -1, 1e7, "where in the trace to begin; negative: drawn from the seed",
             [](S& s) -> Field { return &s.load.trace_from_s; }),

      key<S>("line.loss_db", 0, 60, "loss of one direction at 1000 Hz", [](S& s) -> Field { return &s.line.loss_db; }),
      key<S>("line.near_echo_db", 0, 100, "transhybrid loss of a modem's own hybrid",
             [](S& s) -> Field { return &s.line.near_echo_db; }),
      key<S>("line.far_echo_db", 0, 100,
             "transhybrid loss of the network's hybrids; the far echo is twice the line's loss lower",
             [](S& s) -> Field { return &s.line.far_echo_db; }),
      key<S>("line.delay_ms", 0, 1000, "one way; 0: the least, 9 ms", [](S& s) -> Field { return &s.line.delay_ms; }),
      key<S>("line.noise_dbm0", -120, 0, "white noise over 0 to 4000 Hz, at each receiver",
             [](S& s) -> Field { return &s.line.noise_dbm0; }),
      key<S>("line.impulse_rate_hz", 0, 1000, "impulses a second at each receiver, Poisson",
             [](S& s) -> Field { return &s.line.impulse_rate_hz; }),
      key<S>("line.impulse_dbm0", -60, 3, "level of the sine whose peak an impulse has",
             [](S& s) -> Field { return &s.line.impulse_dbm0; }),
      key<S>("line.frequency_offset_hz", -100, 100, "added to every frequency, each direction",
             [](S& s) -> Field { return &s.line.frequency_offset_hz; }),
      key<S>("line.clock_ppm", -1000, 1000, "the far end's sample clock against the near end's",
             [](S& s) -> Field { return &s.line.clock_ppm; }),
      key<S>("line.codec", "G.711 companding", [](S& s) -> Field { return one_of(s.line.codec, kCodecs); }),
      key<S>("line.channel", "frequency response: flat, or a test channel of hostsim/line",
             [](S& s) -> Field { return one_of(s.line.channel, hostsim::kChannelNames); }),
      key<S>("line.robbed_bit", "every sixth octet's last bit is taken for signalling",
             [](S& s) -> Field { return &s.line.robbed_bit; }),
      key<S>("line.far_digital", "the far end is a modem on the digital network: no hybrid there",
             [](S& s) -> Field { return &s.line.far_digital; }),

      key<S>("pump.kind", "a real pump, only its cost with a link model, or the device of device.*, on no line",
             [](S& s) -> Field { return choice(s.pump, kPumpKinds); }),
      key<S>("pump.modem", "the modem that a real pump is; auto finds out what both ends can do",
             [](S& s) -> Field { return choice(s.modem, kModems); }),
      key<S>("pump.modulations", "what automode at the near end may use",
             [](S& s) -> Field {
               return NameSet{kModulations, &s.modulations};
             }),
      key<S>("pump.far_modem", "the modem at the far end, if it is another one",
             [](S& s) -> Field {
               return Choice{kFarModems, [&s] { return s.far_modem ? static_cast<int>(*s.far_modem) + 1 : 0; },
                             [&s](int v) {
                               s.far_modem.reset();
                               if (v > 0) s.far_modem = static_cast<hostsim::ModemKind>(v - 1);
                             }};
             }),
      key<S>("pump.far_modulations", "what automode at the far end may use",
             [](S& s) -> Field {
               return NameSet{kModulations, &s.far_modulations};
             }),
      key<S>("pump.role", "what the real pump at the near end does",
             [](S& s) -> Field { return choice(s.role, kRoles); }),
      key<S>("pump.cost_profile", "CPU time of ISR and service: a profile of traces/profiles, or a file.toml",
             [](S& s) -> Field { return &s.cost_profile; }),
      key<S>("pump.event_logging_cost", "charge what the paper's own instrumentation cost",
             [](S& s) -> Field { return &s.event_logging_cost; }),

      key<S>("link.compression", "of V.42's data, both ways; with real pumps",
             [](S& s) -> Field { return choice(s.link.compression, kCompressions); }),
      key<S>("link.codewords", 512, 65535, "largest dictionary of V.42bis (P1)",
             [](S& s) -> Field { return &s.link.codewords; }),
      key<S>("link.max_string", 6, 250, "longest string of V.42bis (P2)",
             [](S& s) -> Field { return &s.link.max_string; }),

      key<S>("driver.policy", "blocks served a call: one, as the vendor's driver did, or all that is owed",
             [](S& s) -> Field { return choice(s.policy, kPolicies); }),
      key<S>("driver.transmit_lead_samples", 1, 512, "output queued ahead of the codec when nothing is owed",
             [](S& s) -> Field { return &s.transmit_lead_samples; }),
      key<S>("driver.block_plan_samples", 1, 256, "samples per interrupt once connected, repeated",
             [](S& s) -> Field { return &s.block_plan; }),

      key<S>("transfer.bytes", 1, 1e12, "length of the file that is transferred",
             [](S& s) -> Field { return &s.bytes; }),
      key<S>("transfer.time_limit_s", 0.001, 1e7, "give up after this much simulated time",
             [](S& s) -> Field { return &s.time_limit_s; }),
      key<S>("transfer.device_s", 0.001, 1e7, "how long a device must work without loss",
             [](S& s) -> Field { return &s.device_s; }),
      key<S>("transfer.stop_at_loss", "end a device's run at its first loss",
             [](S& s) -> Field { return &s.stop_at_loss; }),
      key<S>("transfer.dial", "on-hook and dialling phases first; false: begin at the training",
             [](S& s) -> Field { return &s.dial; }),
  };
  const KeyTable host =
      host_table<S>([](S& s) -> HostScenario& { return s.host; },
                    {"host.name", "host.tick_hz", "host.clock_isr_us", "host.dispatch_us", "host.quantum_ms",
                     "host.clock_ppm", "host.clock_ppm_spread", "host.callback_us", "host.priorities", "host.latencies",
                     "host.virus_scanner", "host.scheduler", "host.reservations", "host.threaded_interrupts",
                     "host.cpus", "host.hard_irq_us", "host.high_resolution_timers"});
  const auto before = [&](std::string_view path, const KeyTable& more) {
    const auto at = std::find_if(keys.begin(), keys.end(), [&](const Key& k) { return k.path == path; });
    keys.insert(at, more.begin(), more.end());
  };
  before("load.spinner", host);
  static constexpr std::string_view kDevicePaths[] = {
      "device.name",          "device.block.rate_hz",   "device.block.plan_samples",
      "device.buffers.count", "device.buffers.samples", "device.buffers.lead_samples",
      "device.work.block_us", "device.work.spread",     "device.work.worst_us",
      "device.work.phi",      "device.isr.mean_us",     "device.isr.max_us"};
  before("driver.policy", device_keys_under<S>(kDevicePaths, [](S& s) -> hostsim::SoftDevice& { return s.device; }));
  return keys;
}

std::optional<int> whole_number(std::string_view text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::string position_of(const Origins& origins, std::initializer_list<std::string_view> paths) {
  for (std::string_view path : paths) {
    if (const auto found = origins.find(path); found != origins.end()) return found->second + ": ";
  }
  return "";
}

/// A sweep's scenarios replay one trace: it is read once for as long as one of them has it.
std::shared_ptr<const hostsim::HostLoad> read_trace(const std::string& file) {
  static std::mutex mutex;
  static std::map<std::string, std::weak_ptr<const hostsim::HostLoad>> known;
  const std::lock_guard lock(mutex);
  if (auto load = known[file].lock()) return load;
  auto load = std::make_shared<const hostsim::HostLoad>(traces::import_host_load(file));
  known[file] = load;
  return load;
}

std::shared_ptr<const hostsim::HostLoad> load_trace(const hostsim::LoadScenario& load) {
  const auto recorded = read_trace(load.trace);
  const auto& cpus = recorded->cpus;
  if (std::none_of(cpus.begin(), cpus.end(), [&](const auto& c) { return c.number == load.trace_cpu; })) {
    std::vector<int> numbers;
    for (const auto& cpu : cpus) numbers.push_back(cpu.number);
    throw Error(fmt::format("{} has no CPU {}; expected load.trace_cpu to be one of: {}", load.trace, load.trace_cpu,
                            fmt::join(numbers, ", ")));
  }
  const double seconds = static_cast<double>(recorded->duration) * 1e-9;
  if (load.trace_from_s > seconds) {
    throw Error(fmt::format("{} lasts {:.3f} s; expected load.trace_from_s before, found {}", load.trace, seconds,
                            load.trace_from_s));
  }
  return recorded;
}

/// Whatever is pinned must be pinned to a CPU that the host has.
void check_cpus(const Scenario& s, const Origins& origins) {
  const auto check = [&](std::string_view path, const std::string& what, int cpu) {
    if (cpu < s.host.cpus) return;
    throw Error(fmt::format("{}{} is {}; expected at most {}, host {} has {} CPU{}",
                            position_of(origins, {path, "host.cpus", "host.name"}), what, cpu, s.host.cpus - 1,
                            s.host.name, s.host.cpus, s.host.cpus == 1 ? "" : "s"));
  };
  const auto key = [&](std::string_view path, int cpu) { check(path, std::string(path), cpu); };
  key("context.cpu", s.context.cpu);
  key("context.interrupt_cpu", s.context.interrupt_cpu);
  key("context.dpc_cpu", s.context.dpc_cpu);
  key("load.spinner_cpu", s.load.spinner_cpu);
  key("load.timer_cpu", s.load.timer_cpu);
  for (const auto& d : s.load.devices) {
    check("load.device", fmt::format("load.device \"{}\": cpu", d.name), d.cpu);
    check("load.device", fmt::format("load.device \"{}\": reader_cpu", d.name), d.reader_cpu);
  }
  for (const auto& t : s.load.threads) check("load.thread", fmt::format("load.thread \"{}\": cpu", t.name), t.cpu);
  for (const auto& r : s.load.reservations)
    check("load.reservation", fmt::format("load.reservation \"{}\": cpu", r.name), r.cpu);
  if (s.host.cpus > 1 && !s.host.latencies.empty()) {
    throw Error(fmt::format("{}host.cpus is {}; expected 1: host {} is drawn from what was measured on one CPU",
                            position_of(origins, {"host.cpus", "host.latencies", "host.name"}), s.host.cpus,
                            s.host.name));
  }
}

}  // namespace

const KeyTable& scenario_keys() {
  static const KeyTable keys = make_scenario_keys();
  return keys;
}

const KeyTable& host_keys() {
  static const KeyTable keys = host_table<HostScenario>(
      [](HostScenario& h) -> HostScenario& { return h; },
      {"name", "tick_hz", "clock_isr_us", "dispatch_us", "quantum_ms", "clock_ppm", "clock_ppm_spread", "callback_us",
       "priorities", "latencies", "virus_scanner", "scheduler", "reservations", "threaded_interrupts", "cpus",
       "hard_irq_us", "high_resolution_timers"});
  return keys;
}

HostScenario load_host(std::string_view name) {
  HostScenario host;
  Document document = Document::read_file(data_file("hosts", name));
  if (const auto table = document.take_table("latency")) {
    (void)read_latencies(*table, false);
    host.latencies = name;
  }
  document.apply(host_keys(), &host);
  host.name = name;
  return host;
}

ContextScenario parse_context(std::string_view text) {
  ContextScenario context;
  const auto fail = [&]() -> Error {
    return Error(
        fmt::format("\"{}\" is no context; expected INT, DPC, THR PRIORITY (1 to 31, or as many as the host has), RES "
                    "X/Y or RES X/Y strict (ticks)",
                    text));
  };
  std::string_view rest = text;
  const auto word = [&] {
    rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));
    const std::string_view w = rest.substr(0, rest.find(' '));
    rest.remove_prefix(w.size());
    return w;
  };
  const std::string_view kind = word();
  if (kind == "INT" || kind == "DPC") {
    context.kind = kind == "INT" ? ContextKind::kInterrupt : ContextKind::kDpc;
  } else if (kind == "THR") {
    context.kind = ContextKind::kThread;
    const auto priority = whole_number(word());
    if (!priority || *priority < 1 || *priority > 255) throw fail();
    context.priority = *priority;
  } else if (kind == "RES") {
    context.kind = ContextKind::kReservation;
    const std::string_view pair = word();
    const std::size_t slash = pair.find('/');
    if (slash == std::string_view::npos) throw fail();
    const auto x = whole_number(pair.substr(0, slash)), y = whole_number(pair.substr(slash + 1));
    if (!x || !y || *x < 1 || *y < 1 || *x > 1024 || *y > 1024) throw fail();
    context.x_ticks = *x;
    context.y_ticks = *y;
    const std::string_view form = word();
    if (form != "" && form != "strict") throw fail();
    context.strict = form == "strict";
  } else {
    throw fail();
  }
  if (!word().empty()) throw fail();
  return context;
}

std::string to_string(const ContextScenario& context) {
  switch (context.kind) {
    case ContextKind::kInterrupt:
      return "INT";
    case ContextKind::kDpc:
      return "DPC";
    case ContextKind::kThread:
      return fmt::format("THR {}", context.priority);
    case ContextKind::kReservation:
      break;
  }
  return fmt::format("RES {}/{}{}", context.x_ticks, context.y_ticks, context.strict ? " strict" : "");
}

std::string admission_problem(const ContextScenario& context, hostsim::ReservationScheduler scheduler) {
  if (context.kind != ContextKind::kReservation) return "";
  if (context.x_ticks > context.y_ticks) {
    return fmt::format("reservation of {} ticks in every {} cannot be admitted: {:.0f} % of the CPU; expected X <= Y",
                       context.x_ticks, context.y_ticks, 100.0 * context.x_ticks / context.y_ticks);
  }
  if (scheduler == hostsim::ReservationScheduler::kRialto && !context.strict &&
      !std::has_single_bit(static_cast<unsigned>(context.y_ticks))) {
    return fmt::format(
        "reservation of {} ticks in every {} cannot be admitted: the standard scheduler's periods are powers of two "
        "(expected Y = 1, 2, 4, 8 ... or context.strict = true)",
        context.x_ticks, context.y_ticks);
  }
  return "";
}

ScenarioBuilder::ScenarioBuilder() {
  scenario_.host = load_host(scenario_.host.name);
}

void ScenarioBuilder::apply(Document document) {
  // A host and a short context are whole layers of their own: they come before the keys beside them.
  if (document.has("host.name")) {
    const std::string at = document.position("host.name");
    if (const auto name = document.take_string("host.name")) {
      try {
        scenario_.host = load_host(*name);
      } catch (const Error& e) {
        throw Error(fmt::format("{}: host.name: {}", at, e.what()));
      }
    }
  }
  if (document.has("context")) {
    const std::string at = document.position("context");
    if (const auto text = document.take_if_string("context")) {
      try {
        ContextScenario context = parse_context(*text);
        context.slot_phase = scenario_.context.slot_phase;
        context.background_priority = scenario_.context.background_priority;
        scenario_.context = context;
      } catch (const Error& e) {
        throw Error(fmt::format("{}: context: {}", at, e.what()));
      }
      for (const char* path : {"context.x_ticks", "context.y_ticks", "context.strict"}) origins_[path] = at;
    }
  }
  if (document.has("device")) {
    const std::string at = document.position("device");
    if (const auto name = document.take_if_string("device")) {
      try {
        scenario_.device = load_device(*name);
      } catch (const Error& e) {
        throw Error(fmt::format("{}: device: {}", at, e.what()));
      }
      scenario_.pump = hostsim::PumpKind::kDevice;
    }
  }
  if (document.has("load.device")) {
    origins_["load.device"] = document.position("load.device");
    scenario_.load.devices = take_load_devices(document);
  }
  if (document.has("load.thread")) {
    origins_["load.thread"] = document.position("load.thread");
    scenario_.load.threads = take_load_threads(document);
  }
  if (document.has("load.reservation")) {
    origins_["load.reservation"] = document.position("load.reservation");
    scenario_.load.reservations = take_reserved_threads(document);
  }
  document.apply(scenario_keys(), &scenario_, &origins_);
}

Scenario ScenarioBuilder::finish() const {
  if (const std::string problem = admission_problem(scenario_.context, scenario_.host.reservations); !problem.empty()) {
    throw Error(position_of(origins_, {"context.y_ticks", "context.x_ticks", "context.strict"}) + problem);
  }
  if (scenario_.pump == hostsim::PumpKind::kDevice) {
    try {
      (void)hostsim::carry(scenario_.device);
    } catch (const std::invalid_argument& e) {
      throw Error(position_of(origins_, {"device.buffers.lead_samples", "device.buffers.count", "pump.kind"}) +
                  "device: " + e.what());
    }
  }
  check_cpus(scenario_, origins_);
  try {
    hostsim::check_reservations(scenario_);
  } catch (const std::invalid_argument& e) {
    throw Error(position_of(origins_, {"load.reservation"}) + e.what());
  }
  const HostScenario& host = scenario_.host;
  if (!scenario_.load.trace.empty() && host.scheduler != hostsim::ThreadScheduler::kFixedPriority) {
    throw Error(position_of(origins_, {"load.trace", "host.scheduler", "host.name"}) +
                "load.trace is replayed by priorities alone; expected host.scheduler = \"fixed-priority\"");
  }
  if (scenario_.context.priority >= host.priorities) {
    throw Error(fmt::format("{}context.priority is {}; expected at most {} on host {}",
                            position_of(origins_, {"context.priority", "host.priorities", "context"}),
                            scenario_.context.priority, host.priorities - 1, host.name));
  }
  const auto needs_auto = [&](std::string_view key, std::uint32_t modulations, hostsim::ModemKind modem) {
    if (modulations == hostsim::kAllModulations || modem == hostsim::ModemKind::kAuto) return;
    throw Error(fmt::format("{}{} is what automode may use; expected pump.{} = \"auto\" beside it",
                            position_of(origins_, {key}), key, key == "pump.modulations" ? "modem" : "far_modem"));
  };
  needs_auto("pump.modulations", scenario_.modulations, scenario_.modem);
  needs_auto("pump.far_modulations", scenario_.far_modulations, scenario_.far_modem.value_or(scenario_.modem));
  const auto& plan = scenario_.block_plan;
  if (plan.size() > OH_BLOCK_PLAN_MAX) {
    throw Error(fmt::format("{}driver.block_plan_samples has {} entries; expected at most {}",
                            position_of(origins_, {"driver.block_plan_samples"}), plan.size(), +OH_BLOCK_PLAN_MAX));
  }
  const std::uint32_t longest = *std::max_element(plan.begin(), plan.end());
  if (scenario_.transmit_lead_samples < longest) {
    throw Error(fmt::format("{}driver.transmit_lead_samples is {}; expected at least the longest block, {}",
                            position_of(origins_, {"driver.transmit_lead_samples", "driver.block_plan_samples"}),
                            scenario_.transmit_lead_samples, longest));
  }
  const std::vector<std::string> profiles = data_names("profiles");
  if (!scenario_.cost_profile.ends_with(".toml") &&
      std::find(profiles.begin(), profiles.end(), scenario_.cost_profile) == profiles.end()) {
    throw Error(fmt::format("{}pump.cost_profile is \"{}\"; expected a file.toml or one of: {}",
                            position_of(origins_, {"pump.cost_profile"}), scenario_.cost_profile,
                            fmt::join(profiles, ", ")));
  }
  Scenario scenario = scenario_;
  scenario.host.latency.reset();
  scenario.load.recorded.reset();
  if (!scenario.load.trace.empty()) {
    try {
      scenario.load.recorded = load_trace(scenario.load);
    } catch (const std::runtime_error& e) {
      throw Error(position_of(origins_, {"load.trace_from_s", "load.trace_cpu", "load.trace"}) +
                  "load.trace: " + e.what());
    }
  }
  if (!host.latencies.empty()) {
    scenario.host.latency = load_latencies(host.latencies, host.virus_scanner);
    if (!scenario.host.latency->dpc && scenario.context.kind == ContextKind::kDpc) {
      throw Error(fmt::format("{}host {} has no DPCs; expected another context",
                              position_of(origins_, {"context.kind", "context", "host.latencies", "host.name"}),
                              host.name));
    }
  }
  return scenario;
}

std::string to_toml(const Scenario& scenario) {
  return write(scenario_keys(), &scenario) + to_toml(scenario.load.devices) + to_toml(scenario.load.threads) +
         to_toml(scenario.load.reservations);
}

}  // namespace offhook::config
