// SPDX-License-Identifier: MIT
#include "dsp/v90/pcm/upstream_spacing.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace offhook::v90 {
namespace {

constexpr float kDistance = 6;

UpstreamSpacing spacing_for(const UpstreamSpacing::Noise& noise) {
  UpstreamSpacing spacing;
  spacing.begin(noise, kDistance);
  for (int k = 0; k < 10'000 && !spacing.work(); ++k) {
  }
  return spacing;
}

/// The noise of a codec alone, whose errors are equally distributed within a step or Gaussian.
UpstreamSpacing::Noise of_codec(float equal_share, float echo) {
  UpstreamSpacing::Noise noise{Law::kMu, echo, {}, {}, 0};
  for (int c = 0; c < kUchords; ++c) {
    const float step = quantiser_step(Law::kMu, c);
    noise.variance[c] = step * step / 12;
    noise.equal[c] = equal_share * noise.variance[c];
  }
  return noise;
}

TEST(V92Spacing, IsTheDistanceForGaussianNoise) {
  const UpstreamSpacing spacing = spacing_for(of_codec(0, 0));
  for (const float level : {0.f, 50.f, 200.f, 600.f, 1400.f, 3000.f, 6000.f}) {
    const float step = quantiser_step(Law::kMu, uchord_of(Law::kMu, level));
    EXPECT_NEAR(spacing.at(level), kDistance * step / std::sqrt(12.f), 0.06f * step) << level;
    EXPECT_NEAR(spacing.variance(level), step * step / 12, 0.05f * step * step) << level;
  }
}

// A step has no tails: points a little further apart than one are enough.
TEST(V92Spacing, OfEquallyDistributedErrorsIsLittleMoreThanAStep) {
  const UpstreamSpacing spacing = spacing_for(of_codec(1, 0));
  for (const float level : {50.f, 200.f, 600.f, 1400.f, 3000.f, 6000.f}) {
    const float step = quantiser_step(Law::kMu, uchord_of(Law::kMu, level));
    EXPECT_GT(spacing.at(level), step) << level;
    EXPECT_LT(spacing.at(level), 1.4f * step) << level;
  }
}

TEST(V92Spacing, GrowsWithTheEchoAndTheInterference) {
  UpstreamSpacing::Noise noise = of_codec(1, 0);
  const float alone = spacing_for(noise).at(100);
  noise.echo = 300;
  const float with_echo = spacing_for(noise).at(100);
  EXPECT_GT(with_echo, 1.5f * alone);
  noise.intersymbol = 100;
  EXPECT_GT(spacing_for(noise).at(100), with_echo + 10);
}

TEST(V92NoiseFit, HasMeanSquareAndDistributionOfEachUchord) {
  std::mt19937 random(1);
  std::uniform_real_distribution<float> equal(-32, 32);
  std::normal_distribution<float> normal(0, 20);
  NoiseFit fit;
  for (int k = 0; k < 20'000; ++k) {
    const float a = equal(random), b = normal(random);
    fit.put(3, 64, a * a);
    fit.put(4, 128, b * b);
  }
  EXPECT_NEAR(fit.variance(3), 64 * 64 / 12., 10);
  EXPECT_NEAR(fit.variance(4), 400, 15);
  EXPECT_NEAR(fit.variance(6), 16 * fit.variance(4), 1e-3) << "four times for each Uchord without samples";
  EXPECT_NEAR(fit.variance(0), fit.variance(3), 1e-3);
  EXPECT_GT(fit.equal_share(3), 0.97);
  EXPECT_LT(fit.equal_share(4), 0.3);
  EXPECT_LT(fit.effective(), (fit.variance(3) + fit.variance(4)) / 2) << "the harmonic mean";
}

}  // namespace
}  // namespace offhook::v90
