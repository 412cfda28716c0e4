// SPDX-License-Identifier: MIT
//
// The state of one line for the live page: plain data. The command's thread stores it about ten times per second, and
// the page's process reads it (driver/session/snapshot.h). No service routine writes here: the values are
// those of AT&V1 and the summary, and those that the owner's thread read from the event log.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "offhook/pump.h"

namespace offhook::live_page {

/// A text of at most N octets, truncated if it is longer. It may come from outside and contain any bytes.
template <std::size_t N>
struct Text {
  std::array<char, N> octets{};
  std::uint32_t length = 0;

  void set(std::string_view text) {
    length = static_cast<std::uint32_t>(std::min(text.size(), N));
    while (length < text.size() && length > 0 && (static_cast<unsigned char>(text[length]) & 0xc0) == 0x80)
      --length;  // not inside a UTF-8 character
    std::memcpy(octets.data(), text.data(), length);
  }
  std::string_view view() const { return {octets.data(), std::min<std::size_t>(length, N)}; }
};

/// The phase of a line.
enum class Phase : std::uint32_t {
  kOnHook,
  kRinging,
  kConnecting,
  kTraining,  ///< the first training of a call
  kData,
  kRetraining,  ///< retrain after data mode
  kHold,        ///< of modem-on-hold
  kGone,        ///< the card has failed
  kRunning      ///< a device that makes no calls
};
inline constexpr std::size_t kPhases = 9;
/// "on hook", "ringing", "connecting", "training", "data", "retraining", "on hold", "gone", "running"
std::string_view name_of(Phase phase);

/// Levels below this are silence.
inline constexpr float kSilenceDbm0 = -60;

/// Quantiles of a histogram of times, us.
struct Quantiles {
  std::uint64_t count = 0;
  float p50_us = 0, p99_us = 0, p999_us = 0, max_us = 0;
};

/// A counter of the card itself, in addition to the engine's (CardFigure).
struct Figure {
  Text<28> key;
  double value = 0;
};

struct LineView {
  Text<96> name;      ///< name of the terminal or the device
  Text<192> address;  ///< of the card
  Text<40> context;
  Text<192> state;   ///< in words
  Text<64> caller;   ///< from the far end
  Text<16> carrier;  ///< modulation with its name in AT+MCR; empty: none yet
  Text<384> last_end;
  Phase phase = Phase::kOnHook;
  std::uint32_t has_calls = 1;  ///< 0: a device without call and link
  std::uint32_t rate_hz = 0;    ///< of the card's samples
  std::uint64_t calls = 0, calls_failed = 0;
  std::int64_t call_ms = 0;  ///< age of the call; 0: no call

  // The pump and its measurements. 0: unknown.
  std::uint32_t tx_bit_rate = 0, rx_bit_rate = 0;
  float rx_level_dbm0 = 0;
  float snr_db = 0, clock_ppm = 0, carrier_hz = 0, echo_return_loss_db = 0, round_trip_ms = 0;
  float tx_symbol_rate = 0, rx_symbol_rate = 0;
  std::uint32_t retrains[OH_RETRAIN_TIMEOUT + 1] = {};  ///< by enum oh_retrain_cause
  std::uint32_t slips = 0;
  std::uint64_t samples_lost = 0;  ///< samples lost in the call, on their way or before service

  // The link in all calls; frames in the present one.
  std::uint64_t bytes_sent = 0, bytes_received = 0;
  std::uint32_t frames_again = 0, bad_frames = 0;

  // Driver, card and context, since the start.
  std::uint64_t interrupts = 0, blocks_served = 0, blocks_late = 0, samples_late = 0, samples_filled_in = 0;
  std::uint64_t overrun_samples = 0, underrun_samples = 0, yields = 0, throttles = 0;
  std::uint32_t pending = 0, pending_max = 0, demoted = 0;
  Quantiles dispatch, service;
  // The largest values of the last second, from the event log.
  std::uint32_t pending_peak = 0;
  float dispatch_peak_us = 0, service_peak_us = 0;
  std::uint64_t events_lost = 0;

  static constexpr std::size_t kFigures = 24;
  std::array<Figure, kFigures> figures{};
  std::uint32_t figure_count = 0;

  static constexpr std::size_t kPoints = 384;  ///< more than the number that arrives between two updates of the page
  std::uint64_t symbols = 0;                   ///< points so far; the newest is points[(symbols - 1) % kPoints]
  std::array<std::array<std::int16_t, 2>, kPoints> points{};  ///< re, im in Q4.12, decision units
};

/// The receiver is receiving a far end.
inline bool has_signal(const LineView& view) {
  return view.phase >= Phase::kConnecting && view.phase <= Phase::kHold;
}

/// The state of the whole page.
struct PageView {
  Text<192> news;  ///< such as "SIP: registered"; empty: none
};

}  // namespace offhook::live_page
