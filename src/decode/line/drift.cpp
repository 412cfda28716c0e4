// SPDX-License-Identifier: MIT
#include "src/decode/line/drift.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <iterator>
#include <numbers>
#include <numeric>

#include "src/decode/line/samples.h"
#include "src/decode/line/spectrum.h"

namespace offhook::decode {
namespace {

constexpr std::size_t kStretch = 8192, kMostWindows = 60, kTried = 8;
constexpr long kMostLag = 1024;  // samples; the echo of a in b is earlier

struct Point {
  double t, lag;  // samples
};

// The whitened cross-spectrum of a window: each frequency counts alike, so that tones do not hide the delay.
std::vector<oh_complex> cross_spectrum(const Fft& fft, std::span<const float> own, std::span<const float> other) {
  // Both are real: one transform gives both spectra.
  const std::size_t size = fft.size();
  std::vector<oh_complex> z(size), x(size);
  for (std::size_t k = 0; k < kStretch; ++k) z[k] = {own[k], other[k]};
  fft.forward(z);
  for (std::size_t k = 0; k < size; ++k) {
    const oh_complex p = z[k], q = z[(size - k) % size];
    const oh_complex a = {p.re + q.re, p.im - q.im}, b = {p.im + q.im, q.re - p.re};  // twice the spectra
    const oh_complex product = times_conj(a, b);
    const float length = std::sqrt(product.re * product.re + product.im * product.im) + 1e-9F;
    x[k] = {product.re / length, product.im / length};
  }
  return x;
}

// The correlation at any delay.
double correlation(std::span<const oh_complex> spectrum, double lag) {
  const std::complex<double> step = std::polar(1.0, 2 * std::numbers::pi * lag / static_cast<double>(spectrum.size()));
  std::complex<double> turn = 1;
  double sum = 0;
  for (std::size_t k = 0; k < spectrum.size() / 2; ++k, turn *= step)
    sum += turn.real() * spectrum[k].re - turn.imag() * spectrum[k].im;
  return sum;
}

// The delay of the other's echo in a window; nothing: no peak stands out.
std::optional<double> echo_lag(const Fft& fft, std::span<const float> own, std::span<const float> other) {
  constexpr double kLeastPeak = 7;  // over the standard deviation; of 2049 delays of noise, the highest one has 3.5
  const std::vector<oh_complex> spectrum = cross_spectrum(fft, own, other);
  std::vector<oh_complex> x = spectrum;
  fft.inverse(x);
  long best = 0;
  double most = 0, sum = 0;
  for (long lag = -kMostLag; lag <= kMostLag; ++lag) {
    const double v = std::abs(x[static_cast<std::size_t>(lag < 0 ? lag + static_cast<long>(x.size()) : lag)].re);
    sum += v * v;
    if (v > most) most = v, best = lag;
  }
  if (most * most < kLeastPeak * kLeastPeak * sum / static_cast<double>(2 * kMostLag + 1)) return std::nullopt;
  // A parabola through three points, twice.
  double lag = static_cast<double>(best);
  for (const double h : {0.5, 0.1}) {
    const double a = std::abs(correlation(spectrum, lag - h)), b = std::abs(correlation(spectrum, lag)),
                 c = std::abs(correlation(spectrum, lag + h));
    const double bend = a - 2 * b + c;
    if (bend < 0) lag += std::clamp(h * (a - c) / (2 * bend), -1.0, 1.0);
  }
  return lag;
}

// Some windows are tried first: without echo in two of them, the others are skipped.
std::vector<Point> echo_lags(std::span<const float> own, std::span<const float> other) {
  const std::size_t size = std::min(own.size(), other.size());
  std::vector<Point> points;
  if (size < kStretch) return points;
  const Fft fft(2 * kStretch);
  const std::size_t step = std::max(kStretch / 2, (size - kStretch) / kMostWindows),
                    windows = (size - kStretch) / step + 1;
  const std::size_t apart = std::max<std::size_t>(1, windows / kTried);
  const auto add = [&](std::size_t k) {
    if (const auto lag = echo_lag(fft, own.subspan(k * step, kStretch), other.subspan(k * step, kStretch)))
      points.push_back({static_cast<double>(k * step + kStretch / 2), *lag});
  };
  for (std::size_t k = 0; k < windows; k += apart) add(k);
  if (points.size() < 2) return points;
  for (std::size_t k = 0; k < windows; ++k) {
    if (k % apart != 0) add(k);
  }
  return points;
}

struct FittedLine {
  std::size_t points = 0;
  double slope = 0;  // samples per sample
};

FittedLine least_squares_line(const std::vector<Point>& points) {
  double t = 0, lag = 0, tt = 0, tl = 0;
  const auto n = static_cast<double>(points.size());
  for (const Point& p : points) t += p.t / n, lag += p.lag / n;
  for (const Point& p : points) tt += (p.t - t) * (p.t - t), tl += (p.t - t) * (p.lag - lag);
  return {points.size(), tt > 0 ? tl / tt : 0};
}

// The line on which most points lie, fitted to them.
FittedLine line_through_most(const std::vector<Point>& points, double near_samples) {
  constexpr double kLeastSpan = 2 * kRateHz;
  std::vector<Point> best;
  for (const Point& a : points) {
    for (const Point& b : points) {
      if (b.t - a.t < kLeastSpan) continue;
      const double slope = (b.lag - a.lag) / (b.t - a.t);
      if (std::abs(slope) > 1e-6 * kMostPpm) continue;
      std::vector<Point> near;
      for (const Point& p : points) {
        if (std::abs(p.lag - a.lag - slope * (p.t - a.t)) < near_samples) near.push_back(p);
      }
      if (near.size() > best.size()) best = std::move(near);
    }
  }
  return least_squares_line(best);
}

// @param near  of a delay to the line, samples  @return ppm; 0: no echo that lasts
double measured_ppm(std::span<const float> a, std::span<const float> b, double near) {
  constexpr std::size_t kLeastPoints = 6;
  // The echo of a faster b comes earlier and earlier in a, and that of a later and later in b.
  const FittedLine line = line_through_most(echo_lags(a, b), near);
  return line.points < kLeastPoints ? 0 : -1e6 * line.slope;
}

}  // namespace

std::optional<double> clock_difference_ppm(std::span<const float> a, std::span<const float> b) {
  constexpr double kMoving = 0.2, kStill = 0.02;
  double ppm = measured_ppm(a, b, kMoving);
  if (std::abs(ppm) < kLeastPpm) return std::nullopt;
  // The echo no longer moves within a window: more exactly.
  ppm += measured_ppm(a, on_slower_clock(b, ppm, a.size()), kStill);
  return std::abs(ppm) < kLeastPpm ? std::nullopt : std::optional(ppm);
}

namespace {

// A windowed sinc: taps on each side, and positions between two samples.
constexpr int kHalf = 96, kTurns = 512, kAtOnce = 8;
const std::vector<float>& interpolator() {
  static const std::vector<float> instance = [] {
    std::vector<float> taps(static_cast<std::size_t>((kTurns + 1) * 2 * kHalf));
    for (int phase = 0; phase <= kTurns; ++phase) {
      for (int k = 0; k < 2 * kHalf; ++k) {
        const double u = k - kHalf + 1 - static_cast<double>(phase) / kTurns;
        const double window = 0.5 + 0.5 * std::cos(std::numbers::pi * u / kHalf);
        const double sinc = std::abs(u) < 1e-9 ? 1 : std::sin(std::numbers::pi * u) / (std::numbers::pi * u);
        taps[static_cast<std::size_t>(phase * 2 * kHalf + k)] =
            static_cast<float>(std::abs(u) < kHalf ? sinc * window : 0);
      }
    }
    return taps;
  }();
  return instance;
}

}  // namespace

std::vector<float> on_slower_clock(std::span<const float> x, double ppm, std::size_t size) {
  const std::vector<float>& taps = interpolator();
  std::vector<float> out(size);
  const auto n = static_cast<long>(x.size());
  for (std::size_t i = 0; i < size; ++i) {
    const double at = static_cast<double>(i) * (1 + 1e-6 * ppm);
    const auto whole = static_cast<long>(at);
    if (whole >= n) break;
    const auto* t =
        &taps[static_cast<std::size_t>(std::lround((at - static_cast<double>(whole)) * kTurns) * 2 * kHalf)];
    const long first = whole - kHalf + 1;
    float sum[kAtOnce]{};  // side by side: each addition to one waits for the one before
    if (first >= 0 && first + 2 * kHalf <= n) {
      const float* y = &x[static_cast<std::size_t>(first)];
      for (int k = 0; k < 2 * kHalf; k += kAtOnce) {
        for (int j = 0; j < kAtOnce; ++j) sum[j] += t[k + j] * y[k + j];
      }
    } else {
      for (long k = std::max(0L, -first); k < std::min(2L * kHalf, n - first); ++k)
        sum[0] += t[k] * x[static_cast<std::size_t>(first + k)];
    }
    out[i] = std::accumulate(std::begin(sum), std::end(sum), 0.f);
  }
  return out;
}

}  // namespace offhook::decode
