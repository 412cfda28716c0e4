// SPDX-License-Identifier: MIT
#include "driver/network/srtp.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <string_view>
#include <vector>

#include "driver/base/rtp.h"

namespace offhook {
namespace {

using Octets = std::vector<std::uint8_t>;
using Result = SrtpStreams::Result;

Octets octets_of(std::string_view hex) {
  Octets octets;
  for (std::size_t k = 0; k + 1 < hex.size(); k += 2)
    octets.push_back(static_cast<std::uint8_t>(std::stoi(std::string(hex.substr(k, 2)), nullptr, 16)));
  return octets;
}

/// From the validation program of libsrtp and the authors of RFC 3711.
constexpr std::string_view kKey = "e1f97a0d3e018be0d64fa32c06de41390ec675ad498afeebb6960b3aabe6";
constexpr std::string_view kPlain = "800f1234decafbadcafebabeabababababababababababababababab";
constexpr std::string_view kSecret = "800f1234decafbadcafebabe4e55dc4ce79978d88ca4d215949d2402b78d6acc99ea179b8dbb";

SrtpKeys published_keys(SrtpSuite suite) {
  SrtpKey key;
  key.suite = suite;
  std::ranges::copy(octets_of(kKey), key.octets.begin());
  return {key, key};
}

Octets sealed(SrtpStreams& streams, Octets packet) {
  const std::size_t n = packet.size();
  packet.resize(n + kSrtpTrailerOctets);
  packet.resize(streams.protect(packet.data(), n));
  return packet;
}

class Srtp : public testing::Test {
  void SetUp() override {
    if (!has_srtp()) GTEST_SKIP() << "this build has no libsrtp2";
  }
};

TEST_F(Srtp, APublishedPacketIsEncryptedAsItWasPublished) {
  SrtpStreams streams(published_keys(SrtpSuite::kTagOf80Bits), 0xcafebabe);
  EXPECT_EQ(sealed(streams, octets_of(kPlain)), octets_of(kSecret));
  Octets packet = octets_of(kSecret);
  std::size_t n = packet.size();
  ASSERT_EQ(streams.unprotect(packet.data(), &n), Result::kGood);
  packet.resize(n);
  EXPECT_EQ(packet, octets_of(kPlain));
}

TEST_F(Srtp, ASequenceThatWrapsIsReadAndAReplayedOrAlteredPacketIsNot) {
  for (const SrtpSuite suite : {SrtpSuite::kTagOf80Bits, SrtpSuite::kTagOf32Bits}) {
    const SrtpKeys keys{new_srtp_key(suite), new_srtp_key(suite)};
    SrtpStreams a(keys, 7), b({keys.receive, keys.send}, 8);
    Octets plain(kRtpHeaderOctets + 160, 0x55), last;
    for (std::uint32_t k = 65'500; k < 65'600; ++k) {
      RtpPacket head;
      head.sequence = static_cast<std::uint16_t>(k);
      head.ssrc = 7;
      write_rtp_header(head, plain.data());
      Octets packet = last = sealed(a, plain);
      ASSERT_EQ(packet.size(), plain.size() + (suite == SrtpSuite::kTagOf80Bits ? 10 : 4));
      ASSERT_FALSE(std::equal(plain.begin() + kRtpHeaderOctets, plain.end(), packet.begin() + kRtpHeaderOctets));
      std::size_t n = packet.size();
      Octets altered = packet;
      altered[20] ^= 1;
      EXPECT_EQ(b.unprotect(altered.data(), &n), Result::kNotAuthentic);
      ASSERT_EQ(b.unprotect(packet.data(), &n), Result::kGood) << k;
      packet.resize(n);
      ASSERT_EQ(packet, plain);
    }
    std::size_t n = last.size();
    EXPECT_EQ(b.unprotect(last.data(), &n), Result::kReplayed);
  }
}

TEST_F(Srtp, ReportsAreProtectedToo) {
  const SrtpKeys keys{new_srtp_key(SrtpSuite::kTagOf32Bits), new_srtp_key(SrtpSuite::kTagOf32Bits)};
  SrtpStreams a(keys, 7), b({keys.receive, keys.send}, 8);
  Octets report(kRtcpOctets + kSrtpTrailerOctets);
  const std::size_t written = write_rtcp({.ssrc = 7, .ntp = 1}, report.data());
  std::size_t n = a.protect_report(report.data(), written);
  ASSERT_EQ(n, written + 4 + 10) << "an index and a tag of 80 bits, whatever the suite";
  ASSERT_EQ(b.unprotect_report(report.data(), &n), Result::kGood);
  EXPECT_TRUE(parse_rtcp({report.data(), n}));
}

TEST_F(Srtp, NoPacketIsTooShortToRefuse) {
  SrtpStreams streams(published_keys(SrtpSuite::kTagOf80Bits), 1);
  for (std::size_t length = 0; length < 40; ++length) {
    Octets packet(200, 0x80);
    std::size_t n = length;
    EXPECT_NE(streams.unprotect(packet.data(), &n), Result::kGood);
    n = length;
    EXPECT_NE(streams.unprotect_report(packet.data(), &n), Result::kGood);
  }
}

}  // namespace
}  // namespace offhook
