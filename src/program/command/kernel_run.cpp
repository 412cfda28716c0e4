// SPDX-License-Identifier: MIT
#include "src/program/command/kernel_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "driver/kernel/kernel_line.h"
#include "driver/kernel/kernel_modem.h"
#include "driver/kernel/kernel_transfer.h"
#include "hostsim/call/modem_config.h"
#include "hostsim/call/random_file.h"
#include "offhook/modem_card.h"
#include "src/lab/analysis/tally.h"
#include "src/measure/host_description.h"
#include "src/program/command/kernel_call.h"
#include "src/program/command/modem_channel.h"
#include "traces/log/clock.h"
#include "traces/scenario/scenario.h"

namespace offhook::command {
namespace {

constexpr std::uint64_t kSampleNs = 1'000'000'000 / OH_MODEM_RATE_HZ;

[[noreturn]] void refuse(const char* key, const char* why) {
  throw std::runtime_error(fmt::format("{}: with --host kernel {}", key, why));
}

/// A loss, as counted by the driver or the card.
bool lost(const oh_kernel_status& s) {
  return s.overrun + s.underrun + s.samples_late + s.samples_filled_in > 0;
}

/// Why there are no more octets; empty while more may arrive.
std::string kernel_ending(const oh_kernel_status& s) {
  if (s.card == OH_KERNEL_NO_CALL) return "the machine was suspended";
  if (s.card == OH_KERNEL_CARD_FAILED) return "the card has failed";
  oh_modem_end_status end{};
  end.pump.state = static_cast<oh_pump_state>(s.pump);
  end.link.state = static_cast<oh_lapm_state>(s.link);
  end.direct = s.direct;
  const std::string_view failure = oh_modem_end_failure(&end);
  return failure.empty() ? "" : fmt::format("the modem under test {}", failure);
}

traces::LogHeader kernel_log_header(const hostsim::Scenario& scenario) {
  traces::LogHeader header;
  header.drivers.push_back({kKernelDriverId, "kernel modem"});
  header.host = measure::host_description();
  header.scenario = {.toml = config::to_toml(scenario), .host = "kernel", .clock = traces::live_clock()};
  return header;
}

}  // namespace

std::unique_ptr<KernelDevice> open_kernel_host(const std::string& host) {
  const std::optional<int> number = host == "kernel" ? std::optional<int>(0) : kernel_number(host);
  if (!number) throw std::runtime_error("--host " + host + ": expected kernel, or kernel:N, N of /dev/offhookN");
  return std::make_unique<KernelModem>("/dev/offhook" + std::to_string(*number));
}

oh_kernel_call kernel_call_of(const hostsim::Scenario& scenario) {
  const hostsim::LoadScenario& load = scenario.load;
  if (scenario.pump != hostsim::PumpKind::kReal) refuse("pump.kind", "the kernel runs real pumps; expected \"real\"");
  if (scenario.line_kind != hostsim::LineKind::kAnalogue && scenario.line_kind != hostsim::LineKind::kDigitalTrunk)
    refuse("line.kind", "the card is a modem card; expected \"analogue\" or \"digital-trunk\"");
  if (scenario.protocol != hostsim::TransferProtocol::kBytes)
    refuse("transfer.protocol", "V.42 receives the octets directly; expected \"bytes\"");
  if (scenario.far_modem.value_or(scenario.modem) != scenario.modem)
    refuse("pump.far_modem", "both ends use one pump; expected none");
  if (load.spinner || load.timer_callback || !load.trace.empty() || !load.devices.empty() || !load.threads.empty() ||
      !load.reservations.empty())
    refuse("load", "this machine is the load; expected none in the scenario");
  if (scenario.device_delay_samples != 0)
    refuse("driver.device_delay_samples", "the card has no device behind it; expected 0");
  const modem::CallConfig call{.pump = hostsim::near_type(scenario),
                               .role = scenario.role,
                               .modulations = scenario.modem,
                               .link = hostsim::link_of(scenario, modulation_of(scenario.modem))};
  if (scenario.modem == OH_MODULATION_NONE)
    refuse("pump.modem", "the kernel does not negotiate a modulation; expected the name of one");
  try {
    return kernel_call(
        call, {scenario.block_plan, scenario.transmit_lead_samples, scenario.policy, hostsim::near_format(scenario)});
  } catch (const std::invalid_argument& e) {
    throw std::runtime_error(fmt::format("{}: {}", scenario.name, e.what()));
  }
}

CallOutcome run_kernel_call(KernelDevice& device, const hostsim::Scenario& scenario, std::span<const std::uint8_t> file,
                            const CallSinks& sinks) {
  std::vector<std::uint8_t> own_file;
  if (file.empty()) file = own_file = hostsim::random_file(scenario);
  TransferTally tally;
  std::uint64_t line_samples = 0;
  KernelTransfer transfer(device, {.call = kernel_call_of(scenario),
                                   .contexts = {scenario.context},
                                   .switches = 0,
                                   .switch_samples = 0,
                                   .to_send = {},
                                   .events = [&](std::span<const oh_event> events, std::uint64_t dropped) {
                                     for (oh_event event : events) {  // by the line's clock, not the kernel's
                                       if (event.kind == OH_EV_INTERRUPT) line_samples += event.argument;
                                       event.time_ns = line_samples * kSampleNs;
                                       tally.add(event);
                                     }
                                     if (sinks.events) sinks.events(events, dropped);
                                   }});
  if (sinks.header) sinks.header(kernel_log_header(scenario));
  CallOutcome outcome;
  std::size_t there = 0;
  transfer.begin();
  for (;; transfer.wait()) {
    const oh_kernel_status& s = transfer.look();
    const double now_s = static_cast<double>(s.samples) / double{OH_MODEM_RATE_HZ};
    const std::size_t before = std::exchange(there, transfer.received().size());
    if (sinks.received && there > before) sinks.received(std::span(transfer.received()).subspan(before));
    if (there >= file.size()) break;
    outcome.ending = kernel_ending(s);
    if (outcome.ending.empty() && now_s >= scenario.time_limit_s)
      outcome.ending = transfer.connected() ? "time limit during the transfer" : "time limit before data mode";
    if (!outcome.ending.empty()) break;
    outcome.stopped = sinks.progress && !sinks.progress({now_s, there});
    if (outcome.stopped) break;
  }
  outcome.complete = std::ranges::equal(transfer.received(), file);
  if (outcome.complete) outcome.ending = "the file arrived";
  if (outcome.stopped) outcome.ending = "interrupted";
  if (outcome.ending.empty()) outcome.ending = "the received bytes differ from those expected";
  transfer.end();
  outcome.transfer_s = tally.seconds();
  outcome.lost = lost(transfer.status());
  outcome.bytes = file.size();
  outcome.bytes_delivered = there;
  outcome.line_s = static_cast<double>(transfer.status().samples) / double{OH_MODEM_RATE_HZ};
  outcome.compression = static_cast<std::uint8_t>(transfer.status().compression);
  outcome.kernel = transfer.status();
  return outcome;
}

}  // namespace offhook::command
