// SPDX-License-Identifier: MIT
#include "hostsim/call/loop_rates.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

#include "dsp/dmt/constellation.h"
#include "dsp/dmt/loading.h"

namespace offhook::hostsim {
namespace {

/// SNR of each tone that carries bits, at nominal power.
std::vector<double> signal_to_noise(const LoopConfig& loop, const dmt::Band& band) {
  std::vector<double> all;
  for (int k = band.first; k <= band.last; ++k) {
    if (!band.carries(k)) continue;
    const double hz = k * kAdslToneHz;
    double noise = power(10, loop.noise_dbm_hz / 10);
    for (const Disturbers& d : loop.disturbers) noise += crosstalk_psd(d, loop.cable, hz);
    all.push_back(power(10, static_cast<double>(band.dbm_hz) / 10) * std::norm(insertion_gain(loop.cable, hz)) / noise);
  }
  return all;
}

/// Bits per symbol if tones of these ratios share a power equal to the number of tones.
double water_filled(std::vector<double> ratios) {
  std::sort(ratios.begin(), ratios.end(), std::greater<>());
  // The water level with the n best tones in use; the n-th is in use if the level is above that tone's floor.
  const auto total = static_cast<double>(ratios.size());
  double floors = 0, level = 0;
  std::size_t used = 0;
  for (; used < ratios.size() && ratios[used] > 0; ++used) {
    const double next = (total + floors + 1 / ratios[used]) / static_cast<double>(used + 1);
    if (next <= 1 / ratios[used]) break;
    floors += 1 / ratios[used];
    level = next;
  }
  double bits = 0;
  for (std::size_t k = 0; k < used; ++k) bits += std::log2(level * ratios[k]);
  return bits;
}

}  // namespace

LoopRates loop_rates(const LoopConfig& loop, const dmt::Band& band) {
  const std::vector<double> ratios = signal_to_noise(loop, band);
  int whole = 0;
  for (const double ratio : ratios) {
    const int bits = static_cast<int>(std::log2(1 + ratio / static_cast<double>(dmt::kGap)));
    whole += bits < dmt::kLeastBits ? 0 : std::min(bits, band.most_bits);
  }
  return {static_cast<std::uint32_t>(whole * dmt::kDataSymbolsPerSecond),
          static_cast<std::uint32_t>(water_filled(ratios) * dmt::kDataSymbolsPerSecond)};
}

}  // namespace offhook::hostsim
