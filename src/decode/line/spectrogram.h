// SPDX-License-Identifier: MIT
#pragma once

#include <span>
#include <string>

namespace offhook::decode {

inline constexpr int kSpectrogramRows = 128;      ///< 31.25 Hz each
inline constexpr int kSpectrogramColumns = 1200;  ///< of a page

/// Power over time and frequency, 0 to 4000 Hz: one character per pixel, row by row, the highest frequency first. "~"
/// is the loudest, "?" 70 dB below or less, those between in steps of 1.1 dB.
/// @param x  8000 Hz  @param columns  of equal time
std::string spectrogram(std::span<const float> x, int columns);

}  // namespace offhook::decode
