// SPDX-License-Identifier: MIT
//
// The sequences of V.90's Phases 3 and 4 except CP (cp.h). Jd (8.4.2, Table 13): the digital modem's capabilities. Ja:
// the DIL descriptor (8.3.1, Table 12), the digital impairment learning signal that the analogue modem requests. MP of
// the digital modem (8.6.3, Table 16): its requests for the upstream. Framing and CRC are those of V.34's MP.
#pragma once

#include <stdint.h>

#include "dsp/blocks/sequence.h"
#include "dsp/v34/coding/precoder.h"
#include "dsp/v34/coding/trellis.h"
#include "dsp/v90/coding/modulus.h"
#include "dsp/v90/coding/ucode.h"

namespace offhook::v90 {

/// Information bits after the first start bit that only one kind of sequence has: `value`, the left-most first in time.
struct TypeBits {
  uint32_t value = 0;
  int count = 0;
};

struct Jd {
  static constexpr int kBits = 72;
  static constexpr int kFillBits = 4;
  static constexpr TypeBits kTypeBits{};

  uint32_t rates;               ///< bit drn - 1: that rate of CP can be sent, drn 1 to 22
  bool points16;                ///< CP, E and SCR of the start-up with 16 points, else 4
  bool points16_renegotiation;  ///< the same in renegotiations
  uint8_t look_ahead;           ///< the most l_d, 1 to 3
  friend bool operator==(const Jd&, const Jd&) = default;
};
inline constexpr int kJdPrimeBits = 12;  ///< zeros

/// V.92: the rates upstream that an analogue modem has enabled, bit drn - 1 as in CPd (8.5.4, Table 20).
using UpstreamRates = uint32_t;

/// The DIL descriptor. The signal is N segments, the n-th teaches ucode[n].
struct Dil {
  static constexpr int kMaxSegments = 255;
  static constexpr int kMaxPattern = 128;
  static constexpr int kMinBits = 240;
  static constexpr int kMaxBits = 2654;
  static constexpr int kRatesBits = 46;  ///< in addition in V.92, with its fill

  uint8_t segments;         ///< N
  uint8_t sign_length;      ///< L_SP, 1 to 128
  uint8_t training_length;  ///< L_TP, 1 to 128
  uint8_t sign[16];         ///< SP, bit k of the pattern in bit k % 8 of octet k / 8; 1: positive
  uint8_t training[16];     ///< TP, 1: the training Ucode, 0: the reference
  uint8_t length[8];        ///< H of each Uchord: its segments have 6 (H + 1) symbols
  uint8_t reference[8];     ///< REF of each Uchord, a Ucode
  uint8_t ucode[kMaxSegments];

  int bits() const;  ///< with the fill bits
  int symbols(int segment) const { return 6 * (length[ucode[segment] / kUchord] + 1); }
  /// Symbol k of a segment. @pre segment < segments, 0 <= k < symbols(segment)
  Pcm symbol(int segment, int k) const;
  friend bool operator==(const Dil&, const Dil&) = default;
};

struct Mp {
  static constexpr int kBitsType0 = 86;
  static constexpr int kBitsType1 = 188;

  bool type1;                ///< with precoder coefficients
  uint8_t drn;               ///< the most that the upstream may carry, in 2400 bit/s, 2 to 14; 0: cleardown
  v34::TrellisCode trellis;  ///< for the analogue modem's transmitter, as the next two
  bool nonlinear;            ///< Theta = 0.3125, else 0
  bool expanded;
  bool acknowledge;                    ///< MP'
  uint16_t rate_mask;                  ///< bit k: (k + 2) * 2400 bit/s is enabled, k = 0..12
  v34::PrecoderCoefficients precoder;  ///< type 1 only; zero in a decoded type 0

  /// Without the zeros that fill the last data frame.
  int bits() const { return type1 ? kBitsType1 : kBitsType0; }
};

/// @param[out] bits  one per byte, in order of time  @return how many.  @pre every field within its stated range.
/// Real-time: yes, O(bits).
int encode(const Jd& jd, uint8_t* bits);    ///< bits [Jd::kBits]
int encode(const Dil& dil, uint8_t* bits);  ///< bits [dil.bits()]
int encode(const Mp& mp, uint8_t* bits);    ///< bits [mp.bits()]
/// The DIL descriptor of V.92, in whole data frames upstream. @param[out] bits  [Dil::kMaxBits + Dil::kRatesBits]
int encode(const Dil& dil, UpstreamRates rates, uint8_t* bits);

/// Read a sequence that may be damaged; each bit 0 or 1.
/// @return true when sync, start bits and CRC are right and every field that selects something holds a defined value;
/// else the target holds the fields as read. Reserved and fill bits are ignored.  Real-time: yes, O(bits).
bool decode(const uint8_t* bits, Jd* jd);              ///< bits [Jd::kBits - kFillBits]
bool decode(const uint8_t* bits, int size, Dil* dil);  ///< of which `size` have come; without fill
bool decode(const uint8_t* bits, Mp* mp);              ///< bits [mp.bits()], depending on its type bit

/// Finds a sequence T of fixed length in a stream of descrambled bits, with its last CRC bit.
template <class T>
class FixedSequenceReceiver {
 public:
  /// Real-time: yes, O(1), and O(bits) after seventeen ones.
  bool put(int bit, T* sequence) {
    constexpr int kWindow = T::kBits - T::kFillBits;
    constexpr int kBegin = 18 + T::kTypeBits.count;  // 17 ones of the frame sync, the start bit, the type
    constexpr uint32_t kPattern = ((1u << 17) - 1) << (kBegin - 17) | T::kTypeBits.value;
    history_.put(bit);
    if (!history_.matches(kWindow - 1, kPattern, kBegin)) return false;
    uint8_t bits[kWindow];
    history_.copy(kWindow, bits);
    return decode(bits, sequence);
  }

 private:
  BitHistory history_;
};

/// Finds MP of both types in a stream of descrambled bits, with its last CRC bit.
class MpReceiver {
 public:
  bool put(int bit, Mp* mp);  ///< Real-time: as FixedSequenceReceiver::put().

 private:
  BitHistory history_;
};

/// Finds DIL descriptors in a stream of descrambled bits, with the last CRC bit.
class DilReceiver {
 public:
  DilReceiver() = default;
  /// @param has_rates  those of V.92, else of V.90
  explicit DilReceiver(bool has_rates) : has_rates_(has_rates) {}
  bool put(int bit, Dil* dil);  ///< Real-time: yes, O(1), and O(bits) at the end of a sequence.
  /// Of the descriptor found, if it has rates.
  UpstreamRates rates() const { return rates_; }

 private:
  bool has_rates_ = false;
  UpstreamRates rates_ = 0;
  uint8_t bits_[Dil::kMaxBits + Dil::kRatesBits];
  int size_ = 0;
  int expected_ = 0;  // bits of this sequence without fill, once known; 0: none is being read
  int ones_ = 0;
};

/// The upstream rate in 2400 bit/s that both modems compute (9.4.2.4): the highest of both masks that is not above the
/// MP's; 0: none. @param cp_mask  bits 36:48 of CP
int upstream_rate(uint16_t cp_mask, const Mp& mp);

}  // namespace offhook::v90
