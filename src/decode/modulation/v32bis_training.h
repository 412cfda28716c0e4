// SPDX-License-Identifier: MIT
//
// One direction of V.32bis heard passively, from a TRN on: rate signals, E, data; and again after each renegotiation
// (clause 8), for as long as the equaliser that TRN gave holds.
#pragma once

#include <optional>
#include <vector>

#include "dsp/blocks/scrambler.h"
#include "src/decode/line/baseband.h"
#include "src/decode/line/connection.h"
#include "src/decode/line/symbol_receiver.h"

namespace offhook::decode {

inline constexpr double kV32SymbolRateHz = 2400;
inline constexpr double kV32Step = kRateHz / kV32SymbolRateHz;  ///< samples of a symbol

/// A possible begin of TRN: its first 256 symbols, found by correlation.
struct TrnHeard {
  double t;  ///< of TRN's first symbol, samples, to a symbol or so
  double likeness;
  double power;  ///< mean square
};
/// The candidates for TRN, the best one of each half second first.
struct TrnsHeard {
  std::vector<TrnHeard> call, answer;
};
TrnsHeard find_trn(const Baseband& line);

class TrainingReader {
 public:
  /// @param end  samples: the known begin of another training
  TrainingReader(const Baseband& line, const Baseband* other, bool answer, double end);

  /// @param t  of TRN's first symbol  @return whether the equaliser could be fitted
  bool fit(double t);
  /// Reads to the end of the decodable signal. Rate signals have no names yet, except E. @pre fit() was true
  void follow(Connection::Side& side);

  bool v32bis() const { return v32bis_; }

 private:
  bool read_training();
  bool read_rate_signals(bool after_data, Connection::Side& side);
  bool read_data(int rate, int b1_symbols, Connection::Side& side);
  std::optional<int> read_preamble(Connection::Side& side);

  SymbolReceiver receiver_;
  bool answer_;
  double end_;
  double t_trn_ = 0, t_trn_end_ = 0, tone_t_ = 0;  // samples
  Descrambler descrambler_;
  int label_ = 0;  // of the last symbol, Y1 Y2
  int rate_ = -1;  // of E
  bool v32bis_ = false;
};

}  // namespace offhook::decode
