// SPDX-License-Identifier: MIT
//
// How many bits each tone is to carry, and how they are made frames.
#pragma once

#include <stdint.h>

#include "dsp/blocks/level.h"
#include "dsp/dmt/coding/frame.h"
#include "dsp/dmt/coding/tones.h"

namespace offhook::dmt {

/// What a receiver asks the far transmitter for.
struct Loading {
  uint8_t bits[kMostTones]{};
  PathParameters path;

  int total() const;
  uint32_t gross_bit_rate() const { return static_cast<uint32_t>(total()) * 4000; }  ///< bit/s, as the tones carry
  uint32_t net_bit_rate() const { return path.payload * 32'000u; }                   ///< bit/s, of the payload
};

/// Noise that may be added before the error rate of 1e-7 is reached.
inline constexpr double kMarginDb = 6;
/// SNR over the gap of uncoded QAM at an error rate of 1e-7 (9.75 dB), with the margin and a coding gain of 3 dB.
inline constexpr float kGap = static_cast<float>(db_to_gain(2 * (9.75 + kMarginDb - 3)));

/// Whole bits by each tone's SNR: floor(log2(1 + SNR / kGap)), none below two, no more than the band has.
/// @param[in] error  [band.tones()] mean square error of points of unit power; 0 where it is not known
/// @param max_bit_rate  of the payload, bit/s; 0: as much as there is. Real-time: yes, O(tones).
/// @return whether anything can be carried
bool load(const Band& band, const float* error, uint32_t max_bit_rate, Loading* loading);

/// Words of 16 check octets as long as may be, 64 symbols deep. @return whether a frame has room for a payload
bool choose_path(int octets, PathParameters* path);

}  // namespace offhook::dmt
