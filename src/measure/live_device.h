// SPDX-License-Identifier: MIT
//
// A DMT pump or a radio live: in a context of this host, on a card that is paced by the clock. The card's thread
// also runs the line and the far pump, so the measurement is of the context, not of a CPU's capacity for both ends.
// If a CPU is too slow for that (a radio's far pump takes half of one), the thread plays the recorded signals of both
// from a run in which nothing is late.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "driver/base/histogram.h"
#include "driver/context/live_context.h"
#include "driver/session/live_driver.h"
#include "hostsim/call/connection.h"

namespace offhook::measure {

/// An observer of a running measurement: its event log, and a callback about twenty times per second from the thread
/// that waits for the end.
struct DeviceWatch {
  oh_event_log* log = nullptr;
  std::function<void(const LiveDriver&, const LiveCard&)> look{};
};

struct LiveDeviceConfig {
  LiveContextConfig context;
  double seconds = 10;          ///< including the start-up
  int interrupt_priority = 85;  ///< SCHED_FIFO priority of the thread that acts as the card and the far end
  bool recorded = false;        ///< whether it plays a rehearsal instead of line and far end (rehearsal.h)
  std::string card;             ///< address of a card with a line (driver/session/devices.h); empty: a clock
  DeviceWatch watch{};
};

struct LiveDevice {
  double seconds = 0;
  oh_driver_counters driver{};
  oh_card_counters card{};
  std::uint32_t buffer_samples = 0;                   ///< of the device, in periods that the driver counts
  LogLinearHistogram dispatch, service;               ///< ns: from interrupt to service; CPU time of a service
  std::uint64_t yields = 0, throttles = 0;            ///< of a reservation
  bool demoted = false;                               ///< the watchdog made the service's thread a normal one
  std::shared_ptr<const hostsim::DmtStatus> dmt;      ///< null if there is none
  std::shared_ptr<const hostsim::RadioStatus> radio;  ///< null if there is none
  std::shared_ptr<const hostsim::PumpStatus> pump;    ///< null if there is none
  std::optional<std::uint64_t> sent_otherwise;        ///< periods, if a rehearsal was played
  bool in_data = false;                               ///< at the end; in a rehearsal: the near end was in data mode
  std::vector<std::string> without;
  /// No late block and no loss.
  bool in_time() const {
    return sent_otherwise.value_or(0) == 0 && driver.samples_late == 0 && card.underrun_samples == 0 &&
           card.overrun_samples == 0;
  }
};

/// The device of a scenario over its line. @param progress  finished share; if it returns false, stops
/// @throws std::runtime_error for missing privileges; std::invalid_argument for an impossible device or line
LiveDevice measure_live_device(const hostsim::Scenario& scenario, const LiveDeviceConfig& config,
                               const std::function<bool(double)>& progress);

/// What the driver and its card counted, for a result.
void take_counts(const LiveDriver& driver, const LiveCard& card, LiveDevice* result);

}  // namespace offhook::measure
