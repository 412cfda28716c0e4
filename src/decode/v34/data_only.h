// SPDX-License-Identifier: MIT
//
// A recording that begins in data mode of V.34. It has no INFO sequence with symbol rate and carrier: the
// symbol clock gives both. The training defines the coding of data, so that data can be read from the first rate
// renegotiation on, whose TRN and MP are as those of a training.
#pragma once

#include <optional>
#include <span>

#include "src/decode/line/symbol_clock.h"
#include "src/decode/v34/trainings.h"

namespace offhook::decode {

/// The symbol rate of V.34 that a clock has, and of its carriers the nearer one; nothing for other symbol rates.
struct V34Band {
  v34::SymbolRate rate = v34::SymbolRate::k2400;
  v34::Carrier carrier = v34::Carrier::kLow;
};
std::optional<V34Band> v34_band(const SymbolClock& clock);

/// Rate renegotiations and cleardowns of both directions, and the data between them. The best fit of TRN identifies the
/// sender of a direction and its carrier.
/// @param clocks  one for each channel that has one  @return nothing if no TRN is found
std::optional<Training> find_training_behind_data(const Recording& recording, std::span<const SymbolClock> clocks,
                                                  bool data_mode);

/// A training of V.34 behind INFO sequences of which INFO1a was not read, because the other side is not recorded, or
/// because of noise. Symbol rate and carrier are those whose PP and TRN are found. Nothing for V.90, or if none is
/// found.
std::optional<Training> find_training_without_info1a(const Recording& recording, const StartUp& start_up,
                                                     bool data_mode);

}  // namespace offhook::decode
