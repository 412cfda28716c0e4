// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <span>

namespace offhook::decode {

/// The symbol clock of a signal whose training was not recorded.
struct SymbolClock {
  int symbol_rate = 0;       ///< nominal, symbols/s, whole
  double t0 = 0, t1 = 0;     ///< s: where the signal is steady
  double over_noise_db = 0;  ///< how alike the spectrum is to itself a symbol rate higher, over chance
};

/// Looks for a symbol rate of V.32, V.34 or V.27ter where the signal is steady and fills the band for at least 3 s, as
/// data do and neither speech nor music: the two edges of the band of QAM, a symbol rate apart, carry the same symbols.
/// Source: Gardner 1991, spectral correlation
/// @param x  at 8000 Hz
std::optional<SymbolClock> find_symbol_clock(std::span<const float> x);

}  // namespace offhook::decode
