// SPDX-License-Identifier: MIT
#include "src/decode/line/spectrogram.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "dsp/blocks/fft.h"

namespace offhook::decode {
namespace {

std::string base64(const std::string& bytes) {
  constexpr char kDigits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t v = 0;
    for (std::size_t k = 0; k < 3; ++k)
      v = v << 8 | (i + k < bytes.size() ? static_cast<std::uint8_t>(bytes[i + k]) : 0);
    for (int k = 3; k >= 0; --k) out += kDigits[v >> 6 * k & 63];
  }
  for (std::size_t k = bytes.size() % 3; k > 0 && k < 3; ++k) out[out.size() - (3 - k)] = '=';
  return out;
}

}  // namespace

Spectrogram make_spectrogram(std::span<const float> x, int columns) {
  constexpr std::size_t kPoints = 2 * Spectrogram::kRows;
  Spectrogram s;
  s.columns = columns;
  s.pixels.resize(static_cast<std::size_t>(Spectrogram::kRows * columns));
  const oh_fft_ops* fft = oh_fft_radix2();
  std::vector<char> storage(fft->size(kPoints) + 64);
  void* self = storage.data() + (64 - reinterpret_cast<std::uintptr_t>(storage.data()) % 64) % 64;
  fft->init(self, kPoints);
  std::vector<oh_complex> z(kPoints);
  std::vector<float> db(s.pixels.size(), -200);
  float loudest = -200;
  for (int c = 0; c < columns; ++c) {
    const std::size_t begin = x.size() * static_cast<std::size_t>(c) / static_cast<std::size_t>(columns);
    const std::size_t end = x.size() * static_cast<std::size_t>(c + 1) / static_cast<std::size_t>(columns);
    std::vector<float> power(Spectrogram::kRows);
    int windows = 0;
    for (std::size_t at = begin; at + kPoints <= x.size() && (at < end || windows == 0); at += kPoints, ++windows) {
      for (std::size_t k = 0; k < kPoints; ++k) {
        const double w = 0.5 - 0.5 * std::cos(2 * std::numbers::pi * (static_cast<double>(k) + 0.5) / kPoints);
        z[k] = {static_cast<float>(w) * x[at + k], 0};
      }
      fft->forward(self, z.data(), z.data());
      for (std::size_t k = 0; k < power.size(); ++k) power[k] += z[k].re * z[k].re + z[k].im * z[k].im;
    }
    for (std::size_t k = 0; k < power.size() && windows > 0; ++k) {
      const std::size_t row = power.size() - 1 - k;
      const float v = 10 * std::log10(power[k] / static_cast<float>(windows) + 1e-9f);
      db[row * static_cast<std::size_t>(columns) + static_cast<std::size_t>(c)] = v;
      loudest = std::max(loudest, v);
    }
  }
  if (fft->release != nullptr) fft->release(self);
  for (std::size_t i = 0; i < db.size(); ++i) {
    s.pixels[i] = static_cast<std::uint8_t>(std::clamp(255 * (1 - (loudest - db[i]) / 70), 0.f, 255.f));
  }
  return s;
}

std::string to_data_uri(const Spectrogram& s) {
  const auto width = static_cast<std::uint32_t>(s.columns), stride = (width + 3) / 4 * 4;
  constexpr std::uint32_t kHeader = 14 + 40 + 4 * 256;
  std::string bmp = "BM";
  const auto put = [&](std::uint32_t v, int octets) {
    for (int k = 0; k < octets; ++k) bmp += static_cast<char>(v >> 8 * k);
  };
  put(kHeader + stride * Spectrogram::kRows, 4);
  put(0, 4);
  put(kHeader, 4);
  put(40, 4);
  put(width, 4);
  put(Spectrogram::kRows, 4);
  put(1, 2);
  put(8, 2);
  for (const std::uint32_t v : {0u, stride * Spectrogram::kRows, 2835u, 2835u, 256u, 0u}) put(v, 4);
  for (std::uint32_t k = 0; k < 256; ++k) put(k << 16 | k << 8 | k, 4);
  for (int row = Spectrogram::kRows - 1; row >= 0; --row) {  // the bottom row comes first
    for (std::uint32_t c = 0; c < stride; ++c) {
      bmp += static_cast<char>(c < width ? s.pixels[static_cast<std::size_t>(row) * width + c] : 0);
    }
  }
  return "data:image/bmp;base64," + base64(bmp);
}

}  // namespace offhook::decode
