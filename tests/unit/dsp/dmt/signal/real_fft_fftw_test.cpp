// SPDX-License-Identifier: MIT
//
// The real transform against FFTW's complex one of the same samples (dsp/blocks/fft.h).
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <limits>
#include <memory>
#include <random>
#include <vector>

#include "dsp/blocks/fft.h"
#include "dsp/dmt/signal/real_fft.h"

namespace offhook::dmt {
namespace {

TEST(RealFft, EqualsFftwAndIsUndone) {
  std::mt19937 random(7);
  std::normal_distribution<float> normal;
  for (int n = 64; n <= RealFft::kMost; n *= 2) {
    const RealFft own(n);
    const oh_fft_ops* fftw = oh_fft_fftw();
    std::unique_ptr<void, decltype(&std::free)> memory(std::aligned_alloc(64, (fftw->size(n) + 63) / 64 * 64),
                                                       &std::free);
    ASSERT_EQ(fftw->init(memory.get(), n), 0);
    std::vector<float> x(n), re(n / 2), im(n / 2), back(n);
    std::vector<oh_complex> z(n);
    for (int t = 0; t < n; ++t) {
      x[t] = normal(random);
      z[t] = {x[t], 0};
    }
    own.forward(x.data(), re.data(), im.data());
    fftw->forward(memory.get(), z.data(), z.data());
    double error = 0, power = 0;
    for (int k = 0; k < n / 2; ++k) {
      error += std::pow(re[k] - z[k].re, 2) + std::pow(im[k] - z[k].im, 2);
      power += std::pow(z[k].re, 2) + std::pow(z[k].im, 2);
    }
    const double most = 0.5 * std::numeric_limits<float>::epsilon() * (std::log2(n) + 1);
    EXPECT_LE(std::sqrt(error / power), most) << n;

    // What has nothing at half the rate comes back.
    for (int t = 0; t < n; ++t) x[t] -= (t % 2 == 0 ? 1.f : -1.f) * z[n / 2].re / static_cast<float>(n);
    own.forward(x.data(), re.data(), im.data());
    own.inverse(re.data(), im.data(), back.data());
    error = power = 0;
    for (int t = 0; t < n; ++t) {
      error += std::pow(back[t] - x[t], 2);
      power += std::pow(x[t], 2);
    }
    EXPECT_LE(std::sqrt(error / power), 2 * most) << n;
    if (fftw->release != nullptr) fftw->release(memory.get());
  }
}

}  // namespace
}  // namespace offhook::dmt
