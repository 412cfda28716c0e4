// SPDX-License-Identifier: MIT
#include "src/decode/line/rtp.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <string>
#include <vector>

namespace offhook::decode {
namespace {

using Octets = std::vector<std::uint8_t>;

void put16(Octets& o, unsigned v) {
  o.push_back(static_cast<std::uint8_t>(v >> 8));
  o.push_back(static_cast<std::uint8_t>(v));
}
void put32(Octets& o, std::uint32_t v) {
  put16(o, v >> 16);
  put16(o, v & 0xFFFF);
}

constexpr std::uint32_t kHere = 0x0A000001, kThere = 0x0A000002;
constexpr unsigned kSamples = 160;

// A frame of Ethernet with one packet of RTP.
Octets frame(std::uint32_t from, std::uint32_t to, unsigned sequence, std::uint32_t timestamp, std::uint8_t octet,
             unsigned type = 0, unsigned samples = kSamples) {
  Octets o(12, 0xEE);
  put16(o, 0x0800);
  for (const unsigned v : {0x4500U, 20 + 8 + 12 + samples, 0U, 0x4000U, 0x4011U, 0U}) put16(o, v);
  put32(o, from);
  put32(o, to);
  const unsigned port = from == kHere ? 4000 : 5000;
  for (const unsigned v : {port, 9000 - port, 8 + 12 + samples, 0U}) put16(o, v);
  put16(o, 0x8000 | type);
  put16(o, sequence & 0xFFFF);
  put32(o, timestamp);
  put32(o, from);  // SSRC
  o.insert(o.end(), samples, octet);
  return o;
}

std::vector<Recording> calls_of(RtpReader& reader) {
  std::vector<Recording> all;
  const std::size_t n = reader.find_calls();
  for (std::size_t k = 0; k < n; ++k) all.push_back(reader.read(k, "c.pcap"));
  return all;
}

constexpr int kEthernet = static_cast<int>(LinkType::kEthernet);

TEST(DecodeRtp, BothDirectionsAreOneCallOnTheCapturesClock) {
  RtpReader reader;
  for (unsigned k = 0; k < 100; ++k) {
    reader.packet(kEthernet, 1000 + 0.02 * k, frame(kHere, kThere, 65500 + k, 160 * k, 0x80));
    if (k >= 10) reader.packet(kEthernet, 1000.001 + 0.02 * k, frame(kThere, kHere, k, 7777 + 160 * k, 0x2A, 8));
  }
  const auto calls = calls_of(reader);
  ASSERT_EQ(calls.size(), 1U);
  const Recording& r = calls[0];
  ASSERT_EQ(r.channel.size(), 2U);
  EXPECT_EQ(r.channel[0].size(), 16000U + 8);  // silence to the end of the other
  EXPECT_EQ(r.channel[1].size(), 16000U + 8);
  EXPECT_EQ(r.channel[0][100], 32124);  // G.711 Table 2a: the greatest of mu-law
  EXPECT_EQ(r.channel[1][1607], 0);
  EXPECT_EQ(r.channel[1][1608], -32256);  // the least of A-law, 10 packets and 1 ms later
  ASSERT_EQ(r.rtp.size(), 2U);
  EXPECT_EQ(r.rtp[0].from, "10.0.0.1:4000");
  EXPECT_EQ(r.rtp[0].to, "10.0.0.2:5000");
  EXPECT_EQ(r.rtp[0].codec, "G.711 mu-law");
  EXPECT_EQ(r.rtp[1].codec, "G.711 A-law");
  EXPECT_EQ(r.rtp[0].lost, 0U);
  EXPECT_TRUE(r.rtp[0].events.empty());
}

TEST(DecodeRtp, LostPacketsAreSilenceAtTheirTimeAndLateOnesAreInOrder) {
  RtpReader reader;
  for (unsigned k = 0; k < 100; ++k) {
    if (k >= 40 && k < 43) continue;
    const unsigned n = k == 60 ? 61 : k == 61 ? 60 : k;  // one overtakes the other
    reader.packet(kEthernet, 0.02 * k, frame(kHere, kThere, n, 160 * n, static_cast<std::uint8_t>(0x80 + n)));
    if (k == 70) reader.packet(kEthernet, 0.02 * k, frame(kHere, kThere, n, 160 * n, 0));
  }
  const auto calls = calls_of(reader);
  ASSERT_EQ(calls.size(), 1U);
  const Recording& r = calls[0];
  const RtpStream& s = r.rtp[0];
  EXPECT_EQ(s.packets, 97U);
  EXPECT_EQ(s.lost, 3U);
  EXPECT_EQ(s.reordered, 1U);
  EXPECT_EQ(s.duplicates, 1U);
  ASSERT_EQ(s.events.size(), 1U);
  EXPECT_EQ(s.events[0].what, "packets lost");
  EXPECT_EQ(s.events[0].detail, "3, 60 ms of silence inserted");
  EXPECT_DOUBLE_EQ(s.events[0].t, 0.8);
  EXPECT_DOUBLE_EQ(s.events[0].t_end, 0.86);
  EXPECT_EQ(r.channel[0].size(), 16000U);
  EXPECT_EQ(r.channel[0][160 * 41], 0);
  EXPECT_GT(r.channel[0][160 * 60], r.channel[0][160 * 61]);
}

// A digit of 120 ms between the packets of speech, whose silence the sender leaves out: RFC 4733 2.5.
TEST(DecodeRtp, TelephoneEventsAreListedAndAreNoLoss) {
  RtpReader reader;
  unsigned sequence = 0;
  for (unsigned k = 0; k < 60; ++k) {
    if (k >= 20 && k < 26) {
      const unsigned lasts = 160 * (k - 20 + 1);
      Octets o = frame(kHere, kThere, sequence++, 160 * 20, 0, 101, 4);
      o[o.size() - 4] = 5;
      o[o.size() - 3] = 10;  // -10 dBm0
      o[o.size() - 2] = static_cast<std::uint8_t>(lasts >> 8);
      o[o.size() - 1] = static_cast<std::uint8_t>(lasts);
      reader.packet(kEthernet, 0.02 * k, o);
    } else {
      reader.packet(kEthernet, 0.02 * k, frame(kHere, kThere, sequence++, 160 * k, 0x90));
    }
  }
  const auto calls = calls_of(reader);
  ASSERT_EQ(calls.size(), 1U);
  const RtpStream& s = calls[0].rtp[0];
  EXPECT_EQ(s.lost, 0U);
  ASSERT_EQ(s.events.size(), 1U);  // the speech that is left out is no jump
  EXPECT_EQ(s.events[0].what, kTelephoneEvent);
  EXPECT_EQ(s.events[0].detail, "DTMF 5");
  EXPECT_NEAR(s.events[0].t, 0.4, 1e-9);
  EXPECT_NEAR(s.events[0].t_end, 0.52, 1e-9);
  EXPECT_EQ(calls[0].channel[0].size(), 60U * 160);
}

TEST(DecodeRtp, ATimestampThatJumpsWithoutALossIsNamed) {
  RtpReader reader;
  for (unsigned k = 0; k < 60; ++k)
    reader.packet(kEthernet, 0.02 * k, frame(kHere, kThere, k, 160 * k + (k >= 20 ? 80 : 0) - (k >= 40 ? 8 : 0), 0x90));
  const RtpStream s = calls_of(reader)[0].rtp[0];
  ASSERT_EQ(s.events.size(), 2U);
  EXPECT_EQ(s.events[0].detail, "+80 samples, silence inserted");
  EXPECT_EQ(s.events[1].detail, "-8 samples, ignored");
}

TEST(DecodeRtp, TheSendersClockIsMeasuredThroughJitter) {
  std::mt19937 random(1);
  std::exponential_distribution<double> late(1 / 0.003);
  RtpReader reader;
  for (unsigned k = 0; k < 6000; ++k)
    reader.packet(kEthernet, 50 + 0.02 * k / (1 + 100e-6) + late(random), frame(kHere, kThere, k, 160 * k, 0x90));
  const RtpStream s = calls_of(reader)[0].rtp[0];
  ASSERT_TRUE(s.clock_ppm.has_value());
  EXPECT_NEAR(*s.clock_ppm, 100, 5);
  EXPECT_NEAR(s.jitter_s, 0.003, 0.002);
}

// Of 100 directions the clock of 95 should be within the stated uncertainty; less than 85 have a chance of 2e-4.
TEST(DecodeRtp, TheUncertaintyOfAClockIsThatOfNinetyFivePercent) {
  std::mt19937 random(2);
  std::exponential_distribution<double> late(1 / 0.004);
  std::uniform_real_distribution<double> clock(-150, 150);
  int within = 0, streams = 0;
  double widest = 0;
  for (unsigned call = 0; call < 50; ++call) {
    const double ppm[] = {clock(random), clock(random)};
    const unsigned packets = 1200 + 30 * call;  // 24 to 53 s
    RtpReader reader;
    for (unsigned k = 0; k < packets; ++k) {
      const double t = 50 + 0.02 * k;
      reader.packet(kEthernet, t - 0.02 * k * ppm[0] * 1e-6 + late(random), frame(kHere, kThere, k, 160 * k, 0x90));
      reader.packet(kEthernet, t - 0.02 * k * ppm[1] * 1e-6 + late(random), frame(kThere, kHere, k, 160 * k, 0x90));
    }
    const auto calls = calls_of(reader);
    for (const RtpStream& s : calls.at(0).rtp) {
      ASSERT_TRUE(s.clock_ppm && s.clock_uncertainty_ppm);
      const double truth = ppm[s.from == "10.0.0.1:4000" ? 0 : 1];
      within += std::abs(*s.clock_ppm - truth) < *s.clock_uncertainty_ppm;
      widest = std::max(widest, packets > 2400 ? *s.clock_uncertainty_ppm : 0);
      ++streams;
    }
  }
  EXPECT_EQ(streams, 100);
  EXPECT_GE(within, 85);
  EXPECT_LT(widest, 10) << "of 48 s and more";
}

TEST(DecodeRtp, OtherTrafficIsNoSpeech) {
  std::mt19937 random(1);
  RtpReader reader;
  for (unsigned k = 0; k < 2000; ++k) {
    Octets o = frame(kHere, kThere, static_cast<unsigned>(random()), static_cast<std::uint32_t>(random()),
                     static_cast<std::uint8_t>(random()));
    reader.packet(kEthernet, 0.01 * k, o);
    for (std::uint8_t& octet : o) octet = static_cast<std::uint8_t>(random());
    o.resize(random() % o.size());
    for (const int type : {0, 1, 101, 108, 113, 276, 9}) reader.packet(type, 0.01 * k, o);
  }
  EXPECT_TRUE(calls_of(reader).empty());
}

}  // namespace
}  // namespace offhook::decode
