// SPDX-License-Identifier: MIT
#include "dsp/v90/pcm/least_squares.h"

#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <vector>

namespace offhook::v90 {
namespace {

constexpr int kForward = LeastSquares::kForward, kTaps = LeastSquares::kTaps, kRows = LeastSquares::kRows;

/// Two streams, and what some taps make of them.
struct Problem {
  Problem(int rows_apart, bool feedback) : apart(rows_apart) {
    std::normal_distribution<float> normal;
    const auto fill = [&](std::vector<float>& v) {
      for (float& x : v) x = normal(random);
    };
    fill(samples), fill(decided), fill(taps);
    for (int row = 0; row < kRows; ++row) {
      double sum = 0;
      for (int k = 0; k < kForward; ++k) sum += double{at(taps, k)} * at(samples, apart * row + k);
      for (int k = kForward; k < kTaps && feedback; ++k) sum += double{at(taps, k)} * at(decided, row + k - kForward);
      wanted.push_back(static_cast<float>(sum));
    }
  }
  static float at(const std::vector<float>& v, int k) { return v[static_cast<size_t>(k)]; }
  double error(const std::vector<float>& found, int n) const {
    double sum = 0;
    for (int k = 0; k < n; ++k) sum += (at(found, k) - at(taps, k)) * (at(found, k) - at(taps, k));
    return sum / n;
  }
  int apart;
  std::mt19937 random{3};
  std::vector<float> samples = std::vector<float>(2 * (kRows - 1) + kForward);
  std::vector<float> decided = std::vector<float>(kRows - 1 + kTaps - kForward);
  std::vector<float> taps = std::vector<float>(kTaps), wanted;
};

std::vector<float> solved(const Problem& p, bool feedback, const float* begin, int steps) {
  auto fit = std::make_unique<LeastSquares>();
  EXPECT_TRUE(fit->idle());
  fit->begin(p.samples.data(), p.apart, feedback ? p.decided.data() : nullptr, p.wanted.data(), begin, steps);
  std::vector<float> taps(kTaps, 99);
  int symbols = 1;
  for (; !fit->work(best_kernels(), taps.data()); ++symbols) EXPECT_FALSE(fit->idle());
  EXPECT_TRUE(fit->idle());
  EXPECT_EQ(symbols, (steps + 1) * kRows / LeastSquares::kRowsASymbol);
  return taps;
}

TEST(V90LeastSquares, FindsTheTapsOfBothPartsInOneProblem) {
  for (const int apart : {1, 2}) {
    const Problem both(apart, true);
    EXPECT_LT(both.error(solved(both, true, nullptr, 32), kTaps), 1e-6) << apart;
    const Problem forward(apart, false);
    const std::vector<float> found = solved(forward, false, nullptr, 32);
    EXPECT_LT(forward.error(found, kForward), 1e-6) << apart;
    EXPECT_EQ(found[kForward], 99) << "of no feedback no taps are written";
  }
}

TEST(V90LeastSquares, BeginsWithWhatIsKnown) {
  const Problem p(2, true);
  EXPECT_LT(p.error(solved(p, true, p.taps.data(), 1), kTaps), 1e-9);
  EXPECT_GT(p.error(solved(p, true, nullptr, 1), kTaps), 1e-3);
}

}  // namespace
}  // namespace offhook::v90
