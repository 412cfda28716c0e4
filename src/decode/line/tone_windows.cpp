// SPDX-License-Identifier: MIT
#include "src/decode/line/tone_windows.h"

#include <cmath>
#include <numbers>

namespace offhook::decode {

ToneWindows::ToneWindows(std::span<const float> x, std::span<const int> hz, std::size_t hop, std::size_t parts)
    : x_(x), hop_(hop), tones_(hz.size()), parts_(parts) {
  for (const int tone : hz) {
    for (std::size_t k = 0; k < hop; ++k) turns_.push_back(std::polar(1.0, -2 * std::numbers::pi * tone * seconds(k)));
    for (std::size_t k = 0; k < parts; ++k)
      moves_.push_back(std::polar(1.0, -2 * std::numbers::pi * tone * seconds(k * hop)));
  }
  for (Part& p : parts_) p.tone.resize(tones_);
}

ToneWindows::Part& ToneWindows::at(std::size_t number) {
  Part& p = parts_[number % parts_.size()];
  if (p.number == number) return p;
  p.number = number;
  p.has_tones = false;
  p.power = 0;
  for (const float v : samples(number)) p.power += static_cast<double>(v) * v / static_cast<double>(hop_);
  return p;
}

void ToneWindows::add_tones(Part& p) const {
  const std::span<const float> x = samples(p.number);
  for (std::size_t tone = 0; tone < tones_; ++tone) {
    const Cd* const turn = &turns_[tone * hop_];
    constexpr std::size_t kAtOnce = 4;  // sums side by side: each addition waits for the one before
    double re[kAtOnce]{}, im[kAtOnce]{};
    for (std::size_t k = 0; k < hop_; k += kAtOnce) {
      for (std::size_t j = 0; j < kAtOnce; ++j) {
        re[j] += static_cast<double>(x[k + j]) * turn[k + j].real();
        im[j] += static_cast<double>(x[k + j]) * turn[k + j].imag();
      }
    }
    p.tone[tone] = {(re[0] + re[1]) + (re[2] + re[3]), (im[0] + im[1]) + (im[2] + im[3])};
  }
  p.has_tones = true;
}

double ToneWindows::power_of(std::size_t number) {
  double sum = 0;
  for (std::size_t k = 0; k < parts_.size(); ++k) sum += at(number + k).power;
  return sum / static_cast<double>(parts_.size());
}

void ToneWindows::tones_of(std::size_t number, std::span<double> power) {
  const auto samples = static_cast<double>(hop_ * parts_.size());
  for (std::size_t k = 0; k < parts_.size(); ++k) {
    if (Part& p = at(number + k); !p.has_tones) add_tones(p);
  }
  const std::size_t first = number % parts_.size();
  for (std::size_t tone = 0; tone < tones_; ++tone) {
    const Cd* move = &moves_[tone * parts_.size()];
    Cd sum;
    for (std::size_t k = first; k < parts_.size(); ++k) sum += times(parts_[k].tone[tone], *move++);
    for (std::size_t k = 0; k < first; ++k) sum += times(parts_[k].tone[tone], *move++);
    power[tone] = 2 * std::norm(sum / samples);
  }
}

}  // namespace offhook::decode
