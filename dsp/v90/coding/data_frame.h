// SPDX-License-Identifier: MIT
//
// The data frames of V.90's downstream (5.4): D = K + S bits become six PCM codes, and back. The S sign bits come first
// in time, then the K bits of the modulus encoder; its digits are labels of points, the signs come from the spectral
// shaper.
#pragma once

#include <stdint.h>

#include "dsp/v90/coding/cp.h"
#include "dsp/v90/coding/modulus.h"
#include "dsp/v90/coding/power.h"
#include "dsp/v90/coding/spectral_shaper.h"
#include "dsp/v90/coding/ucode.h"

namespace offhook::v90 {

/// The data frame that a CP or CPt requests.
struct FrameParameters {
  uint8_t k = 0;             ///< bits of the modulus encoder
  uint8_t shaping_bits = 0;  ///< S_r
  uint8_t look_ahead = 0;    ///< l_d, in shaping frames
  ShapingFilter filter{};
  Law law = Law::kMu;  ///< of the digital modem's network
  LabelledPoints points{};

  static constexpr int kMaxBits = kMaxModulusBits + kFrameIntervals;
  int sign_bits() const { return kFrameIntervals - shaping_bits; }
  int bits() const { return k + sign_bits(); }  ///< D
};

/// The points of a CP in the order of their labels.
LabelledPoints labelled_points(const UcodeMask* constellation, const uint8_t* interval);

/// @param[out] p  its data frame  @return false when no digital modem can do that: a rate outside Table 2 or Table 17,
/// or too few points (5.4.3). A cleardown's CP (drn 0) has none.  Real-time: yes, O(6 * kUcodes).
bool frame_parameters(const Cp& cp, Law law, FrameParameters* p);

/// Bits to PCM codes. Scrambling is the caller's. With look-ahead the codes of a frame depend on frames to come: put()
/// them first, as many as wants_frame() requests, or declare with end() that none will come.
class FrameEncoder {
 public:
  FrameEncoder() = default;
  /// All memories at zero; 8.6.1, 8.6.5.
  explicit FrameEncoder(const FrameParameters& p);
  const FrameParameters& parameters() const { return p_; }

  bool wants_frame() const { return !ended_ && queued_ < frames_ + p_.look_ahead; }
  /// One more data frame. @param[in] bits  [parameters().bits()], one per byte, in order of time  @pre wants_frame()
  void put(const uint8_t* bits);
  /// As above. @param bits  the first in time in bit 0
  void put(uint64_t bits);
  void end() { ended_ = true; }
  /// Whether everything that was put has been taken.
  bool empty() const { return queued_ == 0; }
  /// @param[out] codes  [6] the next data frame  @pre !wants_frame() and !empty()
  /// Real-time: yes, O(2^look_ahead).
  void next(Pcm* codes);

 private:
  static constexpr int kMost = 2 * 3 + kMaxLookAhead;

  FrameParameters p_;
  int frames_ = 1;  // shaping frames of a data frame
  int symbols_ = kFrameIntervals;
  bool ended_ = false;
  int queued_ = 0;  // shaping frames
  SpectralShaper::Frame frame_[kMost]{};
  uint8_t ucode_[kMost][kFrameIntervals]{};
  SignEncoder signs_;
  SpectralShaper shaper_;
};

/// Signs and labels of a data frame to bits. Descrambling is the caller's.
/// @param[in,out] sign_decoder  of the frames before, with p.shaping_bits  @param[in] signs  [6] 1: positive
/// @param[in] labels  [6] each below its interval's count  @param[out] bits  [p.bits()]; the signs' are right from the
/// second data frame on, or as in SignDecoder
/// @return the number that the labels make: below 2^K if they are right.  Real-time: yes, O(1).
uint64_t decode_frame(const FrameParameters& p, SignDecoder* sign_decoder, const uint8_t* signs, const uint8_t* labels,
                      uint8_t* bits);

/// The same, frame after frame.
class FrameDecoder {
 public:
  FrameDecoder() = default;
  explicit FrameDecoder(const FrameParameters& p) : p_(p), signs_(p.shaping_bits) {}
  const FrameParameters& parameters() const { return p_; }
  /// As decode_frame().  Real-time: yes, O(1).
  uint64_t put(const uint8_t* signs, const uint8_t* labels, uint8_t* bits) {
    return decode_frame(p_, &signs_, signs, labels, bits);
  }

 private:
  FrameParameters p_;
  SignDecoder signs_;
};

}  // namespace offhook::v90
