// SPDX-License-Identifier: MIT
#include "dsp/dmt/message.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "dsp/dmt/procedure.h"

namespace offhook::dmt {
namespace {

TEST(Loading, KeepsToTheRateThatItMayHave) {
  std::vector<float> error(kMostTones, 1e-5f);
  Loading loading;
  for (const std::uint32_t most : {32'000u, 64'000u, 512'000u, 1'536'000u}) {
    ASSERT_TRUE(load(kLiteDown, error.data(), most, &loading));
    EXPECT_LE(loading.net_bit_rate(), most);
    EXPECT_GT(loading.net_bit_rate(), most / 2);
  }
  std::fill(error.begin(), error.end(), 1.0f);
  EXPECT_FALSE(load(kLiteDown, error.data(), 0, &loading));
}

TEST(Loading, EveryNumberOfOctetsHasAPathOrNone) {
  for (int octets = 0; octets < 500; ++octets) {
    PathParameters path;
    if (!choose_path(octets, &path)) {
      EXPECT_LT(octets, 2);
      continue;
    }
    EXPECT_TRUE(path.possible()) << octets;
    EXPECT_EQ(path.octets(), std::min(octets, 255));
  }
}

TEST(Loading, TheTrellisCodeIsAskedForWhereItCarriesMore) {
  std::vector<float> error(kMostTones, 1e-3f);
  Loading with, without;
  Band band = kFullDown;
  ASSERT_TRUE(load(band, error.data(), 0, &with));
  band.trellis = false;
  ASSERT_TRUE(load(band, error.data(), 0, &without));
  EXPECT_TRUE(with.trellis);
  EXPECT_FALSE(without.trellis);
  // 2 dB are two thirds of a bit on each of 222 tones.
  EXPECT_NEAR(with.data_bits() - without.data_bits(), 222 * (kTrellisGainDb / 3.01 - 0.5), 25);
  // If every tone is full, the code only takes bits.
  std::fill(error.begin(), error.end(), 1e-8f);
  ASSERT_TRUE(load(kFullDown, error.data(), 0, &with));
  EXPECT_FALSE(with.trellis);
  EXPECT_NEAR(with.data_bits(), 8 * 255, 20);  // a frame has no more
  // G.lite has none.
  std::fill(error.begin(), error.end(), 1e-3f);
  ASSERT_TRUE(load(kLiteDown, error.data(), 0, &with));
  EXPECT_FALSE(with.trellis);
}

Message some_message(const Band& band, std::uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<float> error(kMostTones);
  for (float& e : error) e = static_cast<float>(std::pow(10, -static_cast<double>(random() % 50) / 10));
  Message m;
  m.acknowledge = seed % 2 == 1;
  load(band, error.data(), 0, &m.loading);
  return m;
}

TEST(Message, IsReadAsItWasWrittenAndNoSymbolIsSegueOrReverb) {
  for (const Band& band : {kLiteDown, kFullDown, kLiteUp, kFullUp}) {
    for (std::uint32_t seed = 0; seed < 20; ++seed) {
      const Message sent = some_message(band, seed);
      std::uint8_t symbols[kMostMessageSymbols];
      const int n = write_message(band, sent, symbols);
      ASSERT_LE(n, kMostMessageSymbols);
      MessageReader reader(band);
      Message got;
      for (int k = 0; k < 7; ++k) EXPECT_FALSE(reader.put(symbols[n / 2 + k], &got));  // the end of a previous one
      for (int k = 0; k < n; ++k) {
        EXPECT_TRUE(symbols[k] != kSegueOctet && symbols[k] != kReverbOctet);
        EXPECT_EQ(reader.put(symbols[k], &got), k == n - 1);
      }
      EXPECT_EQ(got.acknowledge, sent.acknowledge);
      EXPECT_EQ(got.loading.path, sent.loading.path);
      EXPECT_EQ(got.loading.trellis, sent.loading.trellis);
      EXPECT_TRUE(std::equal(std::begin(got.loading.bits), std::end(got.loading.bits), sent.loading.bits));
      EXPECT_TRUE(std::equal(std::begin(got.loading.gain_half_db), std::end(got.loading.gain_half_db),
                             sent.loading.gain_half_db));
    }
  }
}

TEST(Message, ADamagedOneIsNotRead) {
  const Message sent = some_message(kLiteDown, 3);
  std::uint8_t symbols[kMostMessageSymbols];
  const int n = write_message(kLiteDown, sent, symbols);
  for (int at = 0; at < n; ++at) {
    for (int bit = 0; bit < 8; ++bit) {
      std::vector<std::uint8_t> damaged(symbols, symbols + n);
      damaged[at] ^= static_cast<std::uint8_t>(1 << bit);
      MessageReader reader(kLiteDown);
      Message got;
      bool read = false;
      for (const std::uint8_t s : damaged) read = read || reader.put(s, &got);
      EXPECT_FALSE(read) << at << ", bit " << bit;
    }
  }
}

TEST(Message, OneThatAsksForATrellisCodeWhichTheBandHasNotIsNotRead) {
  Message sent = some_message(kLiteDown, 5);
  sent.loading.trellis = true;
  sent.loading.path = {1, 0, 1, 1};  // there is enough room
  Band band = kLiteDown;
  for (const bool has : {true, false}) {
    band.trellis = has;
    std::uint8_t symbols[kMostMessageSymbols];
    const int n = write_message(band, sent, symbols);
    MessageReader reader(band);
    Message got;
    bool read = false;
    for (int k = 0; k < n; ++k) read = reader.put(symbols[k], &got);
    EXPECT_EQ(read, has);
  }
}

TEST(Message, OneForTheOtherBandIsNotRead) {
  std::uint8_t symbols[kMostMessageSymbols];
  const int n = write_message(kLiteDown, some_message(kLiteDown, 4), symbols);
  MessageReader reader(kLiteUp);
  Message got;
  for (int k = 0; k < n; ++k) EXPECT_FALSE(reader.put(symbols[k], &got));
}

}  // namespace
}  // namespace offhook::dmt
