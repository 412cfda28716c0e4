// SPDX-License-Identifier: MIT
#include "driver/live/sound_rates.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>
#include <vector>

#include "driver/live/card_kind.h"
#include "tests/realtime/realtime_guard.h"

namespace offhook {
namespace {

constexpr double kAmplitude = 8000;
constexpr std::size_t kSettled = 256;  // samples of the lower rate

std::vector<std::int16_t> tone(double hz, double rate_hz, std::size_t n) {
  std::vector<std::int16_t> x(n);
  for (std::size_t i = 0; i < n; ++i)
    x[i] = static_cast<std::int16_t>(
        std::lround(kAmplitude * std::sin(2 * std::numbers::pi * hz / rate_hz * static_cast<double>(i))));
  return x;
}

/// Level of a frequency relative to kAmplitude, dB. `n` samples of a whole number of its periods, after kSettled.
double level_db(const std::vector<std::int16_t>& x, double hz, double rate_hz, std::size_t n) {
  std::complex<double> sum = 0;
  const std::size_t first = x.size() - n;
  for (std::size_t i = 0; i < n; ++i)
    sum += static_cast<double>(x[first + i]) *
           std::polar(1., -2 * std::numbers::pi * hz / rate_hz * static_cast<double>(i));
  return 20 * std::log10(std::abs(sum) * 2 / static_cast<double>(n) / kAmplitude + 1e-9);
}

class SoundRatesTest : public testing::TestWithParam<std::uint32_t> {};

TEST_P(SoundRatesTest, DividingKeepsTheBandAndFoldsNothingIntoIt) {
  const std::uint32_t ratio = GetParam();
  const double slow = 8000, fast = slow * ratio;
  const auto heard_db = [&](double hz, double seen_hz) {
    RateDivider divider(ratio);
    const std::vector<std::int16_t> in = tone(hz, fast, ratio * (kSettled + 4000));
    std::vector<std::int16_t> out(kSettled + 4000);
    divider.process(in.data(), out.data(), out.size());
    return level_db(out, seen_hz, slow, 4000);
  };
  for (const double hz : {20., 300., 1000., 3400., 3600.}) EXPECT_NEAR(heard_db(hz, hz), 0, 0.1) << hz;
  // What would be seen at 3600 Hz and below.
  for (const double hz : {4400., 5000., 7000.}) EXPECT_LT(heard_db(hz, slow - hz), -75) << hz;
  if (ratio > 2) {
    EXPECT_LT(heard_db(9000, 1000), -75);
    EXPECT_LT(heard_db(fast / 2 - 100, std::abs(std::remainder(fast / 2 - 100, slow))), -75);
  }
}

TEST_P(SoundRatesTest, MultiplyingKeepsTheBandAndAddsNoImages) {
  const std::uint32_t ratio = GetParam();
  const double slow = 8000, fast = slow * ratio;
  for (const double hz : {20., 300., 1000., 3400., 3600.}) {
    RateMultiplier multiplier(ratio);
    const std::vector<std::int16_t> in = tone(hz, slow, kSettled + 4000);
    std::vector<std::int16_t> out(ratio * in.size());
    multiplier.process(in.data(), out.data(), in.size());
    EXPECT_NEAR(level_db(out, hz, fast, 4000 * ratio), 0, 0.1) << hz;
    EXPECT_LT(level_db(out, slow - hz, fast, 4000 * ratio), -75) << hz;
    if (ratio > 2) {
      EXPECT_LT(level_db(out, slow + hz, fast, 4000 * ratio), -75) << hz;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Ratios, SoundRatesTest, testing::Values(2, 3, 4, 6, 12));

oh_streams pcm_streams() {
  return sound_streams({.rates = kModemRates}, 2 * OH_MODEM_RATE_HZ);
}

TEST(SoundRates, APieceMayEndAnywhere) {
  SoundRates whole(pcm_streams(), 48'000, 48'000), pieces = whole;
  constexpr std::size_t kPeriods = 700;
  const std::vector<std::int16_t> device = tone(700, 48'000, 6 * kPeriods), card = tone(500, 8000, kPeriods);
  std::vector<std::int16_t> a(2 * kPeriods), b(2 * kPeriods), c(6 * kPeriods), d(6 * kPeriods);
  whole.captured(device.data(), a.data(), kPeriods);
  whole.played(card.data(), c.data(), kPeriods);
  for (std::size_t at = 0, n = 1; at < kPeriods; at += n, n = std::min(n + 7, kPeriods - at)) {
    pieces.captured(device.data() + 6 * at, b.data() + 2 * at, n);
    pieces.played(card.data() + at, d.data() + 6 * at, n);
  }
  EXPECT_EQ(a, b);
  EXPECT_EQ(c, d);
}

TEST(SoundRates, EqualRatesChangeNothing) {
  SoundRates rates(pcm_streams(), 16'000, 8000);
  EXPECT_EQ(rates.delay(), 0u);
  const std::vector<std::int16_t> device = tone(700, 16'000, 200), card = tone(500, 8000, 100);
  std::vector<std::int16_t> captured(200), played(100);
  rates.captured(device.data(), captured.data(), 100);
  rates.played(card.data(), played.data(), 100);
  EXPECT_EQ(captured, device);
  EXPECT_EQ(played, card);
}

// An impulse in the card, back through a device that is a wire. An echo canceller looks from delay() on.
TEST(SoundRates, TheirDelayIsDeclared) {
  SoundRates rates(pcm_streams(), 48'000, 48'000);
  std::vector<std::int16_t> card(400), device(6 * 400), back(2 * 400);
  card[50] = 20'000;
  rates.played(card.data(), device.data(), card.size());
  rates.captured(device.data(), back.data(), card.size());
  const auto peak = std::max_element(back.begin(), back.end());
  EXPECT_NEAR(static_cast<double>(peak - back.begin()) / 2 - 50, rates.delay() + SoundRates::kBefore, 1);
  const auto first = back.begin() + 2 * (50 + static_cast<std::ptrdiff_t>(rates.delay()));
  double before = 0, all = 0;
  for (auto x = back.begin(); x != back.end(); ++x) {
    all += 1. * *x * *x;
    if (x < first) before += 1. * *x * *x;
  }
  EXPECT_LT(10 * std::log10(before / all), -50);
}

TEST(SoundRates, OverloadIsClipped) {
  RateMultiplier multiplier(3);
  std::vector<std::int16_t> in(400), out(1200);
  for (std::size_t i = 0; i < in.size(); ++i) in[i] = i / 50 % 2 == 0 ? INT16_MAX : INT16_MIN;
  multiplier.process(in.data(), out.data(), in.size());
  EXPECT_EQ(*std::max_element(out.begin(), out.end()), INT16_MAX);
  EXPECT_EQ(*std::min_element(out.begin(), out.end()), INT16_MIN);
  for (std::size_t i = 300; i + 1 < out.size(); ++i)  // no sample wraps around
    EXPECT_LT(std::abs(out[i + 1] - out[i]), 50'000) << i;
}

TEST(SoundRates, AreFitForTheRealTimePath) {
  SoundRates rates(pcm_streams(), 48'000, 48'000);
  std::vector<std::int16_t> card(100), device(600), captured(200);
  const test::RealtimeRun run = test::run_realtime([&] {
    std::uint64_t blocks = 0;
    for (; blocks < 1000; ++blocks) {
      rates.captured(device.data(), captured.data(), 100);
      rates.played(card.data(), device.data(), 100);
    }
    return blocks;
  });
  if (!run.skipped.empty()) GTEST_SKIP() << run.skipped;
  EXPECT_EQ(run.violation, "");
  EXPECT_EQ(run.value, 1000u);
}

}  // namespace
}  // namespace offhook
