// SPDX-License-Identifier: MIT
//
// A registered pump (registered_pump.h) as the soft device of a host: scenario.device has its name, its cost and its
// buffers. At the other end of the line is the same pump in the other role, which is always served on time. The line is
// a wire without delay or noise, or the scenario's subscriber loop if the pump has the rates of one. Both ends send
// a test pattern and count wrong bits. If a pump does not use its bit port, lost samples alone decide.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "hostsim/call/connection.h"
#include "hostsim/call/scenario.h"

namespace offhook::hostsim {

/// bit/s in the newest data mode; 0: none
struct PumpDirection {
  std::uint32_t bit_rate = 0;  ///< compared bits of the pattern
  std::uint64_t bits = 0;      ///< losses of the pattern's synchronisation
  std::uint64_t wrong_bits = 0;
  std::uint32_t pattern_losses = 0;  ///< of the pattern's synchronisation
};

struct PumpStatus {
  /// A value that the pump reports (oh_pump_type::metric).
  struct Metric {
    std::string name, unit;
    double value = 0;
  };
  std::string name;
  PumpDirection received, sent;  ///< at the soft device; for the sent pattern, as the far end received it
  double connected_s = -1;       ///< from the start until both ends first reached data mode; negative: never
  std::uint32_t retrains = 0;
  bool in_data = false;       ///< both ends, now
  bool near_in_data = false;  ///< the soft device's present values
  std::vector<Metric> metrics;
  std::uint64_t wrong() const {
    return received.wrong_bits + sent.wrong_bits + received.pattern_losses + sent.pattern_losses;
  }
  /// Data mode was reached and still continues, without errors.
  bool intact() const { return in_data && retrains == 0 && wrong() == 0; }
};

/// scenario.device in the form for its card and its driver, in periods of the slower rate.
/// @throws std::invalid_argument for a device that does not fit this pump, naming the expected value
SoftDevice pump_in_periods(const Scenario& scenario);

/// The pump on its line, for make_device_connection(). Done after scenario.device_s if no sample was lost and the data
/// were correct; otherwise failed. @throws std::invalid_argument as pump_in_periods()
std::unique_ptr<Connection> make_pump_connection(const Scenario& scenario, oh_event_log* log);

}  // namespace offhook::hostsim
