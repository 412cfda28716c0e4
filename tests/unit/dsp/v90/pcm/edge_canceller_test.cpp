// SPDX-License-Identifier: MIT
#include "dsp/v90/pcm/edge_canceller.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <utility>
#include <vector>

#include "dsp/blocks/complex.h"

namespace offhook::v90 {
namespace {

constexpr int kSymbols = 24'000, kSettled = 4'000;
constexpr float kLevel = 1000;

/// The image of the band from 3600 to 4000 Hz, both sides of a symbol.
std::vector<float> image_of(const std::vector<float>& x, double turns_hz, float size) {
  constexpr int kHalf = 20;
  std::vector<float> image(x.size());
  for (int n = kHalf; n + kHalf < static_cast<int>(x.size()); ++n) {
    double sum = 0;
    for (int k = -kHalf; k <= kHalf; ++k) {
      const double window = (1 + std::cos(kPi * k / (kHalf + 1))) / (2 * kHalf);
      sum += window * (k % 2 == 0 ? 1 : -1) * static_cast<double>(x[static_cast<std::size_t>(n - k)]);
    }
    image[static_cast<std::size_t>(n)] = size * static_cast<float>(sum * std::cos(2 * kPi * turns_hz * n / 8000));
  }
  return image;
}

/// Levels of two points, behind a precoder of one tap, with an image and noise.
struct Line {
  Line(double turns_hz, float size, float noise) {
    cpd.p1.length = 1;
    cpd.p1.tap[0] = -8192;  // x(n) = u(n) - x(n-1) / 2
    std::mt19937 random(1);
    std::normal_distribution<float> gaussian(0, noise > 0 ? noise : 1);
    float before = 0;
    for (int n = 0; n < kSymbols; ++n) {
      u.push_back(random() % 2 == 0 ? kLevel : -kLevel);
      x.push_back(before = u.back() - before / 2);
      noises.push_back(noise > 0 ? gaussian(random) : 0);
    }
    image = image_of(x, turns_hz, size);
  }
  /// @return mean squares of the disturbance, without and with the canceller, of the settled part
  std::pair<double, double> run() {
    EdgeCanceller canceller(cpd);
    double before = 0, after = 0;
    for (std::size_t n = 0; n < u.size(); ++n) {
      float cleared = 0;
      const bool is = canceller.put(u[n] + image[n] + noises[n], u[n], &cleared);
      EXPECT_EQ(is, n >= EdgeCanceller::kDelay);
      if (!is) continue;
      const std::size_t then = n - EdgeCanceller::kDelay;
      const float error = cleared - u[then], disturbed = image[then] + noises[then];
      canceller.adapt(error, 1);
      if (then < kSettled) continue;
      before += static_cast<double>(disturbed * disturbed) / (kSymbols - kSettled);
      after += static_cast<double>(error * error) / (kSymbols - kSettled);
    }
    return {before, after};
  }
  Cpd cpd{};
  std::vector<float> u, x, image, noises;
};

TEST(V92EdgeCanceller, FollowsAnImageWhosePhaseTurns) {
  for (const double turns_hz : {0., 0.4, 0.8, 1.6}) {  // 0 to 200 ppm
    const auto [before, after] = Line(turns_hz, 0.05f, 0).run();
    EXPECT_LT(10 * std::log10(after / before), -12) << turns_hz;
  }
}

TEST(V92EdgeCanceller, AddsLittleToNoise) {
  const auto [before, after] = Line(0, 0, 20).run();
  EXPECT_LT(after, 1.06 * before);
}

TEST(V92EdgeCanceller, ChangesNoLevelThatIsRight) {
  const auto [before, after] = Line(0, 0, 0).run();
  EXPECT_EQ(before, 0);
  EXPECT_EQ(after, 0);
}

// A far end may request any precoder.
TEST(V92EdgeCanceller, StaysFiniteBehindAnUnstablePrecoder) {
  Line line(0.8, 0.05f, 20);
  line.cpd.p1.tap[0] = 32767;
  const auto [before, after] = line.run();
  EXPECT_GT(before, 0);
  EXPECT_TRUE(std::isfinite(after));
}

}  // namespace
}  // namespace offhook::v90
