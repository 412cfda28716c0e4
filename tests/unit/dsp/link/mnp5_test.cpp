// SPDX-License-Identifier: MIT
#include "dsp/link/mnp5.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "tests/unit/dsp/link/lapm_pair.h"

namespace offhook::mnp5 {
namespace {

using Octets = std::vector<uint8_t>;

constexpr const char* kVectors[] = {
#include "mnp5_vectors.inc"
};

/// @param flushes  a flush after each of these parts
Octets encoded(const std::vector<Octets>& parts) {
  Encoder encoder;
  Octets out;
  uint8_t octets[Encoder::kMaxStep];
  for (const Octets& part : parts) {
    for (const uint8_t c : part) out.insert(out.end(), octets, octets + encoder.put(c, octets));
    out.insert(out.end(), octets, octets + encoder.flush(octets));
  }
  return out;
}

Octets decoded(const Octets& octets, size_t at_once = 1000) {
  Decoder decoder;
  Octets out, some(at_once);
  for (size_t at = 0;;) {
    size_t used = 0;
    const size_t n = decoder.put(octets.data() + at, octets.size() - at, &used, some.data(), at_once);
    out.insert(out.end(), some.begin(), some.begin() + long(n));
    at += used;
    if (n < at_once) return out;
  }
}

Octets bytes(const std::string& text) {
  return {text.begin(), text.end()};
}

std::string hex(const Octets& octets) {
  std::string text;
  for (const uint8_t octet : octets) {
    char digits[4];
    std::snprintf(digits, sizeof digits, "%02x", octet);
    text += digits;
  }
  return text;
}

// The page prints these tokens for the text.
TEST(Mnp5, EncodesTheExampleOfTheCourse) {
  const std::string bits =
      "110001001"
      "110101110"
      "10100010"
      "110001110"
      "110001111"
      "110010001"
      "10111010"
      "0010"
      "110100100"
      "110101111"
      "110101111"
      "110110000"
      "110110010"
      "110101010"
      "110110011"
      "011101"
      "110101111"
      "011001"
      "01000"
      "10111010"
      "0000"
      "011001"
      "0010"
      "110101100"
      "011101"
      "110110111"
      "0001"
      "011101"
      "1000000"
      "0010"
      "0001"
      "110101110"
      "01010"
      "0000"
      "011101"
      "0001"
      "110000101"
      "0001"
      "110110101"
      "0001"
      "0000"
      "110000100"
      "110000100"
      "0000";
  const Octets octets = encoded({bytes("In MNP5 compression, codewords from 4 to 10 ")});
  for (size_t k = 0; k < bits.size(); ++k) ASSERT_EQ(octets[k / 8] >> (7 - k % 8) & 1, bits[k] - '0') << k;
}

TEST(Mnp5, AgreesWithTheVectors) {
  Octets ramp(256), all(600, 'x');
  for (size_t i = 0; i < 256; ++i) ramp[i] = uint8_t(i);
  Octets often;
  for (int i = 0; i < 300; ++i) often.insert(often.end(), {'a', 'b', 'a', uint8_t('c' + i % 20)});
  const std::vector<std::vector<Octets>> texts = {
      {bytes("a")}, {bytes("aaa")}, {bytes("aaab")},        {bytes("aaaaaaaa")},
      {all},        {ramp},         {{255, 254, 255, 253}}, {bytes("aaa"), bytes("aaa"), {}, bytes("b")},
      {often}};
  ASSERT_EQ(texts.size(), std::size(kVectors));
  for (size_t i = 0; i < texts.size(); ++i) {
    const Octets octets = encoded(texts[i]);
    EXPECT_EQ(hex(octets), kVectors[i]) << i;
    Octets whole;
    for (const Octets& part : texts[i]) whole.insert(whole.end(), part.begin(), part.end());
    EXPECT_EQ(decoded(octets), whole) << i;
  }
}

TEST(Mnp5, EveryByteReturnsForRunsOfEveryLengthAndFlushesAnywhere) {
  std::mt19937 random(3);
  for (int round = 0; round < 60; ++round) {
    std::vector<Octets> parts(1 + random() % 5);
    Octets whole;
    for (Octets& part : parts) {
      for (int k = int(random() % 60); k > 0; --k)
        part.insert(part.end(), random() % 4 ? 1 : random() % 600, uint8_t(random() % (round % 2 ? 256 : 5)));
      whole.insert(whole.end(), part.begin(), part.end());
    }
    const Octets octets = encoded(parts);
    for (const size_t at_once : {size_t(1), size_t(7), size_t(1000)}) ASSERT_EQ(decoded(octets, at_once), whole);
  }
}

TEST(Mnp5, CountsAreHalvedInTime) {
  const Octets text = [] {
    Octets t;
    for (int i = 0; i < 20'000; ++i) t.push_back(uint8_t(i * i % 251 % 37));
    return t;
  }();
  EXPECT_EQ(decoded(encoded({text})), text);
}

// As tests/fuzz, where the sanitizers look.
TEST(Mnp5, AnyOctetsAreDecoded) {
  for (int round = 0; round < 50; ++round) {
    const Octets noise = test::random_bytes(500, uint64_t(round));
    EXPECT_GT(decoded(noise).size(), 100u);
  }
}

TEST(Mnp5, TextOverTheLinkTakesFewerOctets) {
  using test::LapmPair;
  for (uint32_t far_class : {4u, 5u}) {
    LapmPair pair({.bit_error_rate = 1e-4, .seed = 4}, [far_class](oh_lapm_config& c) {
      c.link.protocols = OH_PROTOCOL_MNP;
      c.link.compression = 3;
      if (c.role == OH_PUMP_ANSWER) c.link.mnp_class = far_class;
    });
    ASSERT_TRUE(pair.run_until([&] { return pair.connected(); }, 30));
    std::string text;
    while (text.size() < 6000) text += "the frames came, and the modem sends them again.......... ";
    for (int i : {0, 1}) pair[i].to_send = bytes(text);
    ASSERT_TRUE(pair.run_until([&] { return pair.complete(); }, 200));
    ASSERT_TRUE(pair.run_until([&] { return pair[0].status().unacknowledged == 0; }, 30));
    for (int i : {0, 1}) {
      EXPECT_EQ(pair[i].received, pair[1 - i].to_send);
      EXPECT_EQ(pair[i].status().mnp_class, far_class);
      EXPECT_EQ(pair[i].status().compression, far_class == 5 ? 3 : 0);
      EXPECT_EQ(pair[i].status().bytes_delivered, text.size());
      EXPECT_EQ(pair[i].status().octets_delivered < text.size() * 2 / 3, far_class == 5);
    }
  }
}

}  // namespace
}  // namespace offhook::mnp5
