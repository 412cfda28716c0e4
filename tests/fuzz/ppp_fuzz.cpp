// SPDX-License-Identifier: MIT
//
// The frames of PPP and the TCP in them, as a far end of the simulator sends them: any octets, any segments in good
// frames, and good frames that are damaged. What was sent comes back the same; server and client take any segment.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <vector>

#include "hostsim/call/ppp_tcp.h"

using namespace offhook::hostsim;

namespace {

constexpr std::size_t kFile = 20'000;
constexpr std::size_t kSegmentOctets = 17;  // octets of the input before its data

bool same(const TcpSegment& a, const TcpSegment& b) {
  return a.syn == b.syn && a.is_ack == b.is_ack && a.sequence == b.sequence && a.acknowledged == b.acknowledged &&
         a.window == b.window && a.data == b.data;
}

/// A server and a client that receive the same line.
struct Ends {
  std::vector<std::uint8_t> file = std::vector<std::uint8_t>(kFile, 0x7E), delivered;
  TcpServer server{file};
  TcpClient client;
  Ns now = 0;

  void hear(const std::vector<std::uint8_t>& line) {
    server.receive(line);
    client.receive(line, now += 50'000'000, &delivered);
    client.advance(now);
    server.ppp().consume(server.ppp().output().size());
    client.ppp().consume(client.ppp().output().size());
    if (server.ppp().output().size() + client.ppp().output().size() != 0) std::abort();
  }
};

std::vector<std::uint8_t> frame_of(const TcpSegment& s) {
  PppEnd sends, receives;
  sends.send(s);
  const std::vector<std::uint8_t> line(sends.output().begin(), sends.output().end());
  std::optional<TcpSegment> came;
  for (const std::uint8_t octet : line) {
    if (auto segment = receives.put(octet)) came = segment;
  }
  if (!came || !same(*came, s)) std::abort();
  return line;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size > 8192) return 0;
  Ends ends;
  ends.client.open();
  while (size >= kSegmentOctets) {
    const auto word = [&](std::size_t at) {
      return static_cast<std::uint32_t>(data[at] << 8 | data[at + 1]) << 16 |
             static_cast<std::uint32_t>(data[at + 2] << 8 | data[at + 3]);
    };
    TcpSegment s{.syn = (data[0] & 1) != 0,
                 .is_ack = (data[0] & 2) != 0,
                 .sequence = word(1),
                 .acknowledged = word(5),
                 .window = static_cast<std::uint16_t>(word(9)),
                 .data = {}};
    if ((data[0] & 4) != 0) s.sequence = static_cast<std::uint32_t>(1 + ends.delivered.size());  // in order
    const std::size_t damaged = word(13), n = std::min<std::size_t>(data[11], size - kSegmentOctets);
    const bool raw = (data[0] & 8) != 0;
    s.data.assign(data + kSegmentOctets, data + kSegmentOctets + n);
    std::vector<std::uint8_t> line = raw ? s.data : frame_of(s);
    if ((data[0] & 16) != 0 && !line.empty()) line[damaged % line.size()] ^= data[12];
    ends.hear(line);
    data += kSegmentOctets + n;
    size -= kSegmentOctets + n;
  }
  return 0;
}
