// SPDX-License-Identifier: MIT
//
// The capacity of a loop by its cable and its noise alone: no echo, no filters, no converters, no intersymbol
// interference. A reference for a pump's rates.
#pragma once

#include <cstdint>

#include "dsp/dmt/tones.h"
#include "hostsim/channel/loop.h"

namespace offhook::hostsim {

struct LoopRates {
  /// Gross bit/s of whole bits at the pump's gap and nominal power: floor(log2(1 + SNR / dmt::kGap)), none below two,
  /// at most band.most_bits, 4000 symbols per second.
  std::uint32_t whole_bits = 0;
  /// Capacity under the same total power, bit/s: fractions of bits, no gap, and the power distributed over the tones by
  /// water-filling. Source: Shannon 1949
  std::uint32_t capacity = 0;
};

/// @param band  the tones and their nominal power
LoopRates loop_rates(const LoopConfig& loop, const dmt::Band& band);

}  // namespace offhook::hostsim
