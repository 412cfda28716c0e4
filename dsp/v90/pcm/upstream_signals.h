// SPDX-License-Identifier: MIT
//
// The signals of the analogue modem with PCM upstream (V.92 8.5, 8.7) and data, symbol by symbol in units of L_U.
// Each is started, runs for its length, and then another must be: which, is the procedure's business. All of them after
// the second begin of TRN1u are whole data frames long.
#pragma once

#include <stdint.h>

#include "dsp/blocks/scrambler.h"
#include "dsp/v90/coding/upstream.h"
#include "dsp/v90/coding/upstream_sequences.h"
#include "offhook/pump.h"

namespace offhook::v90 {

inline constexpr int kRuSymbols = 384;
inline constexpr int kRuBarSymbols = 24;
inline constexpr int kSuSymbols = 144;
inline constexpr int kLeastTrn1u = 2040;
inline constexpr int kMostTrn2u = 12000;
inline constexpr int kB1uFrames = 48;

/// The magnitudes of 2, 4 and 8 points by their bits but the sign, in units of L_U (Tables 28, 29).
float upstream_point(int points, int magnitude);

class UpstreamSignals {
 public:
  enum class Signal : uint8_t {
    kSilence,
    kRu,
    kRuBar,
    kTrn1u,
    kSu,
    kSuBar,
    kTwoPoints,  ///< Ja, and CPt with the ones before it
    kE1u,
    kTrn2u,
    kSequence,  ///< SUVu, CPu
    kE2u,
    kB1u,
    kData
  };

  /// @param symbols  0: without end, or the fixed length of E1u, E2u and B1u
  void start(Signal s, int symbols = 0);
  /// @param[in] bits  [size] kept by the caller until they were sent
  void start_two_points(const uint8_t* bits, int size);
  /// 4 or 8 points in TRN2u, kSequence and E2u.
  void set_points(int points) { points_ = points; }
  void start_sequence(const uint8_t* bits, int size);
  /// B1u follows: all memories at zero. @param extended  bit 29 of CPd
  void set_data(const Cpd& cpd);
  /// The signal ends with a data frame. @param symbols  at the least
  void end_at_frame(int64_t symbols = 1) {
    const int64_t least = sent_ > symbols ? sent_ : symbols;
    length_ = (least + kUpstreamIntervals - 1) / kUpstreamIntervals * kUpstreamIntervals;
  }
  /// The differential encoder's memory is zero.
  void clear_sign() { sign_ = 0; }

  Signal signal() const { return signal_; }
  int64_t sent() const { return sent_; }
  bool ended() const { return length_ != 0 && sent_ >= length_; }
  /// @pre !ended()  @param live  of kData: bits are taken from the port.  Real-time: yes.
  float next(const oh_bit_port& port, bool live);
  uint64_t bits_sent() const { return bits_sent_; }

 private:
  float coded(int bit);
  float multi_level(int bit_of_all);
  float data(const oh_bit_port& port, bool live);

  Signal signal_ = Signal::kSilence;
  int64_t sent_ = 0, length_ = 0;
  Scrambler scrambler_{kGpa};
  int sign_ = 0;  // of the last symbol; 1: negative
  int points_ = 4;
  const uint8_t* bits_ = nullptr;
  int size_ = 0, at_ = 0;
  UpstreamModulus modulus_;
  Precoder precoder_;
  uint8_t digits_[kUpstreamIntervals]{};
  uint64_t bits_sent_ = 0;
};

}  // namespace offhook::v90
