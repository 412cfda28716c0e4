// SPDX-License-Identifier: MIT
//
// The real transform, on each of the complex ones (dsp/blocks/fft.h), against FFTW's complex one of the same samples.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <limits>
#include <memory>
#include <random>
#include <vector>

#include "dsp/blocks/fft.h"
#include "dsp/blocks/real_fft.h"

namespace offhook {
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
    std::vector<float> x(n), back(n);
    std::vector<Complex> tones(n / 2), through_fftw(n / 2);
    std::vector<oh_complex> z(n);
    for (int t = 0; t < n; ++t) {
      x[t] = normal(random);
      z[t] = {x[t], 0};
    }
    own.forward(x.data(), tones.data());
    fftw->forward(memory.get(), z.data(), z.data());
    double error = 0, power = 0;
    for (int k = 0; k < n / 2; ++k) {
      error += std::pow(tones[k].re - z[k].re, 2) + std::pow(tones[k].im - z[k].im, 2);
      power += std::pow(z[k].re, 2) + std::pow(z[k].im, 2);
    }
    RealFft(n, *fftw).forward(x.data(), through_fftw.data());
    double of_backend = 0;
    for (int k = 0; k < n / 2; ++k)
      of_backend += std::pow(through_fftw[k].re - z[k].re, 2) + std::pow(through_fftw[k].im - z[k].im, 2);
    const double most = 0.5 * std::numeric_limits<float>::epsilon() * (std::log2(n) + 1);
    EXPECT_LE(std::sqrt(error / power), most) << n;
    EXPECT_LE(std::sqrt(of_backend / power), most) << n << ", FFTW as the back end";

    // A signal without the tone at half the rate is recovered.
    for (int t = 0; t < n; ++t) x[t] -= (t % 2 == 0 ? 1.f : -1.f) * z[n / 2].re / static_cast<float>(n);
    own.forward(x.data(), tones.data());
    own.inverse(tones.data(), back.data());
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
}  // namespace offhook
