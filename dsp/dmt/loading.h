// SPDX-License-Identifier: MIT
//
// The number of bits of each tone, and their division into frames.
#pragma once

#include <stdint.h>

#include "dsp/blocks/level.h"
#include "dsp/dmt/frame.h"
#include "dsp/dmt/tones.h"

namespace offhook::dmt {

inline constexpr uint32_t kDataSymbolsPerSecond = 4000;  ///< 68 of 69

/// A receiver's request to the far transmitter.
struct Loading {
  uint8_t bits[kMostTones]{};
  int8_t gain_half_db[kMostTones]{};  ///< relative to the nominal power; -kMostGain to kMostGain, 0 for unused tones
  bool trellis = false;               ///< the labels are those of the trellis code
  PathParameters path;

  /// Sum over all tones.
  int total() const;
  /// That carry bits.
  int tones() const;
  /// Bits of a symbol for frames, without those of the trellis code.
  int data_bits() const;
  /// Whether a frame of `path` fits in a symbol, and the trellis code may be used and has enough tones.
  bool fits(const Band& band) const;
  /// SNR that one bit requires, without margin, as a ratio; a tone requires 2^bits - 1 times as much.
  float gap() const;
  /// As a ratio of amplitudes.
  float gain(int tone) const;
  /// bit/s, of the frames
  uint32_t gross_bit_rate() const { return static_cast<uint32_t>(data_bits()) * kDataSymbolsPerSecond; }
  /// bit/s, of the payload
  uint32_t net_bit_rate() const { return 8 * kDataSymbolsPerSecond * path.payload; }
};

/// Gains are whole half decibels, at most 2.5 dB up or down.
inline constexpr int kMostGain = 5;

/// Noise that may be added until the error rate reaches 1e-7.
inline constexpr double kMarginDb = 6;
/// SNR over the gap of uncoded QAM at an error rate of 1e-7 (9.75 dB), with the margin and a coding gain of 3 dB.
inline constexpr float kGap = static_cast<float>(db_to_gain(2 * (9.75 + kMarginDb - 3)));

/// The additional gain of the trellis code, in SNR at the same bits of a tone. It takes half a bit of each tone, 1.5
/// dB; 1.9 dB are left. That is its gain at a bit error rate of 1e-3, which is left to Reed-Solomon (docs/dmt.md).
inline constexpr double kTrellisGainDb = 3.4;

/// Whole bits by each tone's SNR: floor(log2(1 + SNR / kGap)), none below two, at most the band's greatest number. Then
/// gains: each tone gets no more power than its bits need, and the saved power gives one more bit to further tones,
/// starting with those that need the least. All tones together send at most the power of as many nominal tones. The
/// trellis code is used if the band has it and it carries more. If the tones could carry more than a frame holds
/// (ReedSolomon::kMostOctets), each has more margin instead.
/// @param[in] error  [band.tones()] mean square error of points of unit power; 0 if it is not known
/// @param max_bit_rate  of the payload, bit/s; 0: as much as there is. Real-time: yes, O(tones).
/// @return whether any data can be carried
bool load(const Band& band, const float* error, uint32_t max_bit_rate, Loading* loading);

/// @return whether any data can be transmitted
bool choose_path(int octets, PathParameters* path);

}  // namespace offhook::dmt
