// SPDX-License-Identifier: MIT
#include "driver/base/rtp.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace offhook {
namespace {

using Octets = std::vector<std::uint8_t>;

// The header of RFC 3550 5.1, written by hand: version 2, marker, PCMA, sequence 0x1234.
TEST(Rtp, AHeaderIsWhatTheRfcDraws) {
  std::array<std::uint8_t, kRtpHeaderOctets> octets;
  write_rtp_header({.marker = true,
                    .payload_type = kPcmaType,
                    .sequence = 0x1234,
                    .timestamp = 0x01020304,
                    .ssrc = 0xa0b0c0d0,
                    .payload = {}},
                   octets.data());
  EXPECT_THAT(octets, testing::ElementsAre(0x80, 0x88, 0x12, 0x34, 1, 2, 3, 4, 0xa0, 0xb0, 0xc0, 0xd0));
  const auto packet = parse_rtp(octets);
  ASSERT_TRUE(packet);
  EXPECT_TRUE(packet->marker);
  EXPECT_EQ(packet->payload_type, 8);
  EXPECT_EQ(packet->sequence, 0x1234);
  EXPECT_EQ(packet->timestamp, 0x01020304u);
  EXPECT_EQ(packet->ssrc, 0xa0b0c0d0u);
  EXPECT_TRUE(packet->payload.empty());
}

TEST(Rtp, SourcesExtensionAndPaddingAreNoPayload) {
  Octets octets = {0xb1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1};  // padding, extension, one contributing source
  octets.insert(octets.end(), {9, 9, 9, 9});                // which
  octets.insert(octets.end(), {0xbe, 0xde, 0, 1, 7, 7, 7, 7});
  octets.insert(octets.end(), {0x55, 0x66, 0, 2});
  const auto packet = parse_rtp(octets);
  ASSERT_TRUE(packet);
  EXPECT_THAT(packet->payload, testing::ElementsAre(0x55, 0x66));
}

TEST(Rtp, WhatIsNoPacketIsRefused) {
  const Octets good = {0x80, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1};
  EXPECT_TRUE(parse_rtp(good));
  for (std::size_t n = 0; n < good.size(); ++n) EXPECT_FALSE(parse_rtp({good.data(), n})) << n;
  for (const int first : {0x00, 0x40, 0xc0, 0x81, 0x90, 0xa0}) {  // versions; truncated source, extension and padding
    Octets bad = good;
    bad[0] = static_cast<std::uint8_t>(first);
    EXPECT_FALSE(parse_rtp(bad)) << first;
  }
}

TEST(Rtp, AReportSaysWhatWasWritten) {
  RtcpReport report;
  report.ssrc = 1;
  report.ntp = 0x0102030405060708;
  report.timestamp = 2;
  report.packets = 3;
  report.octets = 4;
  report.goodbye = true;
  report.reception = {.ssrc = 5,
                      .fraction_lost = 6,
                      .lost = -7,
                      .highest = 8,
                      .jitter_samples = 9,
                      .last_report = 10,
                      .since_report = 11};
  std::array<std::uint8_t, kRtcpOctets> octets;
  const std::size_t n = write_rtcp(report, octets.data());
  ASSERT_LE(n, octets.size());
  const auto read = parse_rtcp({octets.data(), n});
  ASSERT_TRUE(read);
  EXPECT_EQ(read->ntp, report.ntp);
  EXPECT_EQ(read->packets, 3u);
  EXPECT_TRUE(read->goodbye);
  ASSERT_TRUE(read->reception);
  EXPECT_EQ(read->reception->lost, -7);
  EXPECT_EQ(read->reception->since_report, 11u);
  for (std::size_t k = 0; k < n; ++k) parse_rtcp({octets.data(), k});
  EXPECT_FALSE(parse_rtcp({octets.data(), n - 1})) << "a packet that is cut";
}

}  // namespace
}  // namespace offhook
