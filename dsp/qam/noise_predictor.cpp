// SPDX-License-Identifier: MIT
#include "dsp/qam/noise_predictor.h"

namespace offhook::v34 {
namespace {

int16_t to_q14(float v) {
  const float x = v * 16384;
  if (!(x > -32768)) return -32768;
  if (x > 32767) return 32767;
  return static_cast<int16_t>(x < 0 ? x - 0.5f : x + 0.5f);
}

}  // namespace

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

float NoisePredictor::snr(PrecoderCoefficients* h) const {
  // Least that it must gain, and what the precoder's dither (up to 8/3 of energy) costs a constellation that has this
  // ratio at a noise variance of 0.18 a dimension.
  constexpr float kLeastGain = 1.02f, kDither = 7.5f;
  float left = 0;
  *h = solve(&left);
  if (!(power() > 0 && left > 0)) return 0;
  if (power() > left * kLeastGain * (1 + kDither * left)) return 1 / left;
  *h = {};
  return 1 / power();
}

PrecoderCoefficients NoisePredictor::solve(float* remaining) const {
  Complex h[kOrder]{};
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
  if (remaining != nullptr) *remaining = left;
  PrecoderCoefficients c{};
  for (int k = 0; k < kOrder; ++k) c.h[k] = {to_q14(h[k].re), to_q14(h[k].im)};
  return c;
}

}  // namespace offhook::v34
