// SPDX-License-Identifier: MIT
//
// One call, for the commands: run makes a folder of it, sweep and demo a row.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "hostsim/call/connection.h"
#include "hostsim/call/scenario.h"
#include "offhook/event_log.h"
#include "src/lab/advice/law.h"
#include "src/lab/analysis/tally.h"
#include "src/lab/sweep/row.h"
#include "src/report/run_summary.h"
#include "traces/log/header.h"

namespace offhook::command {

struct CallProgress {
  double simulated_s = 0;
  std::uint64_t bytes_delivered = 0;
};

/// Destinations of a call's records; each may be empty.
struct CallSinks {
  std::function<void(const traces::LogHeader&)> header;  ///< once, before the first event
  std::function<void(std::span<const oh_event>, std::uint64_t lost)> events;
  std::function<void(std::span<const std::int16_t> received, std::span<const std::int16_t> sent)> line;
  std::function<void(std::span<const std::uint8_t>)> received;  ///< bytes from an external modem
  std::function<bool(const CallProgress&)> progress;            ///< returns false to stop the call
};

/// The called end. If `foreign` is null, it is Offhook's modem, which sends the file to the near end. An external modem
/// receives the file from the near end, and may be expected to send another file.
struct FarSide {
  hostsim::ForeignModem* foreign = nullptr;
  std::span<const std::uint8_t> expect;
};

/// @param file is transferred; empty: scenario.bytes bytes drawn from the seed (nothing for an external modem)
/// @pre with an external modem, which processes samples, the pump is real
CallOutcome run_call(const hostsim::Scenario& scenario, std::span<const std::uint8_t> file, const CallSinks& sinks,
                     const FarSide& far = {});

/// A call of a scenario, on any host.
using CallRunner = std::function<CallOutcome(const hostsim::Scenario&, const CallSinks&)>;
/// For run_call(). @param file, far  must outlive it
CallRunner simulated(std::span<const std::uint8_t> file, const FarSide& far = {});

/// Losses of card and driver in a simulated call, only from their events, without figures and scheduler's log.
struct LossCount {
  ServiceTally service;
  double simulated_s = 0;
  bool stopped = false;  ///< the program was interrupted
};
/// @throws std::invalid_argument as hostsim::Call
LossCount count_losses(const hostsim::Scenario& scenario);

/// @param file  for the message  @throws config::Error for a scenario whose device is not a real pump
void expect_device_pump(const hostsim::Scenario& scenario, const std::string& file);

/// A run of a sweep: the same row for the same scenario.
sweep::RunRow run_row(const hostsim::Scenario& scenario);

}  // namespace offhook::command
