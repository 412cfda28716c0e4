// SPDX-License-Identifier: MIT
#include "src/decode/v34/s_search.h"

#include <algorithm>
#include <cmath>

namespace offhook::decode {
namespace {

constexpr int kPeriodOfS = 4;         // of S, in half symbols
constexpr int kSeen = 2 * 96;         // of S's 128 symbols: its beginning may be lost
constexpr int kTurned = 2 * 12;       // of S-bar's 16
constexpr double kAlike = 0.6;        // of 1: 25 dB of noise give 0.99, data 0.1
constexpr double kMostTurn = 0.2;     // radians in two symbols: 7 Hz are 0.03, a tone of 2400 Hz 1.6 and more
constexpr double kLeastPower = 0.02;  // of the mean over the stretch

}  // namespace

std::vector<double> find_s_bar(const Baseband& line, const Direction& direction, double from_s, double to_s) {
  const double half = kRateHz / symbol_rate_hz(direction.rate) / 2;
  const double first = std::max(0.0, from_s) * kRateHz;
  const double last = std::min(static_cast<double>(line.size()), to_s * kRateHz);
  if (last <= first) return {};
  const auto n = static_cast<int>((last - first) / half);
  if (n < kSeen + kTurned + 2 * kPeriodOfS) return {};
  std::vector<Cf> z(static_cast<std::size_t>(n));
  double mean = 0;
  for (int k = 0; k < n; ++k) {
    const Cf x = line.at(first + k * half);
    z[static_cast<std::size_t>(k)] = x;
    mean += std::norm(x);
  }
  mean /= n;
  const auto at = [&](int k) { return z[static_cast<std::size_t>(k)]; };
  std::vector<double> found;
  double best = 0;
  int best_k = 0;
  Cd alike;
  double energy = 0;
  for (int k = kPeriodOfS; k + kTurned <= n; ++k) {
    // S in [k - kSeen, k): sums over the pairs one period apart that end there.
    if (k > kPeriodOfS) {
      alike += times_conj<double>(at(k - 1), at(k - 1 - kPeriodOfS));
      energy += 0.5 * (std::norm(at(k - 1)) + std::norm(at(k - 1 - kPeriodOfS)));
    }
    const int gone = k - 1 - (kSeen - kPeriodOfS);
    if (gone >= kPeriodOfS) {
      alike -= times_conj<double>(at(gone), at(gone - kPeriodOfS));
      energy -= 0.5 * (std::norm(at(gone)) + std::norm(at(gone - kPeriodOfS)));
    }
    if (best > 0 && k > best_k + kSeen) {  // the next has an S of its own before it
      found.push_back(first + best_k * half);
      best = 0;
    }
    if (k < kSeen || energy < kLeastPower * mean * (kSeen - kPeriodOfS)) continue;
    if (std::abs(alike) < kAlike * energy || std::abs(std::arg(alike)) > kMostTurn) continue;
    double turned = 0, power = 0;
    for (int i = 0; i < kTurned; ++i) {
      turned -= times_conj<double>(at(k + i), at(k + i - kTurned)).real();
      power += 0.5 * (std::norm(at(k + i)) + std::norm(at(k + i - kTurned)));
    }
    if (turned > 0.5 * power && turned / power > best) {
      best = turned / power;
      best_k = k;
    }
  }
  if (best > 0) found.push_back(first + best_k * half);
  return found;
}

}  // namespace offhook::decode
