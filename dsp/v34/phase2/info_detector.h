// SPDX-License-Identifier: MIT
//
// Finds INFO sequences and INFOMARKS in the decisions of a DPSK receiver.
#pragma once

#include "dsp/v34/phase2/info.h"
#include "dsp/v34/phase2/tones.h"

namespace offhook::v34 {

/// Finds sequences of one kind in the decisions of a receiver.
template <class Info>
class InfoDetector {
 public:
  struct Found {
    Info info;
    float peak;                 ///< amplitude of the carrier, int16 units
    float clarity;              ///< mean |cosine| of the turns: 0.64 for noise, 1 on a clean line
    float frequency_offset_hz;  ///< received minus nominal carrier
    float age_samples;          ///< time from the middle of the last CRC bit on the line to this sample
  };

  /// @return true if a sequence was found: see found(). This is one symbol after the first of the eight streams had it,
  /// when all were checked.  Real-time: yes.
  bool put(const DpskDecision& d) {
    Stream& s = stream_[d.phase];
    constexpr float k = 1.f / 12;  // weight of the signal before an INFO0: 2 %
    const float cosine = d.bit ? -d.turn.re : d.turn.re;
    s.clarity += k * (cosine - s.clarity);
    s.peak += k * (d.peak - s.peak);
    s.turn += k * ((d.bit ? -1.f : 1.f) * d.turn - s.turn);  // a one turned it by half a turn; the rest is the offset
    Info info;
    if (s.receiver.put(d.bit, &info) && s.clarity > kLeastClarity) {
      if (waiting_ == 0) waiting_ = DpskReceiver::kPhases, best_.clarity = 0;
      if (s.clarity > best_.clarity) {
        best_ = {info, s.peak, s.clarity, angle_turns(s.turn) * kDpskBaud, 0};
        best_waiting_ = waiting_;
      }
    }
    if (waiting_ == 0 || --waiting_ > 0) return false;
    best_.age_samples = DpskReceiver::kDelaySamples + static_cast<float>(best_waiting_ - 1) * (8000.f / 4800);
    return true;
  }
  const Found& found() const { return best_; }

 private:
  struct Stream {
    InfoReceiver<Info> receiver;
    float clarity = 0;
    float peak = 0;
    Complex turn{};
  };
  static constexpr float kLeastClarity = 0.75f;
  Stream stream_[DpskReceiver::kPhases];
  Found best_{};
  int best_waiting_ = 0;
  int waiting_ = 0;
};

/// The caller has begun Phase 2: its INFO0c, which is sigC of V.8 (8.2.3), was received.
class SigCDetector {
 public:
  /// One sample of 8000 Hz.  Real-time: yes.
  bool put(float x) {
    DpskDecision decision;
    return dpsk_.put(x, &decision) && info0c_.put(decision);
  }

 private:
  DpskReceiver dpsk_{kDpskCallHz};
  InfoDetector<Info0> info0c_;
};

/// Finds INFOMARKS, continuous ones (10.1.2.3.6), more than any INFO sequence contains.
class InfoMarksDetector {
 public:
  static constexpr int kOnes = 40;
  /// @return whether they are being received.  Real-time: yes.
  bool put(const DpskDecision& d) {
    int& ones = ones_[d.phase];
    const bool clear = d.turn.re < -0.7f;
    ones = clear ? ones + (ones < 60000) : 0;
    return ones >= kOnes;
  }
  void reset() {
    for (int& n : ones_) n = 0;
  }

 private:
  int ones_[DpskReceiver::kPhases]{};
};

}  // namespace offhook::v34
