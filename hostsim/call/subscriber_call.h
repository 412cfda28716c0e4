// SPDX-License-Identifier: MIT
//
// A DMT pump as the soft device of a host. scenario.device has its cost and its buffers, scenario.loop has the line.
// The pump's counterpart at the other end is always served on time. Both ends send a pattern and count errors, so the
// effect of a late block on the data is measured.
//
// The device's description counts samples of the downstream rate; the card, the driver and the log count periods of the
// slower direction, 276 kHz.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "dsp/dmt/pump.h"
#include "hostsim/call/connection.h"
#include "hostsim/call/scenario.h"
#include "hostsim/channel/loop.h"

namespace offhook::hostsim {

/// ATM cells of one direction (dsp/link/cells.h), as counted by its receiver.
struct CellCounts {
  std::uint64_t received = 0, idle = 0;  ///< their HEC right
  std::uint64_t hec_errors = 0;          ///< cells that were dropped to insert it
  std::uint64_t losses = 0;              ///< losses of the cell delineation
};

/// One direction, as counted by its receiver. Counters cover the whole call.
struct DmtDirection {
  /// bit/s in the newest data mode; 0: none. Gross: all bits of a frame, at most 8160 kbit/s. Net: its payload, without
  /// overhead and check octets.
  std::uint32_t gross_bit_rate = 0, net_bit_rate = 0;
  /// bit/s: correctly received bits of the pattern, divided by the time from the first of them to the end, including
  /// retraining.
  std::uint32_t carried_bit_rate = 0;
  std::uint32_t trellis_bits = 0;  ///< additional bits of a symbol for the trellis code; 0: none
  oh_dmt_instruments pump{};       ///< the receiver's own counters, at present
  std::uint64_t bits = 0;          ///< compared bits of the pattern
  std::uint64_t wrong_bits = 0;
  std::uint32_t pattern_losses = 0;  ///< losses of the pattern's synchronisation
  std::optional<CellCounts> cells;   ///< if the pattern is in ATM cells
  float margin_db = 0;               ///< of the worst tone: SNR over its bits' requirement at the coding gain
  float margin_now_db = 0;           ///< the same in data mode, from decision errors at the last check
  /// Capacity of the loop from cable and noise alone (loop_rates.h), bit/s.
  std::uint32_t loop_bit_rate = 0, capacity_bit_rate = 0;
  struct Tone {
    std::uint32_t tone = 0, bits = 0;
    float snr_db = 0;  ///< as measured in MEDLEY
  };
  std::vector<Tone> tones;  ///< those whose SNR is known
};

/// How a connection failed. Of several failures, the most fundamental one.
enum class DmtFault {
  kNone,
  kStartUp,      ///< data mode was never reached
  kLineLost,     ///< data mode ended, or restarted after a training
  kMarginLost,   ///< a fast retrain
  kWrongData,    ///< bits of the pattern were wrong, or cells were dropped
  kSuperframes,  ///< superframes were wrong, but no compared bit of the pattern
};

struct DmtStatus {
  DmtDirection down, up;
  std::uint32_t trainings = 0;      ///< from the start
  std::uint32_t fast_retrains = 0;  ///< times the bits were loaded again; clocks and equalisers were kept
  double trained_s = -1;            ///< from the start until both ends first reached data mode; negative: never
  bool in_data = false;             ///< both ends, now
  DmtFault fault() const {
    const auto wrong = [](const DmtDirection& d) {
      return d.wrong_bits + d.pattern_losses + (d.cells ? d.cells->hec_errors + d.cells->losses : 0) > 0;
    };
    if (trained_s < 0) return DmtFault::kStartUp;
    if (!in_data || trainings > 1) return DmtFault::kLineLost;
    if (fast_retrains > 0) return DmtFault::kMarginLost;
    if (wrong(down) || wrong(up)) return DmtFault::kWrongData;
    return down.pump.crc_errors + up.pump.crc_errors > 0 ? DmtFault::kSuperframes : DmtFault::kNone;
  }
  /// Data mode was reached and still continues, without errors.
  bool intact() const { return fault() == DmtFault::kNone; }
};
/// The fault, for people; empty: none.
const char* fault_in_words(DmtFault fault);

/// The channel between the two pumps. @throws std::invalid_argument naming the unreadable file
LoopConfig loop_of(const Scenario& scenario);

/// scenario.device in the form for its card and its driver, in periods of 276 kHz.
/// @throws std::invalid_argument for a device that cannot be a DMT pump
SoftDevice in_periods(const Scenario& scenario);

/// Streams of the soft end's card. @throws std::invalid_argument as in_periods()
oh_streams subscriber_streams(const Scenario& scenario);

/// The pump on its loop, for make_device_connection(). Done after scenario.device_s if the data were correct; otherwise
/// failed.
/// @pre scenario.line_kind is kSubscriberLoop. @throws std::invalid_argument
std::unique_ptr<Connection> make_subscriber_connection(const Scenario& scenario, oh_event_log* log);

}  // namespace offhook::hostsim
