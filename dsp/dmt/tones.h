// SPDX-License-Identifier: MIT
//
// The tones of a band, their bits, and the mapping of a frame's octets to labels of their constellations.
#pragma once

#include <stdint.h>

namespace offhook::dmt {

inline constexpr int kMostTones = 256;
inline constexpr float kToneHz = 4312.5f;

/// One direction's symbols.
struct Band {
  int points;       ///< of the transform, which has tones 1 to points / 2 - 1
  int prefix;       ///< samples
  int first, last;  ///< tones in use
  int pilot;
  int most_bits;
  float dbm_hz;            ///< nominal power spectral density
  float full_scale_volts;  ///< of a sample of 32768, across 100 ohm, so that the peaks of all tones fit
  bool trellis;            ///< the trellis code may be requested
  constexpr int tones() const { return points / 2; }
  constexpr int symbol() const { return points + prefix; }
  /// Rate of its samples.
  constexpr uint32_t rate_hz() const { return static_cast<uint32_t>(static_cast<float>(points) * kToneHz); }
  constexpr bool carries(int tone) const { return tone >= first && tone <= last && tone != pilot; }
};
/// Source: G.992.2 (G.lite), G.992.1 (full rate).
inline constexpr Band kLiteDown{256, 16, 33, 127, 64, 8, -40, 12, false};
inline constexpr Band kFullDown{512, 32, 33, 255, 64, 15, -40, 18, true};
inline constexpr Band kLiteUp{64, 4, 6, 31, 16, 8, -38, 12, false};
inline constexpr Band kFullUp{64, 4, 6, 31, 16, 15, -38, 18, true};

/// Bits of each tone, and their order.
class BitTable {
 public:
  /// @param bits  [n] of each tone, 0 or kLeastBits to kMostBits  @param n  at most kMostTones
  /// @param trellis  the labels are those of the trellis code  @pre then at least kLeastTrellisTones carry bits
  void set(const uint8_t* bits, int n, bool trellis);
  bool trellis() const { return trellis_; }
  int bits(int tone) const { return bits_[tone]; }
  /// Bits of a symbol: the sum over all tones, minus the bits of the trellis code.
  int data_bits() const { return data_bits_; }
  /// Tones that carry bits, fewest bits first, lowest tone first among equals.
  int count() const { return count_; }
  int tone(int k) const { return order_[k]; }

  /// Converts a frame's bits to labels, in the tones' order, least significant bit first; unused label bits are zero.
  /// @param[in] octets  [n]; bits beyond data_bits() are not sent  @param[out] labels  [count()]. Real-time: yes,
  /// O(data_bits()).
  void take(const uint8_t* octets, int n, uint16_t* labels) const;
  /// Undoes take().
  void give(const uint16_t* labels, uint8_t* octets, int n) const;

 private:
  uint8_t bits_[kMostTones]{};
  uint8_t order_[kMostTones]{};
  int count_ = 0, data_bits_ = 0;
  bool trellis_ = false;
};

}  // namespace offhook::dmt
