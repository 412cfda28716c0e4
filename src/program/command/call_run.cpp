// SPDX-License-Identifier: MIT
#include "src/program/command/call_run.h"

#include <fmt/format.h>

#include <array>
#include <memory>
#include <stdexcept>

#include "driver/base/terminal.h"
#include "hostsim/call/call.h"
#include "hostsim/call/call_events.h"
#include "hostsim/call/fax_call.h"
#include "hostsim/call/modem_config.h"
#include "hostsim/call/pump_call.h"
#include "hostsim/call/radio_call.h"
#include "hostsim/call/random_file.h"
#include "hostsim/call/subscriber_call.h"
#include "src/lab/analysis/tally.h"
#include "traces/scenario/device.h"
#include "traces/scenario/profile.h"
#include "traces/scenario/scenario.h"

namespace offhook::command {

using hostsim::Call;
using hostsim::CallResult;

namespace {

/// A call with all objects that must outlive it.
struct Assembly {
  Assembly(const hostsim::Scenario& scenario, std::span<const std::uint8_t> given, const CallSinks& sinks,
           const FarSide& far, oh_event_log* log, hostsim::Logged what) {
    if (scenario.pump == hostsim::PumpKind::kDevice) {
      call = hostsim::make_device_call(scenario, log, what, sinks.line);
      return;
    }
    const hostsim::CostProfile profile = config::load_profile(scenario.cost_profile);
    std::unique_ptr<hostsim::Connection> connection;
    if (far.foreign != nullptr) {
      connection = hostsim::make_foreign_connection(
          scenario, {hostsim::near_type(scenario), given, far.expect, sinks.received, sinks.line}, *far.foreign, log);
    } else if (scenario.pump == hostsim::PumpKind::kReal) {
      if (given.empty()) own_file = hostsim::random_file(scenario);
      const hostsim::RealPumps pumps{hostsim::near_type(scenario), hostsim::far_type(scenario),
                                     given.empty() ? own_file : given, sinks.line};
      connection = hostsim::make_sampled_connection(scenario, pumps, log);
    } else {
      connection = hostsim::make_link_model_connection(scenario, profile, log);
    }
    call = std::make_unique<hostsim::Call>(scenario, profile, std::move(connection), log, what);
  }
  std::vector<std::uint8_t> own_file;
  std::unique_ptr<hostsim::Call> call;
};

/// Counters of a call, all from its log.
struct Tally {
  ServiceTally all, before_answer;
  TransferTally near;

  void take(std::span<const oh_event> events) {
    for (const oh_event& event : events) {
      if (event.kind == OH_EV_PHASE && event.argument == static_cast<std::uint32_t>(hostsim::Phase::kConnecting))
        before_answer = all;
      all.add(event);
      if (event.id == 0) near.add(event);
    }
  }
};

/// The bytes that an external modem receives are in no log. A device has no bytes but a running time.
RunOutcome outcome_of(const hostsim::Scenario& scenario, const CallResult& result, const Tally& tally, bool foreign) {
  const bool logged = !foreign && scenario.pump != hostsim::PumpKind::kDevice;
  return logged ? tally.near.outcome(scenario.bytes) : RunOutcome{result.completed, result.transfer_s};
}

std::string ending(const hostsim::Scenario& scenario, const CallResult& result, bool stopped) {
  if (result.completed) {
    if (result.dmt) return "the data were correct";
    if (result.fax) return "every page arrived whole";
    if (result.radio) return "no burst was lost because it was late";
    if (result.pump && result.pump->received.bits + result.pump->sent.bits > 0) return "the data were correct";
    return scenario.pump == hostsim::PumpKind::kDevice ? "nothing was lost" : "the file arrived";
  }
  if (stopped) return "interrupted";
  if (result.transfer.failed) return result.transfer.failure;
  return result.transfer.connected ? "time limit during the transfer" : "time limit before data mode";
}

traces::LogHeader log_header(const Call& call, const hostsim::Scenario& scenario) {
  traces::LogHeader header;
  const std::vector<std::string> names = call.entity_names();
  for (int cpu = 0; cpu < scenario.host.cpus; ++cpu) {
    for (std::size_t i = 0; i < names.size(); ++i) {
      header.entities.push_back({static_cast<std::uint32_t>(cpu), static_cast<std::uint16_t>(i), names[i], ""});
    }
  }
  header.drivers.push_back({0, "modem"});
  header.host_name = scenario.host.name;
  header.scenario.toml = config::to_toml(scenario);
  return header;
}

std::string overflowed(const Call& call, std::uint64_t lost) {
  return fmt::format("{} events of {:.3f} s did not fit into the log: the context had been starved for too long", lost,
                     static_cast<double>(call.now()) * 1e-9);
}

/// A call that logs only the events of card, driver and ends.
struct PlainCall {
  explicit PlainCall(const hostsim::Scenario& scenario) {
    if (keeps_no_log(scenario)) {
      count(scenario);
    } else {
      log_and_count(scenario);
    }
  }
  Tally tally;
  CallResult result;
  bool over = false;

 private:
  /// The log of a device without samples has only its counters, and exists as long as the device runs.
  static bool keeps_no_log(const hostsim::Scenario& scenario) {
    return scenario.pump == hostsim::PumpKind::kDevice && !hostsim::has_device_pump(scenario);
  }
  void count(const hostsim::Scenario& scenario) {
    constexpr hostsim::Ns kSlice = 1'000'000'000;
    const Assembly assembly(scenario, {}, {}, {}, nullptr, hostsim::Logged::kModem);
    while (!over && !interrupted()) over = !assembly.call->advance(assembly.call->now() + kSlice);
    result = assembly.call->result();
    const hostsim::ServiceCounts& served = result.served;
    tally.all = {.interrupts = result.card.interrupts,
                 .blocks = served.blocks,
                 .pending_max = served.pending_max,
                 .losses = {.blocks_late = served.blocks_late,
                            .samples_late = result.driver.samples_late,
                            .samples_filled_in = result.driver.samples_filled_in,
                            .overrun_samples = result.card.overrun_samples,
                            .underrun_samples = result.card.underrun_samples}};
  }
  void log_and_count(const hostsim::Scenario& scenario) {
    hostsim::CallEvents log{hostsim::Logged::kModem};
    const Assembly assembly(scenario, {}, {}, {}, log.log(), hostsim::Logged::kModem);
    while (!log.over() && !interrupted()) tally.take(log.advance(*assembly.call));
    if (log.lost() > 0) throw std::runtime_error(overflowed(*assembly.call, log.lost()));
    result = assembly.call->result();
    over = log.over();
  }
};

}  // namespace

CallOutcome run_call(const hostsim::Scenario& scenario, std::span<const std::uint8_t> file, const CallSinks& sinks,
                     const FarSide& far) {
  hostsim::CallEvents log;
  const Assembly assembly(scenario, file, sinks, far, log.log(), hostsim::Logged::kAll);
  Call& call = *assembly.call;
  if (sinks.header) sinks.header(log_header(call, scenario));
  Tally tally;
  bool stopped = false;
  while (!log.over() && !stopped) {
    const std::span<const oh_event> events = log.advance(call);
    tally.take(events);
    if (sinks.events) sinks.events(events, log.lost());
    if (sinks.progress) {
      const hostsim::TransferStatus status = call.connection().status();
      stopped = !sinks.progress({static_cast<double>(call.now()) * 1e-9, status.bytes_delivered}) && !log.over();
    }
  }
  const CallResult result = call.result();
  const RunOutcome transfer = outcome_of(scenario, result, tally, far.foreign != nullptr);
  CallOutcome outcome;
  outcome.complete = transfer.complete;
  outcome.stopped = stopped;
  outcome.lost = tally.all.losses.any();
  outcome.transfer_s = transfer.transfer_s;
  outcome.at_line_rate_s = result.transfer.at_line_rate_s;
  outcome.simulated_s = result.simulated_s;
  if (scenario.pump != hostsim::PumpKind::kDevice) {
    outcome.bytes = scenario.bytes;
    outcome.bytes_delivered = result.transfer.bytes_delivered;
  }
  outcome.octets_carried = result.transfer.octets_carried;
  outcome.compression = result.transfer.compression;
  outcome.mnp_class = result.transfer.mnp_class;
  outcome.hold = result.transfer.hold;
  outcome.dmt = result.dmt;
  outcome.radio = result.radio;
  outcome.pump = result.pump;
  outcome.fax = result.fax;
  outcome.ending = ending(scenario, result, stopped);
  return outcome;
}

CallRunner simulated(std::span<const std::uint8_t> file, const FarSide& far) {
  return [file, far](const hostsim::Scenario& scenario, const CallSinks& sinks) {
    return run_call(scenario, file, sinks, far);
  };
}

LossCount count_losses(const hostsim::Scenario& scenario) {
  const PlainCall call(scenario);
  return {call.tally.all, call.result.simulated_s, !call.over};
}

void expect_device_pump(const hostsim::Scenario& scenario, const std::string& file) {
  if (hostsim::has_device_pump(scenario)) return;
  throw config::Error(
      file +
      ": expected a device with a pump: line.kind = \"subscriber-loop\" or \"air\", or device.pump, or fax.pages");
}

sweep::RunRow run_row(const hostsim::Scenario& scenario) {
  const PlainCall call(scenario);
  const CallResult& r = call.result;
  const auto& [all, before, near] = call.tally;
  sweep::RunRow row;
  static_cast<RunOutcome&>(row) = outcome_of(scenario, r, call.tally, false);
  row.simulated_s = r.simulated_s;
  row.bytes_delivered = r.transfer.bytes_delivered;
  row.blocks = all.blocks - before.blocks;
  row.blocks_late = all.losses.blocks_late - before.losses.blocks_late;
  row.samples_late = all.losses.samples_late - before.losses.samples_late;
  row.pending_max_samples = all.pending_max;
  row.overrun_samples = all.losses.overrun_samples;
  row.underrun_samples = all.losses.underrun_samples;
  row.frames_retransmitted = r.transfer.frames_retransmitted;
  row.timeouts = r.transfer.timeouts;
  row.retrains = r.transfer.retrains;
  row.pump_share = r.pump_share;
  row.ending = ending(scenario, r, false);
  for (std::size_t k = 1; k < r.devices.size(); ++k)
    row.late_by_device.emplace_back(r.devices[k].name, r.devices[k].driver.blocks_late);
  if (r.dmt) row.dmt = *r.dmt;
  if (r.radio) row.radio = *r.radio;
  if (r.pump) row.pump = *r.pump;
  if (r.fax) row.fax = *r.fax;
  return row;
}

}  // namespace offhook::command
