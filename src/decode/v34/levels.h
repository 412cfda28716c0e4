// SPDX-License-Identifier: MIT
//
// The levels at which the digital modem's Ucodes arrive: by CP's codec type, by the DIL, and for Ucodes that the DIL
// lacks, by the network's effect on the rest.
#pragma once

#include <optional>

#include "dsp/v90/coding/constellation_choice.h"
#include "dsp/v90/coding/cp.h"
#include "dsp/v90/coding/sequences.h"
#include "src/decode/v34/law_conversion.h"

namespace offhook::decode {

/// The level as sent, or the codec's point that CP names; in units in which TRN1d has the level of UINFO. Those that CP
/// does not name for an interval are needed if the data frames move.
v90::LearntLevels levels_of(const v90::Cp& cp, v90::Law law);

/// The result of the DIL: the mean level of each Ucode in each interval, which robbed bits, pads and the other law
/// move.
class DilLevels {
 public:
  /// @param law  of the digital modem  @param u_info  of TRN1d
  DilLevels(const v90::Dil& dil, v90::Law law, int u_info) : dil_(dil), law_(law), u_info_(u_info) {}
  /// The mean level so far of the next symbol, with its sign; nothing: it was not heard often enough.
  std::optional<float> known(int interval) const;
  /// The level of the next symbol as sent.
  float expected() const;
  /// The next symbol.
  void put(float level, int interval);
  /// The DIL has been heard once from end to end.
  bool whole() const { return whole_; }
  /// Measured levels replace the expected ones. Unmeasured ones get the level of the other law if the measured ones
  /// have it: the network converts.
  /// @param moved  intervals that the data frames have moved since  @return how many levels were heard
  int take(v90::LearntLevels& levels, long moved) const;

 private:
  static constexpr int kLeastHeard = 3;
  bool heard(int interval, int u) const { return count_[interval][u] >= kLeastHeard && sum_[interval][u] > 0; }
  float mean(int interval, int u) const { return sum_[interval][u] / static_cast<float>(count_[interval][u]); }
  float converted(Conversion conversion, int u) const;
  /// The network's conversion, by the levels heard in most intervals. If they fit both, the result is the
  /// nearest value, as a recorded network sends it.  @return nothing: no conversion
  std::optional<Conversion> conversion() const;

  v90::Dil dil_;
  v90::Law law_;
  int u_info_;
  int segment_ = 0, symbol_ = 0;
  bool whole_ = false;
  float sum_[v90::kFrameIntervals][v90::kUcodes]{};
  int count_[v90::kFrameIntervals][v90::kUcodes]{};
};

}  // namespace offhook::decode
