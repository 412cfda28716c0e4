// SPDX-License-Identifier: MIT
#include "dsp/qam/noise_predictor.h"

#include <gtest/gtest.h>

#include "tests/unit/dsp/v34/random.h"

namespace offhook::qam {
namespace {

Complex gaussian(v34::Random& random, float sigma) {
  const auto re = static_cast<float>(random.gaussian()), im = static_cast<float>(random.gaussian());
  return (sigma / static_cast<float>(kSqrt2)) * Complex{re, im};
}

TEST(QamNoisePredictor, PowerIsTheMeanOfWhatItWasGiven) {
  NoisePredictor p;
  p.put({3, 4});
  EXPECT_FLOAT_EQ(p.power(), 25);
  p.put({0, 1});
  EXPECT_FLOAT_EQ(p.power(), 13);
  EXPECT_EQ(p.count(), 2);
  p.reset();
  EXPECT_EQ(p.count(), 0);
  EXPECT_EQ(p.power(), 0);
}

// Noise of 1 / (1 + a1 z^-1 + a2 z^-2 + a3 z^-3), which is whitened by its denominator.
TEST(QamNoisePredictor, FindsTheFilterThatWhitensAutoregressiveNoise) {
  constexpr Complex kA[3] = {{-0.8f, 0.3f}, {0.4f, -0.2f}, {-0.15f, 0.2f}};
  constexpr float kSigma = 0.1f;
  v34::Random random(1, 7);
  NoisePredictor p;
  Complex last[3]{};
  for (int n = 0; n < 40000; ++n) {
    Complex e = gaussian(random, kSigma);
    for (int k = 0; k < 3; ++k) e += (-1 * kA[k]) * last[k];
    last[2] = last[1], last[1] = last[0], last[0] = e;
    p.put(e);
  }
  Complex h[NoisePredictor::kOrder];
  const float left = p.solve(h);
  for (int k = 0; k < 3; ++k) {  // the mean of 2048 symbols: 1 / sqrt(4096) for each coordinate
    EXPECT_NEAR(h[k].re, kA[k].re, 0.07f) << k;
    EXPECT_NEAR(h[k].im, kA[k].im, 0.07f) << k;
  }
  EXPECT_NEAR(left / (kSigma * kSigma), 1, 0.1);
  EXPECT_GT(p.power(), 1.5f * left);
}

TEST(QamNoisePredictor, WhiteNoiseCannotBePredictedNorCanNothing) {
  v34::Random random(2, 7);
  NoisePredictor p;
  Complex h[NoisePredictor::kOrder] = {{1, 1}, {1, 1}, {1, 1}};
  EXPECT_EQ(p.solve(h), 0);
  for (const Complex& one : h) EXPECT_EQ(norm(one), 0);
  for (int n = 0; n < 20000; ++n) p.put(gaussian(random, 1));
  EXPECT_NEAR(p.solve(h), p.power(), 0.02);
  for (const Complex& one : h) EXPECT_LT(magnitude(one), 0.1f);
}

// The residual cannot increase with the order, for any noise: Levinson's reflections are within the circle.
TEST(QamNoisePredictor, IsNeverWorseThanNoPrediction) {
  v34::Random random(3, 7);
  for (int symbols = 1; symbols < 40; ++symbols) {
    NoisePredictor p;
    for (int n = 0; n < symbols; ++n) p.put(gaussian(random, 1));
    Complex h[NoisePredictor::kOrder];
    const float left = p.solve(h);
    EXPECT_GE(left, 0) << symbols;
    EXPECT_LE(left, p.power()) << symbols;
  }
}

}  // namespace
}  // namespace offhook::qam
