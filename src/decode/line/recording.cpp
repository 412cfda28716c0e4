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
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "driver/base/file.h"

namespace offhook::decode {
namespace {

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

/// The chunk of samples in a RIFF file.
struct Data {
  std::uint32_t promised = 0;  ///< octets by its header
  std::uintmax_t there = 0;    ///< to the file's end
  /// A recorder that writes to a pipe does not know its length, and stores 0 or nearly 2 or 4 GiB.
  bool cut_off() const { return promised > there && promised < 0x7fff'0000; }
};

/// @return nothing if that is not a RIFF file, or none whose chunks lead to the samples
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

/// libmpg123, which libsndfile uses for MP3, writes its errors to standard error, one line each. While this
/// lives they are suppressed for a file that begins as MP3 does. One at a time: standard error belongs to all threads.
class QuietLibrary {
 public:
  explicit QuietLibrary(const std::filesystem::path& path) : alone_(one_at_a_time()) {
    std::array<char, 3> head{};
    std::ifstream(path, std::ios::binary).read(head.data(), head.size());
    const bool tag = std::string_view(head.data(), head.size()) == "ID3";
    const bool frame = static_cast<unsigned char>(head[0]) == 0xff && (head[1] & 0xe0) == 0xe0;
    if (!tag && !frame) {
      alone_.unlock();
      return;
    }
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
  static std::unique_lock<std::mutex> one_at_a_time() {
    static std::mutex mutex;
    return std::unique_lock(mutex);
  }
  std::unique_lock<std::mutex> alone_;
  int kept_ = -1;
};

}  // namespace

RecordingBuilder::RecordingBuilder(int channels, int rate_hz, std::string name)
    : name_(std::move(name)), rate_hz_(rate_hz), channels_(static_cast<std::size_t>(channels)) {
  for (Channel& c : channels_) {
    c.resampler.emplace(rate_hz);
    if (channels == 2 && rate_hz >= kWideRateHz) c.to_wide.emplace(rate_hz, kWideRateHz);
  }
}

void RecordingBuilder::Channel::take_wide() {
  for (const float v : to_wide->take())
    wide.push_back(static_cast<std::int16_t>(std::lround(std::clamp(v, -32768.f, 32767.f))));
}

void RecordingBuilder::add(std::span<const float> frames) {
  const std::size_t channels = channels_.size(), n = frames.size() / channels;
  samples_ += n;
  if (static_cast<double>(samples_) > kLongestCallS * rate_hz_)
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
    if (!c.to_wide) continue;
    c.to_wide->add(scaled_);
    c.take_wide();
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
    // A converter's offset is not a signal, but passes the filters of a carrier below 2 kHz.
    r.channel.push_back(c.resampler->finish(static_cast<float>(c.sum / static_cast<double>(samples_))));
    c.resampler.reset();
    if (!c.to_wide || r.channels_alike) continue;
    c.to_wide->add(std::vector<float>(kWideRateHz));  // what the filter still holds
    c.take_wide();
    c.wide.resize(2 * r.channel.back().size());
    r.wide.push_back(std::move(c.wide));
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

struct RecordingFile::Stream {
  SF_INFO info{};
  File file;
  sf_count_t at = 0;  ///< frame that is read next

  Stream(const std::filesystem::path& path, const std::string& name) : file(sf_open(path.c_str(), SFM_READ, &info)) {
    if (file == nullptr) throw std::runtime_error(fmt::format("{}: not an audio file: {}", name, sf_strerror(nullptr)));
    check_format(info.channels, info.samplerate, name);
  }
  /// @param take  gets the frames from `at` to `to` in blocks, [channels * n]
  template <class Take>
  void read_to(sf_count_t to, const Take& take) {
    constexpr sf_count_t kBlock = 4096;
    const auto channels = static_cast<std::size_t>(info.channels);
    std::vector<float> block(kBlock * channels);
    for (sf_count_t n = 1; at < to && n > 0; at += n) {
      n = sf_readf_float(file.get(), block.data(), std::min(kBlock, to - at));
      if (n > 0) take(std::span<const float>(block).first(static_cast<std::size_t>(n) * channels));
    }
  }
};

RecordingFile::RecordingFile(const std::filesystem::path& path, std::string name)
    : path_(path),
      name_(name.empty() ? path.string() : name),
      short_name_(name.empty() ? path.filename().string() : name) {
  // Opening a FIFO can block without end.
  if (std::error_code ignored; std::filesystem::is_fifo(path, ignored))
    throw std::runtime_error(name_ + ": is a FIFO; expected an audio file");
  close(open_file(path));  // throws with the reason and the kind of file
  const QuietLibrary quiet(path);
  stream_ = std::make_unique<Stream>(path, name_);
}

RecordingFile::~RecordingFile() = default;

std::vector<std::vector<float>> RecordingFile::power() {
  const QuietLibrary quiet(path_);
  const auto channels = static_cast<std::size_t>(stream_->info.channels);
  const auto block = static_cast<std::size_t>(kPowerS * stream_->info.samplerate);
  std::vector<std::vector<float>> power(channels);
  std::vector<float> sum(channels);
  std::size_t n = 0;
  stream_->read_to(static_cast<sf_count_t>(kLongestFileS * stream_->info.samplerate) + 1, [&](auto frames) {
    for (std::size_t i = 0; i < frames.size(); ++i) {
      const float x = std::isfinite(frames[i]) ? frames[i] : 0;
      sum[i % channels] += x * x / static_cast<float>(block);
      if (i % channels + 1 < channels || ++n < block) continue;
      for (std::size_t c = 0; c < channels; ++c) power[c].push_back(std::exchange(sum[c], 0.F));
      n = 0;
    }
  });
  if (static_cast<double>(stream_->at) > kLongestFileS * stream_->info.samplerate)
    throw std::runtime_error(name_ + ": longer than 48 hours");
  return power;
}

Recording RecordingFile::read(double from_s, double to_s) {
  const QuietLibrary quiet(path_);
  const double rate = stream_->info.samplerate;
  const auto from = std::llround(from_s * rate);
  if (from < stream_->at) stream_ = std::make_unique<Stream>(path_, name_);  // not every format can seek to a sample
  stream_->read_to(from, [](auto) {});
  RecordingBuilder builder(stream_->info.channels, stream_->info.samplerate, name_);
  const bool to_the_end = std::isinf(to_s);
  const sf_count_t to = to_the_end ? SF_COUNT_MAX : std::llround(to_s * rate);
  stream_->read_to(to, [&](auto frames) { builder.add(frames); });
  const std::optional<Data> data = data_of(path_);
  if (stream_->at == 0 && data && data->promised == 0 && data->there > 0) {
    throw std::runtime_error(
        fmt::format("{}: its header declares no samples, though {} octets follow: its recorder did not finish it; "
                    "repair it with sox --ignore-length OLD.wav NEW.wav",
                    name_, data->there));
  }
  Recording r = builder.finish();
  r.name = short_name_;
  r.start_s = from_s;
  r.truncated = to_the_end && (stream_->at < stream_->info.frames || (data && data->cut_off()));
  return r;
}

Recording read_recording(const std::filesystem::path& path) {
  return with_memory_for(path, [&] { return RecordingFile(path).read(0, std::numeric_limits<double>::infinity()); });
}

}  // namespace offhook::decode
