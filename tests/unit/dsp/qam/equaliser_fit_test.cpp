// SPDX-License-Identifier: MIT
#include "dsp/qam/equaliser_fit.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "dsp/blocks/kernels.h"
#include "tests/unit/dsp/v34/random.h"

namespace offhook::qam {
namespace {

constexpr int kTaps = EqualiserFit::kTaps;
constexpr int kSolving = EqualiserFit::kSteps * EqualiserFit::kSymbols / EqualiserFit::kRowsASymbol;

struct Taps {
  float re[kTaps]{}, im[kTaps]{};
};

std::vector<float> gaussian(v34::Random& random, std::size_t n) {
  std::vector<float> x(n);
  for (float& v : x) v = static_cast<float>(random.gaussian());
  return x;
}

class QamEqualiserFit : public testing::Test {
 protected:
  static constexpr std::size_t kSamples = 2 * (EqualiserFit::kSymbols + kSolving + 2) + kTaps;
  QamEqualiserFit() : random_(1, 9), re_(gaussian(random_, kSamples)), im_(gaussian(random_, kSamples)) {
    for (int k = 0; k < kTaps; ++k) {
      sent_.re[k] = static_cast<float>(random_.gaussian());
      sent_.im[k] = static_cast<float>(random_.gaussian());
    }
  }
  /// Symbol n of a line whose equaliser is `sent_`. @return the result of put()
  bool put(int n, Complex error = {}) {
    const float *re = re_.data() + 2 * n, *im = im_.data() + 2 * n;
    return fit_.put(kernels_, re, im, kernels_.complex_dot(sent_.re, sent_.im, re, im, kTaps) + error, found_.re,
                    found_.im);
  }
  /// Mean square of a tap's error, relative to that of a tap.
  double error() const {
    double wrong = 0, all = 0;
    for (int k = 0; k < kTaps; ++k) {
      wrong += std::pow(found_.re[k] - sent_.re[k], 2) + std::pow(found_.im[k] - sent_.im[k], 2);
      all += std::pow(sent_.re[k], 2) + std::pow(sent_.im[k], 2);
    }
    return wrong / all;
  }

  const Kernels& kernels_ = best_kernels();
  v34::Random random_;
  std::vector<float> re_, im_;
  Taps sent_, found_;
  EqualiserFit fit_;
};

TEST_F(QamEqualiserFit, FindsTheTapsFromNothing) {
  EXPECT_TRUE(fit_.idle());
  EXPECT_FALSE(put(0)) << "it has not begun";
  fit_.init(found_.re, found_.im);
  int n = 0;
  for (; n < EqualiserFit::kSymbols; ++n) {
    EXPECT_TRUE(fit_.collecting());
    EXPECT_FALSE(fit_.idle());
    EXPECT_FALSE(put(n));
  }
  for (; n < EqualiserFit::kSymbols + kSolving - 1; ++n) {
    EXPECT_FALSE(fit_.collecting());
    EXPECT_FALSE(put(n));
    EXPECT_EQ(found_.re[5], 0) << "no tap is touched before the end";
  }
  EXPECT_TRUE(put(n)) << "symbol " << n;
  EXPECT_TRUE(fit_.idle());
  // 1024 rows of 96 white unknowns: condition 3.6, so each of six steps leaves 0.31 of the error.
  EXPECT_LT(error(), 1e-5);
  EXPECT_FALSE(put(n + 1)) << "it is done once";
}

TEST_F(QamEqualiserFit, GoesOnFromTheTapsThatItIsGiven) {
  fit_.init(sent_.re, sent_.im);
  int n = 0;
  while (!put(n)) ++n;
  EXPECT_LT(error(), 1e-10);
}

// Least squares over N symbols and K taps leaves noise
// in the output that is K / N times that of a symbol.
TEST_F(QamEqualiserFit, AveragesNoiseOverItsSymbols) {
  fit_.init(found_.re, found_.im);
  constexpr double kSigma = 0.5;
  for (int n = 0;; ++n) {
    const Complex noise{static_cast<float>(kSigma * random_.gaussian()),
                        static_cast<float>(kSigma * random_.gaussian())};
    if (put(n, noise)) break;
  }
  double tap = 0;
  for (int k = 0; k < kTaps; ++k) tap += (std::pow(sent_.re[k], 2) + std::pow(sent_.im[k], 2)) / kTaps;
  const double expected = kSigma * kSigma / (EqualiserFit::kSymbols - kTaps) / tap;
  EXPECT_GT(error(), 0.5 * expected);
  EXPECT_LT(error(), 2 * expected);
}

TEST_F(QamEqualiserFit, BeginsAnewWhateverWasUnderWay) {
  fit_.init(sent_.re, sent_.im);
  for (int n = 0; n < 500; ++n) put(n, {10, 10});
  fit_.init(sent_.re, sent_.im);
  int n = 0;
  while (!put(n)) ++n;
  EXPECT_EQ(n + 1, EqualiserFit::kSymbols + kSolving);
  EXPECT_LT(error(), 1e-10) << "nothing is left of the symbols before";
  fit_.init(sent_.re, sent_.im);
  fit_.reset();
  EXPECT_TRUE(fit_.idle());
}

}  // namespace
}  // namespace offhook::qam
