// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <memory>
#include <random>
#include <set>
#include <vector>

#include "dsp/dmt/constellation.h"
#include "dsp/dmt/frame.h"
#include "dsp/dmt/interleaver.h"
#include "dsp/dmt/loading.h"
#include "dsp/dmt/modulator.h"
#include "dsp/dmt/octet_scrambler.h"
#include "dsp/dmt/reed_solomon.h"
#include "dsp/dmt/showtime.h"
#include "dsp/dmt/tones.h"

namespace offhook::dmt {
namespace {

using Octets = std::vector<std::uint8_t>;

Octets random_octets(std::mt19937& random, std::size_t n) {
  Octets all(n);
  for (std::uint8_t& octet : all) octet = static_cast<std::uint8_t>(random());
  return all;
}

TEST(ReedSolomon, WordsAreZeroAtTheRootsOfTheGenerator) {
  std::mt19937 random(1);
  const ReedSolomon code(16);
  Octets word = random_octets(random, 100);
  word.resize(116);
  code.encode(word.data(), 100, &word[100]);
  const auto times = [](unsigned a, unsigned b) {  // computed by the polynomial, bit by bit
    unsigned product = 0;
    for (; b != 0; b >>= 1, a = a << 1 ^ (a & 0x80 ? 0x11d : 0)) product ^= b & 1 ? a : 0;
    return product;
  };
  unsigned root = 1;
  for (int r = 0; r < 16; ++r, root = times(root, 2)) {
    unsigned sum = 0;
    for (const std::uint8_t octet : word) sum = times(sum, root) ^ octet;
    EXPECT_EQ(sum, 0u) << "alpha^" << r;
  }
}

TEST(ReedSolomon, LeavesAWordThatItCannotCorrect) {
  std::mt19937 random(2);
  const ReedSolomon code(4);
  int refused = 0;
  for (int round = 0; round < 200; ++round) {
    Octets word = random_octets(random, 40);
    const Octets sent = word;
    if (code.decode(word.data(), 40) >= 0) continue;
    ++refused;
    EXPECT_EQ(word, sent);
  }
  EXPECT_GT(refused, 150);
}

/// One word in, and the words that then come out.
void pass(Interleaver* interleaver, Octets* word) {
  for (const std::uint8_t octet : *word) interleaver->put(octet);
  for (std::uint8_t& octet : *word) octet = interleaver->get();
}

TEST(Interleaver, DelaysOctetIByDMinusOneTimesI) {
  for (const int n : {5, 21, 255}) {
    for (const int depth : {1, 2, 16, 64}) {
      const auto interleaver = std::make_unique<Interleaver>();
      interleaver->reset(Interleaver::Way::kInterleave, n, depth);
      // One word with numbered octets, then nothing: records where each octet comes out.
      std::vector<int> out;
      for (int word = 0; word <= depth; ++word) {
        Octets w(n, 0);
        if (word == 0) {
          for (int i = 0; i < n; ++i) w[i] = static_cast<std::uint8_t>(i + 1 > 255 ? 255 : i + 1);
        }
        pass(interleaver.get(), &w);
        out.insert(out.end(), w.begin(), w.end());
      }
      for (int i = 0; i < n; ++i) EXPECT_EQ(out[i + (depth - 1) * i], i + 1) << n << ", " << depth << ", " << i;
    }
  }
}

TEST(Interleaver, IsUndoneDMinusOneWordsLate) {
  std::mt19937 random(3);
  for (const int n : {2, 7, 36, 60, 254, 255}) {
    for (const int depth : {1, 2, 8, 64}) {
      const auto there = std::make_unique<Interleaver>(), back = std::make_unique<Interleaver>();
      there->reset(Interleaver::Way::kInterleave, n, depth);
      back->reset(Interleaver::Way::kDeinterleave, n, depth);
      ASSERT_EQ(back->delay(), depth - 1);
      std::vector<Octets> sent;
      for (int word = 0; word < 3 * depth; ++word) {
        Octets w = random_octets(random, n);
        sent.push_back(w);
        pass(there.get(), &w);
        pass(back.get(), &w);
        if (word >= depth - 1) {
          ASSERT_EQ(w, sent[word - depth + 1]) << n << ", " << depth << ", " << word;
        }
      }
    }
  }
}

// A word's octets are written while those of the previous word are read, some at a time.
TEST(Interleaver, GivesTheSameOctetsHoweverAWordIsCut) {
  std::mt19937 random(4);
  for (const auto way : {Interleaver::Way::kInterleave, Interleaver::Way::kDeinterleave}) {
    for (const int n : {2, 35, 60, 255}) {
      for (const int depth : {1, 2, 64}) {
        const auto whole = std::make_unique<Interleaver>(), cut = std::make_unique<Interleaver>();
        whole->reset(way, n, depth);
        cut->reset(way, n, depth);
        Octets before(n);  // the initial octets of the memory
        const auto fresh = std::make_unique<Interleaver>();
        fresh->reset(way, n, depth);
        for (std::uint8_t& octet : before) octet = fresh->get();
        for (int word = 0; word < 2 * depth + 3; ++word) {
          Octets w = random_octets(random, n);
          for (int at = 0; at < n;) {
            const int piece = std::min<int>(n - at, 1 + static_cast<int>(random() % 20));
            for (int k = at; k < at + piece; ++k) ASSERT_EQ(cut->get(), before[k]) << n << ", " << depth;
            for (int k = at; k < at + piece; ++k) cut->put(w[k]);
            at += piece;
          }
          pass(whole.get(), &w);
          before = w;
        }
      }
    }
  }
}

TEST(Interleaver, ABurstOfLostOctetsHitsEachWordSeldom) {
  // D words of n octets share a burst of D octets: each word has one or two of them.
  const int n = 61, depth = 16;
  const auto there = std::make_unique<Interleaver>(), back = std::make_unique<Interleaver>();
  there->reset(Interleaver::Way::kInterleave, n, depth);
  back->reset(Interleaver::Way::kDeinterleave, n, depth);
  int most = 0, all = 0;
  for (int word = 0; word < 5 * depth; ++word) {
    Octets w(n, 1);
    pass(there.get(), &w);
    if (word == 2 * depth) std::fill_n(w.begin() + 20, depth, std::uint8_t{0});
    pass(back.get(), &w);
    if (word < depth) continue;
    const int lost = static_cast<int>(std::count(w.begin(), w.end(), 0));
    most = std::max(most, lost);
    all += lost;
  }
  EXPECT_EQ(all, depth);
  EXPECT_LE(most, 2);
}

TEST(OctetScrambler, IsTheScramblerOfBits) {
  std::mt19937 random(5);
  std::vector<int> line(23, 1);  // scrambled bits, the newest last
  const auto scramble = [&line](int bit) {
    line.push_back(bit ^ line[line.size() - 18] ^ line[line.size() - 23]);
    return line.back();
  };
  OctetScrambler octets;
  OctetScrambler back;
  for (const std::uint8_t octet : random_octets(random, 500)) {
    int expected = 0;
    for (int k = 0; k < 8; ++k) expected |= scramble(octet >> k & 1) << k;
    const std::uint8_t scrambled = octets.scramble(octet);
    ASSERT_EQ(scrambled, expected);
    ASSERT_EQ(back.descramble(scrambled), octet);
  }
}

TEST(Crc8, IsTheRemainderOfLongDivision) {
  std::mt19937 random(4);
  const Octets octets = random_octets(random, 37);
  Crc8 crc;
  std::vector<int> bits;
  for (const std::uint8_t octet : octets) {
    crc.put(octet);
    for (int k = 0; k < 8; ++k) bits.push_back(octet >> k & 1);
  }
  bits.insert(bits.end(), 8, 0);
  const int divisor[] = {1, 0, 0, 0, 1, 1, 1, 0, 1};
  for (std::size_t k = 0; k + 8 < bits.size(); ++k) {
    if (bits[k] == 0) continue;
    for (int j = 0; j < 9; ++j) bits[k + j] ^= divisor[j];
  }
  int remainder = 0;
  for (int j = 0; j < 8; ++j) remainder = remainder << 1 | bits[bits.size() - 8 + j];
  EXPECT_EQ(crc.value(), remainder);
}

struct Paths {
  TransmitPath tx;
  ReceivePath rx;
  std::vector<Octets> sent;
  Octets operation, operation_heard = Octets(kOperationOctets);
  int at = 0, wrong = 0, superframes = 0, bad_crc = 0;
  std::uint32_t indicators = 0;

  void reset(const PathParameters& p) {
    tx.reset(p);
    rx.reset(p);
    for (int k = 0; k < kOperationOctets; ++k) operation.push_back(static_cast<std::uint8_t>(3 * k + 1));
  }
  /// @param damage  changes the octets of the symbol
  template <class D>
  void pass(const PathParameters& p, std::mt19937& random, std::uint32_t ib, D damage) {
    sent.push_back(random_octets(random, p.payload));
    Octets symbol(p.octets());
    tx.process(sent.back().data(), ib, operation.data(), symbol.data());
    damage(symbol);
    if (ReceivePath::Frame f; rx.process(symbol.data(), &f)) {
      wrong += !std::equal(f.payload, f.payload + p.payload, sent[at].begin());
      ++at;
      superframes += f.superframe_ended;
      bad_crc += f.superframe_ended && !f.crc_good;
      if (f.indicators_known) indicators = f.indicators;
      if (f.operation_octet >= 0) operation_heard[f.operation_octet] = f.overhead;
    }
  }
};

constexpr PathParameters kPaths[] = {{40, 0, 1, 1},   {63, 8, 1, 1},    {30, 16, 4, 64}, {9, 16, 16, 2},
                                     {100, 4, 2, 32}, {200, 16, 1, 64}, {1, 0, 1, 1}};

TEST(Frame, PathsGiveBackWhatWasPutAndTheCrcIsGood) {
  std::mt19937 random(5);
  for (const PathParameters& p : kPaths) {
    ASSERT_TRUE(p.possible());
    const auto paths = std::make_unique<Paths>();
    paths->reset(p);
    for (int frame = 0; frame < 8 * kFrames + 16 * 64; ++frame) paths->pass(p, random, 0xa5c396, [](Octets&) {});
    EXPECT_GT(paths->at, 6 * kFrames);
    EXPECT_EQ(paths->wrong, 0);
    EXPECT_EQ(paths->operation_heard, paths->operation);
    EXPECT_GE(paths->superframes, 5);
    EXPECT_EQ(paths->bad_crc, 0);
    EXPECT_EQ(paths->indicators, 0xa5c396u);
    EXPECT_EQ(paths->rx.corrected_octets() + paths->rx.lost_words(), 0u);
  }
}

TEST(Frame, InterleavedPathCorrectsALostSymbolWhichTheFastOneDoesNot) {
  for (const bool deep : {false, true}) {
    const PathParameters p{60, 16, 1, static_cast<std::uint8_t>(deep ? 64 : 1)};
    std::mt19937 random(6);
    const auto paths = std::make_unique<Paths>();
    paths->reset(p);
    for (int frame = 0; frame < 6 * kFrames; ++frame) {
      paths->pass(p, random, 0, [&](Octets& symbol) {
        if (frame == 150) symbol = random_octets(random, symbol.size());
      });
    }
    if (deep) {
      EXPECT_EQ(paths->wrong, 0);
      EXPECT_GT(paths->rx.corrected_octets(), 60u);
      EXPECT_EQ(paths->bad_crc, 0);
    } else {
      EXPECT_EQ(paths->rx.lost_words(), 1u);
      EXPECT_GE(paths->wrong, 1);
      EXPECT_LE(paths->wrong, 2);  // the descrambler spreads it over some bits
      EXPECT_EQ(paths->bad_crc, 1);
    }
  }
}

TEST(Frame, ParametersKnowWhatIsPossible) {
  for (const PathParameters& p :
       {PathParameters{0, 0, 1, 1}, PathParameters{40, 3, 1, 1}, PathParameters{40, 18, 1, 1},
        PathParameters{40, 4, 3, 1}, PathParameters{40, 2, 4, 1}, PathParameters{250, 16, 1, 1},
        PathParameters{40, 2, 1, 128}, PathParameters{40, 2, 1, 3}})
    EXPECT_FALSE(p.possible());
}

TEST(Constellation, IsOneToOneAndItsCosetsAreTheLowBits) {
  for (int bits = kLeastBits; bits <= kMostBits; ++bits) {
    std::set<std::pair<int, int>> seen;
    double power = 0;
    for (std::uint32_t label = 0; label < 1u << bits; ++label) {
      const Point p = point_of(bits, label);
      ASSERT_TRUE(p.x & 1 && p.y & 1);
      ASSERT_EQ(label_of(bits, p), label) << bits;
      if (bits != 3) {
        ASSERT_EQ(((p.x - 1) & 3) / 2, label >> 1 & 1);
        ASSERT_EQ(((p.y - 1) & 3) / 2, label & 1);
      }
      seen.insert({p.x, p.y});
      power += p.x * p.x + p.y * p.y;
    }
    EXPECT_EQ(seen.size(), 1u << bits);
    EXPECT_NEAR(mean_power(bits) / (power / (1u << bits)), 1, 1e-6) << bits;
  }
}

// An equaliser that has lost the line may give any number, even NaN.
TEST(Constellation, WhatIsFarOutsideHasAPointToo) {
  for (int bits = kLeastBits; bits <= kMostBits; ++bits) {
    for (const float far : {1e10f, 3e38f, -1e10f, -3e38f}) {
      if (bits == 3) continue;  // the eight are compared by distances, which are equal there because of rounding
      const Point p = nearest_point(bits, {far, 1}), near = nearest_point(bits, {std::copysign(1000.0f, far), 1});
      EXPECT_EQ(p.x, near.x) << bits << ' ' << far;
      EXPECT_EQ(p.y, near.y) << bits << ' ' << far;
    }
    const Point p = nearest_point(bits, {std::nanf(""), 1});
    EXPECT_EQ(point_of(bits, label_of(bits, p)).x, p.x) << bits;
  }
}

TEST(Constellation, NearestPointIsTheNearest) {
  std::mt19937 random(7);
  for (int bits = kLeastBits; bits <= 11; ++bits) {
    const float most = 1.5f * std::sqrt(static_cast<float>(1 << bits)) + 2;
    std::uniform_real_distribution<float> any(-most, most);
    for (int round = 0; round < 300; ++round) {
      const Complex z{any(random), any(random)};
      float least[5] = {1e9f, 1e9f, 1e9f, 1e9f, 1e9f};
      const auto distance = [z](Point p) {
        return (z.re - static_cast<float>(p.x)) * (z.re - static_cast<float>(p.x)) +
               (z.im - static_cast<float>(p.y)) * (z.im - static_cast<float>(p.y));
      };
      for (std::uint32_t label = 0; label < 1u << bits; ++label) {
        const float d = distance(point_of(bits, label));
        least[label & 3] = std::min(least[label & 3], d);
        least[4] = std::min(least[4], d);
      }
      const Point best = nearest_point(bits, z);
      EXPECT_NEAR(distance(best), least[4], 1e-3f * least[4]) << bits;
      EXPECT_EQ(point_of(bits, label_of(bits, best)), best);
      for (int coset = 0; coset < 4; ++coset) {
        const Point of = nearest_point(bits, coset, z);
        EXPECT_EQ(label_of(bits, of) & 3, static_cast<std::uint32_t>(coset));
        EXPECT_NEAR(distance(of), least[coset], 1e-3f * least[coset]) << bits << ", coset " << coset;
      }
    }
  }
}

TEST(BitTable, OrdersTonesByTheirBitsAndPacksAFrame) {
  std::mt19937 random(8);
  std::uint8_t bits[128]{};
  for (int k = 6; k < 128; ++k) bits[k] = static_cast<std::uint8_t>(random() % 3 == 0 ? 0 : 2 + random() % 14);
  BitTable table;
  table.set(bits, 128, false);
  int total = 0;
  for (const std::uint8_t b : bits) total += b;
  EXPECT_EQ(table.data_bits(), total);
  for (int k = 1; k < table.count(); ++k) {
    const int a = table.tone(k - 1), b = table.tone(k);
    EXPECT_TRUE(table.bits(a) < table.bits(b) || (table.bits(a) == table.bits(b) && a < b));
  }
  const Octets frame = random_octets(random, total / 8);
  std::vector<std::uint16_t> labels(table.count());
  table.take(frame.data(), static_cast<int>(frame.size()), labels.data());
  // The first bit of the first octet is the lowest bit of the first tone.
  EXPECT_EQ(labels[0], frame[0] & ((1 << table.bits(table.tone(0))) - 1));
  Octets back(frame.size());
  table.give(labels.data(), back.data(), static_cast<int>(back.size()));
  EXPECT_EQ(back, frame);
}

// The port has no data yet and the interleaver is in its reset state, but the output must look like data. Zero octets
// put the same point on most tones, and the peak of their sum was clipped.
TEST(DataTransmitter, NoSampleIsClippedFromTheFirstSymbolOfDataOn) {
  for (const Band& band : {kLiteDown, kFullDown, kLiteUp, kFullUp}) {
    std::vector<float> error(kMostTones, 0);
    for (int k = band.first; k <= band.last; ++k) error[k] = band.most_bits > 8 ? 3e-5f : 3e-4f;
    Loading loading;
    ASSERT_TRUE(load(band, error.data(), 0, &loading));
    const auto transmitter = std::make_unique<DataTransmitter>(band);
    transmitter->begin(loading);
    const Modulator modulator(band);
    oh_bit_port port{};
    std::vector<Complex> points(kMostTones);
    std::vector<std::int16_t> x(band.symbol());
    int peak = 0;
    for (int symbol = 0; symbol < 150; ++symbol) {
      transmitter->symbol(port, false, false, nullptr, points.data());
      modulator.symbol(points.data(), true, x.data());
      for (const std::int16_t v : x) peak = std::max(peak, std::abs(int{v}));
    }
    EXPECT_LT(peak, 32767) << band.points << " points, " << band.most_bits << " bits";
  }
}

TEST(Loading, AFrameIsNeverMoreThanItsOctetsAndTheRestIsMargin) {
  std::vector<float> error(kMostTones, 0);
  for (int k = kFullDown.first; k <= kFullDown.last; ++k) error[k] = 1e-6f;
  Loading loading;
  ASSERT_TRUE(load(kFullDown, error.data(), 0, &loading));
  EXPECT_LE(loading.gross_bit_rate(), 8'160'000u);
  EXPECT_GT(loading.gross_bit_rate(), 8'000'000u);
  EXPECT_EQ(loading.path.octets(), loading.data_bits() / 8);
  for (int k = kFullDown.first; k <= kFullDown.last; ++k)
    EXPECT_LT(loading.bits[k], kFullDown.most_bits) << "tone " << k << " has margin instead";
}

}  // namespace
}  // namespace offhook::dmt
