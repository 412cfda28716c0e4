// SPDX-License-Identifier: MIT
//
// Symbols of the network's clock to samples of the modem's own: the transmitter of V.92's PCM upstream, whose 8000
// symbols/s are derived from the digital network (6.2). A polyphase lowpass of 48 taps in 64 phases, straight lines
// between the phases: flat to 3450 Hz, 47 dB down at 4000, 60 dB at 4050. The digital modem cancels the rest
// near 4000 Hz (edge_canceller.h).
//
// Two high-passes of 120 Hz follow. A transformer removes the lowest frequencies anyway; but the echo of its slow
// response would be longer than the own echo canceller (NearEcho). With them the echo is 20 dB less (measured).
#pragma once

#include <stdint.h>

#include "dsp/blocks/kernels.h"

namespace offhook::v90 {

class SymbolShaper {
 public:
  static constexpr int kTaps = 48;
  static constexpr int kPhases = 64;

  /// Not real-time in the strict sense: fills tables (about 0.2 ms).
  void init(const Kernels& kernels = best_kernels());
  /// The next sample is `symbols` later than the last, about 1. Then put() as long as wants_symbol().
  void advance(double symbols) { until_ -= symbols; }
  /// The symbols from the next on are late by a fraction of a symbol.
  void delay(double symbols) { until_ += symbols; }
  bool wants_symbol() const { return until_ <= 0; }
  void put(float symbol) {
    at_ = at_ + 1 == kTaps ? 0 : at_ + 1;
    history_[at_] = history_[at_ + kTaps] = symbol;
    until_ += 1;
  }
  /// The sample. @pre !wants_symbol()  Real-time: yes, O(kTaps).
  float sample();

 private:
  const Kernels* kernels_ = nullptr;
  struct Coupling {
    float in = 0, out = 0;
  };
  Coupling coupling_[2];
  double until_ = 1;  // symbols until the next one is wanted
  int at_ = 0;
  float history_[2 * kTaps]{};
  float taps_[kPhases + 1][kTaps];
};

}  // namespace offhook::v90
