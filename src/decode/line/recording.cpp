// SPDX-License-Identifier: MIT
#include "src/decode/line/recording.h"

#include <fmt/format.h>
#include <sndfile.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <memory>
#include <numbers>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <string_view>

#include "dsp/blocks/window.h"
#include "driver/base/file.h"

namespace offhook::decode {
namespace {

constexpr double kLongestS = 3600;

struct Close {
  void operator()(SNDFILE* f) const { sf_close(f); }
};
using File = std::unique_ptr<SNDFILE, Close>;

void check_format(int channels, int rate_hz, const std::string& name) {
  if (rate_hz < 4000 || rate_hz > 192000) {
    throw std::runtime_error(
        fmt::format("{}: {} samples/s; a recording of a telephone line has 4000 to 192 000", name, rate_hz));
  }
  if (channels < 1 || channels > 2) {
    throw std::runtime_error(
        fmt::format("{}: {} channels; one direction, or both as two channels, were expected", name, channels));
  }
}

void check_duration(std::size_t samples, int rate_hz, const std::string& name) {
  if (static_cast<double>(samples) > kLongestS * rate_hz)
    throw std::runtime_error(name + ": longer than an hour; cut out the call");
}

/// Of the chunk of samples in a RIFF file.
struct Data {
  std::uint32_t promised = 0;  ///< octets by its header
  std::uintmax_t there = 0;    ///< to the file's end
  /// A recorder that writes to a pipe does not know, and says 0 or nearly 2 or 4 GiB.
  bool cut_off() const { return promised > there && promised < 0x7fff'0000; }
};

/// @return nothing where that is no RIFF file, or none whose chunks lead to the samples
std::optional<Data> data_of(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  const auto word = [&in] {
    std::array<char, 4> octets{};
    in.read(octets.data(), octets.size());
    return octets;
  };
  const auto size = [&] {
    std::uint32_t n = 0;
    const auto octets = word();
    for (std::size_t i = 0; i < 4; ++i) n |= std::uint32_t{static_cast<unsigned char>(octets[i])} << (8 * i);
    return n;
  };
  const auto is = [](const std::array<char, 4>& id, std::string_view name) {
    return std::string_view(id.data(), id.size()) == name;
  };
  if (!is(word(), "RIFF")) return std::nullopt;
  std::error_code failed;
  const std::uintmax_t whole = std::filesystem::file_size(path, failed);
  in.seekg(12);
  while (in && !failed) {
    const auto id = word();
    const std::uint32_t octets = size();
    if (!in) break;
    const auto at = static_cast<std::uintmax_t>(in.tellg());
    if (is(id, "data")) return Data{octets, whole - std::min(whole, at)};
    in.seekg(static_cast<std::streamoff>(at + octets + octets % 2));
  }
  return std::nullopt;
}

}  // namespace

Recording make_recording(std::vector<std::vector<float>> channels, int rate_hz, const std::string& name) {
  check_format(static_cast<int>(channels.size()), rate_hz, name);
  check_duration(channels[0].size(), rate_hz, name);
  if (channels[0].empty()) throw std::runtime_error(name + ": no samples");
  if (channels.back().size() != channels[0].size())
    throw std::runtime_error(name + ": the two channels are not equally long");
  Recording r;
  r.name = name;
  r.file_rate_hz = rate_hz;
  r.duration_s = static_cast<double>(channels[0].size()) / rate_hz;
  r.channels_alike = channels.size() == 2 && channels[0] == channels[1];
  if (r.channels_alike) channels.pop_back();
  for (auto& x : channels) {
    float peak = 0;
    int clipped = 0;
    for (float& v : x) v = std::isfinite(v) ? std::clamp(32768 * v, -65536.f, 65536.f) : 0.f;
    for (std::size_t i = 0; i < x.size(); ++i) {
      peak = std::max(peak, std::abs(x[i]));
      if (i > 0 && std::abs(x[i]) >= 32767 && x[i] == x[i - 1]) ++clipped;
    }
    r.peak.push_back(static_cast<int>(std::lround(peak)));
    r.clipped.push_back(clipped);
    // A converter's offset is no signal, but lies within the filters of a carrier below 2 kHz.
    const auto offset = static_cast<float>(std::accumulate(x.begin(), x.end(), 0.0) / static_cast<double>(x.size()));
    for (float& v : x) v -= offset;
    r.channel.push_back(resample(x, rate_hz));
  }
  return r;
}

Recording read_recording(const std::filesystem::path& path) {
  const std::string name = path.string();  // for messages
  // To open a FIFO might wait for ever.
  if (std::error_code ignored; std::filesystem::is_fifo(path, ignored))
    throw std::runtime_error(name + ": is a FIFO; expected an audio file");
  close(open_file(path));  // says why it cannot, and what is there
  SF_INFO info{};
  const File file(sf_open(path.c_str(), SFM_READ, &info));
  if (file == nullptr) throw std::runtime_error(fmt::format("{}: not an audio file: {}", name, sf_strerror(nullptr)));
  check_format(info.channels, info.samplerate, name);
  const auto channels = static_cast<std::size_t>(info.channels);
  // Only as much memory as there are samples, whatever the header says.
  constexpr sf_count_t kBlock = 65536;
  std::vector<float> block(kBlock * channels);
  std::vector<std::vector<float>> x(channels);
  for (;;) {
    const sf_count_t n = sf_readf_float(file.get(), block.data(), kBlock);
    if (n <= 0) break;
    for (std::size_t c = 0; c < channels; ++c) {
      for (sf_count_t i = 0; i < n; ++i) x[c].push_back(block[static_cast<std::size_t>(i) * channels + c]);
    }
    check_duration(x[0].size(), info.samplerate, name);
  }
  const std::optional<Data> data = data_of(path);
  if (x[0].empty() && data && data->promised == 0 && data->there > 0) {
    throw std::runtime_error(
        fmt::format("{}: no samples by its header, though {} octets follow: its recorder did not "
                    "finish it; sox --ignore-length OLD.wav NEW.wav mends that",
                    name, data->there));
  }
  const bool truncated = static_cast<sf_count_t>(x[0].size()) < info.frames || (data && data->cut_off());
  Recording r = make_recording(std::move(x), info.samplerate, name);
  r.name = path.filename().string();
  r.truncated = truncated;
  return r;
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
  for (int p = 0; p < phases; ++p) {
    const double at = p * step;
    const double fraction = at - std::floor(at);
    auto& row = taps[static_cast<std::size_t>(p)];
    row.resize(2 * static_cast<std::size_t>(half));
    for (int k = 0; k < 2 * half; ++k) {
      const double t = k - (half - 1) - fraction;
      const double u = std::numbers::pi * t * bandwidth;
      row[static_cast<std::size_t>(k)] =
          static_cast<float>(bandwidth * (t == 0 ? 1 : std::sin(u) / u) * kaiser(t / half, 7.857));
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
