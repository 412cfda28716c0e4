// SPDX-License-Identifier: MIT
//
// The symbols of Phases 3 and 4 (10.1.3): S, PP, TRN, and the bit sequences J, J', MP and E.
//
// TRN and the sequences use four points, or sixteen if the far modem's J requested them: two scrambled bits choose
// the quadrant and, with sixteen, two more the point. TRN sends the quadrant itself, the sequences its change,
// beginning from the last symbol of TRN; so a receiver reads them whatever its own rotation.
#pragma once

#include <stdint.h>

#include "dsp/blocks/complex.h"
#include "dsp/blocks/scrambler.h"
#include "dsp/v34/coding/constellation.h"

namespace offhook::v34 {

enum class TrainingPoints : uint8_t { k4, k16 };

/// Bits of one training symbol, in order of time.
constexpr int training_bits(TrainingPoints points) {
  return points == TrainingPoints::k4 ? 2 : 4;
}

/// Mean |point|^2.
constexpr float points_energy(TrainingPoints points) {
  return points == TrainingPoints::k4 ? 2 : 10;
}

/// The point nearest to y. 4 points: the quadrant. 16: the nearest odd coordinates within +-3.
constexpr Point nearest_point(TrainingPoints points, Complex y) {
  const auto slice = [points](float v) -> int16_t {
    if (points == TrainingPoints::k4) return v < 0 ? -1 : 1;
    if (v < 0) return v < -2 ? -3 : -1;
    return v > 2 ? 3 : 1;
  };
  return {slice(y.re), slice(y.im)};
}

// Sequences; the left-most bit is the first in time.
inline constexpr int kSequenceJBits = 16;
inline constexpr uint16_t kSequenceJ4 = 0b0000100110010001;      ///< requests 4 points from the far modem; Table 18
inline constexpr uint16_t kSequenceJ16 = 0b0000110110010001;     ///< requests 16 points
inline constexpr uint16_t kSequenceJPrime = 0b1111100110010001;  ///< ends J; Table 19
inline constexpr int kSequenceEBits = 20;                        ///< all ones

/// Symbol n of S, n = 0, 1, ...: two points alternately; the second one is the last. Source: 10.1.3.7
constexpr Point s_symbol(int n) {
  return rotate_cw({1, 1}, -(n & 1));
}
/// Symbol n of S-bar.
constexpr Point s_bar_symbol(int n) {
  return rotate_cw(s_symbol(n), 2);
}

inline constexpr int kPpPeriod = 48;
inline constexpr int kPpSymbols = 6 * kPpPeriod;

/// Phase of symbol i of PP in twelfths of a turn, unit magnitude. @pre i >= 0.  Source: (10-1)
constexpr int pp_phase(int i) {
  const int k = i % kPpPeriod / 4;
  return (k * (i % 4) + (k % 3 == 1 ? 4 : 0)) % 12;
}

/// Symbol i of PP with magnitude 1.
constexpr Complex pp_symbol(int i) {
  constexpr float kCos[12] = {1, 0.8660254f, 0.5f, 0, -0.5f, -0.8660254f, -1, -0.8660254f, -0.5f, 0, 0.5f, 0.8660254f};
  const int phase = pp_phase(i);
  return {kCos[phase], kCos[(phase + 9) % 12]};
}

/// Scrambles and maps. Real-time: yes, O(1) per symbol.
class TrainingEncoder {
 public:
  constexpr TrainingEncoder() = default;
  /// Prepares for the first symbol of TRN: scrambler at zero. @param s  of the transmitting modem
  constexpr TrainingEncoder(Scrambling s, TrainingPoints points) : scrambler_(s), points_(points) {}
  /// Changes the points from the next symbol on, and keeps scrambler and quadrant.
  constexpr void set_points(TrainingPoints points) {
    points_ = points;
    label_ = 0;
  }

  /// Next symbol of TRN: scrambled ones.
  constexpr Point trn() {
    z_ = quadrant_bits([](int) { return 1; });
    return point();
  }
  /// Next symbol of J, J', MP or E. @param bits  [training_bits(points)], one per byte
  constexpr Point sequence(const uint8_t* bits) {
    z_ = (z_ + quadrant_bits([bits](int k) { return bits[k]; })) & 3;
    return point();
  }

 private:
  template <class Bit>
  constexpr int quadrant_bits(Bit bit) {
    const int i1 = scrambler_.scramble(bit(0));
    const int i2 = scrambler_.scramble(bit(1));
    if (points_ == TrainingPoints::k16) {
      label_ = scrambler_.scramble(bit(2));
      label_ |= scrambler_.scramble(bit(3)) << 1;
    }
    return 2 * i2 + i1;
  }
  constexpr Point point() const { return rotate_cw(quarter_point(label_), z_); }

  Scrambler scrambler_;
  TrainingPoints points_ = TrainingPoints::k4;
  int z_ = 0;
  int label_ = 0;
};

/// Converts decided points of J, J', MP and E to descrambled bits. Real-time: yes, O(1) per symbol.
class TrainingDecoder {
 public:
  constexpr TrainingDecoder() = default;
  /// @param s  of the transmitting modem
  constexpr TrainingDecoder(Scrambling s, TrainingPoints points) : descrambler_(s), points_(points) {}
  constexpr void set_points(TrainingPoints points) { points_ = points; }

  /// @param p  a point with odd coordinates  @param[out] bits  [training_bits(points)]; correct from bit 23 after the
  /// start on
  constexpr void sequence(Point p, uint8_t* bits) {
    const int z = quadrant(p);
    const int i = (z - z_) & 3;
    z_ = z;
    bits[0] = static_cast<uint8_t>(descrambler_.descramble(i & 1));
    bits[1] = static_cast<uint8_t>(descrambler_.descramble(i >> 1));
    if (points_ == TrainingPoints::k16) {
      const int label = quarter_label(rotate_cw(p, -z), 4);
      bits[2] = static_cast<uint8_t>(descrambler_.descramble(label & 1));
      bits[3] = static_cast<uint8_t>(descrambler_.descramble(label >> 1));
    }
  }

 private:
  Descrambler descrambler_;
  TrainingPoints points_ = TrainingPoints::k4;
  int z_ = 0;
};

}  // namespace offhook::v34
