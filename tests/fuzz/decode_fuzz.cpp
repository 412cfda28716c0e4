// SPDX-License-Identifier: MIT
//
// offhook decode on anything: as a file, and its octets as the samples of both directions.
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>

#include "offhook/decode.h"
#include "src/decode/call/call.h"
#include "src/decode/presentation/json.h"  // and the rest of the functions in offhook/decode.h

using namespace offhook::decode;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size > 40000) return 0;
  const int file = memfd_create("input", 0);
  const bool written = write(file, data, size) == static_cast<ssize_t>(size);
  try {
    const Call call = analyse(read_recording("/proc/self/fd/" + std::to_string(file)));
    to_json(call);
    to_text(call);
  } catch (const std::runtime_error&) {  // no recording
  }
  close(file);
  if (!written) return 0;
  Recording r;
  r.channel.resize(2);
  for (std::size_t i = 0; i + 4 <= size; i += 4) {
    std::int16_t frame[2];
    std::memcpy(frame, data + i, sizeof frame);
    for (int c = 0; c < 2; ++c) r.channel[static_cast<std::size_t>(c)].push_back(frame[c]);
  }
  r.duration_s = static_cast<double>(r.channel[0].size()) / kRateHz;
  to_json(analyse(r));
  // The input is also used as the bits of a data mode.
  DataHeard heard;
  heard.bit_rate = 26400;
  for (std::size_t i = 0; i < size; ++i) {
    for (int k = 0; k < 8; ++k) heard.bits.push_back(data[i] >> k & 1);
  }
  Link a = read_link(heard), b = a;
  uncompress({&a, 1}, {&b, 1});
  return 0;
}
