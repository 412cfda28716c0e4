// SPDX-License-Identifier: MIT
//
// The basis of a verdict, counted from the records of a log in order. Live and simulated calls, whole analyses
// (figures.h) and the rows of a sweep all count by these functions (a device's rows: ADR 1).
#pragma once

#include <cstdint>

#include "offhook/event_log.h"
#include "src/lab/analysis/verdict.h"

namespace offhook {

/// Losses. Card and driver count separately and must agree: see offhook/card.h.
struct Losses {
  std::uint64_t blocks_late = 0;        ///< service outputs with at least one sample that missed its position
  std::uint64_t samples_late = 0;       ///< output samples that came after their position was played
  std::uint64_t samples_filled_in = 0;  ///< received samples that were lost before service
  std::uint64_t overrun_samples = 0;    ///< counted by the card
  std::uint64_t underrun_samples = 0;   ///< counted by the card
  bool any() const { return blocks_late + samples_late + samples_filled_in + overrun_samples + underrun_samples != 0; }
};

/// Counts of the card and the driver.
struct ServiceTally {
  std::uint64_t interrupts = 0;
  std::uint64_t blocks = 0;
  std::uint32_t pending_max = 0;  ///< samples pending after service
  Losses losses;
  std::uint64_t late_bursts = 0;    ///< runs of late blocks without one on time between them
  std::uint64_t longest_burst = 0;  ///< blocks
  std::uint64_t burst = 0;          ///< blocks of the current burst so far

  /// Real-time: yes. O(1)
  void add(const oh_event& event);
};

/// Counts of the received data at one end of the line.
struct TransferTally {
  std::uint64_t data_mode_ns = 0;  ///< when data mode was first reached; 0: never
  /// when V.42 was first connected; 0: never. If the log has the phases of a call, the time at which its user noticed
  /// it. The last bytes of a transfer also count when the user notices them.
  std::uint64_t link_ns = 0;
  std::uint64_t bytes_ns = 0;         ///< when the newest bytes arrived
  std::uint64_t bytes_delivered = 0;  ///< in order
  std::uint64_t frames_retransmitted = 0;
  std::uint64_t recoveries = 0;
  bool noticed = false;  ///< the phase that follows link_ns has begun

  /// @param event  of this end or of the call. Real-time: yes. O(1)
  void add(const oh_event& event);
  /// Time from the connection (with V.42, that of V.42) to the newest byte, s; 0 if no byte arrived.
  double seconds() const;
  /// @param bytes  of the file
  RunOutcome outcome(std::uint64_t bytes) const;
};

}  // namespace offhook
