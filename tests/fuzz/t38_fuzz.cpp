// SPDX-License-Identifier: MIT
//
// Any bytes as datagrams of UDPTL to a fax terminal on T.38: an octet for the time that passes, and a length of two
// octets before each. The first octet says whether the terminal calls.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <span>

#include "driver/base/udptl.h"
#include "driver/session/t38_terminal.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace offhook;
  if (size == 0) return 0;
  UdptlWriter writer(3, 1400);
  fax::T38Terminal terminal({.calls = (data[0] & 1) != 0, .send = {}, .receive = {}},
                            [&writer](std::span<const std::uint8_t> packet, int) {
                              const auto made = writer.next(packet);
                              const auto read = parse_udptl(made);
                              if (!read || !read->whole || !std::ranges::equal(read->packet, packet)) std::abort();
                            });
  UdptlReader reader;
  std::span<const std::uint8_t> left(data + 1, size - 1);
  while (left.size() > 3) {
    constexpr std::uint32_t kTicksPerStep = 160;
    terminal.advance(kTicksPerStep * left[0]);
    const std::size_t length = std::min<std::size_t>(left[1] << 8 | left[2], left.size() - 3);
    if (const auto news = reader.take(left.subspan(3, length))) {
      for (std::size_t k = 0; k < news->packets.size(); ++k)
        terminal.receive(static_cast<std::uint16_t>(news->first + k), news->packets[k]);
    }
    left = left.subspan(3 + length);
  }
  terminal.end_call();
  return 0;
}
