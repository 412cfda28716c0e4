// SPDX-License-Identifier: MIT
//
// The signs of V.90's downstream (5.4.5). S bits of each data frame become six signs. The remaining S_r = 6 - S give
// freedom: among the signs that carry the same bits, the spectral shaper chooses those whose line signal
// has least power at the frequencies that the analogue modem excludes.
//
//   sign bits -> p (a zero before those of a shaping frame) -> p' (odd places differential) -> t (against the frame
//   before) -> inverted by rule A, B, C or D: a trellis of two states -> signs
//
// Without shaping (S_r = 0) the signs are differential one after the other.
#pragma once

#include <stdint.h>

#include "dsp/v90/coding/modulus.h"

namespace offhook::v90 {

inline constexpr int kMaxLookAhead = 3;

/// Symbols of a shaping frame: 6, 3 or 2 for S_r of 1, 2 or 3.  @pre shaping_bits is 1, 2 or 3
constexpr int shaping_frame_symbols(int shaping_bits) {
  return kFrameIntervals / shaping_bits;
}

/// Sign bits to t (5.4.5.2 to 5.4.5.4), or to the signs themselves if S_r is 0.
class SignEncoder {
 public:
  explicit SignEncoder(int shaping_bits = 0) : shaping_bits_(shaping_bits) {}
  /// @param[in] bits  [6 - S_r] of one data frame  @param[out] t  [6]  Real-time: yes, O(1).
  void put(const uint8_t* bits, uint8_t* t);

 private:
  int shaping_bits_;
  uint8_t last_ = 0;  // sign of the symbol before, S_r = 0
  uint8_t odd_ = 0;   // p' of the last odd place
  uint8_t t_[kFrameIntervals]{};
};

/// Undoes SignEncoder and any choice of rules. Needs neither the rules nor the filter nor the polarity of the line;
/// right from the third shaping frame on, for any beginning.
class SignDecoder {
 public:
  explicit SignDecoder(int shaping_bits = 0) : shaping_bits_(shaping_bits) {}
  /// @param[in] signs  [6] of one data frame, 1: positive  @param[out] bits  [6 - S_r]  Real-time: yes, O(1).
  void put(const uint8_t* signs, uint8_t* bits);

 private:
  int shaping_bits_;
  uint8_t odd_ = 0;
  uint8_t signs_[kFrameIntervals]{};  // of the shaping frame before; [0]: of the symbol before, S_r = 0
};

/// The metric filter's coefficients as CP sends them: 1/64, -64 to 64.
struct ShapingFilter {
  int8_t a1, a2, b1, b2;
};

/// Chooses the rules (5.4.5.5, 5.4.5.6).
class SpectralShaper {
 public:
  struct Frame {
    uint8_t t[kFrameIntervals];
    int32_t magnitude[kFrameIntervals];  ///< linear, of the law that is transmitted
  };
  enum Rule : uint8_t { kA, kB, kC, kD };

  SpectralShaper() = default;
  /// @param symbols  of a shaping frame: 2, 3 or 6
  SpectralShaper(int symbols, const ShapingFilter& filter);
  /// @param[in] frames  [n] shaping frames, 1 <= n <= 1 + kMaxLookAhead: the next, and those after it that count in the
  /// choice  @param[out] signs  [symbols] of the next one.  Among equal paths, the one whose rule comes first in the
  /// alphabet is used: the text leaves it open.
  /// Real-time: yes, O(2^n * symbols).
  Rule put(const Frame* frames, int n, uint8_t* signs);

 private:
  struct Memory {
    double x, y, v;  // one sample ago
  };
  double run(const Frame& frame, Rule rule, Memory* memory) const;
  double best(const Frame* frames, int n, int state, const Memory& memory) const;

  int symbols_ = kFrameIntervals;
  double a1_ = 0, a2_ = 0, b1_ = 0, b2_ = 0;
  int state_ = 0;
  Memory memory_{};
};

}  // namespace offhook::v90
