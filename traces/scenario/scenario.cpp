// SPDX-License-Identifier: MIT
#include "traces/scenario/scenario.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <climits>
#include <map>
#include <mutex>
#include <set>

#include "driver/base/file.h"
#include "driver/base/printable.h"
#include "hostsim/call/fax_call.h"
#include "hostsim/call/host_policies.h"
#include "hostsim/call/modem_config.h"
#include "hostsim/call/radio_call.h"
#include "hostsim/call/registered_pump.h"
#include "hostsim/call/subscriber_call.h"
#include "traces/import/import.h"
#include "traces/scenario/data.h"
#include "traces/scenario/device.h"
#include "traces/scenario/host_source.h"
#include "traces/scenario/latency.h"
#include "traces/scenario/load_device.h"

namespace offhook::config {

using hostsim::ContextScenario;
using hostsim::HostScenario;
using hostsim::Scenario;

namespace {

std::string position_of(const Origins& origins, std::initializer_list<std::string_view> paths) {
  for (std::string_view path : paths) {
    if (const auto found = origins.find(path); found != origins.end()) return found->second + ": ";
  }
  return "";
}

/// A sweep's scenarios replay one trace: it is read once, and kept while one of them uses it.
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
  auto recorded = read_trace(load.trace);
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

/// It is the name of the folder out/NAME.
void check_name(const Scenario& s, const Origins& origins) {
  constexpr std::size_t kMostCharacters = 100;
  std::size_t characters = 0;
  for (std::string_view rest = s.name; !rest.empty(); ++characters) {
    rest.remove_prefix(std::max<std::size_t>(utf8_length(rest), 1));
  }
  const bool component = !s.name.empty() && s.name != "." && s.name != ".." && s.name.size() <= NAME_MAX &&
                         s.name.find_first_of(std::string_view("/\0", 2)) == std::string::npos;
  if (component && characters <= kMostCharacters) return;
  throw Error(fmt::format("{}name is \"{}\"; expected a file's name of at most {} characters, without a folder",
                          position_of(origins, {"name"}),
                          printable(s.name.size() <= kMostCharacters ? s.name : s.name.substr(0, 40) + "..."),
                          kMostCharacters));
}

// Checks data that must be in memory when the call begins.
void check_size(const Scenario& s, const Origins& origins) {
  if (s.pump != hostsim::PumpKind::kReal || s.bytes <= kMostFileBytes) return;
  throw Error(fmt::format("{}transfer.bytes is {}; expected at most {} with real pumps, which carry a real file",
                          position_of(origins, {"transfer.bytes", "pump.kind"}), s.bytes, kMostFileBytes));
}

/// Pinned entities must be pinned to an existing CPU.
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
    throw Error(fmt::format("{}host.cpus is {}; expected 1: host {} is drawn from measurements of one CPU",
                            position_of(origins, {"host.cpus", "host.latencies", "host.name"}), s.host.cpus,
                            s.host.name));
  }
}

void expect_device(const Scenario& s, const Origins& origins, std::string_view kind, std::string_view such_as) {
  if (s.pump == hostsim::PumpKind::kDevice) return;
  throw Error(fmt::format("{}line.kind is \"{}\"; expected a device on it, such as device = \"{}\"",
                          position_of(origins, {"line.kind", "pump.kind"}), kind, such_as));
}

// Calls a function that throws std::invalid_argument, and adds the place in the file.
template <class Read>
void attempt(const Origins& origins, std::initializer_list<std::string_view> paths, const char* what,
             const Read& read) {
  try {
    read();
  } catch (const std::invalid_argument& e) {
    throw Error(fmt::format("{}{}: {}", position_of(origins, paths), what, e.what()));
  }
}

void check_device_at_work(const Scenario& s, const Origins& origins) {
  attempt(origins,
          {"device.block.rate_hz", "device.block.plan_samples", "device.buffers.samples", "device.buffers.lead_samples",
           "device", "line.kind"},
          "device", [&] { (void)hostsim::device_at_work(s).profile(); });
}

/// A registered pump is a device on a line of its kind.
void check_registered(const Scenario& s, const Origins& origins) {
  if (s.device.pump.empty()) return;
  if (s.pump != hostsim::PumpKind::kDevice) {
    throw Error(fmt::format("{}device.pump is \"{}\"; expected pump.kind = \"device\" as well",
                            position_of(origins, {"device.pump", "pump.kind"}), printable(s.device.pump)));
  }
  attempt(origins, {"device.pump", "device"}, "device.pump", [&] { (void)hostsim::registered_pump(s.device.pump); });
  check_device_at_work(s, origins);
}

/// Keys with this prefix were given, and have no effect.
void refuse_keys(const Origins& origins, std::string_view prefix, const char* why) {
  const auto first = std::find_if(origins.begin(), origins.end(), [&](const auto& origin) {
    return std::string_view(origin.first).starts_with(prefix);
  });
  if (first != origins.end()) throw Error(fmt::format("{}: {} has no effect {}", first->second, first->first, why));
}

/// A fax is a device on an analogue line.
void check_fax(const Scenario& s, const Origins& origins) {
  const hostsim::FaxScenario none;
  const bool network_given = s.fax.packet_loss != none.packet_loss || s.fax.packet_delay_ms != none.packet_delay_ms ||
                             s.fax.packet_copies != none.packet_copies;
  if (s.fax.pages == 0) {
    if (s.fax.gateway || s.fax.v34 || network_given || s.fax.lines != none.lines ||
        s.fax.error_correction != none.error_correction || s.fax.max_bit_rate != none.max_bit_rate)
      refuse_keys(origins, "fax.", "without pages; expected fax.pages of at least 1");
    return;
  }
  if (!s.fax.gateway && network_given)
    refuse_keys(origins, "fax.packet_", "without a packet network; expected fax.gateway = true");
  if (s.pump != hostsim::PumpKind::kDevice) {
    throw Error(fmt::format("{}fax.pages is {}; expected a device that sends them, such as device = \"fax\"",
                            position_of(origins, {"fax.pages", "pump.kind"}), s.fax.pages));
  }
  attempt(origins, {"fax.v34", "fax.pages", "device", "line.kind"}, "fax.pages", [&] { hostsim::check_fax(s); });
  check_device_at_work(s, origins);
}

/// A DMT pump is a device on a loop; each requires the other.
void check_loop(const Scenario& s, const Origins& origins) {
  expect_device(s, origins, "subscriber-loop", "g-lite");
  attempt(origins, {"loop.cable"}, "loop.cable", [&] { (void)hostsim::cable_named(s.loop.cable); });
  attempt(origins, {"loop.disturbers"}, "loop.disturbers", [&] { (void)hostsim::disturbers_named(s.loop.disturbers); });
  attempt(origins, {"loop.ingress"}, "loop.ingress", [&] { (void)hostsim::ingress_named(s.loop.ingress); });
  check_device_at_work(s, origins);
}

/// The same for a radio on its channel.
void check_air(const Scenario& s, const Origins& origins) {
  expect_device(s, origins, "air", "soft-radio");
  attempt(origins, {"line.kind"}, "line.kind", [] { hostsim::check_radio_is_built(); });
  check_device_at_work(s, origins);
}

/// The tables of the other kinds of line must be empty, and V.90 needs its own.
void check_line(const Scenario& s, const Origins& origins) {
  constexpr std::array<std::string_view, 4> kTables = {"line.", "trunk.", "loop.", "air."};  // as LineKind
  const auto kind = static_cast<std::size_t>(s.line_kind);
  const Key& kind_key = *std::find_if(scenario_keys().begin(), scenario_keys().end(),
                                      [](const Key& key) { return key.path == "line.kind"; });
  const Scenario defaults;
  for (const Key& key : scenario_keys()) {  // an effective scenario has all of them
    const auto found = origins.find(key.path);
    const bool of_a_line = std::any_of(kTables.begin(), kTables.end(),
                                       [&](std::string_view table) { return key.path.starts_with(table); });
    if (found == origins.end() || !of_a_line || key.path.starts_with(kTables.at(kind)) || key.path == "line.kind" ||
        write_value(key, &s) == write_value(key, &defaults)) {
      continue;
    }
    const auto& [path, position] = *found;
    throw Error(fmt::format("{}: {} has no effect with line.kind = {}; expected {}*", position, path,
                            write_value(kind_key, &s), kTables.at(kind)));
  }
  check_registered(s, origins);
  check_fax(s, origins);
  if (s.line_kind == hostsim::LineKind::kSubscriberLoop) check_loop(s, origins);
  if (s.line_kind == hostsim::LineKind::kAir) check_air(s, origins);
  if (s.pump != hostsim::PumpKind::kReal) return;
  if (s.line_kind == hostsim::LineKind::kDigitalTrunk && s.near_is_digital &&
      same_format(hostsim::near_format(s), kLinear8000)) {
    throw Error(
        fmt::format("{}trunk.near_end is \"digital\", whose octets pump.modem = \"{}\" does not take; expected "
                    "\"v90\" or \"auto\"",
                    position_of(origins, {"trunk.near_end", "pump.modem"}), modulation_of(s.modem).name));
  }
  if (s.line_kind != hostsim::LineKind::kAnalogue) return;
  for (const auto& [key, modem] : {std::pair("pump.modem", std::optional(s.modem)), {"pump.far_modem", s.far_modem}}) {
    if (modem != OH_MODULATION_V90) continue;
    throw Error(fmt::format("{}{} is \"v90\"; expected line.kind = \"digital-trunk\" as well",
                            position_of(origins, {key}), key));
  }
}

// The modulations of automode, the driver's block plan and lead, and the cost profile.
void check_pump(const Scenario& s, const Origins& origins) {
  const auto needs_auto = [&](std::string_view key, std::uint32_t modulations, oh_modulation modem) {
    if (modulations == kAllModulations || modem == OH_MODULATION_NONE) return;
    throw Error(fmt::format("{}{} limits automode; expected pump.{} = \"auto\" as well", position_of(origins, {key}),
                            key, key == "pump.modulations" ? "modem" : "far_modem"));
  };
  needs_auto("pump.modulations", s.modulations, s.modem);
  needs_auto("pump.far_modulations", s.far_modulations, s.far_modem.value_or(s.modem));
  if (s.pcm_upstream && s.modem != OH_MODULATION_V90 && s.far_modem != OH_MODULATION_V90) {
    throw Error(fmt::format("{}pump.pcm_upstream is for V.90 modems; expected pump.modem = \"v90\" as well",
                            position_of(origins, {"pump.pcm_upstream", "pump.modem"})));
  }
  if (s.protocol == hostsim::TransferProtocol::kPppTcp && s.link.error_control != OH_ERROR_CONTROL_REQUIRED) {
    throw Error(
        fmt::format("{}transfer.protocol is \"ppp-tcp\", which retransmits nothing; expected link.error_control = "
                    "\"required\" as well",
                    position_of(origins, {"transfer.protocol", "link.error_control"})));
  }
  if (s.protocol == hostsim::TransferProtocol::kAtm && s.line_kind != hostsim::LineKind::kSubscriberLoop) {
    throw Error(fmt::format(
        "{}transfer.protocol is \"atm\", which requires a DMT pump; expected line.kind = \"subscriber-loop\" as well",
        position_of(origins, {"transfer.protocol", "line.kind"})));
  }
  const auto needs_no_v42 = [&](std::string_view key, oh_modulation id) {
    const Modulation& modem = modulation_of(id);
    if (s.pump != hostsim::PumpKind::kReal || s.link.error_control != OH_ERROR_CONTROL_REQUIRED || modem.v42_window > 0)
      return;
    throw Error(fmt::format(
        "{}{} is \"{}\", over which V.42 does not run; expected link.error_control = \"none\" or \"optional\" as well",
        position_of(origins, {key, "link.error_control"}), key, modem.name));
  };
  needs_no_v42("pump.modem", s.modem);
  if (s.far_modem) needs_no_v42("pump.far_modem", *s.far_modem);
  const Modulation& asks = modulation_of(s.hold.by_far_end ? s.far_modem.value_or(s.modem) : s.modem);
  if (s.hold.at_s > 0 && (s.pump != hostsim::PumpKind::kReal || !oh_pump_has_hold(asks.type()))) {
    throw Error(fmt::format(
        "{}hold.at_s is {}; modem-on-hold requires real V.90 pumps; expected {} = \"v90\" or \"auto\" as well",
        position_of(origins, {"hold.at_s", "pump.modem", "pump.kind"}), s.hold.at_s,
        s.hold.by_far_end && s.far_modem ? "pump.far_modem" : "pump.modem"));
  }
  const auto& plan = s.block_plan;
  if (plan.size() > OH_BLOCK_PLAN_MAX) {
    throw Error(fmt::format("{}driver.block_plan_samples has {} entries; expected at most {}",
                            position_of(origins, {"driver.block_plan_samples"}), plan.size(), +OH_BLOCK_PLAN_MAX));
  }
  const std::uint32_t longest = *std::max_element(plan.begin(), plan.end());
  if (s.transmit_lead_samples < longest) {
    throw Error(fmt::format("{}driver.transmit_lead_samples is {}; expected at least the longest block, {}",
                            position_of(origins, {"driver.transmit_lead_samples", "driver.block_plan_samples"}),
                            s.transmit_lead_samples, longest));
  }
  const std::vector<std::string> profiles = data_names("profiles");
  if (!s.cost_profile.ends_with(".toml") &&
      std::find(profiles.begin(), profiles.end(), s.cost_profile) == profiles.end()) {
    throw Error(fmt::format("{}pump.cost_profile is \"{}\"; expected a file.toml or one of: {}",
                            position_of(origins, {"pump.cost_profile"}), s.cost_profile, fmt::join(profiles, ", ")));
  }
}

// The properties of every Linux, if neither the file nor its base host defines them.
/// @param given whether a key of the host is in the file
template <class Given>
void complete_linux(HostScenario& host, const Given& given) {
  if (!hostsim::has_linux_classes(host)) return;
  if (!given("reservations") && host.reservations == HostScenario{}.reservations) host.reservations = "deadline-ticks";
  if (!given("priorities") && host.priorities == HostScenario{}.priorities) host.priorities = 100;
}

}  // namespace

void apply_host_keys(const Document& file, HostScenario& host) {
  std::set<std::string, std::less<>> keys;
  for (const Key& key : host_keys())
    if (file.has(key.path)) keys.insert(key.path);
  file.apply(host_keys(), &host);
  const auto given = [&keys](std::string_view key) { return keys.contains(key); };
  complete_linux(host, given);
  if (!hostsim::has_linux_classes(host)) return;
  if (!given("tick_hz")) host.tick_hz = 250;  // CONFIG_HZ of Debian, and the default of most architectures
  if (!given("high_resolution_timers")) host.high_resolution_timers = true;
  if (!given("threaded_interrupts")) host.threaded_interrupts = hostsim::wants_threaded_interrupts(host);
}

HostScenario load_host(std::string_view name) {
  HostScenario host;
  Document document = Document::read_file(data_file("hosts", name));
  if (auto table = document.take_table("latency")) {
    (void)read_latencies(std::move(*table), false);
    host.latencies = name;
  }
  (void)take_host_source(document);
  apply_host_keys(document, host);
  host.name = name;
  return host;
}

ScenarioBuilder::ScenarioBuilder() {
  scenario_.host = load_host(scenario_.host.name);
}

void ScenarioBuilder::apply(Document document) {
  // A host and a short context are whole layers: they come before the other keys.
  const auto layer = [&](std::string_view path, std::string_view complaint, const auto& load) {
    if (!document.has(path)) return;
    const std::string at = document.position(path);
    const auto text = path == "host.name" ? document.take_string(path) : document.take_if_string(path);
    if (!text) return;
    try {
      load(*text, at);
    } catch (const std::invalid_argument& e) {
      throw Error(fmt::format("{}: {}{}", at, complaint, e.what()));
    } catch (const Error& e) {
      throw Error(fmt::format("{}: {}{}", at, complaint, e.what()));
    }
  };
  const auto here = [&](std::string name) { return file_named_in(document.name(), std::move(name)); };
  const auto toml = [&](const std::string& name) { return name.ends_with(".toml") ? here(name) : name; };
  layer("host.name",
        "host.name: ", [&](const std::string& name, const auto&) { scenario_.host = load_host(toml(name)); });
  layer("context", "", [&](const std::string& text, const std::string& at) {
    ContextScenario context(ContextSpec::parse(text));
    context.slot_phase = scenario_.context.slot_phase;
    context.background_priority = scenario_.context.background_priority;
    context.lock = scenario_.context.lock;
    scenario_.context = context;
    for (const char* path : {"context.x_ticks", "context.y_ticks", "context.strict"}) origins_[path] = at;
  });
  layer("device", "device: ", [&](const std::string& name, const auto&) {
    scenario_.device = load_device(toml(name));
    scenario_.pump = hostsim::PumpKind::kDevice;
  });
  const auto rows = [&](const std::string& path, auto& of, const auto& take) {
    if (!document.has(path)) return;
    origins_[path] = document.position(path);
    of = take(document);
  };
  rows("load.device", scenario_.load.devices, take_load_devices);
  rows("load.thread", scenario_.load.threads, take_load_threads);
  rows("load.reservation", scenario_.load.reservations, take_reserved_threads);
  rows("load.soft_device", scenario_.load.soft_devices, take_soft_devices);
  document.apply(scenario_keys(), &scenario_, &origins_);
  complete_linux(scenario_.host,
                 [this](std::string_view key) { return origins_.contains(fmt::format("host.{}", key)); });
  if (document.has("load.trace")) scenario_.load.trace = here(scenario_.load.trace);
  if (document.has("host.latencies")) scenario_.host.latencies = toml(scenario_.host.latencies);
  if (document.has("pump.cost_profile")) scenario_.cost_profile = toml(scenario_.cost_profile);
}

// Each problem is an error with the position of the first key that decides it.
void ScenarioBuilder::check() const {
  const auto complain = [&](std::initializer_list<std::string_view> paths, const std::string& problem) {
    if (!problem.empty()) throw Error(position_of(origins_, paths) + problem);
  };
  const auto checked = [&](std::initializer_list<std::string_view> paths, std::string_view before, const auto& check) {
    try {
      check();
    } catch (const std::invalid_argument& e) {
      complain(paths, fmt::format("{}{}", before, e.what()));
    }
  };
  const ContextScenario& context = scenario_.context;
  const HostScenario& host = scenario_.host;
  if ((context.budget_ns > 0) != (context.period_ns > 0))
    complain({"context.budget_ms", "context.period_ms"}, "context.budget_ms and context.period_ms: expected both");
  complain({"host.charge_stolen_time", "host.threaded_interrupts", "host.scheduler", "host.name"},
           hostsim::scheduler_problem(host));
  complain({"context.kind", "context", "host.scheduler", "host.name"}, refusal(host, context));
  complain({"host.locks", "context.lock", "load.thread"}, lock_problem(scenario_));
  for (const hostsim::LoadThread& t : scenario_.load.threads)
    complain({"load.thread", "host.scheduler", "host.name"}, hostsim::load_thread_problem(host, t));
  complain({"context.y_ticks", "context.x_ticks", "context.budget_ms", "context.strict"},
           admission_problem(host, context));
  if (scenario_.pump == hostsim::PumpKind::kDevice)
    checked({"device.buffers.lead_samples", "device.buffers.count", "pump.kind"},
            "device: ", [&] { (void)scenario_.device.profile(); });
  check_name(scenario_, origins_);
  check_size(scenario_, origins_);
  check_cpus(scenario_, origins_);
  for (const hostsim::CompetingDevice& d : scenario_.load.soft_devices) {
    for (const std::string& problem : {refusal(host, d.context), admission_problem(host, d.context)})
      complain({"load.soft_device"},
               problem.empty() ? "" : fmt::format("load.soft_device \"{}\": {}", d.name, problem));
  }
  checked({"load.soft_device", "load.reservation"}, "", [&] { hostsim::check_reservations(scenario_); });
  if (!scenario_.load.trace.empty() && host.scheduler == "windows-nt")
    complain({"load.trace", "host.scheduler", "host.name"},
             "load.trace is a recording of Linux, which a Windows host cannot replay; expected a host of Linux");
  if (context.priority >= host.priorities)
    complain({"context.priority", "host.priorities", "context"},
             fmt::format("context.priority is {}; expected at most {} on host {}", context.priority,
                         host.priorities - 1, host.name));
  check_line(scenario_, origins_);
  check_pump(scenario_, origins_);
}

Scenario ScenarioBuilder::finish() const {
  check();
  Scenario scenario = scenario_;
  const HostScenario& host = scenario_.host;
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
    const oh_context_kind kind = scenario.context.kind;
    if (!scenario.host.latency->dpc && (kind == OH_CONTEXT_DPC || kind == OH_CONTEXT_SOFTIRQ)) {
      throw Error(fmt::format(
          "{}host {} {}; expected another context",
          position_of(origins_, {"context.kind", "context", "host.latencies", "host.name"}), host.name,
          hostsim::has_linux_classes(host) ? "has measured latencies, but none of softirqs" : "has no DPCs"));
    }
  }
  return scenario;
}

}  // namespace offhook::config
