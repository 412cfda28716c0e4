// SPDX-License-Identifier: MIT
//
// The beginning of V.34 data whose B1 is not as expected, or spoilt. MP gives rate, trellis code and precoder, so the
// data can be found without B1:
//
//   1. Behind the whitening filter the symbols lie on the grid of odd points. A stretch on it gives level and phase.
//   2. The trellis code, with V0 as its sender inverts it, fits at one place of the superframe.
//   3. The bits from that place are HDLC (V.42): between flags and idle, no seven ones in a row.
//
// The equaliser is that of the training. It stands still during the search.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "dsp/v34/session/data_mode.h"
#include "src/decode/line/symbol_receiver.h"

namespace offhook::decode {

/// How far a search came.
struct LatticeSearch {
  enum class Result { kNotSearched, kNoGrid, kNoPlace, kNoHdlc, kFound };
  Result result = Result::kNotSearched;
  double from_s = 0;  ///< kNoGrid: begin of the search; else the first stretch of symbols on the grid
  double to_s = 0;    ///< end of the search
};

struct LatticeStart {
  ReceiverState receiver;   ///< before the first symbol, in grid units
  v34::EncoderStart start;  ///< of the encoder there: trellis state, and mapping frames since the start of a superframe
};

/// @param receiver  before the first symbol of B1, in units of the training; not changed
/// @param end  in samples, of the data
std::optional<LatticeStart> find_lattice(SymbolReceiver& receiver, const v34::DataParameters& parameters, double end,
                                         LatticeSearch& search);

/// Whether bits are HDLC: in others, seven ones in a row come once in 256 bits. Idle ones, 64 or more, are HDLC too.
bool are_hdlc(const std::vector<std::uint8_t>& bits);

}  // namespace offhook::decode
