// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace offhook::decode {

/// Power over time and frequency, 0 to 4000 Hz, as a grey picture of 8 bits a pixel: the loudest white, 70 dB below
/// black.
struct Spectrogram {
  static constexpr int kRows = 128;  ///< 31.25 Hz each, the highest frequency first
  int columns = 0;
  std::vector<std::uint8_t> pixels;  ///< [kRows * columns], row by row
};

/// @param x  8000 Hz  @param columns  of equal time
Spectrogram make_spectrogram(std::span<const float> x, int columns);

/// As a Windows bitmap in a data URI, which a page can show without a file beside it.
std::string to_data_uri(const Spectrogram& picture);

}  // namespace offhook::decode
