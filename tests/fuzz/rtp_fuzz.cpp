// SPDX-License-Identifier: MIT
//
// Any bytes as captured packets: frames of a length, a link type and a time each. Samples are finite and as many as the
// durations say.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <span>

#include "src/decode/line/rtp.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace offhook::decode;
  constexpr int kTypes[] = {0, 1, 12, 108, 113, 276};
  RtpReader reader;
  std::span<const std::uint8_t> left(data, size);
  double t = 0;
  while (left.size() > 3) {
    const std::size_t length = std::min<std::size_t>(left[0], left.size() - 3);
    t += (left[1] - 16) / 1000.0;
    // A frame that is repeated as in a stream.
    std::uint8_t frame[255];
    std::copy_n(left.begin() + 3, length, frame);
    for (int k = 0; k < (left[2] >> 3); ++k) {
      reader.packet(kTypes[(left[2] & 7) % 6], t, {frame, length});
      if (length > 46) frame[45] = static_cast<std::uint8_t>(frame[45] + 1);
    }
    left = left.subspan(3 + length);
  }
  const std::size_t calls = reader.find_calls();
  for (std::size_t n = 0; n < calls; ++n) {
    const Recording r = reader.read(n, "fuzz");
    const bool speech = !r.rtp.empty();  // otherwise a fax: two channels of silence
    if (r.channel.size() != (speech ? r.rtp.size() : 2) || r.channel.size() > 2) std::abort();
    if (!speech && r.t38_streams.empty()) std::abort();
    for (const T38Carrier& c : r.t38_carriers) {
      if (c.t1 < c.t0 || c.channel > 1) std::abort();
    }
    for (const auto& x : r.channel) {
      if (std::abs(static_cast<double>(x.size()) / kRateHz - r.duration_s) > 1e-6 || r.duration_s > 2 * kLongestCallS)
        std::abort();
      if (!std::all_of(x.begin(), x.end(), [](float v) { return std::isfinite(v); })) std::abort();
    }
  }
  return 0;
}
