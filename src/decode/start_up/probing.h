// SPDX-License-Identifier: MIT
#pragma once

#include <span>
#include <vector>

#include "src/decode/line/recording.h"

namespace offhook::decode {

/// One L1 followed by L2.
struct Probing {
  int channel = 0;
  double t0 = 0, t1 = 0;
  double l1_to_l2 = 0;                                              ///< 0: no step, both are equally loud
  double probed_s() const { return l1_to_l2 > 0 ? l1_to_l2 : t0; }  ///< begin of the measurement of tones
  double level_db[2]{};              ///< of L1 and L2, 20 log10 of the RMS in int16 units
  std::vector<double> frequency_hz;  ///< of the 21 tones
  std::vector<double> tone_db;       ///< level of each, relative to their mean
  std::vector<double> snr_db;        ///< tone against noise and distortion in 150 Hz around it
};

/// L1 followed by L2 in one channel between two times: a comb of tones at multiples of 150 Hz, seen in windows of 20
/// ms, stepping down by 6 dB; and the line's gain and SNR at each tone.
std::vector<Probing> find_probing(std::span<const float> x, double from_s, double to_s);

}  // namespace offhook::decode
