// SPDX-License-Identifier: MIT
//
// The answer tone of V.25 and V.8: 2100 Hz with phase reversals every 450 ms, which switch echo cancellers off. If the
// answering modem has V.8, the tone has an amplitude modulation of 15 Hz (ANSam, V.8 7.2). A digital modem of V.92
// answers with ANSpcm: reversals, no modulation, 2099.67 Hz.
#pragma once

#include <stdint.h>

#include "dsp/blocks/tone.h"

namespace offhook::v8 {

inline constexpr int kAnswerToneHz = 2100;
inline constexpr int kModulationHz = 15;
inline constexpr double kModulationDepth = 0.2;  ///< envelope varies from 0.8 to 1.2 of its mean
inline constexpr double kReversalPeriodS = 0.450;

enum class AnswerTone : uint8_t {
  kNone,
  kUnknown,  ///< 2100 Hz, too short for a decision
  kAns,      ///< no amplitude modulation; with reversals ANSpcm or the echo-disabling tone of V.25
  kAnsam,
};

/// Generates ANSam (7.2).
class AnsamGenerator {
 public:
  AnsamGenerator(double tx_level_dbm0, bool reversals);
  float next();  ///< Real-time: yes, O(1)

 private:
  Oscillator carrier_{kAnswerToneHz};
  Oscillator envelope_{kModulationHz};
  float peak_;
  bool reversals_;
  int age_ = 0;  // since the last reversal
};

/// Identifies the received answer tone. Sends nothing.
class AnswerToneDetector {
 public:
  /// One sample of 8000 Hz.  @return kReversal when a phase reversal is certain.  Real-time: yes.
  ToneEvent put(float x);
  void reset();

  /// kAnsam after 0.22 s of the tone, kAns after 0.42 s; kNone again after its end.
  AnswerTone tone() const { return tone_; }
  /// Amplitude modulation at 15 Hz, half the difference of the envelope's extremes over its mean.
  float depth() const { return depth_; }
  int reversals() const { return reversals_; }
  /// Level, offset from 2100 Hz, times of reversals.
  const ToneDetector& detector() const { return detector_; }

 private:
  static constexpr int kBlockMs = 200;  // three periods of 15 Hz, two of 10 Hz, four of 20 Hz
  static constexpr int kNeighbourHz[] = {10, 20};

  void end_block();

  ToneDetector detector_{kAnswerToneHz};
  AnswerTone tone_ = AnswerTone::kNone;
  Oscillator modulation_{kModulationHz * 8};  // steps of 1 ms
  Complex sum_{};
  Oscillator neighbour_[2] = {Oscillator{kNeighbourHz[0] * 8}, Oscillator{kNeighbourHz[1] * 8}};
  Complex neighbour_sum_[2]{};
  float mean_ = 0;
  int in_block_ = 0;
  int plain_blocks_ = 0;
  int faint_blocks_ = 0;
  int absent_ms_ = 0;
  int skip_ms_ = 0;
  float depth_ = 0;
  int reversals_ = 0;
};

}  // namespace offhook::v8
