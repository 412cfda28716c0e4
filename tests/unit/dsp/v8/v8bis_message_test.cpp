// SPDX-License-Identifier: MIT
#include "dsp/v8/v8bis_message.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

namespace offhook::v8bis {
namespace {

using Octets = std::vector<uint8_t>;
constexpr Field kI = Field::kIdentification, kS = Field::kStandard;

Message parsed(const Octets& octets) {
  Message m;
  const Malformed malformed = parse(octets.data(), static_cast<int>(octets.size()), &m);
  EXPECT_FALSE(malformed) << "octet " << malformed.octet << ": expected " << malformed.expected;
  return m;
}

Malformed malformed(const Octets& octets) {
  Message m;
  return parse(octets.data(), static_cast<int>(octets.size()), &m);
}

Octets encoded(const Message& m) {
  uint8_t octets[kMaxOctets];
  const int n = encode(m, octets);
  return {octets, octets + n};
}

std::vector<std::string> names(const Block* block) {
  std::vector<std::string> all;
  for (int k = 1; block != nullptr && k <= 63; ++k) {
    if (!block->has(k)) continue;
    const char* name = parameter_name(*block, k);
    all.emplace_back(name != nullptr ? name : "reserved");
  }
  return all;
}

using Names = std::vector<std::string>;

TEST(V8bisMessage, TypesAreThoseOfTable3) {
  const char* want[16] = {nullptr,  "MS",     "CL",     "CLR",    "ACK(1)", "ACK(2)",        nullptr, nullptr,
                          "NAK(1)", "NAK(2)", "NAK(3)", "NAK(4)", nullptr,  "V.92 QC2/QCA2", nullptr, nullptr};
  for (int k = 0; k < 16; ++k) EXPECT_STREQ(type_name(k), want[k]) << k;
}

// 8.3.1, 8.3.2: type in bits 1 to 4, revision in bits 5 to 8. An acknowledgement has nothing else.
TEST(V8bisMessage, AnAcknowledgementIsOneOctet) {
  const Message m = parsed({0x14});
  EXPECT_TRUE(m.is(Type::kAck1));
  EXPECT_EQ(m.revision, 1);
  EXPECT_EQ(m.blocks, 0);
  EXPECT_EQ(encoded(m), Octets{0x14});
  EXPECT_EQ(malformed({0x14, 0x80}).octet, 2);
  EXPECT_EQ(malformed({0x28, 0x00}).octet, 2);
}

// Revision 2, V.8 start-up, data with V.42 and, in octet 4 of Table 6-3, V.92 analogue: bits set by hand from the
// tables.
TEST(V8bisMessage, AClIsCodedAsTheTablesHaveIt) {
  Message m;
  m.type = static_cast<uint8_t>(Type::kCl);
  m.revision = 2;
  m.add(kI, Level::kNPar1, 1);
  m.add(kI, Level::kSPar1, 0);
  m.add(kS, Level::kNPar1, 0);
  m.add(kS, Level::kSPar1, 1);
  m.add(kS, Level::kNPar2, 1ull << 1 | 1ull << 19, 1);
  const Octets want = {0x22, 0x81, 0x80, 0x80, 0x81, 0x02, 0x00, 0x00, 0xC2};
  EXPECT_EQ(encoded(m), want);
  EXPECT_EQ(parsed(want), m);
  EXPECT_EQ(names(m.find(kS, Level::kNPar2, 1)), (Names{"V.42", "V.92 analogue"}));
}

// Figure 7, every kind of block: network type below the identification field, data and H.324 below the standard one,
// H.324 with an SPar(2), whose NPar(3) ends everything that belongs to H.324.
TEST(V8bisMessage, TheTreeOfFigure7IsReadBlockByBlock) {
  const Octets octets = {
      0x13,              // CLR, revision 1
      0x8A,              // I, NPar(1): short V.8, transmit ACK(1)
      0x81,              // I, SPar(1): network type
      0xC1,              // its NPar(2): cellular access; no SPar(2)
      0x80,              // S, NPar(1)
      0xA5,              // S, SPar(1): data, H.324, analogue telephony
      0x01, 0x30, 0xC2,  // data NPar(2): transparent; V.34, V.32bis; V.22bis
      0x43,              // H.324 NPar(2): video, audio; SPar(2) follows
      0x41,              // H.324 SPar(2): data
      0xC4,              // its NPar(3): PPP
      0xC1,              // analogue telephony NPar(2): voice
  };
  const Message m = parsed(octets);
  EXPECT_EQ(m.blocks, 10);
  EXPECT_EQ(names(m.find(kI, Level::kNPar1)), (Names{"short V.8", "transmit ACK(1)"}));
  EXPECT_EQ(names(m.find(kI, Level::kNPar2, 1)), Names{"cellular access"});
  EXPECT_EQ(names(m.find(kS, Level::kSPar1)), (Names{"data", "H.324 multimedia terminal", "analogue telephony"}));
  EXPECT_EQ(names(m.find(kS, Level::kNPar2, 1)), (Names{"transparent data", "V.34", "V.32bis", "V.22bis"}));
  EXPECT_EQ(names(m.find(kS, Level::kNPar2, 3)), (Names{"video", "audio"}));
  EXPECT_EQ(names(m.find(kS, Level::kSPar2, 3)), Names{"data"});
  EXPECT_EQ(names(m.find(kS, Level::kNPar3, 3, 1)), Names{"PPP"});
  EXPECT_EQ(names(m.find(kS, Level::kNPar2, 6)), Names{"voice"});
  EXPECT_EQ(m.find(kS, Level::kNPar2, 2), nullptr);
  EXPECT_EQ(encoded(m), octets);
}

// 8.2.3: unknown parts are skipped. A second octet of SPar(1), and the blocks of its third parameter.
TEST(V8bisMessage, UnknownParametersAreReadOver) {
  const Octets octets = {0x12, 0x90, 0x80, 0x00, 0x81, 0x01, 0x84, 0xC2, 0x3F, 0x60, 0x41, 0xC5};
  const Message m = parsed(octets);
  EXPECT_EQ(names(m.find(kI, Level::kNPar1)), Names{"reserved"});
  EXPECT_EQ(m.find(kS, Level::kNPar1)->parameters, 1u << 7);  // first bit of its second octet
  EXPECT_EQ(m.find(kS, Level::kSPar1)->parameters, 1u | 1u << 9);
  EXPECT_EQ(names(m.find(kS, Level::kNPar2, 1)), Names{"V.42"});
  EXPECT_EQ(m.find(kS, Level::kNPar2, 10)->octets, 2);
  EXPECT_EQ(m.find(kS, Level::kNPar3, 10, 1)->parameters, 5u);
  EXPECT_EQ(encoded(m), octets);
}

// Figure 10: length, country, length of the provider code, provider code, information.
TEST(V8bisMessage, NonStandardBlocksAreReadToTheirEnd) {
  const Octets octets = {0x11, 0xC0, 0x80, 0x80, 0x80, 0x05, 0xB5, 0x02, 0x12, 0x34, 0x56, 0x02, 0x00, 0x00};
  const Message m = parsed(octets);
  ASSERT_EQ(m.non_standards, 2);
  EXPECT_EQ(m.non_standard[0].country, 0xB5);
  EXPECT_EQ(Octets(m.non_standard[0].provider(), m.non_standard[0].information()), (Octets{0x12, 0x34}));
  ASSERT_EQ(m.non_standard[0].size, 1);
  EXPECT_EQ(m.non_standard[0].information()[0], 0x56);
  EXPECT_EQ(m.non_standard[1].country, 0);
  EXPECT_EQ(encoded(m), octets);
}

// Messages sent by real modems, from recorded calls. The last
// one was answered with NAK(1) although it is well formed.
TEST(V8bisMessage, ReadsTheMessagesOfRealModems) {
  const Octets cl = {0x12, 0xC1, 0x80, 0x80, 0x81, 0xC6, 0x09, 0xB5, 0x02, 0x00, 0x94, 0x81, 0x83, 0x03, 0x47, 0x85};
  const Message m = parsed(cl);
  EXPECT_EQ(names(m.find(kI, Level::kNPar1)), (Names{"V.8", "non-standard field"}));
  EXPECT_EQ(names(m.find(kS, Level::kNPar2, 1)), (Names{"V.42", "V.42bis"}));
  ASSERT_EQ(m.non_standards, 1);
  EXPECT_EQ(m.non_standard[0].size, 5);
  EXPECT_EQ(encoded(m), cl);
  const Octets ms = {0x11, 0x89, 0x80, 0x80, 0x80};
  EXPECT_EQ(names(parsed(ms).find(kI, Level::kNPar1)), (Names{"V.8", "transmit ACK(1)"}));
  EXPECT_EQ(encoded(parsed(ms)), ms);
  EXPECT_TRUE(parsed({0x2D, 0x29}).is(Type::kQuickConnect));
}

TEST(V8bisMessage, AMalformedOneIsToldByItsOctet) {
  const struct {
    Octets octets;
    int octet;
    const char* expected;
  } cases[] = {
      {{}, 1, "a message type"},
      {{0x11}, 2, "an octet with bit 8, the end of a block of level 1"},
      {{0x11, 0x81, 0x80, 0x80}, 5, "an octet with bit 8, the end of a block of level 1"},
      {{0x11, 0x81, 0x80, 0x80, 0x81}, 6, "an octet with bit 7, the end of a block of level 2 or 3"},
      {{0x11, 0x81, 0x80, 0x80, 0x81, 0x82}, 6, "bit 7 together with bit 8: the block of level 2 or 3 has not ended"},
      {{0x11, 0x81, 0x80, 0x80, 0x81, 0x42}, 7, "an octet with bit 7, the end of a block of level 2 or 3"},
      {{0x11, 0x81, 0x80, 0x80, 0x81, 0x42, 0xC1}, 7, "no bit 8 yet: an NPar(3) block of an SPar(2) follows"},
      {{0x11, 0x81, 0x80, 0x80, 0x81, 0x42, 0x40}, 7, "bit 8, the end of the parameters of the SPar(1)"},
      {{0x11, 0x81, 0x80, 0x80, 0x80, 0x00}, 6, "the end: there is no non-standard field"},
      {{0x11, 0xC1, 0x80, 0x80, 0x80}, 6, "the non-standard field"},
      {{0x11, 0xC1, 0x80, 0x80, 0x80, 0x03, 0xB5, 0x00}, 6, "a length of at most the remaining octets"},
      {{0x11, 0xC1, 0x80, 0x80, 0x80, 0x01, 0xB5},
       6,
       "a length of 2 or more: a country code and the length of a provider code"},
      {{0x11, 0xC1, 0x80, 0x80, 0x80, 0x02, 0xB5, 0x01}, 8, "a provider code within its non-standard block"},
      {{0x14, 0x80}, 2, "the end: ACK and NAK have no parameters"},
      {{0x11, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x80}, 11, "the end of the block within 9 octets"},
      {Octets(65, 0x80), 65, "64 octets at most"},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.expected);
    const Malformed m = malformed(c.octets);
    EXPECT_EQ(m.octet, c.octet);
    EXPECT_STREQ(m.expected, c.expected);
  }
}

// Every truncated message is malformed, at the cut or before.
TEST(V8bisMessage, ACutMessageIsMalformed) {
  const Octets cl = {0x12, 0xC1, 0x81, 0xC3, 0x80, 0x85, 0x06, 0xC0, 0x42, 0x41, 0xC1, 0x04, 0xB5, 0x02, 0x00, 0x94};
  EXPECT_EQ(encoded(parsed(cl)), cl);
  for (size_t n = 0; n < cl.size(); ++n) {
    const Malformed m = malformed(Octets(cl.begin(), cl.begin() + static_cast<long>(n)));
    EXPECT_GT(m.octet, 0) << n;
    EXPECT_LE(m.octet, static_cast<int>(n) + 1) << n;
  }
}

TEST(V8bisMessage, WhatIsEncodedIsReadAgain) {
  std::mt19937 random(8);
  int fitted = 0;
  for (int turn = 0; turn < 2000; ++turn) {
    Message m;
    m.type = static_cast<uint8_t>(1 + random() % 3);
    m.revision = static_cast<uint8_t>(random() & 15);
    m.non_standards = static_cast<int>(random() % 3);
    for (const Field field : {kI, kS}) {
      const uint64_t npar1 = random() & random() & 0x1FBF;
      m.add(field, Level::kNPar1, npar1 | (field == kI && m.non_standards > 0 ? 1u << 6 : 0));
      const uint64_t spar1 = random() & random() & random() & 0x3FFF;
      m.add(field, Level::kSPar1, spar1);
      for (int k = 1; k <= 14; ++k) {
        if (!(spar1 >> (k - 1) & 1)) continue;
        m.add(field, Level::kNPar2, random() & 0xFFFFFF, k);
        if (random() % 2) continue;
        const uint64_t spar2 = random() & random() & 0x3F;
        m.add(field, Level::kSPar2, spar2, k);
        for (int i = 1; i <= 6; ++i) {
          if (spar2 >> (i - 1) & 1) m.add(field, Level::kNPar3, random() & 0xFFF, k, i);
        }
      }
    }
    for (int k = 0; k < m.non_standards; ++k) {
      NonStandard& b = m.non_standard[k];
      b.country = static_cast<uint8_t>(random());
      b.provider_size = static_cast<uint8_t>(random() % 4);
      b.size = static_cast<uint8_t>(random() % 8);
      for (int i = 0; i < b.provider_size + b.size; ++i) b.octets[i] = static_cast<uint8_t>(random());
    }
    const Octets octets = encoded(m);
    if (octets.empty()) continue;  // over 64
    ++fitted;
    ASSERT_EQ(parsed(octets), m);
  }
  EXPECT_GT(fitted, 1000);
}

}  // namespace
}  // namespace offhook::v8bis
