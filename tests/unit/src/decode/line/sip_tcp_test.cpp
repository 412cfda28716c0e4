// SPDX-License-Identifier: MIT
//
// SIP over TCP in captured packets.
#include "src/decode/line/sip_tcp.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "src/decode/line/rtp.h"

namespace offhook::decode {
namespace {

using Octets = std::vector<std::uint8_t>;

void put16(Octets& o, unsigned v) {
  o.push_back(static_cast<std::uint8_t>(v >> 8));
  o.push_back(static_cast<std::uint8_t>(v));
}

constexpr std::uint8_t kFin = 0x01, kSyn = 0x02, kAck = 0x10;

Octets segment(std::uint32_t number, const std::string& text, std::uint8_t flags = kAck, unsigned from = 40000,
               unsigned to = 5060) {
  Octets o;
  for (const unsigned v : {from, to, number >> 16, number & 0xFFFF, 0U, 0U, 0x5000U | flags, 0xFFFFU, 0U, 0U})
    put16(o, v);
  o.insert(o.end(), text.begin(), text.end());
  return o;
}

std::string message(int call, unsigned port, const std::string& length_name = "Content-Length") {
  const std::string sdp = "v=0\r\nc=IN IP4 10.0.0.4\r\nm=audio " + std::to_string(port) + " RTP/AVP 0\r\n";
  return "INVITE sip:200@10.0.0.2 SIP/2.0\r\nVia: SIP/2.0/TCP 10.0.0.1\r\nFrom: <sip:100@a>\r\nTo: <sip:200@a>\r\n"
         "Call-ID: call" +
         std::to_string(call) + "\r\nContent-Type: application/sdp\r\n" + length_name + ": " +
         std::to_string(sdp.size()) + "\r\n\r\n" + sdp;
}

const IpPlace kHere{{10, 0, 0, 1}, 0}, kThere{{10, 0, 0, 2}, 0};

// A connection from here to there.
struct Connection {
  SipReader sip{};
  SipTcpReader tcp{sip};
  double t = 0;

  std::size_t put(const Octets& segment, double later_s = 0.01) {
    t += later_s;
    return tcp.segment(t, kHere, kThere, segment);
  }
  // The number of the call whose description has a place with this port; empty: none.
  std::string call_of(int port) const {
    const SipReader::Media* media = sip.media_at({{10, 0, 0, 4}, port}, t + 100);
    return media == nullptr ? "" : sip.call(media->call).call_id;
  }
};

TEST(DecodeSipTcp, MessagesAreFoundInEveryDivisionIntoSegments) {
  const std::string text = message(1, 4001) + "\r\n\r\n" + message(2, 4002, "l") + "\r\n" + message(3, 4003);
  for (const std::size_t size : {1UL, 7UL, 100UL, 536UL, text.size()}) {
    Connection c;
    std::uint32_t number = 0xFFFFFF00;  // it wraps
    c.put(segment(number++, "", kSyn));
    for (std::size_t at = 0; at < text.size(); at += size)
      c.put(segment(number + static_cast<std::uint32_t>(at), text.substr(at, size)));
    EXPECT_EQ(c.call_of(4001), "call1") << size;
    EXPECT_EQ(c.call_of(4002), "call2") << size;
    EXPECT_EQ(c.call_of(4003), "call3") << size;
  }
}

TEST(DecodeSipTcp, RepeatedAndReorderedSegmentsAreReadInOrder) {
  std::string text;
  for (int k = 0; k < 20; ++k) text += message(k, 4000 + static_cast<unsigned>(k));
  std::mt19937 random(1);
  for (int run = 0; run < 20; ++run) {
    Connection c;
    std::vector<Octets> segments{segment(999, "", kSyn)};
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t size = 1 + random() % 700;
      segments.push_back(segment(1000 + static_cast<std::uint32_t>(at), text.substr(at, size)));
      if (random() % 3 == 0) segments.push_back(segments.back());
      at += 1 + random() % size;  // the next one may begin within this one
    }
    for (std::size_t k = 1; k + 4 < segments.size(); k += 4)
      std::shuffle(segments.begin() + static_cast<long>(k), segments.begin() + static_cast<long>(k) + 4, random);
    for (const Octets& s : segments) c.put(s);
    for (int k = 0; k < 20; ++k) EXPECT_EQ(c.call_of(4000 + k), "call" + std::to_string(k)) << run;
  }
}

TEST(DecodeSipTcp, ALostSegmentCostsItsMessagesOnly) {
  const std::string first = message(1, 4001), second = message(2, 4002), third = message(3, 4003);
  Connection c;
  c.put(segment(1, first));
  const auto number = static_cast<std::uint32_t>(1 + first.size() + second.size());
  const auto cut = static_cast<std::uint32_t>(40);  // the lost segment reaches into the third message
  c.put(segment(number + cut, third.substr(cut)));
  const auto behind = static_cast<std::uint32_t>(number + third.size());
  c.put(segment(behind, message(4, 4004)));
  EXPECT_EQ(c.call_of(4004), "") << "it may still come";
  c.put(segment(behind + static_cast<std::uint32_t>(message(4, 4004).size()), message(5, 4005)), 5);
  EXPECT_EQ(c.call_of(4001), "call1");
  EXPECT_EQ(c.call_of(4002), "");
  EXPECT_EQ(c.call_of(4003), "");
  EXPECT_EQ(c.call_of(4004), "call4");
  EXPECT_EQ(c.call_of(4005), "call5");
}

TEST(DecodeSipTcp, WhatWaitsAtTheEndOfTheCaptureIsRead) {
  Connection c;
  c.put(segment(1, message(1, 4001)));
  c.put(segment(5000, message(2, 4002)));
  EXPECT_EQ(c.call_of(4002), "");
  c.tcp.finish();
  EXPECT_EQ(c.call_of(4002), "call2");
}

TEST(DecodeSipTcp, ACaptureMayBeginWithinAConnection) {
  Connection c;
  EXPECT_EQ(c.put(segment(500, "v=0\r\n")), 0U);
  EXPECT_GT(c.put(segment(505, message(1, 4001))), 0U);
  EXPECT_EQ(c.call_of(4001), "call1");
}

TEST(DecodeSipTcp, AnotherConnectionOfTheSamePortsBeginsAgain) {
  Connection c;
  c.put(segment(10, "", kSyn));
  c.put(segment(10, "", kSyn));  // sent again
  c.put(segment(11, message(1, 4001).substr(0, 50)));
  c.put(segment(77777, "", kSyn));
  c.put(segment(77778, message(2, 4002), kFin | kAck));
  EXPECT_EQ(c.call_of(4001), "");
  EXPECT_EQ(c.call_of(4002), "call2");
}

TEST(DecodeSipTcp, OtherConnectionsAreNotKept) {
  Connection c;
  c.put(segment(10, "", kSyn));
  c.put(segment(11, "GET / HTTP/1.1\r\n"));
  EXPECT_EQ(c.put(segment(27, std::string(5000, 'x'))), 0U);
  EXPECT_EQ(c.put(segment(1, std::string(5000, 'x'), kAck, 40001)), 0U);
  EXPECT_EQ(c.tcp.segment(1, kHere, kThere, Octets(13, 0)), 0U);
  Octets no_head = segment(1, message(1, 4001));
  no_head[12] = 0x40;
  EXPECT_EQ(c.put(no_head), 0U);
}

TEST(DecodeSipTcp, TheSizeOfAMessageIsThatOfItsHeadAndItsContent) {
  const std::string whole = message(1, 4001);
  EXPECT_EQ(sip_message_size(whole), whole.size());
  EXPECT_EQ(sip_message_size(whole + "more"), whole.size());
  EXPECT_EQ(sip_message_size(whole.substr(0, whole.size() - 1)), std::nullopt);
  EXPECT_EQ(sip_message_size("ACK sip:a SIP/2.0\r\n\r\n"), 21U);
  EXPECT_EQ(sip_message_size("ACK sip:a SIP/2.0\r\n"), std::nullopt);
  EXPECT_EQ(sip_message_size("ACK sip:a SIP/2.0\r\nl: 99999999\r\n\r\n"), std::nullopt);
  EXPECT_EQ(sip_message_size("ACK sip:a SIP/2.0\r\nl: -1\r\n\r\n"), std::nullopt);
}

// ---- in packets

Octets ip(bool v6, std::uint8_t protocol, const Octets& payload) {
  Octets o;
  const auto size = static_cast<unsigned>(payload.size());
  if (v6) {
    for (const unsigned v : {0x6000U, 0U, size, protocol * 256U + 64}) put16(o, v);
    for (const auto host : {std::uint8_t{1}, std::uint8_t{2}}) {
      o.insert(o.end(), {0xFD, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, host});
    }
  } else {
    for (const unsigned v : {0x4500U, 20 + size, 0U, 0x4000U, 0x4000U + protocol, 0U}) put16(o, v);
    o.insert(o.end(), {10, 0, 0, 1, 10, 0, 0, 2});
  }
  o.insert(o.end(), payload.begin(), payload.end());
  return o;
}

TEST(DecodeSipTcp, ACallBySipOverTcpNamesItsPayloadTypeInBothVersionsOfIp) {
  constexpr int kRaw = static_cast<int>(LinkType::kRaw);
  for (const bool v6 : {false, true}) {
    RtpReader reader;
    const std::string place = v6 ? "IN IP6 fd00::2" : "IN IP4 10.0.0.2";
    const std::string sdp = "v=0\r\nc=" + place + "\r\nm=audio 4000 RTP/AVP 97\r\na=rtpmap:97 PCMA/8000\r\n";
    const std::string text = "SIP/2.0 200 OK\r\nf: sip:100@a\r\nt: sip:200@b\r\ni: 7\r\nc: application/sdp\r\nl: " +
                             std::to_string(sdp.size()) + "\r\n\r\n" + sdp;
    reader.packet(kRaw, 1, ip(v6, 6, segment(1, text.substr(0, 80))));
    reader.packet(kRaw, 1.01, ip(v6, 6, segment(81, text.substr(80))));
    for (unsigned k = 0; k < 50; ++k) {
      Octets o;
      for (const unsigned v : {5000U, 4000U, 8U + 12 + 160, 0U, 0x8061U, k, 0U, 160 * k, 0U, 9U}) put16(o, v);
      o.insert(o.end(), 160, 0x2A);
      reader.packet(kRaw, 2 + 0.02 * k, ip(v6, 17, o));
    }
    ASSERT_EQ(reader.find_calls(), 1U) << v6;
    const Recording r = reader.read(0, "c.pcap");
    ASSERT_TRUE(r.sip.has_value());
    EXPECT_EQ(r.sip->called, "200");
    EXPECT_EQ(r.rtp[0].codec, "G.711 A-law");
  }
}

}  // namespace
}  // namespace offhook::decode
