// SPDX-License-Identifier: MIT
//
// Our own FFT against FFTW, at every length. Both round to 24 bits after each of log2 n stages; errors of stages are
// independent, so the result's relative error grows as their square root, and stays below half an epsilon a stage.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <limits>
#include <memory>
#include <random>
#include <vector>

#include "dsp/blocks/fft.h"

namespace {

class Transform {
 public:
  Transform(const oh_fft_ops* ops, std::size_t n) : ops_(ops) {
    memory_.reset(std::aligned_alloc(64, (ops->size(n) + 63) / 64 * 64));
    EXPECT_EQ(ops->init(memory_.get(), n), 0);
  }
  ~Transform() {
    if (ops_->release != nullptr) ops_->release(memory_.get());
  }
  std::vector<oh_complex> operator()(const std::vector<oh_complex>& x, bool inverse) const {
    std::vector<oh_complex> y(x.size());
    (inverse ? ops_->inverse : ops_->forward)(memory_.get(), x.data(), y.data());
    return y;
  }

 private:
  const oh_fft_ops* ops_;
  std::unique_ptr<void, decltype(&std::free)> memory_{nullptr, &std::free};
};

TEST(Fft, EqualsFftwAtEveryLength) {
  std::mt19937 random(7);
  std::normal_distribution<float> normal;
  for (std::size_t n = 1; n <= OH_FFT_MAX; n *= 2) {
    const Transform own(oh_fft_radix2(), n), fftw(oh_fft_fftw(), n);
    std::vector<oh_complex> x(n);
    for (oh_complex& v : x) v = {normal(random), normal(random)};
    for (const bool inverse : {false, true}) {
      const auto a = own(x, inverse), b = fftw(x, inverse);
      double error = 0, power = 0;
      for (std::size_t k = 0; k < n; ++k) {
        error += std::pow(a[k].re - b[k].re, 2) + std::pow(a[k].im - b[k].im, 2);
        power += std::pow(b[k].re, 2) + std::pow(b[k].im, 2);
      }
      const double stages = std::log2(static_cast<double>(n));
      EXPECT_LE(std::sqrt(error / power), 0.5 * std::numeric_limits<float>::epsilon() * stages)
          << n << (inverse ? " points, inverse" : " points");
    }
  }
}

}  // namespace
