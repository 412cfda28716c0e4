// SPDX-License-Identifier: MIT
#include "hostsim/call/tcp_flow.h"

#include <gtest/gtest.h>

namespace offhook::hostsim {
namespace {

constexpr Ns kS = 1'000'000'000;
constexpr std::size_t kSegment = TcpSender::kSegment, kWide = 1'000'000;

int send_all(TcpSender& tcp, Ns now) {
  int n = 0;
  while (tcp.next(now)) ++n;
  return n;
}

// RFC 2581, 3.1: two segments, and one more with each acknowledgement.
TEST(TcpSender, SlowStartSendsTwoMoreWithEachAcknowledgement) {
  TcpSender tcp(100 * kSegment);
  EXPECT_EQ(send_all(tcp, 0), 0);  // no peer is there yet
  tcp.acknowledge(0, kWide, 0);
  EXPECT_EQ(send_all(tcp, 0), 2);
  tcp.acknowledge(kSegment, kWide, kS);
  EXPECT_EQ(send_all(tcp, kS), 2);
  tcp.acknowledge(2 * kSegment, kWide, kS);
  EXPECT_EQ(send_all(tcp, kS), 2);
}

TEST(TcpSender, TheReceiversWindowHolds) {
  TcpSender tcp(100 * kSegment);
  tcp.acknowledge(0, kSegment, 0);
  EXPECT_EQ(send_all(tcp, 0), 1);
}

// RFC 2988, 2.1 and 5.5; RFC 2581, 3.1 (4).
TEST(TcpSender, WhatIsNotAcknowledgedGoesAgainAfterThreeSecondsThenSix) {
  TcpSender tcp(100 * kSegment);
  tcp.acknowledge(0, kWide, 0);
  send_all(tcp, 0);
  tcp.advance(3 * kS - 1);
  EXPECT_EQ(send_all(tcp, 3 * kS - 1), 0);
  tcp.advance(3 * kS);
  const auto again = tcp.next(3 * kS);
  ASSERT_TRUE(again);
  EXPECT_EQ(again->from, 0u);
  EXPECT_EQ(send_all(tcp, 3 * kS), 0);  // a window of one segment
  tcp.advance(9 * kS - 1);
  EXPECT_EQ(send_all(tcp, 9 * kS - 1), 0);
  tcp.advance(9 * kS);
  EXPECT_EQ(send_all(tcp, 9 * kS), 1);
}

TEST(TcpSender, GivesUpAfterFiveAttempts) {
  TcpSender tcp(100 * kSegment);
  tcp.acknowledge(0, kWide, 0);
  send_all(tcp, 0);
  Ns now = 0;
  int attempts = 0;
  for (; !tcp.failed() && now < 1000 * kS; now += kS / 10) {
    tcp.advance(now);
    attempts += send_all(tcp, now);
  }
  EXPECT_EQ(attempts, TcpSender::kAttempts + 1);  // the place of the sixth is its end
  EXPECT_NEAR(static_cast<double>(now) / kS, 3 + 6 + 12 + 24 + 48 + 60, 0.2);
}

// RFC 2988, 2.2: after the first round trip R the timeout is R + 4 R / 2, here 6 s.
TEST(TcpSender, TheTimeoutFollowsTheRoundTrip) {
  TcpSender tcp(100 * kSegment);
  tcp.acknowledge(0, kWide, 0);
  send_all(tcp, 0);
  tcp.acknowledge(2 * kSegment, kWide, 2 * kS);
  const int sent = send_all(tcp, 2 * kS);
  EXPECT_EQ(sent, 3);
  tcp.advance(8 * kS - 1);
  EXPECT_EQ(send_all(tcp, 8 * kS - 1), 0);
  tcp.advance(8 * kS);
  EXPECT_EQ(send_all(tcp, 8 * kS), 1);
}

TEST(TcpReceiver, AcknowledgesEverySecondSegmentOrAfterAFifthOfASecond) {
  TcpReceiver tcp;
  EXPECT_FALSE(tcp.put(0, 100, 0));
  EXPECT_TRUE(tcp.put(100, 100, kS));
  EXPECT_FALSE(tcp.put(200, 100, 2 * kS));
  EXPECT_FALSE(tcp.advance(2 * kS + TcpReceiver::kDelayed - 1));
  EXPECT_TRUE(tcp.advance(2 * kS + TcpReceiver::kDelayed));
  EXPECT_FALSE(tcp.advance(10 * kS));
  EXPECT_EQ(tcp.received(), 300u);
}

TEST(TcpReceiver, WhatCameBeforeIsAcknowledgedAtOnceAndNotCounted) {
  TcpReceiver tcp;
  tcp.put(0, 100, 0);
  tcp.put(100, 100, 0);
  EXPECT_TRUE(tcp.put(0, 100, kS));
  EXPECT_EQ(tcp.received(), 200u);
}

}  // namespace
}  // namespace offhook::hostsim
