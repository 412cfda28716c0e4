// SPDX-License-Identifier: MIT
//
// A numerically controlled oscillator: the complex carrier exp(2 pi i phase). The phase is 32 bits to the turn and
// wraps exactly, so a frequency is held to 8000 / 2^32 Hz for ever. The value comes from 1024 points and the Taylor
// series between them to the second power: error below 1.5e-7 (-136 dB), which bounds every spurious line.
#pragma once

#include <array>
#include <cstdint>

#include "dsp/blocks/fft.h"
#include "dsp/blocks/sincos.h"

namespace offhook {

class Nco {
 public:
  /// Phase step per sample, to the nearest 2^-32 turn. @pre |hz| <= sample_rate_hz / 2
  static constexpr std::uint32_t step_of(double hz, double sample_rate_hz) {
    const double turns = hz / sample_rate_hz;
    return static_cast<std::uint32_t>(static_cast<std::int64_t>(turns * 0x1p32 + (turns < 0 ? -0.5 : 0.5)));
  }

  explicit constexpr Nco(std::uint32_t step = 0, std::uint32_t phase = 0) : step_(step), phase_(phase) {}

  void set_step(std::uint32_t step) { step_ = step; }
  /// Moves the phase by `turns` of 2^-32; how a carrier loop corrects it.
  void adjust(std::int32_t turns) { phase_ += static_cast<std::uint32_t>(turns); }
  std::uint32_t phase() const { return phase_; }

  /// The carrier now; then one sample on. Real-time: yes, O(1).
  oh_complex next() {
    const oh_complex z = at(phase_);
    phase_ += step_;
    return z;
  }

  /// exp(2 pi i phase / 2^32). Real-time: yes, O(1).
  static oh_complex at(std::uint32_t phase) {
    const std::uint32_t nearest = phase + kHalfStep;  // wraps as the table does
    const oh_complex p = kPoint[nearest >> kBits];
    const float d = static_cast<float>(static_cast<std::int32_t>(phase - (nearest & ~(2 * kHalfStep - 1)))) * kRadians;
    const float c = 1 - 0.5f * d * d;
    return {p.re * c - p.im * d, p.im * c + p.re * d};
  }

 private:
  static constexpr int kBits = 22;  // of the phase, between two points
  static constexpr std::uint32_t kHalfStep = 1u << (kBits - 1);
  static constexpr float kRadians = 1.4629180792671596e-9f;  // 2 pi / 2^32
  static constexpr std::array<oh_complex, 1024> kPoint = [] {
    std::array<oh_complex, 1024> table{};
    for (int k = 0; k < 1024; ++k) {
      const SinCos w = sincos_turns(k / 1024.0);
      table[static_cast<unsigned>(k)] = {static_cast<float>(w.cos), static_cast<float>(w.sin)};
    }
    return table;
  }();

  std::uint32_t step_;
  std::uint32_t phase_;
};

}  // namespace offhook
