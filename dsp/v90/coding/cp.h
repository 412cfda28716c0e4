// SPDX-License-Identifier: MIT
//
// The CP sequences of V.90 (09/98) Phase 4 and rate renegotiation (8.5.2, Table 14), the analogue modem's requests to
// the digital modem. They hold the downstream rate, the spectral shaping, and the Ucodes, out of 128, that each of the
// six intervals of a data frame may use. CPt is the request for training, CP for data mode; CP' is a CP with the
// acknowledge bit set, CPs a request for silence.
//
// Framing and CRC are those of MP (dsp/v34/session/mp.h); the length varies with the number of constellations.
#pragma once

#include <stdint.h>

#include "dsp/blocks/sequence.h"
#include "dsp/v90/coding/modulus.h"
#include "dsp/v90/coding/ucode.h"

namespace offhook::v90 {

/// V.92 with PCM upstream has the same content in another order, without an upstream rate and without CPs: CPt and CPu
/// (8.5.1, 8.7.3, Table 23).
enum class CpForm : uint8_t { kV90, kV92 };

/// The Ucodes of a constellation.
struct UcodeMask {
  uint16_t uchord[8];  ///< bit m of uchord[c]: Ucode 16 c + m

  bool has(int ucode) const { return (uchord[ucode >> 4] >> (ucode & 15) & 1) != 0; }
  void add(int ucode) { uchord[ucode >> 4] = static_cast<uint16_t>(uchord[ucode >> 4] | 1u << (ucode & 15)); }
  int points() const;  ///< how many; the M_i of 5.4.3
  friend bool operator==(const UcodeMask&, const UcodeMask&) = default;
};

struct Cp {
  static constexpr int kMinBits = 292;
  static constexpr int kMaxBits = 1788;
  static constexpr int kFillBits = 3;
  static constexpr uint8_t kMaxDrn = 22;

  bool data_mode;                     ///< CP; else CPt
  uint8_t drn;                        ///< downstream rate, 1..22; 0: cleardown
  bool silence;                       ///< a silent period is requested: CPs
  uint8_t shaping_bits;               ///< S_r: sign bits of a data frame that spectral shaping takes, 0..3
  bool acknowledge;                   ///< an MP was received: CP'
  bool a_law;                         ///< of the analogue modem's codec; else mu-law
  uint16_t upstream_mask;             ///< bit k: (k+2) * 2400 bit/s is enabled, k = 0..12
  uint8_t look_ahead;                 ///< l_d of spectral shaping, 0..3
  uint16_t trn1d_ratio;               ///< RMS of TRN1d at the transmitter over that at the codec's output, in 1/8192
  int8_t a1, a2, b1, b2;              ///< of the shaping filter, in 1/64
  uint8_t interval[kFrameIntervals];  ///< which constellation each interval uses, 0..5
  bool codec_differs;                 ///< the constellations at the codec's output follow
  UcodeMask constellation[kFrameIntervals];  ///< constellations() of them, at the transmitter
  UcodeMask codec[kFrameIntervals];          ///< as many, at the codec's output, if codec_differs

  int constellations() const;                                          ///< 1 more than the largest of interval[]
  int bits() const;                                                    ///< with the fill bits
  int k() const { return drn + shaping_bits + (data_mode ? 14 : 2); }  ///< bits of the modulus encoder, K of 5.4.3
  /// Downstream rate in bit/s: this over 3. 0: cleardown.
  int rate_thirds() const { return drn == 0 ? 0 : (drn + (data_mode ? 20 : 8)) * 4000; }
  friend bool operator==(const Cp&, const Cp&) = default;
};

/// @param[out] bits  [cp.bits()] one per byte, in order of time.  @pre every field within its stated range.
/// @return cp.bits().  Real-time: yes, O(bits).
int encode(const Cp& cp, uint8_t* bits);
/// CPt or CPu of V.92, with the first fill bit. @return how many
int encode_v92(const Cp& cp, uint8_t* bits);

/// Read a CP that may be damaged. @param[in] bits  [size], each 0 or 1
/// @return true when it lies within `size` except for its fill bits, and frame sync, start bits, indices and CRC are
/// right and drn is at most 22; else `cp` holds the fields as read. Reserved and fill bits are ignored.
/// Real-time: yes, O(bits).
bool decode(const uint8_t* bits, int size, Cp* cp, CpForm form = CpForm::kV90);

/// Finds CP sequences in a stream of descrambled bits, without waiting for the fill bits. Start bits keep the seventeen
/// ones of frame sync out of a sequence, so that each such run followed by a zero begins a new one.
class CpReceiver {
 public:
  CpReceiver() = default;
  explicit CpReceiver(CpForm form) : form_(form) {}
  /// @return true when this bit was the last CRC bit of a correct CP, now in `cp`, which had bits() bits. Real-time:
  /// yes; O(1), and O(bits) at the end of a sequence.
  bool put(int bit, Cp* cp);
  /// The sequence found, without fill. @return [size()] bits
  const uint8_t* bits() const { return bits_; }
  int size() const { return size_; }

 private:
  CpForm form_ = CpForm::kV90;
  uint8_t bits_[Cp::kMaxBits];
  int size_ = 0;
  int expected_ = 0;  // bits of this sequence without fill; 0: none is being read
  int ones_ = 0;
};

}  // namespace offhook::v90
