// SPDX-License-Identifier: MIT
//
// Any bytes as datagrams of SIP and as packets of T.38 in a capture: a length of two octets before each. What is kept
// is bounded, and each place of media belongs to a known call.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <span>

#include "src/decode/line/sip.h"
#include "src/decode/line/t38.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace offhook::decode;
  SipReader sip;
  T38Reader t38[] = {T38Reader(0), T38Reader(3)};
  std::span<const std::uint8_t> left(data, size);
  double t = 0;
  while (left.size() > 2) {
    const std::size_t length = std::min<std::size_t>(left[0] << 8 | left[1], left.size() - 2);
    const std::span<const std::uint8_t> datagram = left.subspan(2, length);
    sip.message(t += 1, datagram);
    for (T38Reader& reader : t38) reader.packet(t, datagram);
    left = left.subspan(2 + length);
  }
  const SipReader::Media* media = sip.media_at({{192, 0, 2, 1}, 4000}, t);
  if (media != nullptr && (media->t > t || sip.call(media->call).call_id.empty())) std::abort();
  for (T38Reader& reader : t38) {
    for (const T38Carrier& c : reader.take_carriers()) {
      if (c.data_type < 1 || c.data_type > 8 || (!c.frame_ends.empty() && c.frame_ends.back() != c.frames.size()))
        std::abort();
    }
    for (const T38Frame& frame : reader.take()) {
      if (frame.octets.empty() || frame.octets.size() > 4096 || frame.t > t) std::abort();
    }
  }
  return 0;
}
