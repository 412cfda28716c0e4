// SPDX-License-Identifier: MIT
//
// Framing and mapping parameters of V.34 (clauses 5.2, 5.3, 8, 9.1, 9.2).
//
// A symbol rate and a data rate fix everything else: a superframe of 280 ms holds J data frames, a data frame P mapping
// frames, a mapping frame four 4D symbols (eight 2D symbols). N bits go into a data frame; because N is seldom a
// multiple of P, mapping frames carry b bits ("high") or b-1 bits ("low"), spread evenly by the switching pattern. Of
// those, K bits choose the rings of all eight symbols (shell mapper), q bits per symbol choose the point in its ring,
// and three bits per 4D symbol choose quadrants. All of it is computed here in exact integers; no table of the
// Recommendation is copied, and the tests compare with the printed ones.
#pragma once

#include <stdint.h>

#include "dsp/blocks/band.h"

namespace offhook::v34 {

/// The six symbol rates in the order in which INFO sequences number them.
enum class SymbolRate : uint8_t { k2400, k2743, k2800, k3000, k3200, k3429 };
inline constexpr int kSymbolRates = 6;

enum class Carrier : uint8_t { kLow, kHigh };

/// The parameters that depend only on the symbol rate.
struct SymbolRateTraits {
  Ratio of_2400;           ///< symbol rate = 2400 * a/c Hz; Table 1
  Ratio carrier[2];        ///< carrier = symbol rate * d/e, by Carrier; Table 2
  uint8_t data_frames;     ///< J, data frames per superframe; Table 7
  uint8_t mapping_frames;  ///< P, mapping frames per data frame; Table 7
  uint8_t aux_bits;        ///< W, auxiliary bits per data frame; Table 9
  uint16_t min_bit_rate;   ///< lowest primary rate, bit/s; Table 10
  uint16_t max_bit_rate;   ///< highest primary rate, bit/s; Table 10
};

inline constexpr SymbolRateTraits kSymbolRateTraits[kSymbolRates] = {
    {{1, 1}, {{2, 3}, {3, 4}}, 7, 12, 8, 2400, 21600}, {{8, 7}, {{3, 5}, {2, 3}}, 8, 12, 7, 4800, 26400},
    {{7, 6}, {{3, 5}, {2, 3}}, 7, 14, 8, 4800, 26400}, {{5, 4}, {{3, 5}, {2, 3}}, 7, 15, 8, 4800, 28800},
    {{4, 3}, {{4, 7}, {3, 5}}, 7, 16, 8, 4800, 31200}, {{10, 7}, {{4, 7}, {4, 7}}, 8, 15, 7, 4800, 33600},
};

constexpr const SymbolRateTraits& traits(SymbolRate s) {
  return kSymbolRateTraits[static_cast<int>(s)];
}
constexpr Band band(SymbolRate s, Carrier c) {
  return {traits(s).of_2400, traits(s).carrier[static_cast<int>(c)]};
}
constexpr double symbol_rate_hz(SymbolRate s) {
  return band(s, Carrier::kLow).symbol_hz();
}
/// Symbols in `samples` samples at 8000 Hz.
constexpr int symbols_in(SymbolRate s, uint32_t samples) {
  return static_cast<int>(samples * symbol_rate_hz(s) / 8000 + 0.5);
}
constexpr double carrier_hz(SymbolRate s, Carrier c) {
  return band(s, c).carrier_hz();
}

inline constexpr int kAuxBitRate = 200;            ///< bit/s; 5.1
inline constexpr int kSymbolsPerMappingFrame = 8;  ///< 2D symbols
inline constexpr int kGroupsPerMappingFrame = 4;   ///< 4D symbols
inline constexpr int kMaxMappingFrameBits = 79;    ///< largest b
inline constexpr int kMaxRings = 18;               ///< largest M

/// Whether a symbol rate can carry this primary rate: a multiple of 2400 bit/s between its limits.
constexpr bool is_supported(SymbolRate s, uint32_t bit_rate) {
  return bit_rate % 2400 == 0 && bit_rate >= traits(s).min_bit_rate && bit_rate <= traits(s).max_bit_rate;
}

inline constexpr int kMaxPlaces = 16;  ///< largest P

/// 2^16 / n, rounded up, because every frame divides by P several times.
struct PlaceReciprocals {
  uint32_t of[kMaxPlaces + 1]{};
  constexpr PlaceReciprocals() {
    for (uint32_t n = 1; n <= kMaxPlaces; ++n) of[n] = (0x10000 + n - 1) / n;
  }
};
inline constexpr PlaceReciprocals kPlaceReciprocals;

/// The even spread of `ones` ones over `length` positions, of which the last is always a one (clauses 8.2 and 8.3). A
/// counter grows by `ones` at each position and wraps at `length`; a position is one if the counter wraps. @pre 0 <= i
/// < length <= kMaxPlaces, 0 <= ones <= length
constexpr bool switching_pattern(int ones, int length, int i) {
  const auto n = static_cast<uint32_t>(i * ones);
  const uint32_t wraps = n * kPlaceReciprocals.of[length] >> 16;  // n / length
  return static_cast<int>(n) - static_cast<int>(wraps) * length + ones >= length;
}
constexpr bool reciprocals_are_exact() {
  for (uint32_t length = 1; length <= kMaxPlaces; ++length) {
    for (uint32_t n = 0; n < length * length; ++n) {
      if (n * kPlaceReciprocals.of[length] >> 16 != n / length) return false;
    }
  }
  return true;
}
static_assert(reciprocals_are_exact());

/// All parameters of one direction for encoder and decoder. Plain data of about 16 bytes; copy freely.
struct Framing {
  SymbolRate symbol_rate;
  bool aux;                ///< auxiliary channel multiplexed in
  uint8_t data_frames;     ///< J
  uint8_t mapping_frames;  ///< P
  uint8_t aux_bits;        ///< W; 0 without auxiliary channel
  uint16_t frame_bits;     ///< N, bits per data frame, auxiliary bits included
  uint8_t bits;            ///< b, bits of a high mapping frame; a low one has b-1
  uint8_t high_frames;     ///< r, high mapping frames per data frame, 1..P
  uint8_t shell_bits;      ///< K
  uint8_t point_bits;      ///< q
  uint8_t rings;           ///< M
  uint8_t precoder_scale;  ///< w of 9.6.2

  constexpr int points() const { return (4 * rings) << point_bits; }  ///< L, number of points of the 2D constellation
  /// @pre 0 <= i < P
  constexpr bool is_high(int i) const { return switching_pattern(high_frames, mapping_frames, i); }
  /// Whether bit I1 of the first 4D symbol belongs to the auxiliary channel. @pre 0 <= i < P
  constexpr bool is_aux(int i) const { return aux && switching_pattern(aux_bits, mapping_frames, i); }
  /// Primary (scrambled) bits of mapping frame i.
  constexpr int primary_bits(int i) const { return bits - !is_high(i) - is_aux(i); }
  constexpr int symbols_per_data_frame() const { return kSymbolsPerMappingFrame * mapping_frames; }
};

/// @param bit_rate  primary rate, bit/s  @param aux  with the additional auxiliary channel of 200 bit/s
/// @param expanded  expanded constellation (MP bit 32) instead of the minimum one
/// @pre is_supported(s, bit_rate).  Real-time: yes, O(1).  Source: (8-1), (8-2), (9-1), 9.2, (9-29)
constexpr Framing make_framing(SymbolRate s, uint32_t bit_rate, bool aux, bool expanded) {
  const SymbolRateTraits& t = traits(s);
  Framing f{};
  f.symbol_rate = s;
  f.aux = aux;
  f.data_frames = t.data_frames;
  f.mapping_frames = t.mapping_frames;
  f.aux_bits = aux ? t.aux_bits : 0;
  const uint32_t sum_rate = bit_rate + (aux ? kAuxBitRate : 0);
  f.frame_bits = static_cast<uint16_t>(sum_rate * 7 / (25 * t.data_frames));  // R * 0.28 / J, always whole
  f.bits = static_cast<uint8_t>((f.frame_bits + t.mapping_frames - 1) / t.mapping_frames);
  f.high_frames = static_cast<uint8_t>(f.frame_bits - (f.bits - 1) * t.mapping_frames);
  f.precoder_scale = f.bits < 56 ? 1 : 2;
  if (f.bits > 12) {
    while (f.bits - 12 - 8 * f.point_bits >= 32) ++f.point_bits;
    f.shell_bits = static_cast<uint8_t>(f.bits - 12 - 8 * f.point_bits);
  }
  // Smallest M with M^8 >= 2^K, and nearest integer to 1.25 * 2^(K/8); eighth powers keep both exact.
  constexpr auto pow8 = [](uint64_t x) { return x * x * x * x * x * x * x * x; };
  f.rings = 1;
  while (pow8(f.rings) < uint64_t{1} << f.shell_bits) ++f.rings;
  if (expanded) {  // M rounds up to m+1 exactly when m + 1/2 <= 1.25 * 2^(K/8), that is 4m + 2 <= 5 * 2^(K/8)
    while (pow8(4 * f.rings + 2) <= pow8(5) << f.shell_bits) ++f.rings;
  }
  return f;
}

/// Position of an encoder or a decoder in the superframe.
///
/// B1 counts as the last data frame of a superframe (10.1.3.1), so counting starts there.
class FramePosition {
 public:
  constexpr FramePosition() = default;
  constexpr explicit FramePosition(const Framing& f)
      : frames_(f.mapping_frames), data_frames_(f.data_frames), data_frame_(f.data_frames - 1) {}

  constexpr int in_data_frame() const { return i_; }                          ///< mapping frame, 0..P-1
  constexpr int in_superframe() const { return data_frame_ * frames_ + i_; }  ///< mapping frame, 0..P*J-1
  constexpr void advance() {
    if (++i_ < frames_) return;
    i_ = 0;
    data_frame_ = data_frame_ + 1 == data_frames_ ? 0 : data_frame_ + 1;
  }
  /// Number of 4D symbols from the beginning of the last half data frame to 4D symbol j of this mapping frame, 0..2P-1.
  constexpr int in_half_data_frame(int j) const {
    const int m = kGroupsPerMappingFrame * i_ + j;
    return m < 2 * frames_ ? m : m - 2 * frames_;
  }

  /// V0 of 4D symbol j (0..3) of this mapping frame: inverted at the first 4D
  /// symbol of some half data frames. The receiver finds the superframe by this
  /// pattern. Source: 9.6.3, Table 12 (which prints 16 bits for J = 8, 14 for 7).
  constexpr bool bit_inversion(int j) const {
    if (in_half_data_frame(j) != 0) return false;
    constexpr uint16_t kPattern8 = 0b0111'0111'1111'1010;
    constexpr uint16_t kPattern7 = 0b01'1101'1111'1110;
    const int half = 2 * data_frame_ + (i_ + j > 0);
    return data_frames_ == 8 ? kPattern8 >> (15 - half) & 1 : kPattern7 >> (13 - half) & 1;
  }

 private:
  int frames_ = 1;       // P
  int data_frames_ = 1;  // J
  int data_frame_ = 0;
  int i_ = 0;
};

}  // namespace offhook::v34
