// SPDX-License-Identifier: MIT
//
// The time-domain equaliser against the exact optimum of its least-squares problem: every delay, the whole spectrum of
// the generalised eigenproblem by Jacobi's rotations, in long double, from correlations by their definition.
#include "dsp/dmt/shortening.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>
#include <random>
#include <vector>

namespace offhook::dmt {
namespace {

using Real = long double;
using Matrix = std::vector<std::vector<Real>>;
constexpr int kTaps = Shortening::kTaps;

struct Spectra {
  std::vector<Complex> cross;
  std::vector<float> power;
};

/// A channel of a few decaying reflections, and white noise.
Spectra spectra(const Band& band, std::uint32_t seed, double noise) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal;
  std::vector<double> h(band.points / 4);
  for (std::size_t t = 0; t < h.size(); ++t)
    h[t] = normal(random) * std::exp(-static_cast<double>(t) / (0.5 * band.prefix + 2));
  Spectra s{std::vector<Complex>(band.tones()), std::vector<float>(band.tones())};
  for (int k = 0; k < band.tones(); ++k) {
    std::complex<double> sum = 0;
    for (std::size_t t = 0; t < h.size(); ++t)
      sum += h[t] * std::exp(std::complex<double>(0, -2 * std::numbers::pi * k * static_cast<double>(t) / band.points));
    const bool sent = k >= band.first && k <= band.last;
    if (sent) s.cross[k] = {static_cast<float>(sum.real()), static_cast<float>(sum.imag())};
    s.power[k] = static_cast<float>((sent ? std::norm(sum) : 0) + noise);
  }
  return s;
}

/// L of A = L L'.
Matrix cholesky(Matrix a) {
  const std::size_t n = a.size();
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      for (std::size_t k = 0; k < j; ++k) a[i][j] -= a[i][k] * a[j][k];
      a[i][j] = i == j ? std::sqrt(a[i][i]) : a[i][j] / a[j][j];
    }
  }
  return a;
}
void solve_lower(const Matrix& l, std::vector<Real>* v) {
  for (std::size_t i = 0; i < l.size(); ++i) {
    for (std::size_t k = 0; k < i; ++k) (*v)[i] -= l[i][k] * (*v)[k];
    (*v)[i] /= l[i][i];
  }
}

Real least_eigenvalue(Matrix a) {
  const std::size_t n = a.size();
  for (int sweep = 0; sweep < 12; ++sweep) {
    for (std::size_t p = 0; p < n; ++p) {
      for (std::size_t q = p + 1; q < n; ++q) {
        if (std::abs(a[p][q]) < 1e-25L) continue;
        const Real theta = (a[q][q] - a[p][p]) / (2 * a[p][q]);
        const Real t = (theta < 0 ? -1 : 1) / (std::abs(theta) + std::sqrt(theta * theta + 1));
        const Real c = 1 / std::sqrt(t * t + 1), s = t * c;
        for (std::size_t k = 0; k < n; ++k) {
          const Real x = a[k][p], y = a[k][q];
          a[k][p] = c * x - s * y;
          a[k][q] = s * x + c * y;
        }
        for (std::size_t k = 0; k < n; ++k) {
          const Real x = a[p][k], y = a[q][k];
          a[p][k] = c * x - s * y;
          a[q][k] = s * x + c * y;
        }
      }
    }
  }
  Real least = a[0][0];
  for (std::size_t k = 0; k < n; ++k) least = std::min(least, a[k][k]);
  return least;
}

struct Problem {
  Matrix a, c;
  std::vector<Real> cross;  // at lag + kTaps
};

Problem problem(const Band& band, const Spectra& s, int target, double ridge) {
  Problem p{Matrix(kTaps, std::vector<Real>(kTaps)), Matrix(target, std::vector<Real>(target)),
            std::vector<Real>(3 * kTaps + target)};
  const auto angle = [&](int k, int lag) { return 2 * std::numbers::pi_v<Real> * k * lag / band.points; };
  for (int k = 1; k < band.tones(); ++k) {
    const bool sent = k >= band.first && k <= band.last;
    for (int i = 0; i < kTaps; ++i) {
      for (int j = 0; j < kTaps; ++j) p.a[i][j] += s.power[k] * std::cos(angle(k, i - j));
    }
    for (int i = 0; i < target; ++i) {
      for (int j = 0; j < target; ++j) p.c[i][j] += sent ? std::cos(angle(k, i - j)) : 0;
    }
    for (int lag = -kTaps; lag < 2 * kTaps + target; ++lag)
      p.cross[lag + kTaps] += s.cross[k].re * std::cos(angle(k, lag)) - s.cross[k].im * std::sin(angle(k, lag));
  }
  for (int j = 0; j < target; ++j) p.c[j][j] += ridge * (band.last - band.first + 1);
  return p;
}

Real optimum(const Problem& p, int target) {
  const Matrix la = cholesky(p.a), lc = cholesky(p.c);
  Real best = 1;
  for (int delay = 0; delay < kTaps; ++delay) {
    Matrix half(target, std::vector<Real>(kTaps));
    for (int j = 0; j < target; ++j) {
      for (int i = 0; i < kTaps; ++i) half[j][i] = p.cross[delay + j - i + kTaps];
      solve_lower(la, &half[j]);
    }
    Matrix m = p.c;
    for (int i = 0; i < target; ++i) {
      for (int j = 0; j < target; ++j) {
        for (int k = 0; k < kTaps; ++k) m[i][j] -= half[i][k] * half[j][k];
      }
    }
    // L^-1 M L^-T: rows, then columns.
    for (auto& row : m) solve_lower(lc, &row);
    Matrix turned(target, std::vector<Real>(target));
    for (int i = 0; i < target; ++i) {
      for (int j = 0; j < target; ++j) turned[j][i] = m[i][j];
    }
    for (auto& row : turned) solve_lower(lc, &row);
    best = std::min(best, least_eigenvalue(turned));
  }
  return best;
}

/// The result of the taps: mean square error over the power of the target's output.
Real achieved(const Problem& p, const Shortening& s, int target) {
  Real error = 0, power = 0;
  for (int i = 0; i < kTaps; ++i) {
    for (int j = 0; j < kTaps; ++j) error += Real(s.taps()[i]) * Real(s.taps()[j]) * p.a[i][j];
    for (int j = 0; j < target; ++j)
      error -= 2 * Real(s.taps()[i]) * Real(s.target()[j]) * p.cross[s.delay() + j - i + kTaps];
  }
  for (int i = 0; i < target; ++i) {
    for (int j = 0; j < target; ++j) power += Real(s.target()[i]) * Real(s.target()[j]) * p.c[i][j];
  }
  return (error + power) / power;
}

TEST(Shortening, ReachesTheExactLeastSquaresOptimum) {
  for (const Band& band : {kLiteDown, kLiteUp, kFullDown}) {
    for (const double noise : {1e-1, 1e-4}) {
      for (const std::uint32_t seed : {1u, 2u}) {
        SCOPED_TRACE(testing::Message() << band.points << " points, noise " << noise << ", seed " << seed);
        const int target = band.prefix - 1;
        constexpr double kRidge = 1e-2;
        const Spectra s = spectra(band, seed, noise);
        Shortening own(band, target, kRidge);
        own.begin(s.cross.data(), s.power.data());
        while (!own.work()) {
        }
        const Problem p = problem(band, s, target, kRidge);
        const Real best = optimum(p, target);
        EXPECT_GE(own.error(), static_cast<double>(best) * 0.9999);
        EXPECT_LE(own.error(), static_cast<double>(best) * 1.01);
        EXPECT_NEAR(static_cast<double>(achieved(p, own, target)) / own.error(), 1, 0.01);
      }
    }
  }
}

TEST(Shortening, LeavesAShortChannelNothingToDo) {
  const Band band = kLiteDown;
  Spectra s{std::vector<Complex>(band.tones()), std::vector<float>(band.tones(), 1e-6f)};
  for (int k = band.first; k <= band.last; ++k) {  // one tap, five samples late
    const double w = -2 * std::numbers::pi * k * 5 / band.points;
    s.cross[k] = {static_cast<float>(std::cos(w)), static_cast<float>(std::sin(w))};
    s.power[k] = 1 + 1e-6f;
  }
  Shortening own(band, 15, 1e-4);
  own.begin(s.cross.data(), s.power.data());
  while (!own.work()) {
  }
  EXPECT_LT(own.error(), 1e-4);
}

}  // namespace
}  // namespace offhook::dmt
