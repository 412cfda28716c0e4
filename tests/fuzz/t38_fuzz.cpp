// SPDX-License-Identifier: MIT
//
// Any bytes as datagrams of UDPTL to a fax terminal on T.38, or to a gateway: an octet for the time that passes, and a
// length of two octets before each. The first octet says whether the terminal calls (bit 0), and whether there is a
// gateway instead (bit 7).
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <span>

#include "driver/base/udptl.h"
#include "driver/fax/t38_gateway.h"
#include "driver/fax/t38_terminal.h"

namespace offhook {
namespace {

/// Gives the datagrams to a machine; `advance` lets a number of steps of 20 ms pass.
template <class Machine, class Advance>
void feed(Machine& machine, std::span<const std::uint8_t> left, const Advance& advance) {
  UdptlReader reader;
  while (left.size() > 3) {
    advance(left[0]);
    const std::size_t length = std::min<std::size_t>(left[1] << 8 | left[2], left.size() - 3);
    if (const auto news = reader.take(left.subspan(3, length))) {
      for (std::size_t k = 0; k < news->packets.size(); ++k)
        machine.receive(static_cast<std::uint16_t>(news->first + k), news->packets[k]);
    }
    left = left.subspan(3 + length);
  }
}

}  // namespace
}  // namespace offhook

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace offhook;
  if (size == 0) return 0;
  const std::span<const std::uint8_t> datagrams(data + 1, size - 1);
  UdptlWriter writer(3, 1400);
  const auto send = [&writer](std::span<const std::uint8_t> packet, int) {
    const auto made = writer.next(packet);
    const auto read = parse_udptl(made);
    if (!read || !read->whole || !std::ranges::equal(read->packet, packet)) std::abort();
  };
  constexpr std::size_t kTicksPerStep = 160;
  if ((data[0] & 0x80) != 0) {
    fax::T38Gateway gateway({}, send, {});
    const oh_pump pump = gateway.pump();
    std::array<std::int16_t, kTicksPerStep> heard{}, said{};
    feed(gateway, datagrams, [&](std::uint8_t steps) {
      for (int k = 0; k < steps; ++k) pump.process(pump.self, heard.data(), said.data(), kTicksPerStep);
      gateway.poll();
    });
    pump.process(pump.self, heard.data(), said.data(), kTicksPerStep);
    return 0;
  }
  fax::T38Terminal terminal({.calls = (data[0] & 1) != 0, .send = {}, .receive = {}}, send);
  feed(terminal, datagrams, [&](std::uint8_t steps) { terminal.advance(kTicksPerStep * steps); });
  terminal.end_call();
  return 0;
}
