// SPDX-License-Identifier: MIT
#include "dsp/qam/noise_predictor.h"

namespace offhook::qam {
void NoisePredictor::put(Complex error) {
  constexpr int kMemory = 2048;
  ++count_;
  const float weight = 1.0f / static_cast<float>(count_ < kMemory ? count_ : kMemory);
  const Complex with[kOrder + 1] = {error, last_[0], last_[1], last_[2]};
  for (int k = 0; k <= kOrder; ++k) r_[k] += weight * (error * conj(with[k]) - r_[k]);
  last_[2] = last_[1];
  last_[1] = last_[0];
  last_[0] = error;
}

float NoisePredictor::solve(Complex* h) const {
  for (int k = 0; k < kOrder; ++k) h[k] = {};
  float left = r_[0].re;
  for (int m = 0; m < kOrder && left > 0; ++m) {
    Complex k = r_[m + 1];
    for (int j = 0; j < m; ++j) k += h[j] * r_[m - j];
    k = (-1 / left) * k;
    Complex next[kOrder];
    for (int j = 0; j < m; ++j) next[j] = h[j] + k * conj(h[m - 1 - j]);
    for (int j = 0; j < m; ++j) h[j] = next[j];
    h[m] = k;
    left *= 1 - norm(k);
  }
  return left;
}

}  // namespace offhook::qam
