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
#include "offhook/kernel_modem.h"
#include "src/lab/analysis/tally.h"
#include "src/lab/law/law.h"
#include "traces/log/header.h"

namespace offhook::command {

struct CallProgress {
  double simulated_s = 0;
  std::uint64_t bytes_delivered = 0;
};

/// Where a call's record goes; any may be empty.
struct CallSinks {
  std::function<void(const traces::LogHeader&)> header;  ///< once, before the first event
  std::function<void(std::span<const oh_event>, std::uint64_t lost)> events;
  std::function<void(std::span<const std::int16_t> received, std::span<const std::int16_t> sent)> line;
  std::function<void(std::span<const std::uint8_t>)> received;  ///< bytes from a foreign modem
  std::function<bool(const CallProgress&)> progress;            ///< false: stop the call
};

/// What is called: with `foreign` null, our own modem, which sends the file to the near end. A foreign one is sent the
/// file by the near end and may be expected to send another.
struct FarSide {
  hostsim::ForeignModem* foreign = nullptr;
  std::span<const std::uint8_t> expect;
};

struct CallOutcome {
  bool complete = false;      ///< the whole file arrived, byte for byte
  bool stopped = false;       ///< by the progress sink
  bool lost = false;          ///< a sample, whatever became of the file
  double transfer_s = 0;      ///< from the first byte given to the link to the last one delivered
  double at_line_rate_s = 0;  ///< that it would be at the line's bit rate; 0: not known, or nobody asks
  double simulated_s = 0;     ///< virtual time; with a kernel's modem the line's, by its samples
  std::uint64_t bytes = 0, bytes_delivered = 0;
  std::uint64_t octets_carried = 0;                   ///< what they were between the ends of V.42; 0: not known
  std::uint8_t compression = 0;                       ///< of enum oh_lapm_compression
  std::shared_ptr<const hostsim::DmtStatus> dmt;      ///< of a DMT pump; null where there is none
  std::shared_ptr<const hostsim::RadioStatus> radio;  ///< of a radio
  std::optional<hostsim::HoldStatus> hold;            ///< where the scenario asks for one, once it has
  std::string ending;                                 ///< for people: "the file arrived", "carrier lost", "time limit"
  std::optional<oh_kernel_status> kernel;             ///< of a kernel's modem, at the end
};

/// @param file what is transferred; empty: scenario.bytes bytes drawn from the seed (nothing to a foreign modem)
/// @pre with a foreign modem, which hears samples: a real pump
CallOutcome run_call(const hostsim::Scenario& scenario, std::span<const std::uint8_t> file, const CallSinks& sinks,
                     const FarSide& far = {});

/// A call of a scenario, on whatever host.
using CallRunner = std::function<CallOutcome(const hostsim::Scenario&, const CallSinks&)>;
/// run_call(). @param file, far  outlive it
CallRunner simulated(std::span<const std::uint8_t> file, const FarSide& far = {});

/// What card and driver lost in a call of our own, by their events alone: no figure is made, no scheduler logged.
struct LossCount {
  ServiceTally service;
  double simulated_s = 0;
  bool stopped = false;  ///< somebody interrupted the program
};
/// @throws std::invalid_argument as hostsim::Call
LossCount count_losses(const hostsim::Scenario& scenario);

/// One line of a sweep: plain figures as JSON, the same text for the same scenario.
std::string run_row(const hostsim::Scenario& scenario);

}  // namespace offhook::command
