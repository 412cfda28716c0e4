// SPDX-License-Identifier: MIT
#include "src/decode/line/echo.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "hostsim/engine/random.h"

namespace offhook::decode {
namespace {

constexpr std::size_t kSecond = 8000;

// Noise of a modem's band, 400 to 3400 Hz, zero but for [from, to) s.
std::vector<float> modem(std::uint64_t stream, double seconds, double from, double to, double rms = 1000) {
  constexpr int kHalf = 60;
  std::vector<float> white;
  const hostsim::Random random(1, stream);
  for (std::size_t n = 0; n < static_cast<std::size_t>(seconds * kSecond); ++n) {
    const double t = static_cast<double>(n) / kSecond;
    white.push_back(t >= from && t < to ? static_cast<float>(rms * random.normal(n)) : 0.f);
  }
  std::vector<float> y(white.size());
  for (int k = -kHalf; k <= kHalf; ++k) {
    const auto sinc = [k](double hz) {
      const double x = std::numbers::pi * k;
      return k == 0 ? hz / 4000 : std::sin(x * hz / 4000) / x;
    };
    const auto tap = static_cast<float>((sinc(3400) - sinc(400)) * (0.5 + 0.5 * std::cos(std::numbers::pi * k / 61)));
    for (int n = kHalf; n < static_cast<int>(y.size()) - kHalf; ++n) y[n] += tap * white[n - k];
  }
  return y;
}

void add_echo(std::vector<float>& own, const std::vector<float>& other, std::size_t delay, float gain,
              std::size_t from = 0, std::size_t to = ~std::size_t{0}) {
  for (std::size_t n = std::max(delay + 3, from); n < std::min(to, own.size()); ++n) {
    own[n] += gain * (0.9f * other[n - delay] - 0.5f * other[n - delay - 2] + 0.2f * other[n - delay - 3]);
  }
}

double left_db(const std::vector<float>& x, const std::vector<float>& wanted, double from, double to) {
  double error = 0, signal = 0;
  for (auto n = static_cast<std::size_t>(from * kSecond); n < static_cast<std::size_t>(to * kSecond); ++n) {
    error += std::pow(x[n] - wanted[n], 2);
    signal += std::pow(wanted[n], 2);
  }
  return 10 * std::log10(error / signal);
}

std::vector<float> without_echo(std::vector<float> own, std::vector<float> other, const std::vector<EchoPath>& paths) {
  take_echo_off({own, other}, {paths, {}});
  return own;
}

// The other modem trains first, then both send.
TEST(DecodeEcho, AnEchoAsLoudAsTheSignalIsTakenOffWhereverItWasLearnt) {
  const auto other = modem(1, 12, 1, 11), sent = modem(2, 12, 4, 11, 300);
  for (const std::size_t delay : {0u, 8u, 500u, 1500u}) {
    SCOPED_TRACE(delay);
    auto own = sent;
    add_echo(own, other, delay, 0.3f);
    EXPECT_GT(left_db(own, sent, 5, 10), -1);
    const auto paths = find_echo_paths(own, other);
    ASSERT_EQ(paths.size(), 1u);
    EXPECT_NEAR(paths[0].delay_ms(), static_cast<double>(delay) / 8, 0.3);
    EXPECT_GT(paths[0].enhancement_db, 40);
    EXPECT_LT(left_db(without_echo(own, other, paths), sent, 5, 10), -40);
  }
}

TEST(DecodeEcho, ASecondReflectionIsLearntToo) {
  const auto other = modem(1, 12, 1, 11), sent = modem(2, 12, 4, 11, 300);
  struct {
    std::size_t delay;
    float gain;
  } const seconds[] = {{1200, 0.03f}, {400, 0.25f}, {9600, 0.1f}};  // the last by satellite
  for (const auto& [delay, gain] : seconds) {
    SCOPED_TRACE(delay);
    auto own = sent;
    add_echo(own, other, 8, 0.3f);
    add_echo(own, other, delay, gain);
    const auto paths = find_echo_paths(own, other);
    ASSERT_EQ(paths.size(), 1u);
    EXPECT_LT(left_db(without_echo(own, other, paths), sent, 5, 10), -40);
  }
}

TEST(DecodeEcho, NoiseMayBeAlmostAsLoudAsTheEcho) {
  const auto other = modem(1, 12, 1, 11), sent = modem(2, 12, 4, 11, 300), noise = modem(3, 12, 0, 12, 100);
  auto own = sent;
  for (std::size_t n = 0; n < own.size(); ++n) own[n] += noise[n];
  const auto noisy = own;
  add_echo(own, other, 8, 0.25f);
  EXPECT_LT(left_db(without_echo(own, other, find_echo_paths(own, other)), noisy, 5, 10), -18);
}

TEST(DecodeEcho, WhatIsNoEchoStays) {
  const auto other = modem(1, 8, 1, 7);
  EXPECT_TRUE(find_echo_paths(modem(2, 8, 2, 7, 300), other).empty());
  // The source of an echo is not the echo's echo, and both channels of a mono recording are one.
  auto echo = modem(3, 8, 9, 9);
  add_echo(echo, other, 40, 0.3f);
  EXPECT_TRUE(find_echo_paths(other, echo).empty());
  EXPECT_TRUE(find_echo_paths(other, other).empty());
  // A tone fits any delay.
  std::vector<float> tone, late;
  for (int n = 0; n < 40000; ++n) {
    tone.push_back(static_cast<float>(1000 * std::sin(n * 0.9)));
    late.push_back(static_cast<float>(300 * std::sin((n - 100) * 0.9)));
  }
  EXPECT_TRUE(find_echo_paths(late, tone).empty());
}

// So faint that over some seconds the channel's own signal hides whether it is there.
TEST(DecodeEcho, AFaintEchoIsTakenOffThroughout) {
  const auto other = modem(1, 40, 1, 39), sent = modem(2, 40, 4, 39);
  auto own = sent;
  add_echo(own, other, 300, 0.018f);
  const auto clean = without_echo(own, other, find_echo_paths(own, other));
  for (double t = 5; t < 38; t += 0.5) EXPECT_LT(left_db(clean, sent, t, t + 0.5), -50) << t;
}

TEST(DecodeEcho, AnEchoThatIsGoneIsNotTakenOff) {
  const auto other = modem(1, 24, 1, 23), sent = modem(2, 24, 4, 23, 300);
  auto own = sent;
  add_echo(own, other, 100, 0.3f, 0, 12 * kSecond);
  const auto clean = without_echo(own, other, find_echo_paths(own, other));
  EXPECT_LT(left_db(clean, sent, 5, 9.5), -40);
  EXPECT_EQ(left_db(clean, sent, 14.5, 22), -INFINITY);
}

}  // namespace
}  // namespace offhook::decode
