// SPDX-License-Identifier: MIT
//
// The modems of two frequencies: V.21, V.23, Bell 103, Bell 202. A signal is one of them if its envelope is
// constant, its frequency is always one of the two, and it changes in steps of the bit.
#pragma once

#include <vector>

#include "src/decode/line/recording.h"
#include "src/decode/modulation/start_stop.h"

namespace offhook::decode {

/// One direction, from its first bit to its last. Times in seconds.
struct FskHeard {
  const char* modulation = nullptr;  ///< "V.21", "V.23", "Bell 103", "Bell 202"
  int channel = 0;
  bool calling = false;         ///< in the band of the calling station; V.23's 75 bit/s too
  bool one_band = false;        ///< one band for both stations, in turn: the sender is unknown (Bell 202)
  int bit_rate = 0;             ///< nominal
  double t0 = 0, t1 = 0;        ///< s
  double amplitude = 0;         ///< peak in int16 units
  double step_match = 0;        ///< 0 to 1: how well its changes lie on a grid of bits
  double shift_error = 0;       ///< difference of the measured shift from the nominal one, relative
  int changes = 0;              ///< of the frequency
  bool nominal = false;         ///< frequencies and bit rate are the modulation's; else it may only be a rival
  const char* rival = nullptr;  ///< another modulation whose band these bits were also found in; null: none
  double rival_bits = 0;        ///< bits_of() that reading
  StartStopText text{};
};

/// The evidence for the modulation, in bits: a change of frequency has as much as it lies on the grid and as the shift
/// is the nominal one.
double bits_of(const FskHeard& heard);

/// In order of time, echoes removed. Menus of V.8, messages of V.8bis and frames of T.30 are V.21 too: the caller
/// distinguishes them.
std::vector<FskHeard> find_fsk(const Recording& recording);

/// The other modulation of two frequencies that has the nearest ones at the same bit rate, or, if none has that rate,
/// at another.
const char* nearest_modulation(const FskHeard& heard);

}  // namespace offhook::decode
