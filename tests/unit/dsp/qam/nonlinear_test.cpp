// SPDX-License-Identifier: MIT
#include "dsp/qam/nonlinear.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "dsp/v34/session/data_mode.h"

namespace offhook::v34 {
namespace {

using qam::nonlinear_gain;
using qam::NonlinearEncoder;

TEST(V34Nonlinear, GainIsThatOf934) {
  const float energy[] = {0, 0.5f, 1, 2, 3, 4};
  const float phi[] = {1, 1.026245f, 1.052897f, 1.107422f, 1.163574f, 1.221354f};
  for (int k = 0; k < 6; ++k) {
    EXPECT_NEAR(nonlinear_gain(kNonlinearTheta * energy[k]), phi[k], 1e-6f);
    const NonlinearEncoder encoder(kNonlinearTheta, 100);
    float re = 6 * std::sqrt(energy[k]);
    float im = 8 * std::sqrt(energy[k]);
    encoder.encode(&re, &im);
    EXPECT_NEAR(re, 6 * std::sqrt(energy[k]) * phi[k], 1e-5f);
    EXPECT_NEAR(im, 8 * std::sqrt(energy[k]) * phi[k], 1e-5f);
  }
}

TEST(V34Nonlinear, ThetaZeroChangesNothing) {
  const NonlinearEncoder off(0, 100);
  float re = 12.5f;
  float im = -7;
  off.encode(&re, &im);
  off.decode(&re, &im);
  EXPECT_EQ(re, 12.5f);
  EXPECT_EQ(im, -7);
}

TEST(V34Nonlinear, DecoderInvertsItUpToTwentyTimesTheMeanEnergy) {
  const NonlinearEncoder warp(kNonlinearTheta, 100);
  for (float r = 0; r < 38; r += 0.05f) {  // amplitude before the warp; 20 times the mean energy after it
    float re = r * 0.6f;
    float im = r * -0.8f;
    warp.encode(&re, &im);
    if (re * re + im * im > 2000) break;
    warp.decode(&re, &im);
    ASSERT_NEAR(re, r * 0.6f, 2e-6f * (1 + r)) << r;
    ASSERT_NEAR(im, r * -0.8f, 2e-6f * (1 + r)) << r;
  }
}

TEST(V34Nonlinear, TheInverseGainIsTheSolutionToTheLastBitOrTwo) {
  for (double zeta = 0; zeta < 3.1; zeta += 1e-4) {
    const double gain = 1 + zeta / 6 + zeta * zeta / 120;
    const double t = zeta * gain * gain;
    ASSERT_LT(t, qam::InverseNonlinearGain::kMost);
    ASSERT_NEAR(qam::kInverseNonlinearGain(static_cast<float>(t)), 1 / gain, 1.2e-7) << t;
  }
}

TEST(V34Nonlinear, DecoderSurvivesAnything) {
  const NonlinearEncoder warp(kNonlinearTheta, 1);
  for (const float v : {1e3f, 1e15f, std::numeric_limits<float>::infinity(), std::nanf("")}) {
    float re = v;
    float im = 0;
    warp.decode(&re, &im);
    EXPECT_FALSE(re < v / 3);  // still large, or NaN
  }
}

}  // namespace
}  // namespace offhook::v34
