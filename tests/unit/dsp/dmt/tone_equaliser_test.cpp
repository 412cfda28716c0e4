// SPDX-License-Identifier: MIT
//
// Each tone's own filter: it starts as the common one, sample by sample, and its fit reaches the least-squares optimum,
// computed here by Gaussian elimination in long double from the same symbols.
#include "dsp/dmt/tone_equaliser.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <complex>
#include <memory>
#include <numbers>
#include <random>
#include <vector>

namespace offhook::dmt {
namespace {

using Number = std::complex<long double>;
constexpr int kTaps = ToneEqualiser::kTaps, kPast = ToneEqualiser::kDifferences;

std::vector<float> noise(std::mt19937& random, int n) {
  std::normal_distribution<float> normal;
  std::vector<float> x(n);
  for (float& v : x) v = normal(random);
  return x;
}

/// Transform of n samples at one tone.
Number tone_of(const float* x, int n, int tone) {
  Number sum = 0;
  for (int t = 0; t < n; ++t)
    sum += static_cast<long double>(x[t]) *
           std::polar(1.0L, -2 * std::numbers::pi_v<long double> * static_cast<long double>(tone * t % n) / n);
  return sum;
}

Complex single(Number z) {
  return {static_cast<float>(z.real()), static_cast<float>(z.imag())};
}

TEST(ToneEqualiser, StartsAsOneFilterForAllTones) {
  const Band band = kLiteUp;
  std::mt19937 random(1);
  const std::vector<float> taps = noise(random, kTaps), past = noise(random, kPast + band.points);
  const float* window = past.data() + kPast;
  std::vector<float> filtered(band.points);
  for (int t = 0; t < band.points; ++t) {
    for (int i = 0; i < kTaps; ++i) filtered[t] += taps[i] * window[t - i];
  }
  auto equaliser = std::make_unique<ToneEqualiser>(band);
  equaliser->set(taps.data());
  std::vector<Complex> received(kMostTones);
  for (int k = 0; k < band.tones(); ++k) received[k] = single(tone_of(window, band.points, k));
  equaliser->filter(window, received.data());
  for (int k = band.first; k <= band.last; ++k) {
    const Number expected = tone_of(filtered.data(), band.points, k);
    EXPECT_NEAR(received[k].re, static_cast<double>(expected.real()), 1e-3) << k;
    EXPECT_NEAR(received[k].im, static_cast<double>(expected.imag()), 1e-3) << k;
  }
}

/// Minimises the sum of |wanted - features c|^2 over c.
long double least_error(const std::vector<std::vector<Number>>& features, const std::vector<Number>& wanted) {
  const std::size_t n = features[0].size();
  std::vector<std::vector<Number>> a(n, std::vector<Number>(n + 1));
  long double all = 0;
  for (std::size_t s = 0; s < wanted.size(); ++s) {
    all += std::norm(wanted[s]);
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < n; ++j) a[i][j] += std::conj(features[s][i]) * features[s][j];
      a[i][n] += std::conj(features[s][i]) * wanted[s];
    }
  }
  std::vector<Number> right(n);
  for (std::size_t i = 0; i < n; ++i) right[i] = a[i][n];
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t r = i + 1; r < n; ++r) {
      const Number f = a[r][i] / a[i][i];
      for (std::size_t j = i; j <= n; ++j) a[r][j] -= f * a[i][j];
    }
  }
  std::vector<Number> c(n);
  for (std::size_t i = n; i-- > 0;) {
    c[i] = a[i][n];
    for (std::size_t j = i + 1; j < n; ++j) c[i] -= a[i][j] * c[j];
    c[i] /= a[i][i];
  }
  for (std::size_t i = 0; i < n; ++i) all -= (std::conj(c[i]) * right[i]).real();
  return all;
}

// A channel much longer than the prefix, and white noise: successive symbols with prefixes.
constexpr int kFitSymbols = 600;

/// Random symbols, and the received signal over a channel of 24 samples with noise.
struct Training {
  explicit Training(const Band& b) : band(b), sent(kFitSymbols, std::vector<Complex>(kMostTones)) {
    std::vector<float> line(64, 0.0f);
    for (auto& symbol : sent) append(symbol, &line);
    std::normal_distribution<float> normal;
    heard.resize(line.size());
    for (std::size_t t = 0; t < line.size(); ++t) {
      for (std::size_t i = 0; i < 24 && i <= t; ++i)
        heard[t] += line[t - i] * (i % 3 == 1 ? -1.0f : 1.0f) * std::exp(-0.2f * static_cast<float>(i));
      heard[t] += 0.05f * normal(random);
    }
  }
  void append(std::vector<Complex>& symbol, std::vector<float>* line) {
    std::vector<float> x(band.points);
    for (int k = band.first; k <= band.last; ++k) {
      symbol[k] =
          k == band.pilot ? Complex{0.7f, 0.7f} : Complex{random() % 2 ? 0.7f : -0.7f, random() % 2 ? 0.7f : -0.7f};
      for (int t = 0; t < band.points; ++t) {
        const double w = 2 * std::numbers::pi * k * t / band.points;
        x[t] += static_cast<float>(symbol[k].re * std::cos(w) - symbol[k].im * std::sin(w));
      }
    }
    for (int t = -band.prefix; t < band.points; ++t) line->push_back(x[(t + band.points) % band.points]);
  }
  const float* window(int s) const { return heard.data() + 64 + s * band.symbol() + band.prefix; }

  const Band& band;
  std::mt19937 random{2};
  std::vector<std::vector<Complex>> sent;
  std::vector<float> heard;
};

/// The least error of a linear filter of the point and the differences at a tone.
double least_error_at(int k, const Training& t, const std::vector<std::vector<Complex>>& received) {
  std::vector<std::vector<Number>> features;
  std::vector<Number> wanted;
  for (int s = 0; s < kFitSymbols; ++s) {
    const float* w = t.window(s);
    std::vector<Number> row = {Number(received[s][k].re, received[s][k].im)};
    for (int l = 1; l <= kPast; ++l) row.emplace_back(w[-l] - w[t.band.points - l]);
    features.push_back(row);
    wanted.emplace_back(t.sent[s][k].re, t.sent[s][k].im);
  }
  return static_cast<double>(least_error(features, wanted));
}

TEST(ToneEqualiser, AFitReachesTheLeastSquaresOptimumOfEachTone) {
  const Band band = kLiteUp;
  const Training training(band);
  const auto& sent = training.sent;
  auto equaliser = std::make_unique<ToneEqualiser>(band);
  float taps[kTaps] = {1};
  equaliser->set(taps);
  // The one-tap equaliser of each tone, from least squares alone.
  std::vector<std::vector<Complex>> received(kFitSymbols, std::vector<Complex>(kMostTones));
  std::vector<Complex> one_tap(kMostTones);
  for (int k = band.first; k <= band.last; ++k) {
    Number cross = 0;
    long double power = 0;
    for (int s = 0; s < kFitSymbols; ++s) {
      const Number y = tone_of(training.window(s), band.points, k);
      received[s][k] = single(y);
      cross += Number(sent[s][k].re, sent[s][k].im) * std::conj(y);
      power += std::norm(y);
    }
    one_tap[k] = single(cross / power);
  }
  const std::vector<Complex> unturned(kMostTones, Complex{1, 0});
  equaliser->begin_fit();
  std::vector<Complex> points(kMostTones);
  for (int s = 0; s < kFitSymbols; ++s) {
    std::vector<Complex> y = received[s];
    equaliser->filter(training.window(s), y.data());
    for (int k = band.first; k <= band.last; ++k) points[k] = y[k] * one_tap[k];
    equaliser->add(points.data(), sent[s].data(), unturned.data());
  }
  EXPECT_EQ(equaliser->symbols(), kFitSymbols);
  std::vector<Complex> fitted = one_tap;
  while (!equaliser->fit(fitted.data())) continue;
  std::vector<double> error(kMostTones), before(kMostTones);
  for (int s = 0; s < kFitSymbols; ++s) {
    std::vector<Complex> y = received[s];
    equaliser->filter(training.window(s), y.data());
    for (int k = band.first; k <= band.last; ++k) {
      error[k] += static_cast<double>(norm(sent[s][k] - y[k] * fitted[k]));
      before[k] += static_cast<double>(norm(sent[s][k] - received[s][k] * one_tap[k]));
    }
  }
  for (const int k : {band.first, 11, 20, band.last}) {
    const double least = least_error_at(k, training, received);
    EXPECT_NEAR(error[k], least, 0.01 * least) << "tone " << k;
    EXPECT_LT(error[k], 0.5 * before[k]) << "tone " << k;
  }
  EXPECT_DOUBLE_EQ(error[band.pilot], before[band.pilot]) << "the pilot keeps its filter";
}

}  // namespace
}  // namespace offhook::dmt
