// SPDX-License-Identifier: MIT
//
// Whether the errors of an equaliser are the echo of what is sent: NearEcho::explained().
#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <random>
#include <vector>

#include "dsp/v90/pcm/near_echo.h"

namespace offhook::v90 {
namespace {

/// What is explained of n errors, of which `share` of the power is an echo 3 ms long.
double explained(double share, int delay, int n) {
  const auto echo = std::make_unique<NearEcho>();
  echo->init(delay);
  echo->begin_watch();
  std::mt19937 random(3);
  std::normal_distribution<double> normal;
  constexpr size_t kTaps = 24;
  std::vector<double> sent, taps;
  for (size_t k = 0; k < kTaps; ++k) taps.push_back(normal(random));
  for (int k = 0; k < n; ++k) {
    constexpr int16_t kNothing[NearEcho::kReceived] = {};
    float left[NearEcho::kReceived];
    echo->process(kNothing, left);
    double e = std::sqrt(kTaps * (1 - share)) * normal(random);
    for (size_t j = 0; j < kTaps; ++j) {
      const size_t age = static_cast<size_t>(delay) + 1 + j;
      if (age <= sent.size()) e += std::sqrt(share) * taps[j] * sent[sent.size() - age];
    }
    echo->watch(static_cast<float>(e));
    sent.push_back(normal(random));
    echo->put(static_cast<float>(sent.back()));
  }
  EXPECT_EQ(echo->watched(), n);
  return static_cast<double>(echo->explained());
}

TEST(V90NearEcho, TheShareOfTheErrorsThatIsEchoIsToldFromTheRest) {
  constexpr int kN = 4096;
  for (const int delay : {0, 60, 700}) {
    double before = 0;
    for (const double share : {0., 0.25, 0.5, 0.75, 1.}) {
      const double found = explained(share, delay, kN);
      // An estimate of each tap has the variance of the errors over n; 24 taps of unit variance sum to 24 +- 7.
      EXPECT_NEAR(found, share + static_cast<double>(NearEcho::kTaps) / kN, 0.05 + 0.3 * share)
          << delay << " " << share;
      EXPECT_GT(found, before) << delay << " " << share;
      before = found;
    }
  }
}

}  // namespace
}  // namespace offhook::v90
