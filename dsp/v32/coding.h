// SPDX-License-Identifier: MIT
//
// The coding of V.32bis: signal space diagrams, differential quadrant coding, trellis encoder, rate signals.
//
// A symbol of 14 400, 12 000, 9600 and 7200 bit/s carries 6, 5, 4 or 3 bits Q1.. in order of time: Q1 and Q2 become Y1
// and Y2 (Table 1), these drive the encoder of Figure 1, whose Y0 names the half of the diagram. At 4800 bit/s Q1 and
// Q2 become Y1 and Y2 by Table 2 and name one of four points, which training uses as well. Turning a diagram by
// quarters changes Y1 and Y2 only, in a way that the differential coding undoes.
#pragma once

#include <stdint.h>

#include "dsp/blocks/complex.h"

namespace offhook::v32 {

struct Point {
  int8_t re, im;
};

/// Figure 2-5: A, B, C, D by the label Y1 Y2: A = 00, B = 01, C = 11, D = 10. Mean power 10.
inline constexpr Point kPoints4800[4] = {{-3, -1}, {1, -3}, {-1, 3}, {3, 1}};

// Figures 2-1 to 2-4, by the label Y0 Y1 Y2 Q3 ..., whose first bit is the highest.
inline constexpr Point kPoints14400[128] = {
    {-8, -3}, {8, -3},  {4, -3},  {4, -7},  {-4, -3}, {-4, -7}, {0, -3},  {0, -7},  {-8, 1},  {8, 1},   {4, 1},
    {4, 5},   {-4, 1},  {-4, 5},  {0, 1},   {0, 5},   {8, 3},   {-8, 3},  {-4, 3},  {-4, 7},  {4, 3},   {4, 7},
    {0, 3},   {0, 7},   {8, -1},  {-8, -1}, {-4, -1}, {-4, -5}, {4, -1},  {4, -5},  {0, -1},  {0, -5},  {2, -9},
    {2, 7},   {2, 3},   {6, 3},   {2, -5},  {6, -5},  {2, -1},  {6, -1},  {-2, -9}, {-2, 7},  {-2, 3},  {-6, 3},
    {-2, -5}, {-6, -5}, {-2, -1}, {-6, -1}, {-2, 9},  {-2, -7}, {-2, -3}, {-6, -3}, {-2, 5},  {-6, 5},  {-2, 1},
    {-6, 1},  {2, 9},   {2, -7},  {2, -3},  {6, -3},  {2, 5},   {6, 5},   {2, 1},   {6, 1},   {9, 2},   {-7, 2},
    {-3, 2},  {-3, 6},  {5, 2},   {5, 6},   {1, 2},   {1, 6},   {9, -2},  {-7, -2}, {-3, -2}, {-3, -6}, {5, -2},
    {5, -6},  {1, -2},  {1, -6},  {-9, -2}, {7, -2},  {3, -2},  {3, -6},  {-5, -2}, {-5, -6}, {-1, -2}, {-1, -6},
    {-9, 2},  {7, 2},   {3, 2},   {3, 6},   {-5, 2},  {-5, 6},  {-1, 2},  {-1, 6},  {-3, 8},  {-3, -8}, {-3, -4},
    {-7, -4}, {-3, 4},  {-7, 4},  {-3, 0},  {-7, 0},  {1, 8},   {1, -8},  {1, -4},  {5, -4},  {1, 4},   {5, 4},
    {1, 0},   {5, 0},   {3, -8},  {3, 8},   {3, 4},   {7, 4},   {3, -4},  {7, -4},  {3, 0},   {7, 0},   {-1, -8},
    {-1, 8},  {-1, 4},  {-5, 4},  {-1, -4}, {-5, -4}, {-1, 0},  {-5, 0}};
inline constexpr Point kPoints12000[64] = {
    {7, 1},   {3, 5},  {7, -7},  {-5, 5},  {3, -3},  {-1, 1}, {-1, -7}, {-5, -3}, {-7, -1}, {-3, -5}, {-7, 7},
    {5, -5},  {-3, 3}, {1, -1},  {1, 7},   {5, 3},   {-1, 5}, {-5, 1},  {7, 5},   {-5, -7}, {3, 1},   {-1, -3},
    {7, -3},  {3, -7}, {1, -5},  {5, -1},  {-7, -5}, {5, 7},  {-3, -1}, {1, 3},   {-7, 3},  {-3, 7},  {-5, -1},
    {-1, -5}, {-5, 7}, {7, -5},  {-1, 3},  {3, -1},  {3, 7},  {7, 3},   {5, 1},   {1, 5},   {5, -7},  {-7, 5},
    {1, -3},  {-3, 1}, {-3, -7}, {-7, -3}, {1, -7},  {5, -3}, {-7, -7}, {5, 5},   {-3, -3}, {1, 1},   {-7, 1},
    {-3, 5},  {-1, 7}, {-5, 3},  {7, 7},   {-5, -5}, {3, 3},  {-1, -1}, {7, -1},  {3, -5}};
inline constexpr Point kPoints9600[32] = {{-4, 1},  {0, -3},  {0, 1},  {4, 1},  {4, -1},  {0, 3},  {0, -1},  {-4, -1},
                                          {-2, 3},  {-2, -1}, {2, 3},  {2, -1}, {2, -3},  {2, 1},  {-2, -3}, {-2, 1},
                                          {-3, -2}, {1, -2},  {-3, 2}, {1, 2},  {3, 2},   {-1, 2}, {3, -2},  {-1, -2},
                                          {1, 4},   {-3, 0},  {1, 0},  {1, -4}, {-1, -4}, {3, 0},  {-1, 0},  {-1, 4}};
inline constexpr Point kPoints7200[16] = {{3, -3}, {-1, 1}, {-3, 3}, {1, -1}, {3, 1},   {-1, -3}, {-3, -1}, {1, 3},
                                          {-1, 3}, {3, -1}, {1, -3}, {-3, 1}, {-3, -3}, {1, 1},   {3, 3},   {-1, -1}};

/// V.32, Figure 1: 9600 bit/s without trellis coding, by the label Y1 Y2 Q3 Q4.
inline constexpr Point kPoints9600Plain[16] = {{-1, -1}, {-3, -1}, {-1, -3}, {-3, -3}, {1, -1}, {1, -3},
                                               {3, -1},  {3, -3},  {-1, 1},  {-1, 3},  {-3, 1}, {-3, 3},
                                               {1, 1},   {3, 1},   {1, 3},   {3, 3}};

/// A data rate and its diagram.
struct Rate {
  uint32_t bit_rate;
  int bits;             ///< a symbol
  const Point* points;  ///< by label
  int count;
  float scale;  ///< of kPoints4800, for nearly the same transmitted power
  bool trellis;
};
inline constexpr int kRateCount = 6;
/// The last one is V.32's: a modem without V.32bis and without trellis coding has it and 4800.
inline constexpr Rate kRates[kRateCount] = {
    {4800, 2, kPoints4800, 4, 1, false},    {7200, 3, kPoints7200, 16, 1, true},
    {9600, 4, kPoints9600, 32, 1, true},    {12000, 5, kPoints12000, 64, 2, true},
    {14400, 6, kPoints14400, 128, 2, true}, {9600, 4, kPoints9600Plain, 16, 1, false}};
inline constexpr int kPlain9600 = 5;
/// A set of rates: bit k is kRates[k].
using RateSet = uint8_t;
inline constexpr RateSet kV32Rates = 1u << 0 | 1u << 2 | 1u << kPlain9600;

/// @return the index of the fastest rate, with trellis coding if possible; -1 if the set is empty
constexpr int highest(RateSet rates) {
  int best = -1;
  for (int k = 0; k < kRateCount; ++k) {
    if (rates >> k & 1 && (best < 0 || kRates[k].bit_rate > kRates[best].bit_rate)) best = k;
  }
  return best;
}

constexpr Complex complex(Point p) {
  return {static_cast<float>(p.re), static_cast<float>(p.im)};
}

/// Table 1, for a pair of bits whose first is in bit 1. @param q  Q1 Q2  @param before  the last Y1 Y2
constexpr int differential(int q, int before) {
  constexpr uint8_t kTable[4][4] = {{0, 1, 2, 3}, {1, 0, 3, 2}, {2, 3, 1, 0}, {3, 2, 0, 1}};
  return kTable[q][before];
}
/// Table 2, for 4800 bit/s and the signals of training.
constexpr int differential_4800(int q, int before) {
  constexpr uint8_t kTable[4][4] = {{1, 3, 0, 2}, {0, 1, 2, 3}, {3, 2, 1, 0}, {2, 0, 3, 1}};
  return kTable[q][before];
}
/// The q for which `code(q, before)` is `now`.
template <class Code>
constexpr int undo(Code code, int now, int before) {
  for (int q = 0; q < 4; ++q) {
    if (code(q, before) == now) return q;
  }
  return 0;
}
/// The same for one of the two codes, without a search.
class DifferentialDecoder {
 public:
  template <class Code>
  constexpr explicit DifferentialDecoder(Code code) {
    for (int q = 0; q < 4; ++q) {
      for (int before = 0; before < 4; ++before) q_[code(q, before)][before] = static_cast<uint8_t>(q);
    }
  }
  constexpr int operator()(int now, int before) const { return q_[now][before]; }

 private:
  uint8_t q_[4][4]{};
};
inline constexpr DifferentialDecoder kUndo{differential}, kUndo4800{differential_4800};

/// Reverses the order of a symbol's bits. In labels the first bit is the highest, at ports the lowest.
constexpr int reversed(int bits, int n) {
  constexpr int kMost = 6;
  constexpr auto kTable = [] {
    struct {
      uint8_t of[1 << kMost];
    } t{};
    for (int v = 0; v < 1 << kMost; ++v) {
      for (int k = 0; k < kMost; ++k) t.of[v] = static_cast<uint8_t>(t.of[v] | (v >> k & 1) << (kMost - 1 - k));
    }
    return t;
  }();
  return kTable.of[bits] >> (kMost - n);
}

/// Figure 1. States 0 to 7: the delay elements from left to right; the last one, Y0, is in bit 0.
constexpr int next_state(int state, int y) {
  const int left = state >> 2 & 1, middle = state >> 1 & 1, y0 = state & 1;
  const int y1 = y >> 1 & 1, y2 = y & 1;
  const int sum = middle ^ y2;
  const int to_middle = left ^ y1 ^ y2 ^ (y0 & sum);
  const int to_last = sum ^ (y0 & y1);
  return y0 << 2 | to_middle << 1 | to_last;
}

/// Converts bits to points. All zero at the start of each transmission of scrambled ones.
class Encoder {
 public:
  constexpr explicit Encoder(const Rate& rate) : rate_(&rate) {}
  /// Initial value for Table 1: Y1 Y2 of the previous symbol.
  constexpr void start(int before) {
    state_ = 0;
    y_ = before;
  }
  /// @param bits  Q1 Q2 ..., the first one highest  @return the point's label
  constexpr int label(int bits) {
    const int uncoded = rate_->bits - 2;
    const int q = bits >> uncoded;
    if (!rate_->trellis) return (y_ = differential_4800(q, y_)) << uncoded | (bits & ((1 << uncoded) - 1));
    y_ = differential(q, y_);
    const int out = (state_ & 1) << (rate_->bits) | y_ << uncoded | (bits & ((1 << uncoded) - 1));
    state_ = next_state(state_, y_);
    return out;
  }

 private:
  const Rate* rate_;
  int state_ = 0;
  int y_ = 0;
};

/// Table 5: the rate signal; with the beginning of E, Table 6. A signal without B4 or B8 is V.32's (Tables 6 and 7
/// there). A signal without rates requests the end of the connection. Bit k of the sequence in bit k.
struct RateSignal {
  bool v32bis = true;
  RateSet rates = 0;  ///< enabled. A modem that decodes 9600 bit/s with trellis coding also decodes it without
  bool end = false;   ///< E

  constexpr uint16_t encode() const {
    unsigned bits = 1u << 7 | 1u << 11 | 1u << 15 | (end ? 15u : 0);
    if (rates == 0) return static_cast<uint16_t>(bits);
    if (v32bis) {
      bits |= 1u << 4 | 1u << 8;
      for (int k = 0; k < 5; ++k) bits |= (rates >> k & 1u) << kBit[k];
    } else {
      const unsigned trellis = rates >> 2 & 1u, plain = rates >> kPlain9600 & 1u;
      bits |= (rates & 1u) << 5 | (trellis | plain) << 6 | trellis << 8;
    }
    return static_cast<uint16_t>(bits);
  }
  /// @return whether `bits` is a rate signal; bits 13 and 14 are ignored
  static constexpr bool decode(uint16_t bits, RateSignal* out) {
    const unsigned first = bits & 15u;
    if ((first != 0 && first != 15) || (bits & 0x8880u) != 0x8880u) return false;
    out->end = first == 15;
    out->v32bis = (bits & 0x110u) == 0x110u;
    out->rates = 0;
    if (out->v32bis) {
      for (int k = 0; k < 5; ++k) out->rates = static_cast<RateSet>(out->rates | (bits >> kBit[k] & 1u) << k);
    } else {
      out->rates = static_cast<RateSet>((bits >> 5 & 1u) | (bits >> 8 & bits >> 6 & 1u) << 2);
    }
    out->rates = static_cast<RateSet>(out->rates | (bits >> 6 & 1u) << kPlain9600);
    return true;
  }

 private:
  static constexpr int kBit[] = {5, 9, 6, 10, 12};
};

}  // namespace offhook::v32
