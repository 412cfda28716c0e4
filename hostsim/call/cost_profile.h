// SPDX-License-Identifier: MIT
//
// CPU time of a driver: of the interrupt routine and of a service run, by phase of the call.
// traces/data/profiles/*.toml has the numbers with their sources.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "hostsim/engine/engine.h"
#include "offhook/driver.h"
#include "offhook/modem_card.h"

namespace offhook::hostsim {

/// The card's operation in a phase of the call, and the cost of a block there.
struct PhaseProfile {
  std::uint32_t rate_hz = OH_MODEM_RATE_HZ;  ///< of the slower direction
  std::vector<std::uint32_t> block_plan;     ///< samples per interrupt, repeated
  Ns service_ns = 0;                         ///< one block, logging off
  Ns worst_service_ns = 0;                   ///< first block of the phase; 0: like all others
  Ns lasts_ns = 0;                           ///< 0: until the call ends
};

/// Phases of a call; the numbers are logged as OH_EV_PHASE.
enum class Phase : std::uint8_t { kOnHook, kDialling, kConnecting, kConnected };
inline constexpr int kPhases = 4;

/// Time that the instrumented kernel's log adds to the measured code.
struct LoggingCost {
  double bytes_per_minute = 0;
  double event_bytes = 16;
  double event_ns = 0;
  /// CPU time of logging in `interval`, all charged to the service run.
  Ns in(Ns interval) const {
    return static_cast<Ns>(bytes_per_minute / event_bytes / 60e9 * static_cast<double>(interval) * event_ns);
  }
};

/// The line without simulated samples, as the far modem sees it: frames under V.42, and a receiver that gaps disturb.
struct LinkProfile {
  double down_bps = 50'600;  ///< to the modem under test
  double up_bps = 28'800;
  double one_way_delay_ms = 20;     ///< pump to pump, with the far modem's own buffering
  std::uint32_t frame_bytes = 128;  ///< N401
  std::uint32_t window = 15;        ///< k
  /// Packets that carry the file above V.42: bytes of the file and octets of headers in each packet, and the share of
  /// escaped octets, which take two.
  std::uint32_t packet_bytes = 1'000'000'000;
  double packet_header_octets = 0;
  double escaped_share = 0;
  double t401_ms = 1000;
  double settling_ms = 10;        ///< after a gap, the receiver's bits are wrong for this time
  double sync_loss_samples = 55;  ///< mean number of lost samples after which the receiver has lost synchronisation
  double pool_sync_loss_samples = 10'000;  ///< the same for another server, for experiments that name it
  double training_ms = 6000;               ///< a retrain needs this time without losing synchronisation
  double give_up_ms = 30'000;              ///< time of unsuccessful training after which the call ends
  Ns retrain_service_ns = 0;               ///< CPU time of this end's block during a retrain; 0: as in data mode
};

// clang 14 gives a reserved name to the loop of its own copy constructor.
struct CostProfile {  // NOLINT(bugprone-reserved-identifier)
  std::string name;
  Ns isr_mean_ns = 5'400;  ///< used when the service is deferred
  Ns isr_max_ns = 16'000;
  double phi = 0.2;           ///< share of a service run after which its output is ready
  double service_spread = 0;  ///< a block's cost varies by up to this share in both directions, uniformly
  LoggingCost logging;
  PhaseProfile phases[kPhases];
  LinkProfile link;
};

}  // namespace offhook::hostsim
