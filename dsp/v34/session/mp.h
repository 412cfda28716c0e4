// SPDX-License-Identifier: MIT
//
// The MP sequences of Phase 4 (10.1.3.9, Tables 20 and 21): the data rates of a modem and its requests to the far
// transmitter. Both modems repeat MP; MP' is an MP with the acknowledge bit set. From the pair each
// computes the same two data rates.
#pragma once

#include <stdint.h>

#include "dsp/blocks/sequence.h"
#include "dsp/v34/coding/precoder.h"
#include "dsp/v34/coding/trellis.h"

namespace offhook::v34 {

struct Mp {
  static constexpr int kBitsType0 = 88;
  static constexpr int kBitsType1 = 188;

  bool type1;                     ///< with precoder coefficients; without, the far transmitter keeps those it has
  uint8_t max_call_to_answer;     ///< in 2400 bit/s, 1..14; 0 requests cleardown (11.7)
  uint8_t max_answer_to_call;     ///< as above
  bool aux;                       ///< auxiliary channel requested; used only if both request it
  TrellisCode trellis;            ///< for the far transmitter, as the next three
  bool nonlinear;                 ///< Theta = 0.3125, else 0
  bool expanded;                  ///< expanded constellation, else minimum
  bool acknowledge;               ///< an MP was received: this is MP'
  uint16_t rate_mask;             ///< bit k: (k+1) * 2400 bit/s is enabled, k = 0..13
  bool asymmetric;                ///< the two directions may differ
  PrecoderCoefficients precoder;  ///< type 1 only; zero in a decoded type 0

  int bits() const { return type1 ? kBitsType1 : kBitsType0; }
};

/// @param[out] bits  [mp.bits()] one per byte, in order of time.  @pre every field within its stated range.
/// @return mp.bits().  Real-time: yes, O(bits).
int encode(const Mp& mp, uint8_t* bits);

/// Read an MP that may be damaged. @param[in] bits  [188] or, if the type bit is 0, [88]; each 0 or 1
/// @return true when sync, start bits and CRC are right, the trellis code is a defined one and no rate exceeds 14; else
/// `mp` holds the fields as read. Reserved and fill bits are ignored.  Real-time: yes, O(bits).
bool decode(const uint8_t* bits, Mp* mp);

/// Finds MP sequences of both types in a stream of descrambled bits, without waiting for the fill bits.
class MpReceiver {
 public:
  /// @return true when this bit was the last CRC bit of a correct MP, now in `mp`.
  /// Real-time: yes; O(1), and O(bits) after seventeen ones.
  bool put(int bit, Mp* mp);

 private:
  BitHistory history_;
};

/// Data rates in 2400 bit/s.
struct RatePair {
  uint8_t call_to_answer;
  uint8_t answer_to_call;
  friend bool operator==(const RatePair&, const RatePair&) = default;
};

/// The rates that follow from both MP sequences; 0 if there is none in common. The order of the two does not
/// matter.  Real-time: yes, O(1).  Source: 11.4.1.1.3, 11.4.1.2.3.
RatePair resolve_rates(const Mp& a, const Mp& b);

}  // namespace offhook::v34
