// SPDX-License-Identifier: MIT
#include "hostsim/channel/resampler.h"

#include <gtest/gtest.h>

#include "tests/unit/hostsim/channel/tone.h"

namespace offhook::hostsim {
namespace {

constexpr std::uint64_t kBillion = 1'000'000'000;

std::vector<double> resample(Resampler& r, double hz, std::size_t inputs) {
  std::vector<double> y;
  for (std::size_t i = 0; i < inputs; ++i) {
    r.push(static_cast<float>(10'000 * std::cos(test::kTwoPi * std::fmod(hz * static_cast<double>(i) / 8000, 1.0))));
    while (r.ready()) y.push_back(r.pull());
  }
  return y;
}

TEST(Resampler, ImagesAndAliasesAreBelowMinus70dBAndTheGainIsFlat) {
  for (std::uint64_t denominator : {kBillion + 1'000'000, kBillion + 30'001, kBillion - 50'000})
    for (double hz : {50.0, 300.0, 1000.0, 1800.0, 2700.0, 3400.0, 3500.0}) {
      Resampler r(kBillion, denominator);
      const auto y = resample(r, hz, 40'000);
      const double out_hz = hz * kBillion / static_cast<double>(denominator);
      EXPECT_LT(test::residue_db(y, out_hz, 100, 30'000), -70) << hz << " Hz, " << denominator;
      EXPECT_NEAR(test::db(std::abs(test::cosine_in(y, out_hz, 100, 30'000)) / 10'000), 0, 0.01) << hz;
    }
}

TEST(Resampler, DelayIsExactAndDoesNotDriftInTenMinutes) {
  const std::uint64_t denominator = kBillion + 123'457;  // 123.457 ppm
  Resampler r(kBillion, denominator);
  const auto y = resample(r, 1000, 4'800'000);
  const double out_hz = 1000.0 * kBillion / static_cast<double>(denominator);
  for (std::size_t at : {1'000u, 2'000'000u, 4'790'000u}) {
    const double turns = std::arg(test::cosine_in(y, out_hz, at, 8'000)) / test::kTwoPi;
    EXPECT_NEAR(std::remainder(turns + Resampler::kDelay * 1000.0 / 8000, 1.0) * 8, 0, 1e-4) << at;  // in samples
  }
}

TEST(Resampler, EqualClocksArePureDelay) {
  Resampler r(7, 7);
  for (std::size_t i = 0; i < 5'000; ++i) {
    r.push(static_cast<float>(i * i % 977));
    ASSERT_TRUE(r.ready());
    const std::size_t j = i - Resampler::kDelay;
    EXPECT_EQ(r.pull(), i < Resampler::kDelay ? 0.f : static_cast<float>(j * j % 977));
  }
}

}  // namespace
}  // namespace offhook::hostsim
