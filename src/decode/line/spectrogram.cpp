// SPDX-License-Identifier: MIT
#include "src/decode/line/spectrogram.h"

#include <algorithm>
#include <cmath>

#include "src/decode/line/spectrum.h"

namespace offhook::decode {

std::string spectrogram(std::span<const float> x, int columns) {
  constexpr std::size_t kRows = kSpectrogramRows, kPoints = 2 * kRows;
  constexpr float kSilence = -200, kRangeDb = 70;
  const auto width = static_cast<std::size_t>(columns);
  const Fft fft(kPoints);
  std::vector<oh_complex> z(kPoints);
  std::vector<float> db(kRows * width, kSilence);
  for (std::size_t c = 0; c < width; ++c) {
    const std::size_t begin = x.size() * c / width, end = x.size() * (c + 1) / width;
    std::vector<float> power(kRows);
    int windows = 0;
    for (std::size_t at = begin; at + kPoints <= x.size() && (at < end || windows == 0); at += kPoints, ++windows) {
      const std::vector<float> windowed = hann(x.subspan(at, kPoints));
      for (std::size_t k = 0; k < kPoints; ++k) z[k] = {windowed[k], 0};
      fft.forward(z);
      for (std::size_t k = 0; k < kRows; ++k) power[k] += z[k].re * z[k].re + z[k].im * z[k].im;
    }
    for (std::size_t k = 0; k < kRows && windows > 0; ++k)
      db[(kRows - 1 - k) * width + c] = 10 * std::log10(power[k] / static_cast<float>(windows) + 1e-9f);
  }
  const float loudest = *std::max_element(db.begin(), db.end());
  std::string text;
  for (const float v : db) text += static_cast<char>(63 + std::clamp(63 * (1 - (loudest - v) / kRangeDb), 0.f, 63.f));
  return text;
}

}  // namespace offhook::decode
