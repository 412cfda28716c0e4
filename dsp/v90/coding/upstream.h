// SPDX-License-Identifier: MIT
//
// The PCM upstream of V.92 (11/2000), 6.4: 8000 symbols/s, of which twelve are a data frame. K bits, as one number in
// mixed radix, become twelve digits. A digit names a class of constellation points; the precoder sends the point of the
// class that makes its output smallest. Of four symbols one also obeys the convolutional encoder.
//
//   bits -> modulus encoder --K_i--> precoder --x--> prefilter --v--> G --> symbols in units of L_U
//                                     |   ^
//                                  y(n)   Y_0
//                                     v   |
//                         inverse map -> convolutional encoder
//
// The digital modem designs all parameters and sends them in CPd, so that the levels u(n) arrive at its codec.
#pragma once

#include <stdint.h>

#include <bit>

#include "dsp/blocks/history.h"
#include "dsp/blocks/kernels.h"
#include "dsp/v34/coding/trellis.h"

namespace offhook::v90 {

inline constexpr int kUpstreamIntervals = 12;  ///< symbols of a data frame, upstream
inline constexpr int kMostUpstreamBits = 72;   ///< of a data frame
inline constexpr int kMostFilterTaps = 128;    ///< of each section; 0 in bits 16:17 of INFO1a
inline constexpr int kMostTotalTaps = 384;     ///< 3 in bits 14:15 of INFO1a
inline constexpr int kConstellationSets = 6;
inline constexpr int kMostPositivePoints = 128;
inline constexpr uint8_t kMostUpstreamDrn = 19;

/// One section of precoder or prefilter: taps as CPd has them.
struct FilterSection {
  uint16_t length;
  int16_t tap[kMostFilterTaps];
  friend bool operator==(const FilterSection&, const FilterSection&) = default;
};

/// The parameters of the data mode upstream: the content of CPd (8.8.3, Table 30).
struct Cpd {
  bool has_moduli, has_filters, has_constellations;
  uint8_t drn;  ///< 1 to 19; 0: cleardown
  v34::TrellisCode trellis;
  bool extend_e2u;   ///< E2u is one symbol longer
  bool acknowledge;  ///< CPd': a CPu was received
  uint16_t gain;     ///< 4 G, in 2^-16
  uint8_t modulus[kUpstreamIntervals];
  FilterSection z1, p1, z2, p2;                             ///< z in 2^-15, p in 2^-14
  uint8_t interval[6];                                      ///< which set the intervals i and i + 6 use
  uint8_t points[kConstellationSets];                       ///< positive points; sets without points come last
  uint16_t point[kConstellationSets][kMostPositivePoints];  ///< from the smallest up

  int bits() const { return drn == 0 ? 0 : 2 * (drn + 17); }  ///< K
  /// bit/s: this over 3.
  int rate_thirds() const { return drn == 0 ? 0 : (drn + 17) * 4000; }
  friend bool operator==(const Cpd&, const Cpd&) = default;
};

/// Whether a transmitter can work with these parameters: all parts present, every class of points has at least one, and
/// 2^K combinations exist.  Real-time: yes, O(points).
bool is_usable(const Cpd& p);

/// A number below 2^96.
struct WideNumber {
  uint32_t limb[3]{};  ///< the least significant first
  /// Divides by `divisor`. @return the remainder
  uint32_t divide(uint32_t divisor);
  /// *this * factor + summand. @pre the result is below 2^96
  void multiply_add(uint32_t factor, uint32_t summand);
  /// a - b. @pre a >= b
  static WideNumber difference(const WideNumber& a, const WideNumber& b);
  bool operator>(const WideNumber& other) const;
  int bit(int k) const { return static_cast<int>(limb[k / 32] >> k % 32 & 1); }
  uint64_t low() const { return limb[0] | uint64_t{limb[1]} << 32; }
};

/// The modulus encoder and its inverse (6.4.1). Both keep d(f), which is zero at first.
class UpstreamModulus {
 public:
  UpstreamModulus() = default;
  /// @param[in] moduli  [12]  @param k  bits of a data frame
  UpstreamModulus(const uint8_t* moduli, int k);
  int bits() const { return k_; }
  /// @param r  below 2^bits(); bit 0 is the first in time  @param[out] digits  [12].  Real-time: yes, O(1).
  void encode(const WideNumber& r, uint8_t* digits);
  /// @return whether the digits make a number below 2^bits()
  bool decode(const uint8_t* digits, WideNumber* r);

 private:
  static constexpr int kGroup = 4;  // digits that fit in 32 bits together
  int k_ = 0;
  uint8_t moduli_[kUpstreamIntervals]{};
  uint32_t group_[kUpstreamIntervals / kGroup]{};  // products of kGroup moduli
  WideNumber most_;                                // the product of the moduli less 1
  bool d_ = false;
};

/// Values for filters of a CPd.
using FilterHistory = History<kMostFilterTaps>;

/// Units of the taps in CPd: of z1 and z2, and of p1 and p2 (Table 30).
inline constexpr float kZUnit = 1.f / 32768, kPUnit = 1.f / 16384;

/// @param[out] taps  [kMostFilterTaps] in the order of FilterHistory; those beyond the section stay
void set_taps(const FilterSection& section, float unit, float* taps);

/// As many of the newest values as a section with this many taps needs: a multiple of 32. The sum of filtered() then
/// has the same bits as that over all values, because the taps beyond a section are zero.
constexpr int taps_in_use(int length) {
  constexpr int kStep = 32;  // rows that Kernels::dot() adds alternately
  return (length + kStep - 1) / kStep * kStep;
}
/// The output of a section. @param n  taps_in_use()
inline float filtered(const Kernels& kernels, const float* taps, const FilterHistory& values, int n) {
  return n == 0 ? 0 : kernels.dot(taps + kMostFilterTaps - n, values.oldest() + kMostFilterTaps - n, n);
}

/// Precoder, inverse map, convolutional encoder, prefilter and gain (6.4.2 to 6.4.4).
class Precoder {
 public:
  Precoder() = default;
  /// All memories at zero. @pre is_usable(p)
  explicit Precoder(const Cpd& p, const Kernels& kernels = best_kernels());
  /// The next symbol. @param digit  of the modulus encoder, below its modulus  @return G v(n), in units of L_U.
  /// Real-time: yes, O(taps).
  float put(int digit);
  int interval() const { return interval_; }  ///< of the next symbol
  int index() const { return y_; }            ///< y(n) of the newest symbol
  float output() const { return x_; }         ///< x(n) of the newest symbol

 private:
  void choose(int digit, float offset);
  /// The linear value of point `index` of a set, as upstream_level().
  float point_of(int set, int index) const {
    const int negative = index >> 31;  // all ones, or none
    const float size = level_[set][index ^ negative];
    return std::bit_cast<float>(std::bit_cast<uint32_t>(size) ^ (static_cast<uint32_t>(negative) & 0x80000000));
  }

  const Kernels* kernels_ = nullptr;
  int interval_ = 0;
  uint8_t modulus_[kUpstreamIntervals]{};
  uint8_t set_[6]{}, points_[kConstellationSets]{};
  float level_[kConstellationSets][kMostPositivePoints]{};
  float gain_ = 0;
  int z1_taps_ = 0, p1_taps_ = 0, z2_taps_ = 0, p2_taps_ = 0;  // in use, see filtered()
  float z1_[kMostFilterTaps]{}, p1_[kMostFilterTaps]{}, z2_[kMostFilterTaps]{}, p2_[kMostFilterTaps]{};
  FilterHistory u_, xs_, v_;
  v34::TrellisEncoder trellis_;
  int frame_[4]{};  // y of the trellis frame
  int y_ = 0;
  float point_ = 0, x_ = 0;
};

/// The linear value of point `index` of a set. @pre -points <= index < points
constexpr int upstream_level(const uint16_t* point, int index) {
  return index >= 0 ? point[index] : -point[-1 - index];
}

/// The digit that a point's index carries. @param k  symbol of the trellis frame, 0 to 3
constexpr int upstream_digit(int index, int modulus, int k) {
  const int label = k == 3 ? index >> 1 : index;
  const int rest = label % modulus;
  return rest < 0 ? rest + modulus : rest;
}

}  // namespace offhook::v90
