// SPDX-License-Identifier: MIT
#include "hostsim/engine/random.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace offhook::hostsim {
namespace {

TEST(Random, WordsAreThePublishedPhiloxVectors) {
  // Random123's known answer for philox4x32-10 with key and counter zero.
  const Random zero(0, 0);
  EXPECT_EQ(zero.word(0), 0xe169c58d'6627e8d5u);
  EXPECT_EQ(zero.word(1), 0x9b00dbd8'bc57ac4cu);
}

TEST(Random, NormalsHaveTheSameBytesOnEveryBuild) {
  // FNV-1a of 4096 normals; recorded once, from a build that passed the distribution tests below.
  const Random random(20260101, 7);
  std::vector<float> x(4096);
  random.normals(3, x.data(), x.size());
  std::uint64_t hash = 0xcbf29ce484222325u;
  const auto* bytes = reinterpret_cast<const unsigned char*>(x.data());
  for (std::size_t i = 0; i < x.size() * sizeof(float); ++i) hash = (hash ^ bytes[i]) * 0x100000001b3u;
  EXPECT_EQ(hash, 12184300465939609613u);
}

TEST(Random, BlockOfNormalsEqualsSingleNormalsAtAnyStartAndLength) {
  const Random random(5, 9);
  for (std::uint64_t first : {0u, 1u, 6u, 7u})
    for (std::size_t n : {1u, 2u, 5u, 64u}) {
      std::vector<float> x(n);
      random.normals(first, x.data(), n);
      for (std::size_t i = 0; i < n; ++i) EXPECT_EQ(x[i], static_cast<float>(random.normal(first + i)));
    }
}

TEST(Random, LogIsExactTo1e15) {
  for (double x :
       {1e-300, 1e-16, 0.1, 0.5, 0.7071, 0.70711, 0.999999, 1.0, 1.000001, 1.4142, 1.41422, 2.0, 10.0, 1e300})
    EXPECT_NEAR(natural_log(x), std::log(x), 1e-15 * std::max(1.0, std::abs(std::log(x)))) << x;
}

TEST(Random, ExpIsExactTo1e15) {
  for (double x = -700; x <= 700; x += 0.37) EXPECT_NEAR(natural_exp(x) / std::exp(x), 1, 1e-15) << x;
  EXPECT_EQ(natural_exp(0), 1);
}

TEST(Random, InverseNormalUndoesTheNormalDistribution) {
  for (double x = -8; x <= 8; x += 0.01) {
    const double p = 0.5 * std::erfc(-x / std::sqrt(2.0));
    const double conditioning = 1e-16 / (std::exp(-x * x / 2) / std::sqrt(2 * M_PI));  // p's own rounding, near 1
    EXPECT_NEAR(inverse_normal(p), x, 1e-14 * std::max(1.0, std::abs(x)) + (x > 0 ? 2 * conditioning : 0)) << x;
  }
}

/// Largest distance between the samples' distribution and `cdf`, times sqrt(n) (Kolmogorov-Smirnov).
template <class Draw, class Cdf>
double kolmogorov(std::size_t n, Draw draw, Cdf cdf) {
  std::vector<double> x(n);
  for (std::size_t i = 0; i < n; ++i) x[i] = draw(i);
  std::sort(x.begin(), x.end());
  const auto count = static_cast<double>(n);
  double worst = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const double p = cdf(x[i]);
    worst = std::max({worst, p - static_cast<double>(i) / count, static_cast<double>(i + 1) / count - p});
  }
  return worst * std::sqrt(count);
}

TEST(Random, DistributionsPassKolmogorovSmirnov) {
  constexpr double kOneInAThousand = 1.95;  // of the Kolmogorov distribution
  const Random random(1, 1);
  EXPECT_LT(kolmogorov(
                200'000, [&](auto i) { return random.uniform(i); }, [](double x) { return x; }),
            kOneInAThousand);
  EXPECT_LT(kolmogorov(
                200'000, [&](auto i) { return random.exponential(i); }, [](double x) { return 1 - std::exp(-x); }),
            kOneInAThousand);
  EXPECT_LT(kolmogorov(
                200'000, [&](auto i) { return random.normal(i); },
                [](double x) { return 0.5 * std::erfc(-x / std::sqrt(2.0)); }),
            kOneInAThousand);
}

TEST(Random, NeighbouringStreamsSeedsAndIndicesAreUncorrelated) {
  constexpr std::size_t kN = 100'000;
  const double bound = 4 / std::sqrt(static_cast<double>(kN));
  const Random a(1, 1), stream(1, 2), seed(2, 1);
  double with_stream = 0, with_seed = 0, with_next = 0;
  for (std::size_t i = 0; i < kN; ++i) {
    with_stream += a.normal(i) * stream.normal(i) / kN;
    with_seed += a.normal(i) * seed.normal(i) / kN;
    with_next += a.normal(i) * a.normal(i + 1) / kN;
  }
  EXPECT_LT(std::abs(with_stream), bound);
  EXPECT_LT(std::abs(with_seed), bound);
  EXPECT_LT(std::abs(with_next), bound);
}

TEST(Random, UniformsAreThoseOfTheirIndicesFromAnywhereInAnySteps) {
  for (const std::uint64_t seed : {std::uint64_t{1}, std::uint64_t{0xfedcba9876543210}}) {
    const Random random(seed, seed * 3);
    for (const std::uint64_t first : {std::uint64_t{0}, std::uint64_t{7}, (std::uint64_t{1} << 33) - 9}) {
      for (std::uint64_t step = 0; step < 5; ++step) {
        UniformDraws draws(random, first, step);
        for (std::uint64_t i = 0; i < 100; ++i) ASSERT_EQ(draws.next(), random.uniform(first + i * step)) << i;
        double some[7] = {0, 0, 0, 0, 0, 0, -1};
        if (step == 1) {
          random.exponentials(first, some, 6);
          for (std::uint64_t i = 0; i < 6; ++i) ASSERT_EQ(some[i], random.exponential(first + i));
          ASSERT_EQ(some[6], -1);
        }
        random.uniforms(first, step, some, 6);
        for (std::uint64_t i = 0; i < 6; ++i) ASSERT_EQ(some[i], random.uniform(first + i * step));
        ASSERT_EQ(some[6], -1);
      }
    }
  }
}

}  // namespace
}  // namespace offhook::hostsim
