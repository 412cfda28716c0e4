// SPDX-License-Identifier: MIT
#include "src/decode/v34/anchors.h"

#include <algorithm>
#include <cmath>

#include "src/decode/v34/known_symbols.h"

namespace offhook::decode {
namespace {

constexpr int kBlock = 48;           // symbols that are correlated coherently: 7 Hz turn by a tenth in 14 ms
constexpr double kLeastPath = 0.12;  // of an anchor's energy, in its strongest symbol

// Share of the energy at T/2 sample k that the known symbols explain, by blocks.
double correlation(const std::vector<Cf>& z, std::size_t k, const std::vector<Cf>& known) {
  double explained = 0, energy = 0;
  for (std::size_t b = 0; b + kBlock <= known.size(); b += kBlock) {
    float re = 0, im = 0, e = 0, r = 0;
    for (std::size_t i = b; i < b + kBlock; ++i) {
      const Cf x = z[k + 2 * i], s = known[i];
      re += x.real() * s.real() + x.imag() * s.imag();
      im += x.imag() * s.real() - x.real() * s.imag();
      e += std::norm(x);
      r += std::norm(s);
    }
    explained += re * re + im * im;
    energy += e * r;
  }
  return energy > 0 ? explained / energy : 0;
}

// What the correlations at `k` and at the symbols around it explain together, beyond what chance does.
template <class Correlation>
double over_paths(std::size_t k, std::size_t size, Correlation&& at) {
  constexpr std::size_t kSymbols = 8;
  double sum = 0;
  for (std::size_t i = k - std::min(k / 2, kSymbols) * 2; i <= k + 2 * kSymbols && i < size; i += 2) {
    sum += std::max(0.0, static_cast<double>(at(i)) - 1.0 / kBlock);
  }
  return sum;
}

// The strongest of each likeness to `known` in samples T/2 apart.
struct Peak {
  std::size_t at;
  double correlation;
};
std::vector<Peak> find_peaks(const std::vector<Cf>& z, const std::vector<Cf>& known) {
  const std::size_t span = 2 * known.size();
  if (z.size() < span) return {};
  const std::vector<Cf> head(known.begin(), known.begin() + 2 * kBlock);
  std::vector<float> alike(z.size() - span + 1);
  for (std::size_t k = 0; k < alike.size(); ++k) alike[k] = static_cast<float>(correlation(z, k, head));
  std::vector<Peak> peaks;
  for (std::size_t k = 0; k < alike.size(); ++k) {
    // A line that disperses has a share at each of many symbols; the strongest is the anchor.
    if (alike[k] < kLeastPath || over_paths(k, alike.size(), [&](std::size_t i) { return alike[i]; }) < 0.25) continue;
    const double c = correlation(z, k, known);
    const auto exactly = [&](std::size_t i) { return i == k ? c : correlation(z, i, known); };
    if (c < kLeastPath || over_paths(k, alike.size(), exactly) < 0.4) continue;
    if (peaks.empty() || k > peaks.back().at + span) {
      peaks.push_back({k, c});
    } else if (c > peaks.back().correlation) {
      peaks.back() = {k, c};
    }
  }
  return peaks;
}

}  // namespace

std::vector<Anchor> find_anchors(const Baseband& line, const Direction& direction, double from_s, double to_s) {
  const double half = kRateHz / symbol_rate_hz(direction.rate) / 2;
  const double first = std::max(0.0, from_s) * kRateHz;
  const double last = std::min(static_cast<double>(line.size()), to_s * kRateHz);
  if (last <= first) return {};
  std::vector<Cf> z(static_cast<std::size_t>((last - first) / half));
  for (std::size_t k = 0; k < z.size(); ++k) z[k] = line.at(first + static_cast<double>(k) * half);

  std::vector<Anchor> found;
  const auto look_for = [&](bool pp, v34::TrainingPoints points) {
    const auto known = pp ? pp_symbols() : trn_symbols(direction.scrambling, points, 6 * kBlock);
    for (const Peak& p : find_peaks(z, known))
      found.push_back({first + static_cast<double>(p.at) * half, pp, points, p.correlation});
  };
  look_for(true, v34::TrainingPoints::k4);
  look_for(false, v34::TrainingPoints::k4);
  look_for(false, v34::TrainingPoints::k16);
  std::sort(found.begin(), found.end(), [](const Anchor& a, const Anchor& b) { return a.t < b.t; });
  const double pp_samples = v34::kPpSymbols * 2 * half;
  const auto together = [&](const Anchor& pp, const Anchor& trn) {
    return pp.pp && !trn.pp && std::abs(trn.t - pp.t - pp_samples) < 4 * half;
  };
  std::vector<Anchor> kept;
  for (const Anchor& a : found) {
    const bool paired = std::any_of(found.begin(), found.end(),
                                    [&](const Anchor& b) { return a.pp ? together(a, b) : together(b, a); });
    if (paired == a.pp) kept.push_back(a);
  }
  return kept;
}

}  // namespace offhook::decode
