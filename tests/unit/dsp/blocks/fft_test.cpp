// SPDX-License-Identifier: MIT
#include "dsp/blocks/fft.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <cmath>
#include <complex>
#include <cstdlib>
#include <memory>
#include <random>
#include <vector>

#include "dsp/blocks/sincos.h"

namespace {

class Fft : public testing::TestWithParam<const oh_fft_ops*> {
 protected:
  void prepare(std::size_t n) {
    memory.reset(std::aligned_alloc(64, (GetParam()->size(n) + 63) / 64 * 64));
    ASSERT_EQ(GetParam()->init(memory.get(), n), 0);
  }
  void TearDown() override {
    if (memory != nullptr && GetParam()->release != nullptr) GetParam()->release(memory.get());
  }
  std::unique_ptr<void, decltype(&std::free)> memory{nullptr, &std::free};
};

std::vector<oh_complex> noise(std::size_t n) {
  std::mt19937 random(7);
  std::normal_distribution<float> normal;
  std::vector<oh_complex> x(n);
  for (oh_complex& v : x) v = {normal(random), normal(random)};
  return x;
}

TEST_P(Fft, EqualsTheDefiningSum) {
  for (std::size_t n : {1u, 2u, 4u, 64u, 256u}) {
    prepare(n);
    const std::vector<oh_complex> x = noise(n);
    std::vector<oh_complex> out(n);
    GetParam()->forward(memory.get(), x.data(), out.data());
    for (std::size_t k = 0; k < n; k++) {
      std::complex<double> sum = 0;
      for (std::size_t t = 0; t < n; t++) {
        sum += std::complex<double>(x[t].re, x[t].im) *
               std::polar(1.0, -2 * M_PI * static_cast<double>(k * t) / static_cast<double>(n));
      }
      EXPECT_NEAR(out[k].re, sum.real(), 2e-6 * std::sqrt(n) * 8);
      EXPECT_NEAR(out[k].im, sum.imag(), 2e-6 * std::sqrt(n) * 8);
    }
    TearDown();
  }
  memory.reset();
}

// Arrays in a struct of floats have only the alignment of a float.
TEST(FftRadix2, ArraysMayLieAtAnyFloat) {
  constexpr std::size_t kPoints = 64;
  const oh_fft_ops* fft = oh_fft_radix2();
  const std::unique_ptr<void, decltype(&std::free)> memory(std::aligned_alloc(64, (fft->size(kPoints) + 63) / 64 * 64),
                                                           &std::free);
  ASSERT_EQ(fft->init(memory.get(), kPoints), 0);
  const std::vector<oh_complex> x = noise(kPoints);
  std::vector<oh_complex> expected(kPoints);
  fft->forward(memory.get(), x.data(), expected.data());
  for (int offset = 0; offset < 4; ++offset) {
    alignas(16) float room[2 * kPoints + 4];
    auto* out = reinterpret_cast<oh_complex*>(room + offset);
    fft->forward(memory.get(), x.data(), out);
    for (std::size_t k = 0; k < kPoints; k++) {
      EXPECT_EQ(out[k].re, expected[k].re) << offset;
      EXPECT_EQ(out[k].im, expected[k].im) << offset;
    }
  }
}

TEST_P(Fft, InverseUndoesForwardInPlace) {
  prepare(4096);
  const std::vector<oh_complex> x = noise(4096);
  std::vector<oh_complex> y = x;
  GetParam()->forward(memory.get(), y.data(), y.data());
  GetParam()->inverse(memory.get(), y.data(), y.data());
  for (std::size_t i = 0; i < x.size(); i++) {
    EXPECT_NEAR(x[i].re, y[i].re, 1e-5);
    EXPECT_NEAR(x[i].im, y[i].im, 1e-5);
  }
}

TEST_P(Fft, RefusesLengthsThatAreNotAPowerOfTwo) {
  for (std::size_t n : {std::size_t{0}, std::size_t{3}, std::size_t{100}, std::size_t{2 * OH_FFT_MAX}}) {
    EXPECT_EQ(GetParam()->size(n), 0u);
    EXPECT_EQ(GetParam()->init(nullptr, n), -EINVAL);
  }
}

#ifdef OFFHOOK_FFTW
INSTANTIATE_TEST_SUITE_P(Backends, Fft, testing::Values(oh_fft_radix2(), oh_fft_fftw()));
#else
INSTANTIATE_TEST_SUITE_P(Backends, Fft, testing::Values(oh_fft_radix2()));
#endif

TEST(SinCosTurns, EqualsLibmWithin1e15) {
  for (int i = -4000; i <= 4000; i++) {
    const double turns = i / 997.0;
    EXPECT_NEAR(offhook::sincos_turns(turns).sin, std::sin(2 * M_PI * turns), 5e-15);
    EXPECT_NEAR(offhook::sincos_turns(turns).cos, std::cos(2 * M_PI * turns), 5e-15);
  }
}

}  // namespace
