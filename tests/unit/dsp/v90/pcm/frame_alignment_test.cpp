// SPDX-License-Identifier: MIT
#include "dsp/v90/pcm/frame_alignment.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "dsp/v90/pcm/slicer.h"

namespace offhook::v90 {
namespace {

enum class Data { kHdlc, kRandom };

/// Data frames of a digital modem, and the analogue modem's reading of them, aligned as the alignment says.
class Link {
 public:
  Link(const std::vector<int>& counts, int k, Data data) : data_(data) {
    p_.k = static_cast<uint8_t>(k);
    for (int i = 0; i < kFrameIntervals; ++i) {
      p_.points.count[i] = static_cast<uint8_t>(counts[static_cast<size_t>(i)]);
      // 100 apart, the outermost first; a constellation of fewer points lies between those of more.
      for (int n = 0; n < counts[static_cast<size_t>(i)]; ++n)
        p_.points.ucode[i][n] = static_cast<uint8_t>(counts[static_cast<size_t>(i)] - 1 - n);
    }
    for (auto& interval : levels_.level) {
      for (int u = 0; u < kUcodes; ++u) interval[u] = 50 + 100.f * static_cast<float>(u);
    }
    encoder_ = FrameEncoder(p_);
    decoder_ = FrameDecoder(p_);
    alignment_ = FrameAlignment(p_, 100);
  }
  void shift_levels(int interval, float by) {
    for (float& level : levels_.level[interval]) level += by;
  }

  /// @return all moves that were found
  std::vector<int> run(int frames, float noise = 5) {
    std::vector<int> moves;
    std::normal_distribution<float> normal(0, noise);
    for (int s = 0; s < frames * kFrameIntervals; ++s) {
      const Pcm p = next_symbol();
      float level = levels_.level[interval_][p.ucode] + normal(random_);  // the line stays where it is
      if (garbage_) level = static_cast<float>(random_() % 6400);
      if (!p.positive) level = -level;
      const int move = read(level);
      if (alignment_.searching()) {
        ++referred_;
        wrong_reference_ += std::abs(alignment_.reference() - level) > 10 + 4 * noise;
      }
      if (move != 0) {
        moves.push_back(move);
        interval_ = (interval_ + move) % kFrameIntervals;
        levels_.move(move);
      }
      const FrameAlignment::Verdict verdict = alignment_.take_verdict();
      lost_ += verdict == FrameAlignment::Verdict::kLost;
    }
    return moves;
  }
  /// The network leaves out so many octets.
  void skip(int octets) {
    for (int k = 0; k < octets; ++k) next_symbol();
  }
  void garbage(bool on) { garbage_ = on; }
  int lost() const { return lost_; }
  /// Of the symbols of searches, for which the level of the best alignment was not theirs.
  double wrong_references() const { return static_cast<double>(wrong_reference_) / referred_; }
  /// In one interval the levels of each two points are one.
  void rob(int interval) {
    for (int u = 1; u < kUcodes; u += 2) levels_.level[interval][u - 1] = levels_.level[interval][u];
  }

 private:
  int bit() {
    if (data_ == Data::kHdlc && ones_ == 5) return ones_ = 0;
    const int b = static_cast<int>(random_() & 1);
    ones_ = b != 0 ? ones_ + 1 : 0;
    return b;
  }
  Pcm next_symbol() {
    if (at_ == kFrameIntervals) {
      uint8_t bits[FrameParameters::kMaxBits];
      for (int k = 0; k < p_.bits(); ++k) bits[k] = static_cast<uint8_t>(scrambler_.scramble(bit()));
      encoder_.put(bits);
      encoder_.next(codes_);
      at_ = 0;
    }
    return codes_[at_++];
  }
  int read(float level) {
    const float magnitude = level < 0 ? -level : level;
    const int i = interval_;
    const float* known = levels_.level[i];
    const uint8_t* ucode = p_.points.ucode[i];
    labels_[i] =
        static_cast<uint8_t>(nearest_label(magnitude, p_.points.count[i], [=](int n) { return known[ucode[n]]; }));
    const float distance = magnitude - known[ucode[labels_[i]]];
    signs_[i] = level > 0;
    error_ += distance * distance;
    const int move = alignment_.searching() ? alignment_.put(level, i, levels_) : 0;
    if (i == kFrameIntervals - 1) {
      uint8_t bits[FrameParameters::kMaxBits];
      const uint64_t number = decoder_.put(signs_, labels_, bits);
      uint64_t word = 0;
      for (int k = 0; k < p_.bits(); ++k) word |= static_cast<uint64_t>(descrambler_.descramble(bits[k])) << k;
      alignment_.watch(word, number, error_);
      error_ = 0;
    }
    interval_ = (interval_ + 1) % kFrameIntervals;
    return move;
  }

  Data data_;
  FrameParameters p_{};
  LearntLevels levels_{};
  FrameEncoder encoder_;
  FrameDecoder decoder_;
  FrameAlignment alignment_;
  Scrambler scrambler_{kGpc};
  Descrambler descrambler_{kGpc};
  std::mt19937 random_{1};
  Pcm codes_[kFrameIntervals]{};
  int at_ = kFrameIntervals, interval_ = 0, ones_ = 0, lost_ = 0, referred_ = 0, wrong_reference_ = 0;
  uint8_t signs_[kFrameIntervals]{}, labels_[kFrameIntervals]{};
  float error_ = 0;
  bool garbage_ = false;
};

constexpr int kLong = FrameAlignment::kWindowFrames * 10;

TEST(OnesRuns, AreAsManyInWordsAsInBits) {
  OnesRuns by_bit, by_word;
  uint64_t random = 1;
  int all = 0;
  for (int n = 0; n < 20'000; ++n) {
    random = random * 6364136223846793005u + 1442695040888963407u;
    const int length = 1 + static_cast<int>(random >> 58) % 57;
    uint64_t bits = random >> 3 | (n % 3 == 0 ? random >> 7 | random >> 11 : 0);
    bits &= (uint64_t{1} << length) - 1;
    int expected = 0;
    for (int k = 0; k < length; ++k) expected += by_bit.put(static_cast<int>(bits >> k & 1));
    ASSERT_EQ(by_word.put(bits, length), expected) << n;
    all += expected;
  }
  EXPECT_GT(all, 10'000);
}

TEST(V90FrameAlignment, HdlcTellsWhereSixEqualConstellationsBegin) {
  for (int octets = 1; octets < kFrameIntervals; ++octets) {
    Link link({64, 64, 64, 64, 64, 64}, 36, Data::kHdlc);
    EXPECT_EQ(link.run(kLong), std::vector<int>{});
    link.skip(octets);
    EXPECT_EQ(link.run(kLong), std::vector<int>{octets});
    EXPECT_EQ(link.run(kLong), std::vector<int>{}) << "once it is right it stays";
    EXPECT_EQ(link.lost(), 0);
  }
}

TEST(V90FrameAlignment, NumbersThatNobodySendsTellAlsoWithoutHdlc) {
  for (const int octets : {1, 2, 5}) {
    // Of the 41^4 * 38 * 29 numbers 31 in 100 are 2^31 or above.
    Link link({41, 38, 41, 29, 41, 41}, 31, Data::kRandom);
    EXPECT_EQ(link.run(kLong), std::vector<int>{});
    link.skip(octets);
    EXPECT_EQ(link.run(kLong), std::vector<int>{octets});
  }
}

TEST(V90FrameAlignment, LevelsTellWhereTheIntervalsHaveDifferentPoints) {
  Link link({16, 8, 16, 8, 16, 4}, 21, Data::kRandom);
  for (int k = 0; k < 3; ++k) link.shift_levels(2 * k + 1, 30);
  EXPECT_EQ(link.run(kLong), std::vector<int>{});
  link.skip(3);
  EXPECT_EQ(link.run(1).size(), 0u);
  const std::vector<int> moves = link.run(kLong);
  ASSERT_EQ(moves.size(), 1u);
  EXPECT_EQ(moves[0], 3);
  EXPECT_LT(link.wrong_references(), 0.1) << "the best alignment is known long before it is taken";
}

TEST(V90FrameAlignment, RandomDataInEqualConstellationsMoveNothing) {
  Link link({64, 64, 64, 64, 64, 64}, 36, Data::kRandom);
  link.skip(2);
  EXPECT_EQ(link.run(5 * kLong), std::vector<int>{});
  EXPECT_EQ(link.lost(), 0) << "nobody can tell";
}

TEST(V90FrameAlignment, BeneathRobbedBitsTheRightOneIsStillTheBest) {
  for (int octets = 1; octets < kFrameIntervals; ++octets) {
    Link link({64, 64, 64, 64, 64, 64}, 36, Data::kHdlc);
    EXPECT_EQ(link.run(kLong), std::vector<int>{});
    link.skip(octets);
    link.rob(2);  // whose points were chosen for an interval that is not robbed
    EXPECT_EQ(link.run(kLong), std::vector<int>{octets});
    EXPECT_EQ(link.lost(), 0) << octets;
  }
}

TEST(V90FrameAlignment, ALostPacketMovesNothing) {
  Link link({64, 64, 64, 64, 64, 64}, 36, Data::kHdlc);
  link.run(kLong);
  for (int packet = 0; packet < 20; ++packet) {
    link.garbage(true);
    EXPECT_EQ(link.run(27), std::vector<int>{});  // 20 ms
    link.garbage(false);
    EXPECT_EQ(link.run(kLong + packet), std::vector<int>{});
  }
  EXPECT_EQ(link.lost(), 0);
}

TEST(V90FrameAlignment, WhatNoAlignmentMakesGoodIsLostAndSaidOnce) {
  Link link({64, 64, 64, 64, 64, 64}, 36, Data::kHdlc);
  link.run(kLong);
  link.garbage(true);
  link.run(3 * FrameAlignment::kMostWindows * FrameAlignment::kWindowFrames);
  EXPECT_EQ(link.lost(), 1);
}

}  // namespace
}  // namespace offhook::v90
