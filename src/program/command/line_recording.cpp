// SPDX-License-Identifier: MIT
#include "src/program/command/line_recording.h"

#include <fmt/format.h>
#include <sndfile.h>

#include <cassert>
#include <cerrno>
#include <stdexcept>
#include <system_error>
#include <vector>

namespace offhook {

struct LineRecording::Impl {
  OutputFile file;
  SNDFILE* handle = nullptr;
  std::vector<std::int16_t> frames = {};

  [[noreturn]] void fail(int error) const {
    throw std::runtime_error(
        fmt::format("{}: {}", file.name(), error != 0 ? std::generic_category().message(error) : sf_strerror(handle)));
  }
};

LineRecording::LineRecording(OutputFile file, int rate_hz) : impl_(new Impl{std::move(file)}) {
  SF_INFO info{};
  info.samplerate = rate_hz;
  info.channels = 2;
  info.format = SF_FORMAT_WAV | SF_FORMAT_PCM_16;
  errno = 0;
  impl_->handle = sf_open_fd(impl_->file.fd(), SFM_WRITE, &info, SF_FALSE);
  if (impl_->handle == nullptr) impl_->fail(errno);
}

LineRecording::~LineRecording() {
  if (impl_->handle != nullptr) sf_close(impl_->handle);
}

void LineRecording::write(std::span<const std::int16_t> left, std::span<const std::int16_t> right) {
  assert(left.size() == right.size());
  impl_->frames.resize(2 * left.size());
  for (std::size_t i = 0; i < left.size(); ++i) {
    impl_->frames[2 * i] = left[i];
    impl_->frames[2 * i + 1] = right[i];
  }
  const auto n = static_cast<sf_count_t>(left.size());
  errno = 0;
  if (sf_writef_short(impl_->handle, impl_->frames.data(), n) != n) impl_->fail(errno != 0 ? errno : ENOSPC);
}

void LineRecording::close() {
  errno = 0;
  SNDFILE* handle = impl_->handle;
  if (sf_error(handle) != SF_ERR_NO_ERROR) impl_->fail(errno);
  impl_->handle = nullptr;
  if (sf_close(handle) != 0) {
    throw std::runtime_error(
        fmt::format("{}: {}", impl_->file.name(), std::generic_category().message(errno != 0 ? errno : EIO)));
  }
  impl_->file.close();
}

}  // namespace offhook
