// SPDX-License-Identifier: MIT
//
// A soft radio as the soft device of a host. scenario.device has its cost and its buffers; scenario.air has the
// waveform and the channel to the far end, which is always served on time. Both ends send a pattern and count errors.
//
// The radio uses liquid-dsp, which is GPL in Debian, so it is optional: hostsim/air has the pumps and the
// channel, and registers them with register_radio().
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "hostsim/call/connection.h"
#include "hostsim/call/scenario.h"

namespace offhook::hostsim {

/// One direction as counted by its receiver, since data began. A burst is due in every slot of the sender.
struct RadioDirection {
  std::uint64_t due = 0;       ///< bursts
  std::uint64_t missed = 0;    ///< of these: not detected
  std::uint64_t broken = 0;    ///< of these: detected, but damaged
  std::uint64_t late = 0;      ///< missed or damaged because the host lost samples in or near their slot
  std::uint32_t bit_rate = 0;  ///< bit/s of the newest burst
  std::uint64_t bits = 0;      ///< compared bits of the pattern
  std::uint64_t wrong_bits = 0;
  std::uint32_t pattern_losses = 0;  ///< losses of the pattern's synchronisation
  float snr_db = 0;                  ///< of the symbols; 0: unknown
  std::uint64_t lost() const { return missed + broken; }
  double miss_ratio() const { return due > 0 ? static_cast<double>(lost()) / static_cast<double>(due) : 0; }
};

struct RadioStatus {
  RadioDirection received, sent;  ///< at the soft device; for the sent pattern, as the far end received it
  double slot_s = 0;
  double connected_s = -1;  ///< from the start until both ends first reached data mode; negative: never
  std::uint32_t retrains = 0;
  bool in_data = false;  ///< both ends, now
  /// Data mode was reached and still continues, and late service lost no burst.
  bool in_time() const { return in_data && retrains == 0 && received.late + sent.late == 0; }
};

/// The factory of radios. hostsim/air registers it once, before any scenario is read.
struct RadioMaker {
  /// The permitted sample rates of the card of air.waveform; two samples are one complex sample.
  std::span<const std::uint32_t> (*rates_hz)(const AirScenario& air);
  std::unique_ptr<Connection> (*make)(const Scenario& scenario, oh_event_log* log);
};
void register_radio(const RadioMaker& maker);

/// @throws std::invalid_argument if this program has no radio
void check_radio_is_built();
/// @throws std::invalid_argument if this program has no radio, or the device cannot be one
void check_radio(const Scenario& scenario);

/// The radio on the air, for make_device_connection(). Done after scenario.device_s if late service lost no burst;
/// otherwise failed. @pre scenario.line_kind is kAir. @throws std::invalid_argument as check_radio()
std::unique_ptr<Connection> make_radio_connection(const Scenario& scenario, oh_event_log* log);

}  // namespace offhook::hostsim
