// SPDX-License-Identifier: MIT
//
// One simulated call: the host, its load, the card, the driver in one context, the pump and the other end of the line,
// from off-hook to the last byte of a file. Deterministic: the scenario decides every byte.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "hostsim/call/connection.h"
#include "hostsim/call/cost_profile.h"
#include "hostsim/call/scenario.h"
#include "hostsim/host/service_counts.h"
#include "offhook/event_log.h"

namespace offhook::hostsim {

/// A driver with its card, for all kinds of device.
struct DeviceResult {
  std::string name, context;
  oh_driver_counters driver{};
  oh_card_counters card{};
  double first_loss_s = -1;  ///< in virtual time, when the card's next interrupt came; negative: nothing was lost
  double share = 0;          ///< share of a CPU for interrupt routine and service
};

struct CallResult {
  TransferStatus transfer;
  bool completed = false;       ///< every byte delivered
  double transfer_s = 0;        ///< from data mode to the last byte; 0 if not completed
  double simulated_s = 0;       ///< total, in virtual time
  oh_driver_counters driver{};  ///< of the whole call
  oh_card_counters card{};
  ServiceCounts served;  ///< of the whole call
  /// From the answer of the call on (training and connected), as in the paper:
  std::uint64_t blocks = 0;
  std::uint64_t blocks_late = 0;
  std::uint64_t samples_late = 0;
  std::array<std::uint32_t, kPhases> pending_max{};  ///< samples pending after a service, by phase
  double pump_share = 0;                             ///< share of the CPU when connected: interrupt routine and service
  std::vector<DeviceResult> devices;                 ///< the scenario's own first, then load.soft_devices
  std::shared_ptr<const DmtStatus> dmt;              ///< for a DMT pump; otherwise null
  std::shared_ptr<const RadioStatus> radio;          ///< for a radio; otherwise null
  std::shared_ptr<const PumpStatus> pump;            ///< for a registered pump; otherwise null
  std::shared_ptr<const FaxStatus> fax;              ///< for a fax call; otherwise null
};

/// The logged part of a call.
enum class Logged {
  kAll,
  kModem,  ///< without CPU changes and the load's timers: a tenth of the events, and all that a verdict needs
};

class Call {
 public:
  /// @param log that the caller drains between slices; may be null
  /// @throws std::invalid_argument for a scenario that no host could run, naming the reason
  Call(const Scenario& scenario, const CostProfile& profile, std::unique_ptr<Connection> connection, oh_event_log* log,
       Logged what = Logged::kAll);
  ~Call();

  /// Runs until `horizon` of virtual time or the end of the call. @return false when the call is over
  bool advance(Ns horizon);
  /// Changes the context, between two calls of advance(). A reservation has the phase of the scenario's reservation.
  /// @throws std::invalid_argument if the host or the driver's present context does not support it, std::runtime_error
  /// if it is not admitted
  void reconfigure(const ContextSpec& spec);
  /// The driver's context: the delays of its requests, and its properties.
  oh_context context() const;
  Ns now() const;
  CallResult result() const;
  const Connection& connection() const;
  /// Names of the entities by their id in the log.
  std::vector<std::string> entity_names() const;
  std::uint64_t events_handled() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// make_device_connection() for a call.
/// @throws std::invalid_argument as Call and make_device_connection(), and with SoftDevice::problem()
std::unique_ptr<Call> make_device_call(const Scenario& scenario, oh_event_log* log, Logged what = Logged::kAll,
                                       LineTap tap = {});

/// As above, with other work instead of a modem from the first block on.
/// @throws std::invalid_argument as Call, and with SoftDevice::problem()
std::unique_ptr<Call> make_device_call(const Scenario& scenario, const DeviceWork& work, oh_event_log* log,
                                       Logged what = Logged::kAll);

}  // namespace offhook::hostsim
