// SPDX-License-Identifier: MIT
#include "src/measure/kernel_recording.h"

#include <utility>

namespace offhook::measure {

namespace {

constexpr int kKilobytes = 8192;  // ring size per CPU: seconds of a busy machine

}  // namespace

KernelRecording::KernelRecording(OutputFile file) : out_(std::move(file)), trace_(all_scheduling_events(), kKilobytes) {
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
  out_.close();
}

}  // namespace offhook::measure
