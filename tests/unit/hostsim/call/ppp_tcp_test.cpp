// SPDX-License-Identifier: MIT
#include "hostsim/call/ppp_tcp.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <vector>

#include "hostsim/engine/random.h"

namespace offhook::hostsim {
namespace {

std::vector<std::uint8_t> random_file(std::size_t bytes) {
  const Random random(3, 4);
  std::vector<std::uint8_t> file(bytes);
  for (std::size_t k = 0; k < bytes; ++k) file[k] = static_cast<std::uint8_t>(random.word(k));
  return file;
}

TEST(PppEnd, FramesHaveSevenOctetsBesidesThePacketAndOneForEachThatIsEscaped) {
  PppEnd ppp;
  TcpSegment s{.is_ack = true, .sequence = 1, .acknowledged = 1, .window = 8760, .data = {}};
  s.data.assign(100, 0x55);
  ppp.send(s);
  const std::size_t first = ppp.octets_sent();
  EXPECT_GE(first, 1 + 100 + TcpSegment::kHeaders + 7) << "the first has a flag more";
  EXPECT_LE(first, 1 + 100 + TcpSegment::kHeaders + 7 + 4) << "of checksums few octets are escaped";
  s.data.assign(100, 0x7E);
  ppp.send(s);
  EXPECT_GE(ppp.octets_sent() - first, 200 + TcpSegment::kHeaders + 7);
}

TEST(PppEnd, ASegmentComesBackAndADamagedFrameDoesNot) {
  const auto data = random_file(1460);
  for (const std::size_t damaged : {std::size_t{0}, std::size_t{700}}) {
    PppEnd sends, receives;
    sends.send({.syn = true, .is_ack = true, .sequence = 7, .acknowledged = 9, .window = 1000, .data = data});
    std::vector<std::uint8_t> line(sends.output().begin(), sends.output().end());
    if (damaged > 0) line[damaged] ^= 0x10;
    std::vector<TcpSegment> came;
    for (const std::uint8_t octet : line) {
      if (auto s = receives.put(octet)) came.push_back(*s);
    }
    ASSERT_EQ(came.size(), damaged > 0 ? 0u : 1u);
    if (damaged > 0) continue;
    EXPECT_TRUE(came[0].syn && came[0].is_ack);
    EXPECT_EQ(came[0].sequence, 7u);
    EXPECT_EQ(came[0].acknowledged, 9u);
    EXPECT_EQ(came[0].window, 1000u);
    EXPECT_EQ(came[0].data, data);
  }
}

/// Two lines with the given rate in octets a ms and a delay.
struct Transfer {
  std::vector<std::uint8_t> delivered;
  double seconds = 0;
  std::uint64_t down = 0, up = 0;
};
Transfer transfer(const std::vector<std::uint8_t>& file, std::size_t octets_a_ms, Ns delay) {
  TcpServer server(file);
  TcpClient client;
  struct Octet {
    Ns due;
    std::uint8_t value;
  };
  std::deque<Octet> lines[2];
  Transfer t;
  client.open();
  for (Ns now = 0; t.delivered.size() < file.size() && now < 600'000'000'000; now += 1'000'000) {
    PppEnd* ends[] = {&server.ppp(), &client.ppp()};
    for (int k = 0; k < 2; ++k) {
      const std::size_t n = std::min(octets_a_ms, ends[k]->output().size());
      for (std::size_t i = 0; i < n; ++i) lines[k].push_back({now + delay, ends[k]->output()[i]});
      ends[k]->consume(n);
    }
    const auto due = [now](std::deque<Octet>& line) {
      std::vector<std::uint8_t> octets;
      for (; !line.empty() && line.front().due <= now; line.pop_front()) octets.push_back(line.front().value);
      return octets;
    };
    client.receive(due(lines[0]), now, &t.delivered);
    client.advance(now);
    server.receive(due(lines[1]));
    t.seconds = static_cast<double>(now) * 1e-9;
  }
  t.down = server.ppp().octets_sent();
  t.up = client.ppp().octets_sent();
  return t;
}

TEST(Tcp, TheFileArrivesAndTheLineIsFullOnceTheWindowIs) {
  const auto file = random_file(200'000);
  const Transfer t = transfer(file, 6, 60'000'000);  // 48 kbit/s, a round trip of 120 ms
  EXPECT_EQ(t.delivered, file);
  const double full = static_cast<double>(t.down) / 6000;
  EXPECT_GT(t.seconds, full);
  EXPECT_LT(t.seconds, full + 1.5) << "slow start is over in a few round trips";
  EXPECT_NEAR(static_cast<double>(t.down) / 200'000, 1 + 47.0 / 1460 + 2 / 256., 0.005);
  // 137 segments. A segment lasts 251 ms here, longer than the delay of an acknowledgement.
  EXPECT_NEAR(static_cast<double>(t.up), 139 * 47.3, 150);
  const Transfer fast = transfer(file, 60, 60'000'000);
  EXPECT_EQ(fast.delivered, file);
  EXPECT_NEAR(static_cast<double>(fast.up), 71 * 47.3, 300) << "every second segment is acknowledged";
}

TEST(Tcp, TheWindowBoundsWhatIsUnderWay) {
  const auto file = random_file(100'000);
  const Transfer t = transfer(file, 6, 2'000'000'000);  // longer than a window lasts: 8760 octets in 1.46 s
  EXPECT_EQ(t.delivered, file);
  // One window in each round trip of 4 s.
  EXPECT_GT(t.seconds, 4.0 * 100'000 / 8760 * 0.95);
}

}  // namespace
}  // namespace offhook::hostsim
