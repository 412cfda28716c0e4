// SPDX-License-Identifier: MIT
//
// The tones of Phase 2 (10.1.2), the two carriers of the INFO sequences, and the tone that begins a retrain (11.5).
#pragma once

#include "dsp/blocks/dpsk.h"
#include "dsp/blocks/tone.h"

namespace offhook::v34 {

inline constexpr int kToneAHz = 2400;
inline constexpr int kToneBHz = 1200;
inline constexpr int kGuardHz = 1800;
inline constexpr int kDpskCallHz = kToneBHz;
inline constexpr int kDpskAnswerHz = kToneAHz;

/// The signal of one end in Phase 2; the answer modem is 1 dB below nominal, plus guard tone (10.1.2.1, 10.1.2.3).
/// @param nominal_dbm0  of 10.1.2  @param guard_with_tone_db  guard tone during tone A, relative to nominal; during
/// bits it is -7 dB
constexpr DpskSignal phase2_signal(int carrier_hz, double nominal_dbm0, double guard_with_tone_db) {
  DpskSignal s{carrier_hz, nominal_dbm0};
  if (carrier_hz != kDpskAnswerHz) return s;
  s.level_dbm0 += -1;
  s.guard_hz = kGuardHz;
  s.guard_with_tone_dbm0 = nominal_dbm0 + guard_with_tone_db;
  s.guard_with_bits_dbm0 = nominal_dbm0 + -7;
  return s;
}

/// Detects a retrain's tone: more than 50 ms of it, and little else received (11.5). Pass it the residual of the echo
/// canceller; then data and speech do not mislead it.
class RetrainDetector {
 public:
  explicit RetrainDetector(int hz) : tone_(hz) {}
  /// @return true from the first certain sample on.  Real-time: yes.
  bool put(float x) {
    tone_.put(x);
    return clear_ms() > kLeastMs;
  }
  /// Duration of the tone without a reversal; 0 if there is no tone or it does not dominate.
  float clear_ms() const { return tone_.present() && tone_.share() > kLeastShare ? tone_.unbroken_ms() : 0; }
  void reset() { tone_.reset(); }

  static constexpr float kLeastMs = 54;  ///< more than 50 (11.5.1.2); a burst counts as 3 ms longer

 private:
  static constexpr float kLeastShare = 0.2f;  // with a guard tone 1 dB above it, it has 0.44
  ToneDetector tone_;
};

}  // namespace offhook::v34
