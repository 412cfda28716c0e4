// SPDX-License-Identifier: MIT
//
// The 4D trellis codes of V.34 (9.6.3): systematic convolutional encoders of 16, 32 and 64 states.
//
// The encoder's input is the points y of the channel, not bits. The subset labels of a pair of points give
// four input bits Y4..Y1. The output Y0, which depends only on earlier pairs, forces the parity of the next pair's
// labels (the least significant bits of the two labels differ by Y0 ^ V0). So a receiver with the code can exclude
// half of all pairs of points.
#pragma once

#include <stdint.h>

#include "dsp/v34/coding/constellation.h"

namespace offhook::v34 {

/// In the order of the numbers in MP bits 29:30.
enum class TrellisCode : uint8_t { k16, k32, k64 };

inline constexpr int kMaxTrellisStates = 64;

constexpr int trellis_states(TrellisCode code) {
  return 16 << static_cast<int>(code);
}

/// Y4 Y3 Y2 Y1 (Y4 most significant) of two subset labels. Real-time: yes, O(1).  Source: Table 13, in closed form.
constexpr int trellis_input(int s0, int s1) {
  const auto bit = [](int v, int k) { return v >> k & 1; };
  const int y4 = bit(s0, 2) ^ bit(s1, 2);
  const int y3 = bit(s0, 1);
  const int y2 = bit(s0, 0);
  const int y1 = bit(s0, 1) ^ bit(s1, 1) ^ (bit(s0, 0) & ~bit(s1, 0));
  return 8 * y4 + 4 * y3 + 2 * y2 + y1;
}

/// The state after input `y` (Y4..Y1 from trellis_input). The delay cells of the figures, left to right, are the bits
/// of the state from the most significant one downwards.  Real-time: yes, O(1).  Source: Figures 10, 11, 12.
constexpr int trellis_next(TrellisCode code, int state, int y) {
  const int y1 = y & 1;
  const int y2 = y >> 1 & 1;
  const int y3 = y >> 2 & 1;
  const int y4 = y >> 3 & 1;
  const auto cell = [state](int k) { return state >> k & 1; };
  switch (code) {
    case TrellisCode::k16: {
      const int a = cell(3), b = cell(2), c = cell(1), d = cell(0);
      return 8 * d + 4 * (a ^ y2 ^ d) + 2 * (b ^ y2) + (c ^ y1);
    }
    case TrellisCode::k32: {
      const int a = cell(4), b = cell(3), c = cell(2), d = cell(1), e = cell(0);
      return 16 * e + 8 * (a ^ y2) + 4 * (b ^ y1) + 2 * (c ^ y4) + (d ^ y2);
    }
    default: {
      const int a = cell(5), b = cell(4), c = cell(3), d = cell(2), e = cell(1), f = cell(0);
      return 32 * (y4 ^ a ^ b ^ (c & (b ^ y1))) + 16 * (a ^ b ^ y3 ^ (y2 & c) ^ d) + 8 * (b ^ y1 ^ c) + 4 * c + 2 * f +
             (e ^ y2 ^ c);
    }
  }
}

/// Y0 of a state: its last delay cell.
constexpr int trellis_output(int state) {
  return state & 1;
}

/// The convolutional encoder of a transmitter. Real-time: yes, O(1).
class TrellisEncoder {
 public:
  constexpr explicit TrellisEncoder(TrellisCode code = TrellisCode::k16, int state = 0) : code_(code), state_(state) {}
  constexpr void reset() { state_ = 0; }
  constexpr int state() const { return state_; }
  constexpr void set_state(int state) { state_ = state; }  ///< @pre 0 <= state < trellis_states(code())
  constexpr TrellisCode code() const { return code_; }
  constexpr int output() const { return trellis_output(state_); }  ///< Y0 of the pair about to be sent
  /// Encodes the pair of channel points of one 4D symbol.
  constexpr void put(Point y0, Point y1) {
    state_ = trellis_next(code_, state_, trellis_input(subset_label(y0), subset_label(y1)));
  }

 private:
  TrellisCode code_;
  int state_;
};

}  // namespace offhook::v34
