// SPDX-License-Identifier: MIT
#include "src/program/command/call_run.h"

#include <array>
#include <memory>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "hostsim/call/call.h"
#include "hostsim/call/modem_config.h"
#include "hostsim/call/random_file.h"
#include "src/program/output/terminal.h"
#include "traces/scenario/device.h"
#include "traces/scenario/profile.h"
#include "traces/scenario/scenario.h"

namespace offhook::command {

using hostsim::Call;
using hostsim::CallResult;
using hostsim::Ns;

namespace {

constexpr Ns kSlice = 50'000'000;  // between two looks at the log, the clock and Ctrl-C
constexpr std::size_t kRing = 1 << 16;

/// A call with all that must outlive it.
struct Assembly {
  Assembly(const hostsim::Scenario& scenario, std::span<const std::uint8_t> given, const CallSinks& sinks,
           const FarSide& far, oh_event_log* log) {
    if (scenario.pump == hostsim::PumpKind::kDevice) {
      call = hostsim::make_device_call(scenario, hostsim::silence(scenario.device), log);
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
    call = std::make_unique<hostsim::Call>(scenario, profile, std::move(connection), log);
  }
  std::vector<std::uint8_t> own_file;
  std::unique_ptr<hostsim::Call> call;
};

std::string ending(const hostsim::Scenario& scenario, const CallResult& result, bool stopped) {
  if (result.completed) {
    return scenario.pump == hostsim::PumpKind::kDevice ? "nothing was lost" : "the file arrived";
  }
  if (stopped) return "interrupted";
  if (result.transfer.failed) return result.transfer.failure;
  return result.transfer.connected ? "time limit during the transfer" : "time limit before the connection was up";
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
  header.host = {{"name", scenario.host.name}};
  header.scenario = {{"toml", config::to_toml(scenario)}};
  return header;
}

}  // namespace

CallOutcome run_call(const hostsim::Scenario& scenario, std::span<const std::uint8_t> file, const CallSinks& sinks,
                     const FarSide& far) {
  std::vector<oh_event> ring(kRing);
  oh_event_log log{};
  oh_event_log_init(&log, ring.data(), ring.size(), 0);
  const Assembly assembly(scenario, file, sinks, far, &log);
  Call& call = *assembly.call;
  if (sinks.header) sinks.header(log_header(call, scenario));
  std::vector<oh_event> events(kRing);
  bool stopped = false;
  for (bool more = true; more && !stopped;) {
    more = call.advance(call.now() + kSlice);
    const std::size_t n = oh_event_log_read(&log, events.data(), events.size());
    if (sinks.events) sinks.events({events.data(), n}, oh_event_log_lost(&log));
    if (sinks.progress) {
      const hostsim::TransferStatus status = call.connection().status();
      stopped = !sinks.progress({static_cast<double>(call.now()) * 1e-9, status.bytes_delivered}) && more;
    }
  }
  const CallResult result = call.result();
  CallOutcome outcome;
  outcome.complete = result.completed;
  outcome.stopped = stopped;
  outcome.lost = result.samples_late > 0 || result.driver.samples_filled_in > 0 || result.card.underrun_samples > 0 ||
                 result.card.overrun_samples > 0;
  outcome.transfer_s = result.transfer_s;
  outcome.simulated_s = result.simulated_s;
  outcome.bytes = scenario.bytes;
  outcome.bytes_delivered = result.transfer.bytes_delivered;
  outcome.octets_carried = result.transfer.octets_carried;
  outcome.compression = result.transfer.compression;
  outcome.ending = ending(scenario, result, stopped);
  return outcome;
}

CallRunner simulated(std::span<const std::uint8_t> file, const FarSide& far) {
  return [file, far](const hostsim::Scenario& scenario, const CallSinks& sinks) {
    return run_call(scenario, file, sinks, far);
  };
}

std::string run_row(const hostsim::Scenario& scenario) {
  const Assembly assembly(scenario, {}, {}, {}, nullptr);
  Call& call = *assembly.call;
  while (call.advance(call.now() + 20 * kSlice) && !interrupted()) {
  }
  const CallResult r = call.result();
  return nlohmann::ordered_json{{"complete", r.completed},
                                {"transfer_s", r.transfer_s},
                                {"simulated_s", r.simulated_s},
                                {"bytes_delivered", r.transfer.bytes_delivered},
                                {"blocks", r.blocks},
                                {"blocks_late", r.blocks_late},
                                {"samples_late", r.samples_late},
                                {"pending_max_samples", r.driver.pending_max},
                                {"overrun_samples", r.card.overrun_samples},
                                {"underrun_samples", r.card.underrun_samples},
                                {"frames_retransmitted", r.transfer.frames_retransmitted},
                                {"timeouts", r.transfer.timeouts},
                                {"retrains", r.transfer.retrains},
                                {"pump_share", r.pump_share},
                                {"ending", ending(scenario, r, false)}}
      .dump();
}

}  // namespace offhook::command
