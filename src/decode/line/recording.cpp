// SPDX-License-Identifier: MIT
#include "src/decode/line/recording.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sndfile.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <utility>

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
        fmt::format("{}: {} samples/s; expected 4000 to 192 000 for a telephone line", name, rate_hz));
  }
  if (channels < 1 || channels > 2) {
    throw std::runtime_error(
        fmt::format("{}: {} channels; expected one direction, or both as two channels", name, channels));
  }
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

/// libmpg123, which libsndfile asks for MP3, writes what it finds wrong to standard error, a line each. While this
/// lives a file that begins as MP3 does is read without.
class QuietLibrary {
 public:
  explicit QuietLibrary(const std::filesystem::path& path) {
    std::array<char, 3> head{};
    std::ifstream(path, std::ios::binary).read(head.data(), head.size());
    const bool tag = std::string_view(head.data(), head.size()) == "ID3";
    const bool frame = static_cast<unsigned char>(head[0]) == 0xff && (head[1] & 0xe0) == 0xe0;
    if (!tag && !frame) return;
    kept_ = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
    const int nothing = open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (kept_ >= 0 && nothing >= 0) dup2(nothing, STDERR_FILENO);
    if (nothing >= 0) close(nothing);
  }
  ~QuietLibrary() {
    if (kept_ < 0) return;
    dup2(kept_, STDERR_FILENO);
    close(kept_);
  }
  QuietLibrary(const QuietLibrary&) = delete;
  QuietLibrary& operator=(const QuietLibrary&) = delete;

 private:
  int kept_ = -1;
};

Recording read_audio(const std::filesystem::path& path) {
  const std::string name = path.string();  // for messages
  // To open a FIFO might wait for ever.
  if (std::error_code ignored; std::filesystem::is_fifo(path, ignored))
    throw std::runtime_error(name + ": is a FIFO; expected an audio file");
  close(open_file(path));  // says why it cannot, and what is there
  SF_INFO info{};
  const QuietLibrary quiet(path);
  const File file(sf_open(path.c_str(), SFM_READ, &info));
  if (file == nullptr) throw std::runtime_error(fmt::format("{}: not an audio file: {}", name, sf_strerror(nullptr)));
  check_format(info.channels, info.samplerate, name);
  const auto channels = static_cast<std::size_t>(info.channels);
  RecordingBuilder builder(info.channels, info.samplerate, name);
  constexpr sf_count_t kBlock = 4096;
  std::vector<float> block(kBlock * channels);
  sf_count_t frames = 0;
  for (sf_count_t n; (n = sf_readf_float(file.get(), block.data(), kBlock)) > 0; frames += n)
    builder.add({block.data(), static_cast<std::size_t>(n) * channels});
  const std::optional<Data> data = data_of(path);
  if (frames == 0 && data && data->promised == 0 && data->there > 0) {
    throw std::runtime_error(
        fmt::format("{}: its header declares no samples, though {} octets follow: its recorder did not finish it; "
                    "repair it with sox --ignore-length OLD.wav NEW.wav",
                    name, data->there));
  }
  const bool truncated = frames < info.frames || (data && data->cut_off());
  Recording r = builder.finish();
  r.name = path.filename().string();
  r.truncated = truncated;
  return r;
}

}  // namespace

RecordingBuilder::RecordingBuilder(int channels, int rate_hz, std::string name)
    : name_(std::move(name)), rate_hz_(rate_hz), channels_(static_cast<std::size_t>(channels)) {
  for (Channel& c : channels_) c.resampler.emplace(rate_hz);
}

void RecordingBuilder::add(std::span<const float> frames) {
  const std::size_t channels = channels_.size(), n = frames.size() / channels;
  samples_ += n;
  if (static_cast<double>(samples_) > kLongestS * rate_hz_)
    throw std::runtime_error(name_ + ": longer than an hour; extract the call");
  for (std::size_t i = 0; alike_ && channels == 2 && i < n; ++i) alike_ = frames[2 * i] == frames[2 * i + 1];
  scaled_.resize(n);
  for (std::size_t k = 0; k < channels; ++k) {
    Channel& c = channels_[k];
    for (std::size_t i = 0; i < n; ++i) {
      const float x = frames[i * channels + k];
      const float v = std::isfinite(x) ? std::clamp(32768 * x, -65536.f, 65536.f) : 0.f;
      c.peak = std::max(c.peak, std::abs(v));
      if (std::abs(v) >= 32767 && v == c.last) ++c.clipped;
      c.last = v;
      c.sum += v;
      scaled_[i] = v;
    }
    c.resampler->add(scaled_);
  }
}

Recording RecordingBuilder::finish() {
  if (samples_ == 0) throw std::runtime_error(name_ + ": no samples");
  Recording r;
  r.name = name_;
  r.file_rate_hz = rate_hz_;
  r.duration_s = static_cast<double>(samples_) / rate_hz_;
  r.channels_alike = channels_.size() == 2 && alike_;
  if (r.channels_alike) channels_.pop_back();
  for (Channel& c : channels_) {
    r.peak.push_back(static_cast<int>(std::lround(c.peak)));
    r.clipped.push_back(c.clipped);
    // A converter's offset is no signal, but lies within the filters of a carrier below 2 kHz.
    r.channel.push_back(c.resampler->finish(static_cast<float>(c.sum / static_cast<double>(samples_))));
    c.resampler.reset();
  }
  return r;
}

Recording make_recording(const std::vector<std::vector<float>>& channels, int rate_hz, const std::string& name) {
  check_format(static_cast<int>(channels.size()), rate_hz, name);
  if (channels.back().size() != channels[0].size() && !channels[0].empty())
    throw std::runtime_error(name + ": the two channels differ in length");
  RecordingBuilder builder(static_cast<int>(channels.size()), rate_hz, name);
  std::vector<float> block;
  constexpr std::size_t kBlock = 4096;
  for (std::size_t at = 0; at < channels[0].size(); at += kBlock) {
    block.clear();
    for (std::size_t i = at; i < std::min(at + kBlock, channels[0].size()); ++i) {
      for (const auto& x : channels) block.push_back(x[i]);
    }
    builder.add(block);
  }
  return builder.finish();
}

Recording read_recording(const std::filesystem::path& path) {
  return with_memory_for(path, [&] { return read_audio(path); });
}

}  // namespace offhook::decode
