// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "src/decode/line/samples.h"

namespace offhook::decode {

/// One data mode of one direction, of any modulation: from the end of training to a retrain, a renegotiation or
/// the end of the signal. Times in seconds.
struct DataHeard {
  std::uint32_t bit_rate = 0;
  double t0 = 0, t1 = 0;                          ///< first symbol, last symbol
  int b1_errors = 0;                              ///< bits of B1, with which V.32bis and V.34 begin, that were not one
  double snr_db = 0;                              ///< of the symbols, against the points decided for
  std::vector<std::pair<double, double>> spoilt;  ///< from, to: the points could not be distinguished, s; V.22bis
  double decoder_delay_s = 0;                     ///< how long after its symbol a bit is in `bits`
  std::vector<bool> bits;                         ///< after B1; an hour of V.34 has 121 million
  std::vector<std::pair<double, std::size_t>> times;  ///< second and number of bits until then, every 100 ms
  std::vector<std::pair<double, double>> snr_track;   ///< second and dB, every 100 ms
  std::vector<Cf> constellation;                      ///< samples of the symbols that are decided on
};

}  // namespace offhook::decode
