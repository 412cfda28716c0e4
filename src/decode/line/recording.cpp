// SPDX-License-Identifier: MIT
#include "src/decode/line/recording.h"

#include <fmt/format.h>
#include <sndfile.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <numbers>
#include <numeric>
#include <stdexcept>

namespace offhook::decode {
namespace {

constexpr double kLongestS = 3600;

struct Close {
  void operator()(SNDFILE* f) const { sf_close(f); }
};
using File = std::unique_ptr<SNDFILE, Close>;

// What libsndfile needs to read from memory.
struct Memory {
  std::span<const unsigned char> bytes;
  sf_count_t at = 0;
};

sf_count_t memory_length(void* user) {
  return static_cast<sf_count_t>(static_cast<Memory*>(user)->bytes.size());
}
sf_count_t memory_seek(sf_count_t offset, int whence, void* user) {
  auto* m = static_cast<Memory*>(user);
  const sf_count_t base = whence == SEEK_SET ? 0 : whence == SEEK_CUR ? m->at : memory_length(user);
  const sf_count_t to = base + offset;
  if (to < 0) return -1;
  return m->at = to;
}
sf_count_t memory_read(void* to, sf_count_t count, void* user) {
  auto* m = static_cast<Memory*>(user);
  const sf_count_t n = std::clamp<sf_count_t>(memory_length(user) - m->at, 0, count);
  if (n > 0) std::memcpy(to, m->bytes.data() + m->at, static_cast<std::size_t>(n));
  m->at += n;
  return n;
}
sf_count_t memory_write(const void*, sf_count_t, void*) {
  return 0;
}
sf_count_t memory_tell(void* user) {
  return static_cast<Memory*>(user)->at;
}

Recording read(SNDFILE* handle, const SF_INFO& info, const std::string& name) {
  const File file(handle);
  if (file == nullptr) throw std::runtime_error(fmt::format("{}: not an audio file: {}", name, sf_strerror(nullptr)));
  if (info.samplerate < 4000 || info.samplerate > 192000) {
    throw std::runtime_error(
        fmt::format("{}: {} samples/s; a recording of a telephone line has 4000 to 192 000", name, info.samplerate));
  }
  if (info.channels < 1 || info.channels > 2) {
    throw std::runtime_error(
        fmt::format("{}: {} channels; one direction, or both as two channels, were expected", name, info.channels));
  }
  Recording r;
  r.name = name;
  r.file_rate_hz = info.samplerate;
  const auto channels = static_cast<std::size_t>(info.channels);
  // Only as much memory as there are samples, whatever the header says.
  constexpr sf_count_t kBlock = 65536;
  std::vector<float> block(kBlock * channels);
  std::vector<std::vector<float>> x(channels);
  for (;;) {
    const sf_count_t n = sf_readf_float(file.get(), block.data(), kBlock);
    if (n <= 0) break;
    for (std::size_t c = 0; c < channels; ++c) {
      for (sf_count_t i = 0; i < n; ++i) {
        const float v = block[static_cast<std::size_t>(i) * channels + c] * 32768;
        x[c].push_back(std::isfinite(v) ? std::clamp(v, -65536.f, 65536.f) : 0.f);
      }
    }
    if (static_cast<double>(x[0].size()) > kLongestS * info.samplerate) {
      throw std::runtime_error(fmt::format("{}: longer than an hour; cut out the call", name));
    }
  }
  if (x[0].empty()) throw std::runtime_error(name + ": no samples");
  r.truncated = static_cast<sf_count_t>(x[0].size()) < info.frames;
  r.duration_s = static_cast<double>(x[0].size()) / info.samplerate;
  for (auto& channel : x) {
    float peak = 0;
    int clipped = 0;
    for (std::size_t i = 0; i < channel.size(); ++i) {
      peak = std::max(peak, std::abs(channel[i]));
      if (i > 0 && std::abs(channel[i]) >= 32767 && channel[i] == channel[i - 1]) ++clipped;
    }
    r.peak.push_back(static_cast<int>(std::lround(peak)));
    r.clipped.push_back(clipped);
    // A converter's offset is no signal, but lies within the filters of a carrier below 2 kHz.
    const auto samples = static_cast<double>(channel.size());
    const auto offset = static_cast<float>(std::accumulate(channel.begin(), channel.end(), 0.0) / samples);
    for (float& v : channel) v -= offset;
    r.channel.push_back(resample(channel, info.samplerate));
  }
  return r;
}

double bessel_i0(double x) {
  double sum = 1, term = 1;
  for (int k = 1; k < 60; ++k) sum += term *= (x / (2 * k)) * (x / (2 * k));
  return sum;
}

}  // namespace

Recording read_recording(const std::filesystem::path& file) {
  SF_INFO info{};
  return read(sf_open(file.c_str(), SFM_READ, &info), info, file.filename().string());
}

Recording read_recording(std::span<const unsigned char> bytes, const std::string& name) {
  SF_INFO info{};
  Memory memory{bytes};
  SF_VIRTUAL_IO io{memory_length, memory_seek, memory_read, memory_write, memory_tell};
  return read(sf_open_virtual(&io, SFM_READ, &info, &memory), info, name);
}

std::vector<float> resample(std::span<const float> x, int from_hz) {
  if (from_hz == kRateHz) return {x.begin(), x.end()};
  // A windowed sinc at the lower of the two rates: flat to 3.8 kHz, 80 dB down from 4.2 kHz on (for from_hz >= 8000).
  // The ratio is that of small integers, so each phase's taps are worked out once.
  const int common = std::gcd(from_hz, kRateHz);
  const int phases = kRateHz / common;
  const double step = static_cast<double>(from_hz) / kRateHz;
  const double bandwidth = std::min(1.0, static_cast<double>(kRateHz) / from_hz);
  const int half = static_cast<int>(std::ceil(50 / bandwidth));
  std::vector<std::vector<float>> taps(static_cast<std::size_t>(phases));
  const double i0 = bessel_i0(7.857);
  for (int p = 0; p < phases; ++p) {
    const double at = p * step;
    const double fraction = at - std::floor(at);
    auto& row = taps[static_cast<std::size_t>(p)];
    row.resize(static_cast<std::size_t>(2 * half));
    for (int k = 0; k < 2 * half; ++k) {
      const double t = k - (half - 1) - fraction;
      const double u = std::numbers::pi * t * bandwidth;
      const double window = bessel_i0(7.857 * std::sqrt(std::max(0.0, 1 - t * t / (half * half)))) / i0;
      row[static_cast<std::size_t>(k)] = static_cast<float>(bandwidth * (t == 0 ? 1 : std::sin(u) / u) * window);
    }
  }
  const auto samples = static_cast<long>(x.size());
  std::vector<float> y(static_cast<std::size_t>(static_cast<double>(x.size()) / step));
  for (std::size_t n = 0; n < y.size(); ++n) {
    const long whole = static_cast<long>(n * static_cast<unsigned long>(from_hz) / kRateHz);
    const auto& row = taps[n % static_cast<std::size_t>(phases)];
    float sum = 0;
    for (int k = 0; k < 2 * half; ++k) {
      const long i = whole + k - (half - 1);
      if (i >= 0 && i < samples) sum += row[static_cast<std::size_t>(k)] * x[static_cast<std::size_t>(i)];
    }
    y[n] = sum;
  }
  return y;
}

}  // namespace offhook::decode
