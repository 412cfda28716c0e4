// SPDX-License-Identifier: MIT
//
// The signals of V.8 bis (08/96) 7.1 with which a station opens a transaction. Two tones together show that the
// sender is the initiating or the responding station, even while somebody speaks. One tone then names the signal.
//
//    CRe    1375 + 2002 Hz, 400 ms | 400 Hz, 100 ms
#pragma once

#include <stdint.h>

#include "dsp/blocks/oscillator.h"

namespace offhook::v8bis {

/// Frequency of segment 2 of the signals that the initiating station sends. Source: Table 2
enum class Signal : uint16_t { kMre = 650, kMrd = 1150, kCre = 400, kCrd = 1900, kEsi = 980 };

inline constexpr int kLowHz = 1375, kHighHz = 2002;  ///< segment 1 of the initiating station. Source: Table 1
inline constexpr int kSegment1 = 3200;               ///< samples, 400 ms. Source: 7.1.2
inline constexpr int kSegment2 = 800;                ///< samples, 100 ms. Source: 7.1.2
/// CRe and MRe are 12 to 15 dB below the level of other signals. Source: 7.1.4
inline constexpr double kAnsweringDb = -13.5;

/// Generates a signal of the initiating station.
class SignalGenerator {
 public:
  /// @param level_dbm0  of both segments; for MRe and CRe kAnsweringDb is added
  SignalGenerator(Signal signal, double level_dbm0);
  /// One sample of 8000 Hz, 0 after the end.  Real-time: yes, O(1).
  float next();
  bool done() const { return now_ == kSegment1 + kSegment2; }

 private:
  int segment2_hz_;
  float peak_;
  int now_ = 0;
};

/// Finds segment 1 of the initiating station's signals. It sends nothing.
class Segment1Detector {
 public:
  /// One sample of 8000 Hz.  Real-time: yes, O(1).
  void put(float x);
  /// Duration of the tones so far, in steps of kBlockMs; 0: they are absent.
  int steady_ms() const { return steady_ms_; }

  static constexpr int kBlockMs = 10;

 private:
  void end_block();

  // The tables have steps of 5 Hz. Within a block, the other 2 Hz turn a tone by 7 degrees.
  Oscillator low_{kLowHz}, high_{kHighHz / kOscillatorHz * kOscillatorHz};
  Complex low_sum_{}, high_sum_{};
  float power_ = 0;
  int in_block_ = 0;
  int steady_ms_ = 0;
};

}  // namespace offhook::v8bis
