// SPDX-License-Identifier: MIT
//
// The settings of the audio pump: the response of a room, and the gains of the equaliser.
#pragma once

#include <stdint.h>

#include "dsp/audio/convolver.h"
#include "dsp/audio/equaliser.h"

namespace offhook::audio {

inline constexpr double kGainsDb[Equaliser::kBands] = {4, 3, 1.5, 0, -1, -1, 0, 1, 2, 3};

/// Uniform noise from -1 to 1. Source: Knuth, TAOCP 2, 3.3.4, Table 1, line 26 (the multiplier).
class Noise {
 public:
  explicit constexpr Noise(uint64_t seed) : state_(seed) {}
  constexpr float next() {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return static_cast<float>(static_cast<int32_t>(state_ >> 32)) * 0x1p-31f;
  }

 private:
  uint64_t state_;
};

/// The direct sound, and an echo of noise with 6 dB less energy, which falls by 60 dB over the response.
/// @param[out] taps  [n], n >= 32
inline void room_response(float* taps, int n) {
  constexpr double kLn1000 = 6.907755278982137, kNoisePower = 1.0 / 3;
  const double decay = 1 - kLn1000 / n;
  // The energy of the echo: the sum of a geometric series.
  double level = square_root(static_cast<float>(0.25 / (kNoisePower / (1 - decay * decay))));
  Noise noise(1);
  for (int t = 0; t < n; ++t, level *= decay) taps[t] = static_cast<float>(level) * noise.next();
  taps[0] = 1;
}

}  // namespace offhook::audio
