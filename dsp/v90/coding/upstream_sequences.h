// SPDX-License-Identifier: MIT
//
// The sequences of V.92's Phases 3 and 4 with PCM upstream: Jp (8.6.3, Table 22), SUVu and SUVd (Tables 27, 31), CPd
// (8.8.3, Table 30). CPt and CPu are in cp.h, Ja in sequences.h. Framing and CRC are those of V.34's MP.
#pragma once

#include <stdint.h>

#include "dsp/blocks/sequence.h"
#include "dsp/v90/coding/sequences.h"
#include "dsp/v90/coding/upstream.h"

namespace offhook::v90 {

struct Jp {
  static constexpr int kBits = 72;
  static constexpr int kFillBits = 4;
  static constexpr TypeBits kTypeBits{};

  uint16_t extension;          ///< of Su, in symbols of 2^-16: moves the sampling phase of the exchange's A/D
  bool points8;                ///< CPu, E2u, SUVu and TRN2u with 8 points, else 4
  bool points8_renegotiation;  ///< the same in renegotiations
  friend bool operator==(const Jp&, const Jp&) = default;
};

struct Suv {
  static constexpr int kBits = 52;  ///< without the zeros that fill the last data frame
  static constexpr int kFillBits = 1;
  static constexpr TypeBits kTypeBits{1, 1};  // else it is a CP
  static constexpr int8_t kNoLevel = -16;

  bool wait_for_cp;    ///< analogue: requests that no CPd comes before a CPu (8.7.5, bit 26)
  int8_t level;        ///< analogue: 20 log10 of the prefilter output's RMS value times G, in 1/4 dB; kNoLevel
  bool wants_silence;  ///< in renegotiations
  bool acknowledge;    ///< SUV': the far CP was received
  friend bool operator==(const Suv&, const Suv&) = default;
};

/// CPus (8.7.3, Table 24): a CPu of a renegotiation in which only the rate, if anything, differs from the last CPu.
struct ShortCp {
  static constexpr int kBits = 52;  ///< as Suv
  static constexpr int kFillBits = 1;
  static constexpr TypeBits kTypeBits{0b001, 3};  // a CP; type 2

  uint8_t drn;       ///< as in Cp
  bool acknowledge;  ///< CPus': CPd was received
  friend bool operator==(const ShortCp&, const ShortCp&) = default;
};

/// @param[out] bits  one per byte, in order of time  @return how many, without fill beyond the first bit.
/// @pre every field within its stated range.  Real-time: yes, O(bits).
int encode(const Jp& jp, uint8_t* bits);       ///< bits [Jp::kBits]
int encode(const Suv& suv, uint8_t* bits);     ///< bits [Suv::kBits]
int encode(const ShortCp& cp, uint8_t* bits);  ///< bits [ShortCp::kBits]
int encode(const Cpd& cpd, uint8_t* bits);     ///< bits [kMostCpdBits]
inline constexpr int kMostCpdBits =
    51 + 102 + 68 + 17 * kMostTotalTaps + 85 + 17 * kConstellationSets * kMostPositivePoints + 18;

bool decode(const uint8_t* bits, Jp* jp);       ///< bits [Jp::kBits - kFillBits]
bool decode(const uint8_t* bits, Suv* suv);     ///< bits [Suv::kBits - kFillBits]
bool decode(const uint8_t* bits, ShortCp* cp);  ///< bits [ShortCp::kBits - kFillBits]
/// @param[in] bits  [size]  @return true when all but the fill lies within `size` and is right.  Parts that are absent
/// leave their fields unchanged.
bool decode(const uint8_t* bits, int size, Cpd* cpd);

/// Finds CPd in a stream of descrambled bits, with its last CRC bit.
class CpdReceiver {
 public:
  /// @return true: `cpd` has new parts.  Real-time: yes, O(1), and O(bits) at the end of a sequence.
  bool put(int bit, Cpd* cpd);
  int size() const { return size_; }  ///< bits of the sequence found, without fill

 private:
  uint8_t bits_[kMostCpdBits];
  int size_ = 0;
  int expected_ = 0;  // bits up to the next field that determines a length; 0: none is being read
  bool whole_ = false;
  int ones_ = 0;
};

}  // namespace offhook::v90
