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

inline constexpr uint32_t kMpSync = (1u << 17) - 1;  ///< seventeen ones
inline constexpr uint32_t kMpStart = 0;              ///< start bit

struct Mp {
  static constexpr int kBitsType0 = 88;
  static constexpr int kBitsType1 = 188;

  bool type1;                     ///< with precoder coefficients; without them, the far transmitter keeps its own
  uint8_t max_call_to_answer;     ///< in 2400 bit/s, 1..14; 0 requests cleardown (11.7)
  uint8_t max_answer_to_call;     ///< as above
  bool aux;                       ///< requests the auxiliary channel, which is used only if both request it
  TrellisCode trellis;            ///< for the far transmitter, like the next three
  bool nonlinear;                 ///< Theta = 0.3125, else 0
  bool expanded;                  ///< expanded constellation, otherwise minimum
  bool acknowledge;               ///< an MP was received, so this is MP'
  uint16_t rate_mask;             ///< bit k: (k+1) * 2400 bit/s is enabled, k = 0..13
  bool asymmetric;                ///< the two directions may differ
  PrecoderCoefficients precoder;  ///< type 1 only; zero in a decoded type 0

  int bits() const { return type1 ? kBitsType1 : kBitsType0; }
};

/// @param[out] bits  [mp.bits()] one per byte, in order of time.  @pre every field within its stated range.
/// @return mp.bits().  Real-time: yes, O(bits).
int encode(const Mp& mp, uint8_t* bits);

/// Read an MP that may be damaged. @param[in] bits  [188] or, if the type bit is 0, [88]; each 0 or 1
/// @return true if sync, start bits and CRC are correct, the trellis code is defined and no rate exceeds 14. Otherwise
/// `mp` has the fields as read. Reserved and fill bits are ignored.  Real-time: yes, O(bits).
bool decode(const uint8_t* bits, Mp* mp);

/// Finds MP sequences of both types in a stream of descrambled bits, without waiting for the fill bits. T is Mp, or a
/// sequence with the same framing.
template <class T>
class SequenceReceiver {
 public:
  /// @return true if this bit was the last CRC bit of a correct sequence, now in `mp`. Real-time: yes; O(1), and
  /// O(bits) after seventeen ones.
  bool put(int bit, T* mp) {
    history_.put(bit);
    for (uint32_t type = 0; type < 2; ++type) {
      // The fill bits follow the CRC: three in type 0, one in type 1.
      const int window = type == 0 ? T::kBitsType0 - 3 : T::kBitsType1 - 1;
      if (!history_.matches(window - 1, kMpSync << 2 | kMpStart << 1 | type, 19)) continue;
      uint8_t bits[T::kBitsType1];
      history_.copy(window, bits);
      if (decode(bits, mp)) return true;
    }
    return false;
  }

 private:
  BitHistory history_;
};
using MpReceiver = SequenceReceiver<Mp>;

/// Data rates in 2400 bit/s.
struct RatePair {
  uint8_t call_to_answer;
  uint8_t answer_to_call;
  friend bool operator==(const RatePair&, const RatePair&) = default;
};

/// The rates that follow from both MP sequences; 0 if none is common. The order of the two does not matter.  Real-time:
/// yes, O(1).  Source: 11.4.1.1.3, 11.4.1.2.3.
RatePair resolve_rates(const Mp& a, const Mp& b);

}  // namespace offhook::v34
