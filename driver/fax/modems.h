// SPDX-License-Identifier: MIT
//
// The signals of a fax machine as a pump whose modulations change within a call: CED and CNG, V.21 at 300 bit/s for the
// control frames, V.27ter, V.29 and V.17 for the pages. All modulators and receivers are spandsp's. They are
// initialised with the pump, so that a change of modulation allocates nothing.
//
//      service routine (this file)                    |  outside it (terminal.h)
//      samples -> V.21 + one page receiver -> HDLC ---|-> reports -> T.30, T.4, TIFF files
//      samples <- one modulator <- HDLC or bits <-----|-- orders, frames and bits
//
// T.30 allocates and writes files. It runs in the owner's thread and exchanges messages with the pump through three
// rings. T.30 may therefore be late: its orders take effect with the next block. A late frame is preceded by additional
// flags, which is harmless. Late bits of a page without error correction become zeros, which are counted
// (starved_bits).
//
// DC and mains hum are removed before every receiver (dsp/blocks/linear_high_pass.h).
//
// While a page receiver waits for its training, V.21 listens as well, because the far end may repeat a command. The
// first of the two that recognises its signal keeps the line.
//
// Source: the text of T.30 was not available. Levels, pauses and the order of signals follow spandsp 0.0.6.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "driver/fax/slots.h"
#include "dsp/pump/pump_type.h"
#include "offhook/pump.h"

namespace offhook::fax {

/// Counters of a pump, which any thread may read.
struct Counters {
  std::uint64_t samples = 0;       ///< processed and lost: the clock of T.30
  std::uint64_t starved_bits = 0;  ///< bits that were due but not available; zeros were sent
  std::uint64_t lost_reports = 0;  ///< reports that found the ring full
  std::uint64_t trained = 0;       ///< trainings of a page receiver that succeeded
  std::uint64_t failed = 0;        ///< trainings of a page receiver that failed
};

/// The pump. Its configuration needs no port. Roles: both; they differ only in T.30.
const oh_pump_type* pump_type();

inline constexpr float kTxLevelDbm0 = -12;  ///< of the transmitter of a fax machine of this program

inline constexpr int kPowerShift = 10;  ///< of spandsp's power meter: over 1024 samples
/// The level at which V.17's receiver must detect a carrier. spandsp's fails in a short training if it detects less
/// than 18 dB below the signal (measured without an echo). @param v21_dbm0  of the far machine's last V.21 frame
float v17_cutoff_dbm0(float v21_dbm0);

/// A pump in its own memory.
struct FreePump {
  void operator()(void* self) const;
};
using OwnPump = std::unique_ptr<void, FreePump>;
/// It sends at kTxLevelDbm0. @param role  see pump_type()  @throws std::bad_alloc
OwnPump make_pump(oh_pump_role role);

/// @param self  memory that the pump's init has filled
Rings rings_of(void* self);
Counters counters_of(const void* self);
/// Obeys an order that did not arrive by the ring. Only from the service routine. Real-time: yes.
void give_order(void* self, const Message& order);

}  // namespace offhook::fax
