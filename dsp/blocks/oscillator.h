// SPDX-License-Identifier: MIT
//
// Tones at a sample rate of 8000 Hz whose frequency is a multiple of 5 Hz, from one table of 1600 samples: exact and
// without drift.
#pragma once

#include "dsp/blocks/complex.h"
#include "dsp/blocks/sincos.h"

namespace offhook {

inline constexpr int kOscillatorHz = 5;  ///< 8000 / 1600

struct OscillatorTable {
  static constexpr int kSize = 1600;
  Complex at[kSize];  ///< exp(2 pi i k / kSize)
};

constexpr OscillatorTable make_oscillator_table() {
  OscillatorTable t{};
  for (int k = 0; k < OscillatorTable::kSize; ++k) {
    const SinCos w = sincos_turns(static_cast<double>(k) / OscillatorTable::kSize);
    t.at[k] = {static_cast<float>(w.cos), static_cast<float>(w.sin)};
  }
  return t;
}
inline constexpr OscillatorTable kOscillatorTable = make_oscillator_table();

class Oscillator {
 public:
  constexpr Oscillator() = default;
  /// @pre hz is a multiple of 5, 0 <= hz < 8000
  constexpr explicit Oscillator(int hz) : step_(hz / kOscillatorHz) {}
  /// Changes the frequency without a phase jump.
  constexpr void tune(int hz) { step_ = hz / kOscillatorHz; }
  /// exp(2 pi i f n / 8000), n = 0, 1, ..  Real-time: yes, O(1).
  constexpr Complex next() {
    const Complex w = kOscillatorTable.at[at_];
    at_ += step_;
    if (at_ >= OscillatorTable::kSize) at_ -= OscillatorTable::kSize;
    return w;
  }

 private:
  int step_ = 0;
  int at_ = 0;
};

}  // namespace offhook
