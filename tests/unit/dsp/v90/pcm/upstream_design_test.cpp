// SPDX-License-Identifier: MIT
//
// What the text requires of CPd, for the parameters of our design (V.92 8.8.3).
#include "dsp/v90/pcm/upstream_design.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <random>

#include "dsp/v90/coding/upstream.h"

namespace offhook::v90 {
namespace {

constexpr int kChannel = UpstreamReceiver::kChannel;

/// A channel of this level: a lowpass that ends below 4000 Hz, and a transformer that removes the lowest frequencies.
std::array<float, kChannel> channel_of(double level, double edge, double high_pass) {
  std::array<float, kChannel> channel{};
  std::array<double, kChannel> pulse{};
  for (int k = 0; k < kChannel; ++k) {
    const double t = k - UpstreamReceiver::kChannelBefore;
    const double window = std::abs(t) < 24 ? (1 + std::cos(M_PI * t / 24)) / 2 : 0;
    pulse[static_cast<std::size_t>(k)] = (t == 0 ? edge : std::sin(M_PI * edge * t) / (M_PI * t)) * window;
  }
  double low = 0;
  for (int k = 0; k < kChannel; ++k) {
    const double x = pulse[static_cast<std::size_t>(k)];
    low += high_pass * (x - low);
    channel[static_cast<std::size_t>(kChannel - 1 - k)] = static_cast<float>(level * (x - low));
  }
  return channel;
}

/// Noise of a codec and of the line.
NoiseFit noise_of(Law law, double level) {
  NoiseFit noise;
  std::mt19937 random(1);
  std::normal_distribution<double> gaussian;
  for (int n = 0; n < 4000; ++n) {
    const int uchord = uchord_of(law, static_cast<float>(level * gaussian(random)));
    const double step = static_cast<double>(quantiser_step(law, uchord));
    const double error = step * (static_cast<double>(random()) / 4294967296. - 0.5) + 6 * gaussian(random);
    noise.put(uchord, static_cast<float>(step), static_cast<float>(error * error));
  }
  return noise;
}

struct Designed {
  Designed(Law law, double level, double edge, double high_pass) {
    const auto channel = channel_of(level, edge, high_pass);
    std::array<NoiseFit, UpstreamReceiver::kIntervals> noise;
    noise.fill(noise_of(law, level));
    constexpr UpstreamRates kAll = (UpstreamRates{1} << kMostUpstreamDrn) - 1;
    design.begin({law, channel.data(), noise.data(), 1, 0}, kAll, v34::TrellisCode::k64,
                 UpstreamDesign::kLeastDistance);
    while (!design.work()) ++steps;
  }
  UpstreamDesign design;
  int steps = 0;
};

constexpr struct {
  Law law;
  double level, edge, high_pass;
} kLines[] = {{Law::kMu, 2000, 0.92, 0.016},
              {Law::kMu, 700, 0.92, 0.016},
              {Law::kA, 2000, 0.92, 0.08},
              {Law::kMu, 2000, 0.8, 0.016},
              {Law::kA, 4000, 0.95, 0.03}};

// "LZ1 + LP1 + LZ2 + LP2 shall not exceed Ltot given in bits 14:15 of INFO1a", each at most Lmax of bits 16:17. The
// least that an analogue modem may state there is 192 and 128 (Table 18).
TEST(V92Design, HasNoMoreTapsThanEveryAnalogueModemSupports) {
  for (const auto& line : kLines) {
    const Cpd cpd = Designed(line.law, line.level, line.edge, line.high_pass).design.cpd();
    ASSERT_TRUE(is_usable(cpd));
    for (const FilterSection* s : {&cpd.z1, &cpd.p1, &cpd.z2, &cpd.p2}) EXPECT_LE(s->length, 128);
    EXPECT_LE(cpd.z1.length + cpd.p1.length + cpd.z2.length + cpd.p2.length, 192);
  }
}

// "when the prefilter output multiplied by G has a mean-square value of 1, the analogue modem will transmit at the
// desired power": more would overload it.
TEST(V92Design, AsksForNoMoreThanTheDesiredPower) {
  constexpr int kSymbols = 200'000;
  for (const auto& line : kLines) {
    const Cpd cpd = Designed(line.law, line.level, line.edge, line.high_pass).design.cpd();
    ASSERT_TRUE(is_usable(cpd));
    Precoder precoder(cpd);
    std::mt19937 random(2);
    double power = 0;
    for (int n = 0; n < kSymbols; ++n) {
      const auto g_v = static_cast<double>(precoder.put(static_cast<int>(random() % cpd.modulus[precoder.interval()])));
      power += g_v * g_v / kSymbols;
    }
    EXPECT_LE(power, 1) << line.level;
    EXPECT_TRUE(power > 0.5 || cpd.drn == kMostUpstreamDrn) << line.level;
  }
}

}  // namespace
}  // namespace offhook::v90
