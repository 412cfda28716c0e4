// SPDX-License-Identifier: MIT
//
// Any bytes as an audio file: a recording to decode, and the line of a file card. Either an error, or samples within
// what was promised of them.
#include <sys/mman.h>
#include <unistd.h>

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <stdexcept>
#include <string>

#include "driver/live/file_line.h"
#include "src/decode/line/recording.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const int fd = memfd_create("wav", MFD_CLOEXEC);
  if (fd < 0 || write(fd, data, size) != static_cast<ssize_t>(size)) std::abort();
  const std::string path = "/proc/self/fd/" + std::to_string(fd);
  try {
    const auto recording = offhook::decode::read_recording(path);
    if (recording.channel.empty() || recording.channel.size() > 2 || !(recording.duration_s <= 3600)) std::abort();
    for (const float x : recording.channel[0]) {
      if (!std::isfinite(x)) std::abort();
    }
  } catch (const std::runtime_error&) {
  }
  try {
    offhook::FileLine line(path, "", 8000);
    const std::int16_t played[64] = {};
    std::int16_t captured[64];
    for (int k = 0; k < 16; ++k) line.exchange(played, captured, 64);
  } catch (const std::runtime_error&) {
  }
  close(fd);
  return 0;
}
