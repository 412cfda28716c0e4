// SPDX-License-Identifier: MIT
#include "src/decode/line/symbol_clock.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>
#include <vector>

#include "src/decode/line/spectrum.h"

namespace offhook::decode {
namespace {

constexpr double kRates[] = {1600, 2400, 2400.0 * 8 / 7, 2800, 3000, 3200, 2400.0 * 10 / 7};
constexpr double kMostPpm = 200;
constexpr double kBlockS = 0.1, kLeastS = 3, kLongestS = 20;
constexpr double kSteady = 1.6;    // of a block's power to the mean so far, either way
constexpr double kLeastLine = 40;  // over the mean by chance: one in 10^17 has it
constexpr double kLeastCoherence = 0.02;
constexpr double kLowestHz = 150, kHighestHz = 3850;
constexpr double kLeastBroad = 0.4;  // of the bins between 600 and 3000 Hz, within 20 dB of the strongest
constexpr std::size_t kSpectrum = 1024;

// The longest stretch of steady power that is not silence.
std::pair<std::size_t, std::size_t> steady(std::span<const float> x) {
  const auto block = static_cast<std::size_t>(kBlockS * kRateHz);
  std::vector<double> power;
  for (std::size_t at = 0; at + block <= x.size(); at += block) {
    double sum = 0;
    for (std::size_t i = at; i < at + block; ++i) sum += static_cast<double>(x[i]) * x[i];
    power.push_back(sum / static_cast<double>(block));
  }
  std::size_t best = 0, best_from = 0;
  for (std::size_t from = 0; from < power.size();) {
    double mean = power[from];
    std::size_t to = from + 1;
    while (to < power.size() && power[to] < kSteady * mean && power[to] > mean / kSteady) {
      mean += (power[to] - mean) / static_cast<double>(to - from + 1);
      ++to;
    }
    if (mean > 100 && to - from > best) best = to - from, best_from = from;
    from = to;
  }
  return {best_from * block, (best_from + best) * block};
}

bool is_broad(std::span<const float> x) {
  const Fft fft(kSpectrum);
  std::vector<oh_complex> z(kSpectrum);
  std::vector<double> power(kSpectrum / 2);
  for (std::size_t at = 0; at + kSpectrum <= x.size(); at += kSpectrum) {
    const std::vector<float> w = hann(x.subspan(at, kSpectrum));
    for (std::size_t k = 0; k < kSpectrum; ++k) z[k] = {w[k], 0};
    fft.forward(z);
    for (std::size_t k = 0; k < power.size(); ++k) power[k] += z[k].re * z[k].re + z[k].im * z[k].im;
  }
  const auto bin = [](int hz) { return static_cast<long>(static_cast<std::size_t>(hz) * kSpectrum / kRateHz); };
  const auto from = power.begin() + bin(600), to = power.begin() + bin(3000);
  const double most = *std::max_element(from, to);
  return static_cast<double>(std::count_if(from, to, [&](double p) { return p > 0.01 * most; })) >
         kLeastBroad * static_cast<double>(to - from);
}

}  // namespace

std::optional<SymbolClock> find_symbol_clock(std::span<const float> x) {
  auto [from, to] = steady(x);
  to = std::min(to, from + static_cast<std::size_t>(kLongestS * kRateHz));
  if (seconds(to - from) < kLeastS) return std::nullopt;
  const std::span<const float> part = x.subspan(from, to - from);
  if (!is_broad(part)) return std::nullopt;
  const Fft fft(std::bit_floor(part.size()));
  std::vector<oh_complex> x_of(fft.size());
  for (std::size_t k = 0; k < fft.size(); ++k) x_of[k] = {part[k], 0};
  fft.forward(x_of);
  const double bin_hz = static_cast<double>(kRateHz) / static_cast<double>(fft.size());
  std::optional<SymbolClock> best;
  for (const double rate : kRates) {
    const auto first = static_cast<std::size_t>(kLowestHz / bin_hz);
    const auto last = static_cast<std::size_t>((kHighestHz - rate) / bin_hz);
    const auto reach = static_cast<long>(std::ceil(rate * kMostPpm * 1e-6 / bin_hz));
    const long apart = std::lround(rate / bin_hz);
    double most = 0;
    for (long k = apart - reach; k <= apart + reach; ++k) {
      Cd alike;
      double low = 0, high = 0;
      for (std::size_t f = first; f < last; ++f) {
        const oh_complex a = x_of[f], b = x_of[f + static_cast<std::size_t>(k)];
        alike += times_conj(Cd(b.re, b.im), Cd(a.re, a.im));
        low += static_cast<double>(a.re) * a.re + static_cast<double>(a.im) * a.im;
        high += static_cast<double>(b.re) * b.re + static_cast<double>(b.im) * b.im;
      }
      most = std::max(most, std::norm(alike) / std::max(low * high, 1e-9));
    }
    const double over = most * static_cast<double>(last - first);
    if (most < kLeastCoherence || over < kLeastLine) continue;
    const double db = 10 * std::log10(over);
    if (!best || db > best->over_noise_db)
      best = SymbolClock{static_cast<int>(std::lround(rate)), seconds(from), seconds(to), db};
  }
  return best;
}

}  // namespace offhook::decode
