// SPDX-License-Identifier: MIT
#include "src/decode/line/tone_windows.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "src/decode/line/spectrum.h"

namespace offhook::decode {
namespace {

TEST(DecodeToneWindows, OverlappingWindowsHaveTheSpectrumOfEachAlone) {
  constexpr int kHz[] = {350, 425, 1300};
  constexpr std::size_t kHop = 8, kParts = 20, kWindow = kHop * kParts;
  std::vector<float> x(1000);
  for (std::size_t k = 0; k < x.size(); ++k)
    x[k] = static_cast<float>(1000 * std::cos(2 * std::numbers::pi * 425 * seconds(k)) +
                              100.0 * std::sin(0.7 * static_cast<double>(k * k)));
  ToneWindows windows(x, kHz, kHop, kParts);
  for (std::size_t number = 0; kHop * number + kWindow <= x.size(); ++number) {
    const std::span<const float> window = std::span(x).subspan(kHop * number, kWindow);
    double mean_square = 0;
    for (const float v : window) mean_square += static_cast<double>(v) * v / kWindow;
    EXPECT_NEAR(windows.power_of(number), mean_square, 1e-9 * mean_square);
    double power[std::size(kHz)];
    windows.tones_of(number, power);
    for (std::size_t k = 0; k < std::size(kHz); ++k)
      EXPECT_NEAR(power[k], 2 * std::norm(spectrum_at(window, kHz[k])), 1e-9 * mean_square) << kHz[k];
  }
}

}  // namespace
}  // namespace offhook::decode
