// SPDX-License-Identifier: MIT
#include "dsp/blocks/kernels.h"

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "tests/unit/dsp/v34/random.h"

namespace offhook {
namespace {

struct Data {
  std::vector<float> a, b, c, d;
  explicit Data(int n) {
    v34::Random random(7, static_cast<uint32_t>(n));
    for (auto* v : {&a, &b, &c, &d}) {
      for (int k = 0; k < n; ++k) v->push_back(static_cast<float>(random.gaussian()));
    }
  }
};

class KernelVariants : public testing::TestWithParam<InstructionSet> {
 protected:
  void SetUp() override {
    if (!cpu_has(GetParam())) GTEST_SKIP() << "this processor has none";
  }
  const Kernels& kernels() const { return kernels_for(GetParam()); }
};

TEST_P(KernelVariants, EqualTheDefinitionsInDoublePrecision) {
  for (const int n : {16, 32, 48, 96, 128}) {
    Data x(n);
    double dot = 0, re = 0, im = 0, at_re = 0, at_im = 0;
    const float fraction = 0.375f;
    for (size_t k = 0; k < static_cast<size_t>(n); ++k) {
      dot += static_cast<double>(x.a[k]) * x.b[k];
      re += static_cast<double>(x.a[k]) * x.c[k] - static_cast<double>(x.b[k]) * x.d[k];
      im += static_cast<double>(x.a[k]) * x.d[k] + static_cast<double>(x.b[k]) * x.c[k];
      const double tap = x.a[k] + fraction * (static_cast<double>(x.b[k]) - x.a[k]);
      at_re += tap * x.c[k];
      at_im += tap * x.d[k];
    }
    EXPECT_NEAR(kernels().dot(x.a.data(), x.b.data(), n), dot, 1e-4);
    EXPECT_EQ(kernels().two_dots(x.a.data(), x.b.data(), x.c.data(), x.d.data(), n),
              kernels().dot(x.a.data(), x.b.data(), n) + kernels().dot(x.c.data(), x.d.data(), n));
    const Complex z = kernels().complex_dot(x.a.data(), x.b.data(), x.c.data(), x.d.data(), n);
    EXPECT_NEAR(z.re, re, 1e-4);
    EXPECT_NEAR(z.im, im, 1e-4);
    if (n >= 32) {
      const auto last = static_cast<size_t>(n - 1);
      const Complex newest{x.c[last], x.d[last]};
      Data y = x;
      y.c[last] = y.d[last] = std::nanf("");  // not read
      const Complex at = kernels().interpolate(x.a.data(), x.b.data(), fraction, y.c.data(), y.d.data(), n, newest);
      const FloatPair pair = kernels().dot_pair(x.a.data(), x.b.data(), y.c.data(), n, newest.re);
      EXPECT_EQ(pair.first, kernels().dot(x.a.data(), x.c.data(), n));
      EXPECT_EQ(pair.second, kernels().dot(x.b.data(), x.c.data(), n));
      EXPECT_NEAR(at.re, at_re, 1e-4);
      EXPECT_NEAR(at.im, at_im, 1e-4);
    }

    Data y = x;
    kernels().accumulate(y.a.data(), x.c.data(), 0.25f, n);
    for (size_t k = 0; k < static_cast<size_t>(n); ++k) EXPECT_NEAR(y.a[k], x.a[k] + 0.25f * x.c[k], 1e-5);
    y = x;
    const Complex step{0.5f, -0.25f};
    kernels().complex_adapt(y.a.data(), y.b.data(), x.c.data(), x.d.data(), step, n);
    for (size_t k = 0; k < static_cast<size_t>(n); ++k) {
      const Complex moved = Complex{x.a[k], x.b[k]} + step * conj(Complex{x.c[k], x.d[k]});
      EXPECT_NEAR(y.a[k], moved.re, 1e-5);
      EXPECT_NEAR(y.b[k], moved.im, 1e-5);
    }
  }
}

// Exactly, because the signal of a call must not depend on the processor.
TEST_P(KernelVariants, GiveTheSameBits) {
  const Kernels& plain = kernels_for(InstructionSet::kPlain);
  const auto same = [](float a, float b) { return std::bit_cast<uint32_t>(a) == std::bit_cast<uint32_t>(b); };
  for (int n = 16; n <= 256; n += 16) {
    Data x(n);
    EXPECT_TRUE(same(kernels().dot(x.a.data(), x.b.data(), n), plain.dot(x.a.data(), x.b.data(), n)));
    EXPECT_TRUE(same(kernels().two_dots(x.a.data(), x.b.data(), x.c.data(), x.d.data(), n),
                     plain.two_dots(x.a.data(), x.b.data(), x.c.data(), x.d.data(), n)));
    if (n >= 32) {
      const FloatPair pair = kernels().dot_pair(x.a.data(), x.b.data(), x.c.data(), n, x.c.back());
      EXPECT_TRUE(same(pair.first, plain.dot(x.a.data(), x.c.data(), n)));
      EXPECT_TRUE(same(pair.second, plain.dot(x.b.data(), x.c.data(), n)));
    }
    const auto both = [&](const Kernels& k) {
      return std::array{
          k.complex_dot(x.a.data(), x.b.data(), x.c.data(), x.d.data(), n),
          n < 32 ? Complex{} : k.interpolate(x.a.data(), x.b.data(), 0.3f, x.c.data(), x.d.data(), n, {0.7f, 0.9f})};
    };
    const auto got = both(kernels()), expected = both(plain);
    for (size_t i = 0; i < got.size(); ++i) {
      EXPECT_TRUE(same(got[i].re, expected[i].re) && same(got[i].im, expected[i].im));
    }
    Data y = x, z = x;
    for (const auto& [k, v] : {std::pair{&kernels(), &y}, std::pair{&plain, &z}}) {
      k->accumulate(v->a.data(), v->c.data(), 0.7f, n);
      k->complex_adapt(v->a.data(), v->b.data(), v->c.data(), v->d.data(), {0.3f, -0.1f}, n);
    }
    for (size_t k = 0; k < static_cast<size_t>(n); ++k) {
      EXPECT_TRUE(same(y.a[k], z.a[k]) && same(y.b[k], z.b[k]));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Kernels, KernelVariants, testing::ValuesIn(kInstructionSets),
                         // Without kernels_for(), because a processor that lacks a set has no name for it.
                         [](const auto& p) {
                           return std::string(std::array{"plain", "avx2", "avx512"}.at(p.index));
                         });

}  // namespace
}  // namespace offhook
