// SPDX-License-Identifier: MIT
//
// The connection of the driver: a pump, the telephone line behind the card, and a far end that sends a file. Two levels
// of detail share this interface: real pumps over a sampled line, and a link model with frames and holes.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "driver/core/line_end.h"
#include "hostsim/call/cost_profile.h"
#include "hostsim/call/scenario.h"
#include "hostsim/channel/line.h"
#include "hostsim/engine/engine.h"
#include "hostsim/host/card.h"
#include "offhook/driver.h"
#include "offhook/pump.h"

namespace offhook::hostsim {

/// Progress of the scenario's hold.
struct HoldStatus {
  Ns asked_at = -1;           ///< negative, here and below: has not occurred
  Ns refused_at = -1;         ///< denied, unknown to the far end, or not supported by the pump
  Ns away_at = -1;            ///< granted: nothing is sent from here on
  Ns resumed_at = -1;         ///< the command to return
  Ns data_at = -1;            ///< data mode again at both ends
  std::uint32_t limit_s = 0;  ///< granted duration (T1); 0: no limit
};

/// Progress of the transfer; counts cover the whole call.
struct TransferStatus {
  bool connected = false;  ///< data mode has been reached
  bool done = false;       ///< every byte delivered
  bool intact = true;      ///< every byte unchanged
  bool failed = false;     ///< the connection is lost permanently
  std::string failure;     ///< reason, in words
  Ns connected_at = -1;
  Ns done_at = -1;
  std::uint64_t bytes_delivered = 0;
  std::uint64_t octets_carried = 0;  ///< octets between the ends of V.42; 0: unknown
  std::uint8_t compression = 0;      ///< of the end under test, of enum oh_lapm_compression
  std::uint8_t mnp_class = 0;        ///< of the link; 0: V.42, or no error control
  std::uint32_t frames_retransmitted = 0;
  std::uint32_t timeouts = 0;
  std::uint32_t bad_frames = 0;  ///< damaged frames in both directions
  std::uint32_t retrains = 0;
  double at_line_rate_s = 0;  ///< time for the files at the highest bit rates of the call, uncompressed; 0: unknown
  std::optional<HoldStatus> hold;  ///< if the scenario has a hold, from the request on
};

struct DmtStatus;    // subscriber_call.h
struct RadioStatus;  // radio_call.h
struct PumpStatus;   // pump_call.h
struct FaxStatus;    // fax_call.h

class Connection {
 public:
  virtual ~Connection() = default;
  /// Bound once, before the card starts; all outlive the connection's use.
  virtual void bind(Engine& engine, SimulatedCard& card, const oh_driver& driver) = 0;
  /// Formats on the card. The cost profile has the rate of the slower direction for each phase of the call.
  virtual oh_streams streams() const { return oh_modem_streams(OH_MODEM_RATE_HZ); }
  virtual oh_pump near_pump() = 0;
  /// @return whether samples are computed. If not, the driver copies none and does not call the pump.
  virtual bool has_samples() const { return true; }
  virtual oh_line_end line() = 0;
  /// The far end has answered: both modems begin to connect.
  virtual void start(Ns now) = 0;
  /// Once per block, outside the driver: moves bytes between the link and the application.
  virtual void exchange_user_data(Ns) {}
  virtual TransferStatus status() const = 0;
  /// The modem under test retrains after data mode (link model only).
  virtual bool trains_again() const { return false; }
  /// For a device with a pump: whether both ends are in data mode.
  virtual bool in_data() const { return false; }
  /// Status of a DMT pump; null if there is none.
  virtual std::shared_ptr<const DmtStatus> dmt_status() const { return nullptr; }
  /// Status of a radio; null if there is none.
  virtual std::shared_ptr<const RadioStatus> radio_status() const { return nullptr; }
  /// Status of a registered pump; null if there is none.
  virtual std::shared_ptr<const PumpStatus> pump_status() const { return nullptr; }
  /// Status of a fax call; null if there is none.
  virtual std::shared_ptr<const FaxStatus> fax_status() const { return nullptr; }
};

/// Receives both directions of the line at the card, in order, with the same number of samples. If the card receives
/// more samples than it sends, each transmitted sample is repeated for its duration.
using LineTap = std::function<void(std::span<const std::int16_t> received, std::span<const std::int16_t> sent)>;

struct RealPumps {
  const oh_pump_type* near_end;        ///< under test, in the scenario's role
  const oh_pump_type* far_end;         ///< in the other role; sends the file
  std::span<const std::uint8_t> file;  ///< outlives the connection
  LineTap tap;                         ///< may be empty
};

/// Two real pumps under V.42 over the scenario's line. @throws std::invalid_argument naming the missing feature of the
/// line or a pump
std::unique_ptr<Connection> make_sampled_connection(const Scenario& scenario, const RealPumps& pumps,
                                                    oh_event_log* log);

/// An external modem at the far end, of which only the samples are known. For each sent sample it receives one on an
/// analogue line, or DigitalTrunk::kReceivedRatio at the analogue end of a digital trunk.
class ForeignModem : public FarEnd {
 public:
  /// Reason why no more samples will arrive; empty while it runs.
  virtual std::string failure() const = 0;
};

struct ForeignCall {
  const oh_pump_type* near_end;                                 ///< under test, in the scenario's role
  std::span<const std::uint8_t> send;                           ///< by the near end; outlives the connection
  std::span<const std::uint8_t> expect;                         ///< from the far end; outlives the connection
  std::function<void(std::span<const std::uint8_t>)> received;  ///< receives the data in order; may be empty
  LineTap tap;                                                  ///< may be empty
};

/// One real pump over the scenario's line to an external modem. Done when all sent data are acknowledged (without V.42:
/// sent) and all expected data have arrived. If both are empty, done when the external modem leaves.
std::unique_ptr<Connection> make_foreign_connection(const Scenario& scenario, const ForeignCall& call,
                                                    ForeignModem& modem, oh_event_log* log);

/// Frames and gaps (link_model.h); samples are not computed.
std::unique_ptr<Connection> make_link_model_connection(const Scenario& scenario, const CostProfile& profile,
                                                       oh_event_log* log);

/// Signals of a device other than a modem: its pump and the line after its card, in the format of `streams`.
struct DeviceWork {
  oh_streams streams;
  oh_pump pump;
  oh_line_end line;
  bool has_samples = true;
};
/// A device without samples: only its cost is simulated.
DeviceWork no_samples(const SoftDevice& device);

/// Whether a device lost samples, as counted by the driver or the card.
bool samples_lost(const oh_driver& driver, const SimulatedCard& card);

/// A device without a telephone line (soft_device.h): connected immediately; done after `runs` if nothing was lost,
/// otherwise failed. @param stop_at_loss fail at the first loss
std::unique_ptr<Connection> make_device_connection(const DeviceWork& work, Ns runs, bool stop_at_loss);

/// Runs scenario.device for scenario.device_s: a fax machine, a registered pump, a DMT pump on a subscriber loop, a
/// radio on the air, or else no_samples(). @param tap  of a fax's telephone line; may be empty
/// @throws std::invalid_argument naming the impossible property of the device or its line
std::unique_ptr<Connection> make_device_connection(const Scenario& scenario, oh_event_log* log, LineTap tap = {});

/// Whether scenario.device is a real pump: a fax machine, a registered pump, a DMT pump on a subscriber loop, or a
/// radio on the air.
bool has_device_pump(const Scenario& scenario);

/// The device on its line, as card and driver see it. If it has two rates, its periods are those of the slower one (276
/// kHz on a subscriber loop). @throws std::invalid_argument if the device does not fit the line
SoftDevice device_at_work(const Scenario& scenario);

}  // namespace offhook::hostsim
