// SPDX-License-Identifier: MIT
//
// The receiver's interpolator against liquid's polyphase resampler, tone by tone: both have unit gain over the signal's
// band, and differ by one delay. Tolerances: 0.02 dB, the ripple of a Kaiser window of beta 6 (-63 dB: 0.7 parts in
// 1000, at both sides of each) and 2 mrad, the same as a phase.
#include <gtest/gtest.h>

#include <cmath>

#include "dsp/blocks/lowpass.h"
#include "tests/unit/liquid.h"

namespace offhook {
namespace {

TEST(Interpolator, PassesTheBandAsLiquidsResamplerDoes) {
  constexpr double kCarrierHz = 1800, kOutHz = 4800, kStep = 8000 / kOutHz;
  constexpr double kTonesHz[] = {-1000, -500, -100, 300, 700, 1000};  // from the carrier
  constexpr std::size_t kSkip = 200;
  const Interpolator::Lowpass lowpass = make_lowpass(kCarrierHz, 1200);
  std::vector<double> phase;
  for (const double tone_hz : kTonesHz) {
    Interpolator own;
    own.init(kCarrierHz, kStep, lowpass, best_kernels());
    resamp_crcf liquid = resamp_crcf_create(static_cast<float>(1 / kStep), 32, 0.25f, 70, 256);
    std::vector<std::complex<float>> a, b;
    for (int n = 0; n < 16000; ++n) {
      const double turns = std::fmod((kCarrierHz + tone_hz) / 8000 * n, 1.0);
      Complex y;
      if (own.put(static_cast<float>(std::cos(2 * M_PI * turns)), &y)) a.emplace_back(y.re, y.im);
      // The same tone, mixed down. Its image at minus twice the carrier must be removed by our lowpass.
      std::complex<float> x = std::polar(1.f, static_cast<float>(2 * M_PI * std::fmod(tone_hz / 8000 * n, 1.0)));
      std::complex<float> out[4];
      unsigned written = 0;
      resamp_crcf_execute(liquid, x, out, &written);
      b.insert(b.end(), out, out + written);
    }
    resamp_crcf_destroy(liquid);
    const std::complex<double> ours = test::gain_at(a, tone_hz / kOutHz, kSkip);
    const std::complex<double> theirs = test::gain_at(b, tone_hz / kOutHz, kSkip);
    EXPECT_NEAR(20 * std::log10(std::abs(ours) / std::abs(theirs)), 0, 0.02) << tone_hz;
    phase.push_back(std::arg(ours / theirs));
    double rest = 0;  // power in addition to the tone
    for (std::size_t k = kSkip; k < a.size(); ++k) {
      const auto tone = ours * std::polar(1.0, 2 * M_PI * std::fmod(tone_hz / kOutHz * static_cast<double>(k), 1.0));
      rest += std::norm(std::complex<double>(a[k]) - tone);
    }
    EXPECT_LT(10 * std::log10(rest / static_cast<double>(a.size() - kSkip)), -60) << tone_hz;
  }
  // Equal delay for all: phases are on a straight line over frequency. Two tones, 400 Hz apart, give its slope.
  const double slope = std::remainder(phase[4] - phase[3], 2 * M_PI) / (kTonesHz[4] - kTonesHz[3]);
  for (std::size_t k = 0; k < phase.size(); ++k) {
    const double line = phase[3] + slope * (kTonesHz[k] - kTonesHz[3]);
    EXPECT_NEAR(std::remainder(phase[k] - line, 2 * M_PI), 0, 0.01) << kTonesHz[k];
  }
}

}  // namespace
}  // namespace offhook
