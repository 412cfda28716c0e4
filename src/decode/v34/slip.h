// SPDX-License-Identifier: MIT
//
// A slip in data mode: from one sample to the next a network's buffer, or a recorder, loses part of a signal or inserts
// some. The sender continues as before, so that symbols, carrier and mapping frames are unchanged, except for the
// time.
#pragma once

#include <cstddef>
#include <optional>

#include "dsp/v34/session/data_mode.h"
#include "src/decode/line/symbol_receiver.h"

namespace offhook::decode {

struct Slip {
  std::size_t symbol = 0;  ///< the first that comes at another time
  int samples = 0;         ///< of 8000 Hz, put in; less than 0: lost
  int echo_samples = 0;    ///< delay of the other direction's echo since then, in addition to the other channel's
};

/// The slip after which the points fit again: whole samples, at most 60 ms; of this direction before or behind the
/// place where the echo joins it, or of the other channel.
/// @param receiver  before symbol `first` of data mode, which came before the slip; in grid units. Not changed
/// @param now  in samples, behind the slip  @param carrier_hz  nominal
/// @return nothing if there is no slip, or the constellation is too small for a decision
std::optional<Slip> find_slip(SymbolReceiver& receiver, const v34::DataParameters& parameters,
                              const v34::EncoderStart& start, long first, double now, double carrier_hz);

/// Half the length of the equaliser and of the filter before it, in samples.
inline constexpr double kSlipBlurs = 120;

}  // namespace offhook::decode
