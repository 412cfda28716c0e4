// SPDX-License-Identifier: MIT
//
// A tone and the reversals of its phase: the answer tone, AA and AC of V.32bis, tones A and B of V.34.
//
// The receiver mixes the tone to 0 Hz and averages over 1/150 s. That window has zeros at every multiple of 150 Hz, so
// it rejects all other tones on that grid at any level: guard tone, line probing, and echoes of both. A reversal moves
// the average through zero along a straight line. The zero crossing is the time of the reversal, with an error of about
// 0.1 ms at 10 dB of SNR. Phases are compared over only 10 ms, so that a frequency offset of 7 Hz turns them by at most
// 25 degrees.
#pragma once

#include <stdint.h>

#include "dsp/blocks/oscillator.h"

namespace offhook {

/// The event that a sample caused.
enum class ToneEvent : uint8_t { kNone, kReversal };

/// Finds one tone and the reversals of its phase. Sends nothing.
class ToneDetector {
 public:
  /// @param hz  a multiple of 5 Hz
  explicit ToneDetector(int hz) : mixer_(hz) {}

  /// One sample at 8000 Hz.  @return kReversal when a reversal is certain, about 6 ms after it occurred; its time is
  /// then reversal_time().  Real-time: yes; most of the work is done at every eighth sample.
  ToneEvent put(float x) {
    sample_[now_ % kStep] = x;
    ++now_;
    return now_ % kStep == 0 ? step() : ToneEvent::kNone;
  }

  /// Forgets all received samples; the clock continues.
  void reset();

  /// Duration of the uninterrupted tone; 0: no tone. Reversals do not interrupt it. The detector's delay of 14 ms is
  /// included, so a tone of 50 ms reaches 50 ms.
  float steady_ms() const { return steady_ > 0 ? static_cast<float>(steady_ + kUnseen) : 0; }
  bool present() const { return steady_ > 0; }
  /// The time without a reversal: distinguishes a tone from an INFO sequence with long runs of zeros.
  float unbroken_ms() const {
    const auto since = static_cast<float>(since_reversal_);
    return steady_ms() < since ? steady_ms() : since;
  }
  /// Amplitude, int16 units.
  float peak() const { return peak_; }
  /// Share of the tone in the total received power, 0 to 1. A data signal has a twentieth of its power in this band. A
  /// tone has more than a fifth, at any level of the guard tone.
  float share() const { return share_; }
  /// Received minus nominal frequency, +-50 Hz; a mean over about 40 ms.
  float frequency_offset_hz() const;

  /// Middle of the last reversal, in samples since construction, with fraction.
  double reversal_time() const { return reversal_time_; }
  /// Duration of the tone before the last reversal.
  float steady_before_reversal_ms() const { return steady_before_; }
  /// Samples since construction.
  uint64_t now() const { return now_; }

  /// The newest average over 1/150 s, once per millisecond, and its delay; for the answer tone and for observers.
  Complex average() const { return at(0); }
  static constexpr double kDelaySamples = 31.5;  ///< middle of the window

 private:
  static constexpr int kWindow = 64;  // 53 1/3 samples and soft edges
  static constexpr int kStep = 8;     // one output per millisecond
  static constexpr int kLag = 10;     // phases are compared over 10 ms
  static constexpr int kSettle = 18;  // window and lag
  static constexpr int kUnseen = 14;  // delay until a tone is detected
  static constexpr int kHistory = 32;

  Complex at(int age) const { return history_[(newest_ + kHistory - age) % kHistory]; }
  Complex turned(int milliseconds) const;
  void mix();
  ToneEvent step();
  bool find_reversal(Complex old, float larger);

  float sample_[kStep]{};  // as received
  Oscillator mixer_;
  alignas(64) Complex window_[kWindow]{};  // mixed
  float power_[kWindow / kStep]{};
  int in_ = 0;  // a multiple of kStep
  uint64_t now_ = 0;
  Complex history_[kHistory]{};
  int newest_ = 0;
  int steady_ = 0;   // ms
  int lost_ = 1000;  // ms since the tone was last steady
  int steady_at_loss_ = 0;
  int since_reversal_ = 1 << 20;  // ms
  int hold_ = 0;                  // ms in which a reversal passes through the comparison
  float peak_ = 0;
  float share_ = 0;
  Complex turn_{};  // mean of the turn in a millisecond
  double reversal_time_ = 0;
  float steady_before_ = 0;
};

}  // namespace offhook
