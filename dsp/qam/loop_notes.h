// SPDX-License-Identifier: MIT
//
// Carrier and clock of a receiver from before its decisions went wrong. They are noted at regular times while all is
// well. The newest note may already contain wrong decisions, so that the one before it counts. The frequency is the
// mean of many notes, because the loops then run free: at 33 600 bit/s an error of 0.01 Hz turns the outer points off
// the grid in half a second.
#pragma once

#include <stdint.h>

#include "dsp/blocks/nco.h"

namespace offhook::qam {

/// Carrier and clock at one symbol.
struct Loops {
  Phase phase;
  float frequency = 0;   ///< turns a symbol
  double deviation = 0;  ///< of the clock
  uint32_t symbols = 0;

  /// The carrier's phase at another symbol, if carrier and clock do not change.
  Phase phase_at(uint32_t symbol) const {
    return phase + phase_of(static_cast<double>(symbol - symbols) * static_cast<double>(frequency));
  }
};

class LoopNotes {
 public:
  /// Notes both loops while reception is good.  Real-time: yes, O(1).
  void put(const Loops& now) {
    before_ = newest_;
    newest_ = now;
    count_ = count_ < kMean ? count_ + 1 : kMean;
    frequency_ += (now.frequency - frequency_) / static_cast<float>(count_);
  }
  void reset() { count_ = 0; }
  /// before() is there.
  bool known() const { return count_ > 1; }
  Loops before() const { return {before_.phase, frequency_, before_.deviation, before_.symbols}; }

 private:
  static constexpr int kMean = 64;
  Loops before_, newest_;
  float frequency_ = 0;  // mean
  int count_ = 0;
};

}  // namespace offhook::qam
