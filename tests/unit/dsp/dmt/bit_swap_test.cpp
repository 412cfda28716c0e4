// SPDX-License-Identifier: MIT
#include "dsp/dmt/bit_swap.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

namespace offhook::dmt {
namespace {

std::vector<float> flat_error(double snr_db) {
  return std::vector<float>(kMostTones, static_cast<float>(std::pow(10, -snr_db / 10)));
}

Operation some_request(std::uint32_t seed) {
  std::mt19937 random(seed);
  Operation o;
  o.kind = Operation::Kind::kRequest;
  o.request.id = static_cast<std::uint8_t>(random());
  o.request.count = static_cast<int>(random() % (SwapRequest::kMost + 1));
  for (int k = 0; k < o.request.count; ++k)
    o.request.changes[k] = {static_cast<std::uint8_t>(random()), random() % 2 == 1};
  return o;
}

TEST(Operation, IsReadAsItWasWrittenAndADamagedOneIsNot) {
  for (std::uint32_t seed = 0; seed < 50; ++seed) {
    const Operation sent = some_request(seed);
    std::uint8_t octets[kOperationOctets];
    write_operation(sent, octets);
    const Operation got = read_operation(octets);
    ASSERT_EQ(got.kind, Operation::Kind::kRequest);
    EXPECT_EQ(got.request.id, sent.request.id);
    ASSERT_EQ(got.request.count, sent.request.count);
    for (int k = 0; k < got.request.count; ++k) {
      EXPECT_EQ(got.request.changes[k].tone, sent.request.changes[k].tone);
      EXPECT_EQ(got.request.changes[k].more, sent.request.changes[k].more);
    }
    for (int bit = 0; bit < 8 * (5 + 2 * sent.request.count); ++bit) {
      octets[bit / 8] ^= static_cast<std::uint8_t>(1 << bit % 8);
      EXPECT_EQ(read_operation(octets).kind, Operation::Kind::kNone) << seed << ", bit " << bit;
      octets[bit / 8] ^= static_cast<std::uint8_t>(1 << bit % 8);
    }
  }
  Operation acknowledge;
  acknowledge.kind = Operation::Kind::kAcknowledge;
  acknowledge.id = 7;
  acknowledge.superframe = 200;
  std::uint8_t octets[kOperationOctets];
  write_operation(acknowledge, octets);
  const Operation got = read_operation(octets);
  EXPECT_EQ(got.kind, Operation::Kind::kAcknowledge);
  EXPECT_EQ(got.id, 7);
  EXPECT_EQ(got.superframe, 200);
  write_operation({}, octets);
  EXPECT_EQ(read_operation(octets).kind, Operation::Kind::kNone);
}

std::vector<float> margins_of(const Loading& loading, const std::vector<float>& error) {
  std::vector<float> margins(kMostTones, 0);
  for (int k = 0; k < kMostTones; ++k) {
    if (loading.bits[k] > 0 && error[k] > 0) margins[k] = margin_of(loading, k, error[k]);
  }
  return margins;
}

TEST(BitSwap, MovesBitsOffADisturbedToneUntilTheLeastMarginCannotGrow) {
  const std::vector<float> before = flat_error(30);
  Loading loading;
  ASSERT_TRUE(load(kLiteDown, before.data(), 0, &loading));
  std::vector<float> error = before;
  for (const int tone : {50, 51, 90}) error[tone] *= 30;
  const int total = loading.total();
  const auto least = [&] {
    float m = 1e9f;
    for (int k = 0; k < kLiteDown.tones(); ++k) {
      if (loading.bits[k] > 0) m = std::min(m, margin_of(loading, k, error[k]));
    }
    return m;
  };
  float margin = least();
  EXPECT_LT(margin, 1);
  SwapRequest request;
  int rounds = 0;
  for (; propose_swap(kLiteDown, loading, margins_of(loading, error).data(), &request); ++rounds) {
    ASSERT_LT(rounds, 20);
    ASSERT_TRUE(swap_bits(kLiteDown, request, &loading));
    EXPECT_GE(least(), margin);
    margin = least();
  }
  EXPECT_GT(rounds, 0);
  EXPECT_GT(margin, 1);  // no tone is below its requirement
  EXPECT_EQ(loading.total(), total);
  for (const int tone : {50, 51, 90}) EXPECT_LT(loading.bits[tone], loading.bits[52]);
}

TEST(BitSwap, WithoutADisturberNothingIsMoved) {
  const std::vector<float> error = flat_error(30);
  Loading loading;
  ASSERT_TRUE(load(kLiteDown, error.data(), 0, &loading));
  SwapRequest request;
  EXPECT_FALSE(propose_swap(kLiteDown, loading, margins_of(loading, error).data(), &request));
}

TEST(BitSwap, ARequestThatCannotBeKeepsTheLoading) {
  const std::vector<float> error = flat_error(30);
  Loading loading;
  ASSERT_TRUE(load(kLiteDown, error.data(), 0, &loading));
  const Loading before = loading;
  const auto refuses = [&](std::vector<SwapRequest::Change> changes) {
    SwapRequest r;
    r.count = static_cast<int>(changes.size());
    std::copy(changes.begin(), changes.end(), r.changes);
    EXPECT_FALSE(swap_bits(kLiteDown, r, &loading));
    EXPECT_TRUE(std::equal(std::begin(loading.bits), std::end(loading.bits), before.bits));
  };
  refuses({{40, true}});                // a bit from nowhere
  refuses({{40, false}, {64, true}});   // the pilot
  refuses({{40, false}, {5, true}});    // outside the band
  refuses({{200, false}, {40, true}});  // if there is none
  refuses({{40, true}, {40, true}, {40, true}, {40, true}, {41, false}, {42, false}, {43, false}, {44, false}});
  int taken = 0;
  for (int round = 0; round < 20'000; ++round) {
    const SwapRequest r = some_request(static_cast<std::uint32_t>(round)).request;
    taken += swap_bits(kLiteDown, r, &loading);
    EXPECT_EQ(loading.total(), before.total());
    for (int k = 0; k < kMostTones; ++k)
      ASSERT_TRUE(loading.bits[k] == 0 || (kLiteDown.carries(k) && loading.bits[k] >= 2 && loading.bits[k] <= 8));
  }
  EXPECT_GT(taken, 0);
}

// The trellis code takes bits depending on the number of tones.
TEST(BitSwap, ATonesFirstBitsAreRefusedWhenTheTrellisCodeLeavesNoRoomForThem) {
  std::vector<float> error(kMostTones, 0);
  for (int tone = 33; tone < 43; ++tone) error[tone] = 1e-4f;
  Loading loading;
  ASSERT_TRUE(load(kFullDown, error.data(), 0, &loading));
  ASSERT_TRUE(loading.trellis);
  const auto bits = [](const Loading& l) { return std::vector<int>(l.bits, l.bits + kMostTones); };
  SwapRequest r;
  for (const SwapRequest::Change c : {SwapRequest::Change{33, false}, {34, false}, {43, true}, {43, true}})
    r.changes[r.count++] = c;
  // The eleventh tone adds a pair, which takes one bit.
  for (const int spare : {0, 1}) {
    Loading now = loading;
    for (int left = now.data_bits() - 8 * now.path.octets() - spare; left > 0; --left) --now.bits[35 + left % 8];
    const std::vector<int> before = bits(now);
    EXPECT_EQ(swap_bits(kFullDown, r, &now), spare > 0);
    EXPECT_EQ(bits(now) == before, spare == 0);
  }
  // Three tones are too few for the code.
  Loading few = loading;
  for (int tone = 36; tone < 44; ++tone) few.bits[tone] = 0;
  few.path = {1, 0, 1, 1};
  EXPECT_FALSE(few.fits(kFullDown));
}

TEST(Loading, GainsKeepTheMarginThePowerAndTheirRange) {
  std::mt19937 random(1);
  std::uniform_real_distribution<double> db(0, 60);
  int more = 0;
  for (const Band& band : {kLiteDown, kFullDown, kLiteUp, kFullUp}) {
    std::vector<float> error(kMostTones, 0);
    for (int k = 0; k < band.tones(); ++k) error[k] = static_cast<float>(std::pow(10, -db(random) / 10));
    Loading loading;
    ASSERT_TRUE(load(band, error.data(), 0, &loading));
    double power = 0, carrying = 0;
    for (int k = 0; k < band.tones(); ++k) {
      const double gap_db = 9.75 + 6 - 3 - (loading.trellis ? kTrellisGainDb : 0);
      const int whole = static_cast<int>(std::log2(1 + 1 / (error[k] * std::pow(10, gap_db / 10))));
      const int flat = !band.carries(k) || whole < 2 ? 0 : std::min(whole, band.most_bits);
      EXPECT_GE(loading.bits[k], flat) << k;
      EXPECT_LE(loading.bits[k], flat == 0 ? 2 : flat + 1) << k;
      more += loading.bits[k] > flat;
      EXPECT_LE(std::abs(loading.gain_half_db[k]), kMostGain);
      if (loading.bits[k] == 0) {
        EXPECT_EQ(loading.gain_half_db[k], 0);
        continue;
      }
      EXPECT_GE(margin_of(loading, k, error[k]), 0.9999 * std::pow(10, kMarginDb / 10)) << k;
      power += std::pow(loading.gain(k), 2);
      ++carrying;
    }
    EXPECT_LE(power, carrying * 1.00001);
    EXPECT_TRUE(loading.fits(band));
  }
  EXPECT_GT(more, 20);
}

}  // namespace
}  // namespace offhook::dmt
