// SPDX-License-Identifier: MIT
#include "driver/live/file_line.h"

#include <sndfile.h>

#include <algorithm>
#include <filesystem>
#include <stdexcept>

#include "driver/base/output.h"
#include "driver/live/timer_card.h"

namespace offhook {

namespace {
constexpr std::size_t kLongestS = 3600;  // the whole file is read before the call begins
}

struct FileLine::Output {
  OutputFile file;
  SNDFILE* sound = nullptr;
  ~Output() {
    if (sound != nullptr) sf_close(sound);
  }
};

FileLine::FileLine(const std::string& in, const std::string& out, std::uint32_t rate_hz) : out_(out) {
  const int rate = static_cast<int>(rate_hz);
  if (!in.empty()) {
    // Opening a FIFO can block without end.
    if (std::error_code ignored; std::filesystem::is_fifo(in, ignored))
      throw std::runtime_error(in + ": is a FIFO; expected an audio file");
    SF_INFO info{};
    SNDFILE* file = sf_open(in.c_str(), SFM_READ, &info);
    if (file == nullptr) throw std::runtime_error(in + ": " + sf_strerror(nullptr));
    std::string wrong;
    if (info.samplerate != rate || info.channels != 1) {
      wrong = "has " + std::to_string(info.samplerate) + " Hz and " + std::to_string(info.channels) +
              " channels; expected " + std::to_string(rate) + " Hz and one";
    } else {
      std::vector<std::int16_t> piece(1 << 16);
      for (sf_count_t n; (n = sf_read_short(file, piece.data(), static_cast<sf_count_t>(piece.size()))) > 0;) {
        samples_.insert(samples_.end(), piece.begin(), piece.begin() + n);
        if (samples_.size() > kLongestS * rate_hz) {
          wrong = "is longer than an hour; expected a call";
          break;
        }
      }
      if (samples_.empty()) wrong = "holds no samples";
    }
    sf_close(file);
    if (!wrong.empty()) throw std::runtime_error(in + ": " + wrong);
  }
  if (!out.empty()) {
    SF_INFO info{};
    info.samplerate = rate;
    info.channels = 1;
    info.format = SF_FORMAT_WAV | SF_FORMAT_PCM_16;
    output_.reset(new Output{OutputFile(out, Privacy::kPrivate, Appears::kAtOnce)});
    output_->sound = sf_open_fd(output_->file.fd(), SFM_WRITE, &info, SF_FALSE);
    if (output_->sound == nullptr) throw std::runtime_error(out + ": " + sf_strerror(nullptr));
  }
}

FileLine::~FileLine() = default;

void FileLine::exchange(const std::int16_t* played, std::int16_t* captured, std::size_t n) {
  const std::size_t have = std::min(n, samples_.size() - next_);
  std::copy_n(samples_.begin() + static_cast<std::ptrdiff_t>(next_), have, captured);
  std::fill(captured + have, captured + n, std::int16_t{0});
  next_ += have;
  if (!output_ || !failure_.empty()) return;
  const auto count = static_cast<sf_count_t>(n);
  if (sf_write_short(output_->sound, played, count) != count) failure_ = out_ + ": " + sf_strerror(output_->sound);
}

const CardKind kFileCards = {
    "file", "file:IN.wav,OUT.wav", true,
    [](const std::string& place, const CardRates& rates) -> std::unique_ptr<LiveCard> {
      const std::size_t comma = place.find(',');
      return std::make_unique<ClockedCard<FileLine>>(
          rates.tx_hz, place.substr(0, comma), comma == std::string::npos ? "" : place.substr(comma + 1), rates.tx_hz);
    },
    [] {
      return std::vector<CardDevice>{{"built-in", "file:IN.wav,OUT.wav",
                                      "Plays one recording to the modem and records its output; either may be omitted",
                                      "any rate, by the clock", true}};
    }};

}  // namespace offhook
