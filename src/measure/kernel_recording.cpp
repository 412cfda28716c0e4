// SPDX-License-Identifier: MIT
#include "src/measure/kernel_recording.h"

#include <fmt/format.h>

#include <cerrno>
#include <stdexcept>
#include <system_error>

namespace offhook::measure {

namespace {

constexpr int kKilobytes = 8192;  // of ring a CPU: seconds of a busy machine

[[noreturn]] void fail(const std::filesystem::path& file) {
  throw std::runtime_error(
      fmt::format("{}: {}", file.string(), std::generic_category().message(errno != 0 ? errno : EIO)));
}

}  // namespace

KernelRecording::KernelRecording(const std::filesystem::path& file)
    : file_(file), out_(file), trace_(all_scheduling_events(), kKilobytes) {
  if (!out_) fail(file_);
  out_ << traces::kClockLine << "mono\n";  // KernelTrace's
  trace_.on();
}

void KernelRecording::drain() {
  std::vector<traces::KernelEvent> events;
  trace_.read(events);
  for (const traces::KernelEvent& event : events) {
    const std::string line = writer_.line(event);
    events_ += line.empty() ? 0u : 1u;
    out_ << line;
  }
}

void KernelRecording::close() {
  trace_.off();
  drain();
  errno = 0;
  if (!out_.flush()) fail(file_);
  out_.close();
}

}  // namespace offhook::measure
