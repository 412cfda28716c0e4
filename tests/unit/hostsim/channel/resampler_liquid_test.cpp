// SPDX-License-Identifier: MIT
//
// The crystal's resampler against liquid's, tone by tone: the same gain to 0.02 dB, and one delay for all of the band.
// liquid interpolates between 1024 filters of 49 taps and 80 dB; a ratio of 1 + 2^-12 is exact in its float.
#include <gtest/gtest.h>

#include <cmath>

#include "hostsim/channel/resampler.h"
#include "tests/unit/liquid.h"

namespace offhook::hostsim {
namespace {

TEST(Resampler, GivesWhatLiquidsResamplerGives) {
  constexpr double kRate = 4097.0 / 4096;
  constexpr double kTonesHz[] = {100, 600, 1100, 1800, 2700, 3400};
  constexpr std::size_t kSkip = 500;
  std::vector<double> phase;
  for (const double hz : kTonesHz) {
    Resampler own(4096, 4097);
    resamp_rrrf liquid = resamp_rrrf_create(static_cast<float>(kRate), 24, 0.49f, 80, 1024);
    std::vector<float> a, b;
    for (int n = 0; n < 33'000; ++n) {
      const auto x = static_cast<float>(std::cos(2 * M_PI * std::fmod(hz / 8000 * n, 1.0)));
      own.push(x);
      while (own.ready()) a.push_back(own.pull());
      float out[4];
      unsigned written = 0;
      resamp_rrrf_execute(liquid, x, out, &written);
      b.insert(b.end(), out, out + written);
    }
    resamp_rrrf_destroy(liquid);
    const std::complex<double> ours = test::gain_at(a, hz / kRate / 8000, kSkip);
    const std::complex<double> theirs = test::gain_at(b, hz / kRate / 8000, kSkip);
    EXPECT_NEAR(20 * std::log10(std::abs(ours) / std::abs(theirs)), 0, 0.02) << hz;
    phase.push_back(std::arg(ours / theirs));
  }
  const double slope = std::remainder(phase[1] - phase[0], 2 * M_PI) / (kTonesHz[1] - kTonesHz[0]);
  for (std::size_t k = 0; k < phase.size(); ++k) {
    const double line = phase[0] + slope * (kTonesHz[k] - kTonesHz[0]);
    EXPECT_NEAR(std::remainder(phase[k] - line, 2 * M_PI), 0, 0.02) << kTonesHz[k];
  }
}

}  // namespace
}  // namespace offhook::hostsim
