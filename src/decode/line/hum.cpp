// SPDX-License-Identifier: MIT
#include "src/decode/line/hum.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "dsp/blocks/linear_high_pass.h"
#include "src/decode/line/samples.h"

namespace offhook::decode {
namespace {

constexpr double kEdgeHz = 200;

// Share of the power at low frequencies, by means of 2 ms: -2.4 dB at 200 Hz, -16 dB at 800 Hz.
double low_share(std::span<const float> x) {
  constexpr std::size_t kBlock = 16;
  double low = 0;
  for (std::size_t at = 0; at + kBlock <= x.size(); at += kBlock) {
    const double sum = std::accumulate(x.begin() + static_cast<std::ptrdiff_t>(at),
                                       x.begin() + static_cast<std::ptrdiff_t>(at + kBlock), 0.0);
    low += sum * sum / kBlock;
  }
  const double all = mean_power(x) * static_cast<double>(x.size());
  return all > 0 ? low / all : 0;
}

// 80 dB, and an edge that is 33 Hz wide.
std::vector<float> high_pass_taps() {
  constexpr int kHalf = 600;
  constexpr double kTurns = kEdgeHz / kRateHz, kBeta = 7.86;
  std::vector<float> taps;
  for (int n = -kHalf; n <= kHalf; ++n) taps.push_back(static_cast<float>(high_pass_tap(n, kHalf, kTurns, kBeta)));
  return taps;
}

std::vector<float> filtered(std::span<const float> x, std::span<const float> taps) {
  const std::size_t half = taps.size() / 2;
  std::vector<float> padded(x.size() + 2 * half);
  std::copy(x.begin(), x.end(), padded.begin() + static_cast<std::ptrdiff_t>(half));
  std::vector<float> y(x.size());
  for (std::size_t k = 0; k < y.size(); ++k)
    y[k] = std::inner_product(taps.begin(), taps.end(), padded.begin() + static_cast<std::ptrdiff_t>(k), 0.f);
  return y;
}

}  // namespace

void take_hum_off(Recording& recording) {
  for (std::size_t c = 0; c < recording.channel.size(); ++c) {
    std::vector<float>& x = recording.channel[c];
    if (low_share(x) < 0.5) continue;
    const double before = mean_power(x);
    x = filtered(x, high_pass_taps());
    const double after = std::max(mean_power(x), 1e-9);
    if (!recording.remark.empty()) recording.remark += ' ';
    recording.remark += fmt::format("Hum in channel {}, {:.0f} dB louder than everything else, was removed.", c,
                                    10 * std::log10(std::max(before - after, 1e-9) / after));
  }
}

}  // namespace offhook::decode
