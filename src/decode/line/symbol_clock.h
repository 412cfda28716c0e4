// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <span>

namespace offhook::decode {

/// The symbol clock and the band of a signal whose training was not recorded.
struct SymbolClock {
  int channel = 0;
  int symbol_rate = 0;       ///< symbols/s, whole; nominal if it is one of V.27ter, V.32 or V.34; 0: several, unknown
  double clock_ppm = 0;      ///< of the sender against the recording; 0 for another symbol rate
  double carrier_hz = 0;     ///< the middle of the band, measured, to about 50 Hz; 0 for another symbol rate
  double t0 = 0, t1 = 0;     ///< s: the steady part of the signal
  double over_noise_db = 0;  ///< how alike the spectrum is to itself a symbol rate higher, over chance
};

/// Finds a symbol rate of V.32, V.34 or V.27ter where the signal is steady and fills the band for at least 3 s, as data
/// do and speech and music do not. The two edges of the band of QAM, a symbol rate apart, carry the same symbols.
/// If another rate has a stronger line, the signal is another one, and that rate is returned.
/// Source: Gardner 1991, spectral correlation
/// @param x  at 8000 Hz
std::optional<SymbolClock> find_symbol_clock(std::span<const float> x);

}  // namespace offhook::decode
