// SPDX-License-Identifier: MIT
//
// SIP, clear mode and T.38 in captured packets.
#include "src/decode/line/sip.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include "dsp/v90/coding/ucode.h"
#include "src/decode/line/rtp.h"
#include "src/decode/line/t38.h"

namespace offhook::decode {
namespace {

using Octets = std::vector<std::uint8_t>;

void put16(Octets& o, unsigned v) {
  o.push_back(static_cast<std::uint8_t>(v >> 8));
  o.push_back(static_cast<std::uint8_t>(v));
}

// 10.0.0.k. Both ends send from another port than the one at which they receive, and RTP goes past the proxies of SIP.
struct Place {
  unsigned host, port;
};
constexpr Place kCallerSip{1, 5060}, kCalledSip{2, 5060}, kCallerSends{3, 7000}, kCallerReceives{4, 4000},
    kCalledSends{5, 7002}, kCalledReceives{6, 4002};

// A packet of UDP over IPv4, without a head before IP.
Octets datagram(Place from, Place to, const Octets& payload) {
  Octets o;
  for (const unsigned v : {0x4500U, 28 + static_cast<unsigned>(payload.size()), 0U, 0x4000U, 0x4011U, 0U}) put16(o, v);
  for (const Place& p : {from, to}) o.insert(o.end(), {10, 0, 0, static_cast<std::uint8_t>(p.host)});
  for (const unsigned v : {from.port, to.port, 8 + static_cast<unsigned>(payload.size()), 0U}) put16(o, v);
  o.insert(o.end(), payload.begin(), payload.end());
  return o;
}
Octets rtp(unsigned type, unsigned k, std::uint32_t ssrc, const Octets& octets) {
  Octets o;
  for (const unsigned v : {0x8000U | type, k, 0U, 160 * k, ssrc >> 16, ssrc & 0xFFFF}) put16(o, v & 0xFFFF);
  o.insert(o.end(), octets.begin(), octets.end());
  return o;
}
Octets sip(const std::string& first, const std::string& sdp, const std::string& id = "7@10.0.0.1") {
  const std::string text =
      first +
      "\r\nVia: SIP/2.0/UDP 10.0.0.1\r\nf: \"A; B\" <sip:+41100@example.org>;tag=9\r\nTo: sip:200@10.0.0.2\r\ni: " +
      id + "\r\nContent-Type: application/sdp\r\n\r\n" + sdp;
  return {text.begin(), text.end()};
}
std::string sdp(unsigned host, const std::string& media) {
  return "v=0\r\no=- 1 1 IN IP4 10.0.0.9\r\ns=-\r\nc=IN IP4 10.0.0." + std::to_string(host) + "\r\nt=0 0\r\n" + media;
}
const std::string kInvite = "INVITE sip:200@10.0.0.2 SIP/2.0", kOk = "SIP/2.0 200 OK";

constexpr int kRaw = static_cast<int>(LinkType::kRaw);

void offer_and_answer(RtpReader& reader, const std::string& types, const std::string& attributes) {
  reader.packet(
      kRaw, 9,
      datagram(kCallerSip, kCalledSip, sip(kInvite, sdp(4, "m=audio 4000 RTP/AVP " + types + "\r\n" + attributes))));
  reader.packet(
      kRaw, 9.5,
      datagram(kCalledSip, kCallerSip, sip(kOk, sdp(6, "m=audio 4002 RTP/AVP " + types + "\r\n" + attributes))));
}

// A tone of 1000 Hz in A-law.
Octets tone(unsigned k) {
  Octets o;
  for (unsigned i = 0; i < 160; ++i) {
    const double x = 8000 * std::sin(2 * std::numbers::pi * ((160 * k + i) % 8) / 8);
    o.push_back(v90::nearest_octet(v90::Law::kA, static_cast<int>(x)));
  }
  return o;
}

TEST(DecodeSip, OfferAndAnswerJoinStreamsOfOtherAddresses) {
  for (const bool with_sip : {true, false}) {
    RtpReader reader;
    if (with_sip) offer_and_answer(reader, "0", "");
    for (unsigned k = 0; k < 50; ++k) {
      reader.packet(kRaw, 10 + 0.02 * k, datagram(kCallerSends, kCalledReceives, rtp(0, k, 1, Octets(160, 0x80))));
      reader.packet(kRaw, 10 + 0.02 * k, datagram(kCalledSends, kCallerReceives, rtp(0, k, 2, Octets(160, 0x90))));
    }
    ASSERT_EQ(reader.find_calls(), with_sip ? 1U : 2U);
    const Recording r = reader.read(0, "c.pcap");
    EXPECT_EQ(r.channel.size(), with_sip ? 2U : 1U);
    EXPECT_EQ(r.sip.has_value(), with_sip);
    if (!with_sip) continue;
    EXPECT_EQ(r.sip->call_id, "7@10.0.0.1");
    EXPECT_EQ(r.sip->caller, "+41100");
    EXPECT_EQ(r.sip->called, "200");
  }
}

TEST(DecodeSip, ClearModeIsReadByTheLawThatFits) {
  RtpReader reader;
  offer_and_answer(reader, "97", "a=rtpmap:97 CLEARMODE/8000\r\n");
  for (unsigned k = 0; k < 50; ++k)
    reader.packet(kRaw, 10 + 0.02 * k, datagram(kCallerSends, kCalledReceives, rtp(97, k, 1, tone(k))));
  ASSERT_EQ(reader.find_calls(), 1U);
  const Recording r = reader.read(0, "c.pcap");
  EXPECT_EQ(r.rtp[0].codec, "clear mode, A-law");
  ASSERT_EQ(r.channel[0].size(), 8000U);
  EXPECT_NEAR(r.channel[0][2], 8000, 300);
  EXPECT_NEAR(r.channel[0][6], -8000, 300);
}

// A dynamic type that no description names carries telephone events.
TEST(DecodeSip, WithoutItsDescriptionADynamicTypeIsNoSpeech) {
  RtpReader reader;
  for (unsigned k = 0; k < 50; ++k)
    reader.packet(kRaw, 10 + 0.02 * k, datagram(kCallerSends, kCalledReceives, rtp(97, k, 1, tone(k))));
  EXPECT_EQ(reader.find_calls(), 0U);
}

TEST(DecodeSip, UsersAreReadFromEveryFormOfAnAddress) {
  EXPECT_EQ(sip_user("\"Bob\" <sip:bob@example.com;user=phone>;tag=1"), "bob");
  EXPECT_EQ(sip_user("sip:+1555@10.0.0.1;tag=2"), "+1555");
  EXPECT_EQ(sip_user("<tel:+1555>"), "+1555");
  EXPECT_EQ(sip_user("sip:10.0.0.1"), "10.0.0.1");
  EXPECT_EQ(sip_user(""), "");
}

TEST(DecodeSip, OtherTextIsNoSip) {
  SipReader reader;
  for (const std::string text : {"GET / HTTP/1.1\r\n\r\n", "INVITE x SIP/1.0\r\n\r\n", ""}) {
    const Octets octets(text.begin(), text.end());
    EXPECT_FALSE(reader.message(1, octets)) << text;
  }
}

TEST(DecodeSip, ALaterDescriptionReplacesTheOneBefore) {
  SipReader reader;
  reader.message(1, sip(kInvite, sdp(4, "m=audio 4000 RTP/AVP 0\r\n")));
  reader.message(5, sip(kInvite, sdp(4, "m=audio 0 RTP/AVP 0\r\nm=image 4000 udptl t38\r\na=T38FaxVersion:3\r\n")));
  const IpPlace place{{10, 0, 0, 4}, 4000};
  EXPECT_EQ(reader.media_at(place, 0.5), nullptr);
  ASSERT_NE(reader.media_at(place, 2), nullptr);
  EXPECT_FALSE(reader.media_at(place, 2)->fax);
  ASSERT_NE(reader.media_at(place, 6), nullptr);
  EXPECT_TRUE(reader.media_at(place, 6)->fax);
  EXPECT_EQ(reader.media_at(place, 6)->fax_version, 3);
  EXPECT_EQ(reader.media_at({{10, 0, 0, 4}, 4001}, 6), nullptr);
}

// ---- T.38

// One field of HDLC at 300 bit/s. @param data  as T.30 has it
Octets field(int version, unsigned type, const Octets& data) {
  Octets o;
  const unsigned has_data = data.empty() ? 0 : 1;
  o.push_back(static_cast<std::uint8_t>(version == 0 ? has_data << 7 | type << 4 : has_data << 7 | type << 3));
  if (data.empty()) return o;
  put16(o, static_cast<unsigned>(data.size() - 1));
  for (const std::uint8_t v : data) {
    unsigned mirrored = 0;
    for (unsigned b = 0; b < 8; ++b) mirrored |= (v >> b & 1U) << (7 - b);
    o.push_back(static_cast<std::uint8_t>(mirrored));
  }
  return o;
}
Octets v21(const std::vector<Octets>& fields) {
  Octets o{0xC0, static_cast<std::uint8_t>(fields.size())};
  for (const Octets& f : fields) o.insert(o.end(), f.begin(), f.end());
  return o;
}
// @param before  earlier packets, the latest first, as redundancy
Octets udptl(unsigned number, const Octets& ifp, const std::vector<Octets>& before = {}) {
  Octets o;
  put16(o, number);
  o.push_back(static_cast<std::uint8_t>(ifp.size()));
  o.insert(o.end(), ifp.begin(), ifp.end());
  o.push_back(0);
  o.push_back(static_cast<std::uint8_t>(before.size()));
  for (const Octets& b : before) {
    o.push_back(static_cast<std::uint8_t>(b.size()));
    o.insert(o.end(), b.begin(), b.end());
  }
  return o;
}
const Octets kDis{0xFF, 0x13, 0x80, 0x00, 0xEE, 0xF8};

TEST(DecodeT38, FramesAreReadAcrossPacketsInBothPackings) {
  for (const int version : {0, 3}) {
    T38Reader reader(version);
    reader.packet(1.0, udptl(0, {0x02}));  // an indicator
    reader.packet(1.1, udptl(1, v21({field(version, 0, {kDis.begin(), kDis.begin() + 2})})));
    reader.packet(1.2, udptl(2, v21({field(version, 0, {kDis.begin() + 2, kDis.end()}), field(version, 2, {})})));
    reader.packet(1.3, udptl(3, v21({field(version, 0, {0xFF, 0x13, 0x2F}), field(version, 5, {})})));
    const std::vector<T38Frame> frames = reader.take();
    ASSERT_EQ(frames.size(), 2U) << version;
    EXPECT_EQ(frames[0].octets, kDis);
    EXPECT_TRUE(frames[0].fcs_good);
    EXPECT_DOUBLE_EQ(frames[0].t, 1.1);
    EXPECT_FALSE(frames[1].fcs_good);
  }
}

TEST(DecodeT38, RedundantPacketsMakeUpForLostOnesAndRepeatedOnesCountOnce) {
  const Octets first = v21({field(0, 0, {kDis.begin(), kDis.begin() + 2})}),
               second = v21({field(0, 0, {kDis.begin() + 2, kDis.end()})}), third = v21({field(0, 2, {})});
  T38Reader reader(0), without(0);
  for (T38Reader* r : {&reader, &without}) r->packet(1, udptl(65534, {0x02}));
  reader.packet(1.3, udptl(1, third, {second, first}));
  reader.packet(1.4, udptl(1, third, {second, first}));
  without.packet(1.3, udptl(1, third, {second}));
  const std::vector<T38Frame> frames = reader.take();
  ASSERT_EQ(frames.size(), 1U);
  EXPECT_EQ(frames[0].octets, kDis);
  EXPECT_TRUE(without.take().empty()) << "half a frame is none";
}

TEST(DecodeT38, AFaxOfACallOfSpeechIsListedWithIt) {
  RtpReader reader;
  offer_and_answer(reader, "8", "");
  for (unsigned k = 0; k < 50; ++k) {
    reader.packet(kRaw, 10 + 0.02 * k, datagram(kCallerSends, kCalledReceives, rtp(8, k, 1, tone(k))));
    reader.packet(kRaw, 10 + 0.02 * k, datagram(kCalledSends, kCallerReceives, rtp(8, k, 2, tone(k))));
  }
  const std::string media = "m=image 4000 udptl t38\r\na=T38FaxVersion:0\r\n";
  reader.packet(kRaw, 11, datagram(kCallerSip, kCalledSip, sip(kInvite, sdp(4, media))));
  reader.packet(kRaw, 11.5,
                datagram(kCalledSends, kCallerReceives, udptl(0, v21({field(0, 0, kDis), field(0, 4, {})}))));
  ASSERT_EQ(reader.find_calls(), 1U);
  const Recording r = reader.read(0, "c.pcap");
  ASSERT_EQ(r.t38.size(), 1U);
  EXPECT_EQ(r.t38[0].octets, kDis);
  EXPECT_EQ(r.t38[0].channel, 1);
  EXPECT_NEAR(r.t38[0].t, 1.5, 0.03);
}

}  // namespace
}  // namespace offhook::decode
