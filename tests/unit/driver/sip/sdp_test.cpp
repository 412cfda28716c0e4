// SPDX-License-Identifier: MIT
#include "driver/sip/sdp.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <string>

#include "driver/sip/phone.h"
#include "tests/unit/temporary_folder.h"

namespace offhook::sip {
namespace {

std::string described(const std::string& media) {
  return "v=0\r\no=- 1 1 IN IP4 192.0.2.9\r\ns=-\r\nc=IN IP4 192.0.2.1\r\nt=0 0\r\n" + media;
}
std::string refusal(const std::string& text) {
  return test::complaint([&] { parse_sdp(text); });
}

TEST(Sdp, TheFirstLawOfG711IsTheFarEndsAndOtherCodecsAreSkipped) {
  const MediaDescription found = parse_sdp(described(
      "m=video 9 RTP/AVP 31\r\nc=IN IP4 192.0.2.66\r\nm=audio 4000 RTP/AVP 18 8 0 101\r\na=rtpmap:18 G729/8000\r\n"
      "a=rtpmap:8 PCMA/8000\r\na=ptime:30\r\nm=audio 6000 RTP/AVP 0\r\na=ptime:10\r\n"));
  EXPECT_EQ(found.media.remote.text(), "192.0.2.1:4000");
  EXPECT_EQ(found.media.law, OH_ALAW);
  EXPECT_THAT(found.laws, testing::ElementsAre(OH_ALAW, OH_MULAW));
  EXPECT_EQ(found.media.packet_samples, 240u);
  EXPECT_FALSE(found.on_hold);
}

TEST(Sdp, TheStreamsOwnAddressCounts) {
  EXPECT_EQ(parse_sdp(described("m=audio 4000 RTP/AVP 0\nc=IN IP6 ::1\na=inactive\n")).media.remote.text(),
            "[::1]:4000");
  EXPECT_TRUE(parse_sdp(described("m=audio 4000 RTP/AVP 0\na=sendonly\n")).on_hold);
}

TEST(Sdp, WhatAModemCannotUseIsRefusedWithTheReason) {
  EXPECT_EQ(refusal(""), "it describes no audio");
  EXPECT_EQ(refusal(described("m=video 4 RTP/AVP 31\n")), "it describes no audio");
  EXPECT_THAT(refusal(described("m=audio 4 RTP/AVP 18 9\n")), testing::StartsWith("it offers no G.711"));
  EXPECT_THAT(refusal(described("m=audio 4 RTP/AVP 0\na=rtpmap:0 L16/8000\n")),
              testing::StartsWith("it offers no G.711"));
  EXPECT_THAT(refusal(described("m=audio 4 UDP/TLS/RTP/SAVP 0\n")), testing::HasSubstr("another transport"));
  EXPECT_EQ(refusal(described("m=audio 0 RTP/AVP 0\n")), "it refuses the audio stream");
  EXPECT_EQ(refusal("c=IN IP4 pbx.example\nm=audio 4 RTP/AVP 0\n"), "it has no numeric address");
  EXPECT_EQ(refusal(std::string(9000, 'x')), "it is longer than 8 KiB");
}

TEST(Sdp, WhatIsWrittenIsReadAgain) {
  for (const char* address : {"127.0.0.1:4000", "[::1]:4002"}) {
    const std::string text = write_sdp({internet_address(address), {OH_ALAW}, 80, 7, 2, {}});
    const MediaDescription found = parse_sdp(text);
    EXPECT_FALSE(found.encrypted);
    EXPECT_EQ(found.media.remote.text(), address);
    EXPECT_THAT(found.laws, testing::ElementsAre(OH_ALAW));
    EXPECT_EQ(found.media.packet_samples, 80u);
    EXPECT_THAT(text, testing::HasSubstr("\r\na=rtpmap:8 PCMA/8000\r\na=ptime:10\r\n"));
  }
}

constexpr char kFax[] =
    "m=image 6000 udptl t38\r\na=T38FaxVersion:0\r\na=T38FaxRateManagement:transferredTCF\r\n"
    "a=T38FaxMaxDatagram:238\r\na=T38FaxUdpEC:t38UDPRedundancy\r\n";

TEST(Sdp, AnOfferOfT38HasAddressAndSizeOfItsDatagrams) {
  const MediaDescription found = parse_sdp(described(kFax));
  ASSERT_TRUE(found.fax);
  EXPECT_EQ(found.fax->remote.text(), "192.0.2.1:6000");
  EXPECT_EQ(found.fax->most_octets, 238u);
  EXPECT_TRUE(found.fax->takes_copies);
  EXPECT_FALSE(parse_sdp(described("m=image 6 UDPTL t38\na=t38faxudpec:t38UDPNoEC\n")).fax->takes_copies);
  EXPECT_THAT(refusal(described("m=image 6 udptl t38\na=T38FaxRateManagement:localTCF\n")),
              testing::HasSubstr("tests the line at each end"));
  EXPECT_EQ(refusal(described("m=image 0 udptl t38\n")), "it describes no audio");
  EXPECT_EQ(refusal(described("m=image 6 tcp t38\n")), "it describes no audio");
}

TEST(Sdp, AudioThatGoesOnIsNoT38) {
  EXPECT_FALSE(parse_sdp(described("m=audio 4000 RTP/AVP 0\r\n" + std::string(kFax))).fax);
  const MediaDescription found = parse_sdp(described("m=audio 0 RTP/AVP 0\r\n" + std::string(kFax)));
  ASSERT_TRUE(found.fax);
  EXPECT_EQ(found.line, 1u);
}

// RFC 3264 6.
TEST(Sdp, AnAnswerHasALineForEachOfTheOffer) {
  const MediaDescription found =
      parse_sdp(described("m=audio 0 RTP/AVP 0 8\r\nm=video 5000 RTP/AVP 31\r\n" + std::string(kFax)));
  OwnDescription own{internet_address("192.0.2.7:7000"), {}, 160, 1, 1, {}};
  own.fax = true;
  own.lines = found.lines;
  own.line = found.line;
  const std::string text = write_sdp(own);
  EXPECT_THAT(
      text, testing::HasSubstr("t=0 0\r\nm=audio 0 RTP/AVP 0 8\r\nm=video 0 RTP/AVP 31\r\nm=image 7000 udptl t38\r\n"));
  EXPECT_EQ(parse_sdp(text).fax->remote.text(), "192.0.2.7:7000");
}

TEST(Sdp, ADescriptionHasAtMost16Streams) {
  std::string many;
  for (int k = 0; k < 17; ++k) many += "m=audio 4000 RTP/AVP 0\r\n";
  EXPECT_EQ(refusal(described(many)), "it describes more than 16 streams");
}

// RFC 4568 9.1 and 10.
constexpr char kInline[] = "inline:d0RmdmcmVCspeEc3QGZiNWpVLFJhQX1cfHAwJSoj";

TEST(Sdp, AnEncryptedStreamHasTheKeysThatAreUsable) {
  const std::string audio = "m=audio 4000 RTP/SAVP 0\r\n";
  const MediaDescription found = parse_sdp(
      described(audio + "a=crypto:1 F8_128_HMAC_SHA1_80 " + kInline + "\r\na=crypto:2 AES_CM_128_HMAC_SHA1_32 " +
                kInline + "|2^20 WSH=128\r\na=crypto:7 AES_CM_128_HMAC_SHA1_80 " + kInline + "|1:4\r\n" +
                "a=crypto:8 AES_CM_128_HMAC_SHA1_80 " + kInline + " UNENCRYPTED_SRTP\r\n" +
                "a=crypto:9 AES_CM_128_HMAC_SHA1_80 " + kInline + "\r\n"));
  ASSERT_TRUE(found.encrypted);
  ASSERT_EQ(found.crypto.size(), 2u);
  EXPECT_EQ(found.crypto[0].tag, 2u);
  EXPECT_EQ(found.crypto[0].key.suite, SrtpSuite::kTagOf32Bits);
  EXPECT_EQ(found.crypto[1].tag, 9u);
  EXPECT_EQ(found.crypto[1].key.suite, SrtpSuite::kTagOf80Bits);
  EXPECT_EQ(std::string(found.crypto[1].key.octets.begin(), found.crypto[1].key.octets.end()),
            "wDfvg&T+)xG7@fb5jU,RaA}\\|p0%*#");
  for (const char* line : {"", "a=crypto:1 AES_CM_128_HMAC_SHA1_80 inline:short\r\n",
                           "a=crypto:x AES_CM_128_HMAC_SHA1_80 inline:d0RmdmcmVCspeEc3QGZiNWpVLFJhQX1cfHAwJSoj\r\n",
                           "a=crypto:1 AES_CM_128_HMAC_SHA1_80 outside:d0RmdmcmVCspeEc3QGZiNWpVLFJhQX1cfHAwJSoj\r\n"})
    EXPECT_THAT(refusal(described(audio + line)), testing::HasSubstr("no key for SRTP")) << line;
  EXPECT_TRUE(parse_sdp(described("m=audio 4 RTP/AVP 0\r\na=crypto:1 AES_CM_128_HMAC_SHA1_80 " + std::string(kInline)))
                  .crypto.empty())
      << "a plain stream has no keys";
}

TEST(Sdp, AKeyThatIsWrittenIsReadAgain) {
  for (const SrtpSuite suite : {SrtpSuite::kTagOf80Bits, SrtpSuite::kTagOf32Bits}) {
    const CryptoLine line{3, new_srtp_key(suite)};
    const MediaDescription found = parse_sdp(write_sdp({internet_address("127.0.0.1:4"), {OH_MULAW}, 160, 7, 2, line}));
    ASSERT_EQ(found.crypto.size(), 1u);
    EXPECT_EQ(found.crypto[0].tag, 3u);
    EXPECT_EQ(found.crypto[0].key, line.key);
  }
}

TEST(SipPlace, HasAnAccountAndItsOptionsAndThePasswordOfAFile) {
  const test::TemporaryFolder folder;
  const std::string path = folder.path() / "password";
  std::ofstream(path) << "swordfish\nmore\n";
  const SipPlace place = parse_sip_place(
      "100@pbx.example:5070,local=127.0.0.1:5062,register=no,law=pcma,transport=tcp,buffer=60,password-file=" + path);
  EXPECT_EQ(place.account.user, "100");
  EXPECT_EQ(place.account.host, "pbx.example:5070");
  EXPECT_EQ(place.account.local.text(), "127.0.0.1:5062");
  EXPECT_EQ(place.account.password, "swordfish");
  EXPECT_FALSE(place.account.registers);
  EXPECT_EQ(place.account.transport, Transport::kTcp);
  EXPECT_FALSE(place.account.encrypts_media);
  EXPECT_EQ(place.buffer_samples, 480u);
  EXPECT_TRUE(parse_sip_place("1@a").account.local.is_loopback())
      << "nothing listens beyond loopback unless it is named";
  setenv("OFFHOOK_SIP_PASSWORD", "marlin", 1);
  EXPECT_EQ(parse_sip_place("1@a").account.password, "marlin");
  unsetenv("OFFHOOK_SIP_PASSWORD");
}

TEST(SipPlace, TlsVerifiesAndEncryptsTheSamplesUnlessToldOtherwise) {
  if (!has_srtp()) GTEST_SKIP() << "this build has no libsrtp2";
  const Account safe = parse_sip_place("1@a,transport=tls").account;
  EXPECT_EQ(safe.transport, Transport::kTls);
  EXPECT_TRUE(safe.tls.verifies);
  EXPECT_TRUE(safe.encrypts_media);
  const Account told =
      parse_sip_place("1@a,transport=tls,verify=no,srtp=no,ca-file=x,cert-file=y,session-interval=90").account;
  EXPECT_FALSE(told.tls.verifies);
  EXPECT_FALSE(told.encrypts_media);
  EXPECT_EQ(told.tls.authorities, "x");
  EXPECT_EQ(told.tls.certificate, "y");
  EXPECT_EQ(told.session_interval_s, 90u);
  for (const char* options : {"ca-file=x", "cert-file=x", "verify=no", "srtp=yes"})
    EXPECT_THAT(test::complaint([options] { parse_sip_place("1@a," + std::string(options)); }),
                testing::HasSubstr("transport=tls"))
        << options;
  EXPECT_THAT(test::complaint([] { parse_sip_place("1@a,session-interval=89"); }), testing::HasSubstr("90 to 86400"));
  EXPECT_EQ(parse_sip_place("1@a,session-interval=0").account.session_interval_s, 0u);
}

TEST(SipPlace, WhatIsNoAccountIsRefused) {
  for (const char* text : {"", "100", "@host", "100@", "100:secret@host", "1 0@host", "100@ho st"})
    EXPECT_THAT(test::complaint([text] { parse_sip_place(text); }), testing::HasSubstr("expected sip:USER@HOST"))
        << text;
  EXPECT_THAT(test::complaint([] { parse_sip_place("1@a,password=x"); }), testing::HasSubstr("is not an option"));
  EXPECT_THAT(test::complaint([] { parse_sip_place("1@a,password-file=/nowhere/at/all"); }),
              testing::HasSubstr("expected a password"));
}

TEST(SipNumber, IsTheUserPartOfAnAddress) {
  EXPECT_EQ(sip_number("5551234"), "5551234");
  EXPECT_EQ(sip_number("W9,,555"), "9555") << "pauses are for a telephone line";
  EXPECT_EQ(sip_number("*21#"), "*21%23");
  EXPECT_EQ(sip_number("+49.89-12_3"), "+49.89-12_3");
  EXPECT_EQ(sip_number("West"), "West") << "a name has no pauses";
  for (const char* number : {"", "W,", "12 34", "1@2", "9,5551234x", "a\nb", "12;phone-context=x"})
    EXPECT_THAT(test::complaint([number] { sip_number(number); }), testing::HasSubstr("cannot be dialled by SIP"))
        << number;
}

TEST(Sip, EachRefusalIsAResultOfAModem) {
  EXPECT_EQ(end_of_response(486), EndKind::kBusy);
  EXPECT_EQ(end_of_response(480), EndKind::kNoAnswer);
  EXPECT_EQ(end_of_response(403), EndKind::kNoService);
  EXPECT_EQ(end_of_response(404), EndKind::kOther);
}

}  // namespace
}  // namespace offhook::sip
