// SPDX-License-Identifier: MIT
//
// Characters of each format, sent without pauses, with pauses, and as V.14 shortens them.
#include "src/decode/modulation/start_stop.h"

#include <gtest/gtest.h>

#include <bit>
#include <random>
#include <string>
#include <vector>

namespace offhook::decode {
namespace {

const std::string kText = "The quick brown fox jumps over the lazy dog, 0123456789 times; and once more: fox and dog.";

// @param pause  ones behind each character; -1: every ninth stop bit is left out
std::vector<bool> sent(const std::string& text, int data_bits, char parity, int pause) {
  std::vector<bool> bits(20, true);
  int n = 0;
  for (const char c : text) {
    const unsigned value = static_cast<unsigned char>(c) & ((1U << data_bits) - 1);
    bits.push_back(false);
    for (int b = 0; b < data_bits; ++b) bits.push_back((value >> b & 1) != 0);
    if (parity != 'N') bits.push_back((std::popcount(value) % 2 != 0) == (parity == 'E'));
    if (pause >= 0 || ++n % 9 != 0) bits.push_back(true);
    for (int k = 0; k < pause; ++k) bits.push_back(true);
  }
  bits.insert(bits.end(), 20, true);
  return bits;
}

std::string text_of(const StartStopText& t) {
  return {t.characters.begin(), t.characters.end()};
}

TEST(DecodeStartStop, TheFormatIsFound) {
  for (const int pause : {0, 5}) {
    for (const auto& [name, data_bits, parity] : {std::tuple{"8N1", 8, 'N'},
                                                  {"7E1", 7, 'E'},
                                                  {"7O1", 7, 'O'},
                                                  {"8E1", 8, 'E'},
                                                  {"8O1", 8, 'O'},
                                                  {"7N1", 7, 'N'}}) {
      const StartStopText t = read_start_stop(sent(kText, data_bits, parity, pause));
      EXPECT_EQ(t.format, name) << pause;
      EXPECT_EQ(text_of(t), kText) << name;
    }
  }
  const StartStopText baudot = read_start_stop(sent(kText, 5, 'N', 3));
  EXPECT_EQ(baudot.format, "5N1");
  EXPECT_EQ(baudot.characters.size(), kText.size());
}

TEST(DecodeStartStop, StopBitsThatV14LeavesOutAreNotMissed) {
  const StartStopText t = read_start_stop(sent(kText, 8, 'N', -1));
  EXPECT_EQ(t.format, "8N1");
  EXPECT_EQ(text_of(t), kText);
}

TEST(DecodeStartStop, RandomBitsAreNoCharacters) {
  std::mt19937 random(3);
  std::vector<bool> bits;
  for (int k = 0; k < 20000; ++k) bits.push_back((random() & 1) != 0);
  EXPECT_EQ(read_start_stop(bits).format, "");
  EXPECT_EQ(read_start_stop(std::vector<bool>(1000, true)).format, "");
  EXPECT_EQ(read_start_stop(std::vector<bool>{}).format, "");
}

// 300 bit/s at 8000 Hz, sampled: 26.67 samples a bit.
TEST(DecodeStartStop, BitsWithoutAClockAreRead) {
  constexpr double kBitSamples = 8000.0 / 300;
  const std::vector<bool> bits = sent(kText, 8, 'N', 0);
  std::vector<bool> samples;
  for (std::size_t i = 0; i < static_cast<std::size_t>(static_cast<double>(bits.size()) * kBitSamples); ++i)
    samples.push_back(bits[static_cast<std::size_t>(static_cast<double>(i) / kBitSamples)]);
  const StartStopText t = read_start_stop(samples, kBitSamples);
  EXPECT_EQ(t.format, "8N1");
  EXPECT_EQ(text_of(t), kText);
}

TEST(DecodeStartStop, APreviewIsOneLine) {
  const std::vector<std::uint8_t> c = {'a', '\r', '\n', 0x1B, 'b'};
  EXPECT_EQ(preview(c), "a  .b");
  EXPECT_EQ(preview(c, 2), "a ...");
}

}  // namespace
}  // namespace offhook::decode
