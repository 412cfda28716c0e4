// SPDX-License-Identifier: MIT
#include "dsp/dmt/trellis.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>
#include <random>
#include <vector>

#include "dsp/dmt/constellation.h"
#include "dsp/dmt/loading.h"
#include "dsp/dmt/tones.h"
#include "dsp/dmt/trellis_decoder.h"

namespace offhook::dmt {
namespace {

using Bits = std::vector<std::uint8_t>;

BitTable table_of(const Bits& bits) {
  BitTable table;
  table.set(bits.data(), static_cast<int>(bits.size()), true);
  return table;
}

std::vector<std::uint16_t> labels_of(const BitTable& table, const Bits& octets) {
  std::vector<std::uint16_t> labels(table.count());
  table.take(octets.data(), static_cast<int>(octets.size()), labels.data());
  return labels;
}

std::vector<Complex> points_of(const BitTable& table, const std::vector<std::uint16_t>& labels) {
  std::vector<Complex> z(labels.size());
  for (std::size_t k = 0; k < z.size(); ++k) {
    const Point p = point_of(table.bits(table.tone(static_cast<int>(k))), labels[k]);
    z[k] = {static_cast<float>(p.x), static_cast<float>(p.y)};
  }
  return z;
}

/// Labels of the decoder's decision.
std::vector<std::uint16_t> decoded(const BitTable& table, TrellisDecoder* decoder, const std::vector<Complex>& z) {
  std::vector<std::uint8_t> cosets(z.size());
  decoder->decode(z.data(), cosets.data());
  std::vector<std::uint16_t> labels(z.size());
  for (std::size_t k = 0; k < z.size(); ++k) {
    const int bits = table.bits(table.tone(static_cast<int>(k)));
    labels[k] = static_cast<std::uint16_t>(label_of(bits, nearest_point(bits, cosets[k], z[k])));
  }
  return labels;
}

Bits some_bits(std::mt19937& random, int tones, int most) {
  Bits bits(static_cast<std::size_t>(tones));
  for (std::uint8_t& b : bits) b = static_cast<std::uint8_t>(2 + random() % static_cast<unsigned>(most - 1));
  return bits;
}

TEST(Trellis, TwoStepsEndAnyStateInZero) {
  for (int state = 0; state < 16; ++state) {
    int s = state;
    for (int step = 0; step < 2; ++step) {
      const TrellisInputs in = trellis_ending(s);
      s = trellis_next(s, in.u2, in.u1);
    }
    EXPECT_EQ(s, 0) << state;
  }
}

// Squared distance between cosets whose labels differ in this way; within a coset it is 16.
int coset_distance(int difference) {
  return difference == 0 ? 0 : difference == 3 ? 8 : 4;
}

TEST(Trellis, ItsAsymptoticGainIsThatOfWeisCode) {
  // The code is linear, and the distance of cosets depends on their difference, so paths leave the all-zero path.
  std::vector<int> least(16, 1000);
  int free_distance = 16;
  const auto branch = [](int u2, int u1, int u0) {
    int d = 1000;
    for (const int u3 : {0, 1}) {
      const CosetPair c = cosets_of(u3, u2, u1, u0);
      d = std::min(d, coset_distance(c.first) + coset_distance(c.second));
    }
    return d;
  };
  EXPECT_EQ(branch(0, 0, 0), 0);
  for (int u = 1; u < 4; ++u) {
    int& d = least[trellis_next(0, u >> 1, u & 1)];
    d = std::min(d, branch(u >> 1, u & 1, 0));
  }
  for (int round = 0; round < 16; ++round) {
    for (int state = 1; state < 16; ++state) {
      for (int u = 0; u < 4; ++u) {
        const int next = trellis_next(state, u >> 1, u & 1);
        const int d = least[state] + branch(u >> 1, u & 1, trellis_output(state));
        (next == 0 ? free_distance : least[next]) = std::min(next == 0 ? free_distance : least[next], d);
      }
    }
  }
  EXPECT_EQ(free_distance, 16);
  // Uncoded 4, and half a bit per tone: published as 4.52 dB.
  EXPECT_NEAR(10 * std::log10(free_distance / 4.0) - 10 * std::log10(std::sqrt(2.0)), 4.52, 0.01);
}

TEST(Trellis, FramesComeBackAndTheOverheadIsWhatItSays) {
  std::mt19937 random(1);
  for (int tones = kLeastTrellisTones; tones < 40; ++tones) {
    const Bits bits = some_bits(random, tones, 15);
    const BitTable table = table_of(bits);
    int total = 0;
    for (const std::uint8_t b : bits) total += b;
    ASSERT_EQ(table.data_bits(), total - (tones + 1) / 2 - 4);
    Bits octets(static_cast<std::size_t>((table.data_bits() + 7) / 8));
    for (std::uint8_t& octet : octets) octet = static_cast<std::uint8_t>(random());
    if (table.data_bits() % 8 != 0) octets.back() &= static_cast<std::uint8_t>((1 << table.data_bits() % 8) - 1);
    const auto labels = labels_of(table, octets);
    Bits back(octets.size());
    table.give(labels.data(), back.data(), static_cast<int>(back.size()));
    EXPECT_EQ(back, octets) << tones;
    int state = 0;
    for (int pair = 0; pair < trellis_pairs(tones); ++pair) {
      const int k = 2 * pair - tones % 2;
      const unsigned first = k < 0 ? 0 : labels[k] & 3u, second = labels[k + 1] & 3u;
      const unsigned u3 = first & 1, u1 = (first >> 1 ^ u3) & 1, u2 = (second ^ u3) & 1,
                     u0 = (second >> 1 ^ u1 ^ u2 ^ u3) & 1;
      ASSERT_EQ(static_cast<int>(u0), trellis_output(state));
      state = trellis_next(state, static_cast<int>(u2), static_cast<int>(u1));
    }
    EXPECT_EQ(state, 0);
  }
}

TEST(TrellisDecoder, WithoutNoiseEveryLabelComesBack) {
  std::mt19937 random(2);
  const auto decoder = std::make_unique<TrellisDecoder>();
  const std::vector<float> noise(kMostTones, 0.1f);
  for (int tones : {4, 5, 31, 222, 255, 256}) {
    const BitTable table = table_of(some_bits(random, tones, 15));
    decoder->set(table, noise.data());
    Bits octets(static_cast<std::size_t>(table.data_bits() / 8));
    for (std::uint8_t& octet : octets) octet = static_cast<std::uint8_t>(random());
    const auto labels = labels_of(table, octets);
    EXPECT_EQ(decoded(table, decoder.get(), points_of(table, labels)), labels) << tones;
  }
}

// Compares with every word of the code: crosses, the eight points of 3 bits, a single tone, tones with unequal noise.
TEST(TrellisDecoder, FindsTheNearestWordOfAll) {
  std::mt19937 random(3);
  std::normal_distribution<float> gauss(0, 1);
  const auto decoder = std::make_unique<TrellisDecoder>();
  for (const Bits& bits :
       {Bits{2, 2, 3, 3}, Bits{3, 3, 3, 3, 3}, Bits{5, 5, 2, 2, 3}, Bits{5, 5, 5, 4}, Bits{2, 2, 2, 2, 2, 2}}) {
    const BitTable table = table_of(bits);
    std::vector<std::vector<std::uint16_t>> words;
    for (std::uint32_t word = 0; word < 1u << table.data_bits(); ++word)
      words.push_back(labels_of(table, {static_cast<std::uint8_t>(word), static_cast<std::uint8_t>(word >> 8)}));
    std::vector<std::vector<Complex>> sent;
    for (const auto& w : words) sent.push_back(points_of(table, w));
    std::vector<float> noise(kMostTones, 0);
    for (std::size_t k = 0; k < bits.size(); ++k) noise[k] = 0.5f + static_cast<float>(random() % 8);
    decoder->set(table, noise.data());
    int differ = 0;
    for (int round = 0; round < 60; ++round) {
      const std::size_t word = random() % words.size();
      std::vector<Complex> z = sent[word];
      for (std::size_t k = 0; k < z.size(); ++k) z[k] += Complex{1.5f * gauss(random), 1.5f * gauss(random)};
      std::size_t nearest = 0;
      float least = 1e30f;
      for (std::size_t w = 0; w < words.size(); ++w) {
        float d = 0;
        for (std::size_t k = 0; k < z.size(); ++k)
          d += norm(z[k] - sent[w][k]) / noise[table.tone(static_cast<int>(k))];
        if (d < least) {
          least = d;
          nearest = w;
        }
      }
      EXPECT_EQ(decoded(table, decoder.get(), z), words[nearest]) << bits.size() << " tones, round " << round;
      differ += nearest != word;
    }
    EXPECT_GT(differ, 0);  // the noise is strong enough to affect decisions
  }
}

TEST(TrellisDecoder, TakesAnyInput) {
  const BitTable table = table_of({2, 3, 4, 5, 14, 15, 15});
  const auto decoder = std::make_unique<TrellisDecoder>();
  const std::vector<float> noise(kMostTones, 0);
  decoder->set(table, noise.data());
  for (const float v : {NAN, INFINITY, -INFINITY, 1e30f, -1e9f}) {
    std::vector<Complex> z(7, Complex{v, -v});
    std::vector<std::uint8_t> cosets(7, 9);
    decoder->decode(z.data(), cosets.data());
    for (const std::uint8_t c : cosets) EXPECT_LT(c, 4);
  }
}

/// Bit error rate over white noise, tones of 6 bits. @param norm_db  the signal-to-noise ratio relative to Shannon's
/// limit for the transmitted bits
double error_rate(bool coded, double norm_db, std::uint32_t seed) {
  constexpr int kTones = 222, kBits = 6, kMostSymbols = 12'000, kEnough = 200;
  const Bits bits(kTones, kBits);
  std::mt19937_64 random(seed);
  std::normal_distribution<float> gauss(0, 1);
  BitTable table;
  table.set(bits.data(), kTones, coded);
  const double rate = static_cast<double>(table.data_bits()) / kTones;
  const double noise = static_cast<double>(mean_power(kBits)) / (std::pow(10, norm_db / 10) * (std::exp2(rate) - 1));
  const auto decoder = std::make_unique<TrellisDecoder>();
  const std::vector<float> by_tone(kMostTones, static_cast<float>(noise));
  if (coded) decoder->set(table, by_tone.data());
  const float sigma = static_cast<float>(std::sqrt(noise / 2));
  const int n = table.data_bits() / 8;
  Bits octets(static_cast<std::size_t>(n)), back(octets.size());
  std::uint64_t wrong = 0;
  int symbols = 0;
  for (; symbols < kMostSymbols && wrong < kEnough; ++symbols) {
    for (std::uint8_t& octet : octets) octet = static_cast<std::uint8_t>(random());
    auto labels = labels_of(table, octets);
    std::vector<Complex> z = points_of(table, labels);
    for (Complex& at : z) at += Complex{sigma * gauss(random), sigma * gauss(random)};
    if (coded) {
      labels = decoded(table, decoder.get(), z);
    } else {
      for (std::size_t k = 0; k < z.size(); ++k)
        labels[k] = static_cast<std::uint16_t>(label_of(kBits, nearest_point(kBits, z[k])));
    }
    table.give(labels.data(), back.data(), n);
    for (int k = 0; k < n; ++k) wrong += static_cast<unsigned>(__builtin_popcount(octets[k] ^ back[k]));
  }
  return static_cast<double>(wrong) / (8.0 * n * symbols);
}

/// Where each decreasing error rate is reached, in dB: interpolated between points a quarter of a decibel apart, in the
/// logarithm of the rate.
std::vector<double> norms_at(bool coded, const std::vector<double>& rates) {
  std::vector<double> out;
  double db = 2, rate = error_rate(coded, db, 1);
  for (double before = rate; out.size() < rates.size() && rate > 0 && db < 9; before = rate) {
    db += 0.25;
    rate = error_rate(coded, db, static_cast<std::uint32_t>(4 * db));
    while (out.size() < rates.size() && rate <= rates[out.size()])
      out.push_back(db - 0.25 + 0.25 * std::log(before / rates[out.size()]) / std::log(before / rate));
  }
  out.resize(rates.size(), NAN);
  return out;
}

// At an error rate the gain is below the asymptotic one because of more neighbours, and approaches it.
TEST(Trellis, GainOverWhiteNoiseGrowsTowardsTheAsymptoticOne) {
  const std::vector<double> rates = {1e-3, 1e-4, 1e-5};
  const std::vector<double> coded = norms_at(true, rates), uncoded = norms_at(false, rates);
  double before = 0;
  for (std::size_t k = 0; k < rates.size(); ++k) {
    const double gain = uncoded[k] - coded[k];
    std::printf("bit error rate %.0e: uncoded %.2f dB, coded %.2f dB over Shannon's limit, gain %.2f dB\n", rates[k],
                uncoded[k], coded[k], gain);
    EXPECT_GT(gain, before);
    EXPECT_LT(gain, 4.52);
    before = gain;
  }
  EXPECT_GT(before, 3);
  // The gain assumed by the loading, at the error rate that is left to Reed-Solomon.
  EXPECT_NEAR(uncoded[0] - coded[0], kTrellisGainDb - 10 * std::log10(std::sqrt(2.0)), 0.15);
}

}  // namespace
}  // namespace offhook::dmt
