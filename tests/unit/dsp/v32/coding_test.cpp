// SPDX-License-Identifier: MIT
#include "dsp/v32/coding.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <set>
#include <utility>
#include <vector>

#include "dsp/v32/viterbi.h"
#include "tests/unit/dsp/v34/random.h"

namespace offhook::v32 {
namespace {

// Table 4 and 5.2.3: 00 A, 01 B, 11 C, 10 D; in Figure 2-5, A, B, C, D are quarter turns anticlockwise.
TEST(V32Coding, QuarterTurnsChangeTheFirstPairOnly) {
  for (const Rate& r : kRates) {
    std::set<std::pair<int, int>> all;
    for (int label = 0; label < r.count; ++label) {
      const Point p = r.points[label];
      EXPECT_TRUE(all.insert({p.re, p.im}).second) << r.bit_rate;
      int turned = -1;
      for (int other = 0; other < r.count; ++other) {
        if (r.points[other].re == -p.im && r.points[other].im == p.re) turned = other;
      }
      ASSERT_GE(turned, 0) << r.bit_rate;
      const int uncoded = r.bits - 2;
      EXPECT_EQ(turned & ((1 << uncoded) - 1), label & ((1 << uncoded) - 1)) << r.bit_rate;
    }
  }
}

// Figure 2-1 and the others, with points selected by hand.
TEST(V32Coding, PointsAreThoseOfTheFigures) {
  const auto at = [](const Point* points, int label) {
    return std::pair<int, int>(points[label].re, points[label].im);
  };
  EXPECT_EQ(at(kPoints14400, 0b0110000), std::pair(-2, 9));
  EXPECT_EQ(at(kPoints14400, 0b0111110), std::pair(2, 1));
  EXPECT_EQ(at(kPoints14400, 0b1001000), std::pair(9, -2));
  EXPECT_EQ(at(kPoints12000, 0b111010), std::pair(7, 7));
  EXPECT_EQ(at(kPoints9600, 0b11101), std::pair(3, 0));
  EXPECT_EQ(at(kPoints7200, 0b1010), std::pair(1, -3));
  EXPECT_EQ(at(kPoints4800, 0b11), std::pair(3, 1));
}

// 2.4 and V.32 2.4: 2400 symbols a second; trellis coding adds a bit. All points are used, at almost the same power.
TEST(V32Coding, EachRateHasTwiceThePointsWithTrellisCodingAndTheSamePower) {
  for (const Rate& r : kRates) {
    SCOPED_TRACE(testing::Message() << r.bit_rate << (r.trellis ? " trellis coded" : ""));
    EXPECT_EQ(static_cast<int>(r.bit_rate), 2400 * r.bits);
    EXPECT_EQ(r.count, 1 << (r.bits + r.trellis));
    EXPECT_EQ(r.trellis, r.bit_rate != 4800 && &r != &kRates[kPlain9600]);
    double power = 0;
    for (int label = 0; label < r.count; ++label) {
      const Point p = r.points[label];
      power += p.re * p.re + p.im * p.im;
    }
    EXPECT_NEAR(power / r.count / (10 * r.scale * r.scale), 1, 0.06);
  }
}

// Ungerboeck's rule: the eight subsets of the trellis, by Y0 Y1 Y2, halve the lattice three times, and each step
// doubles the least squared distance.
TEST(V32Coding, PointsOfASubsetAreEightTimesAsFarApartInPower) {
  for (const Rate& r : kRates) {
    if (!r.trellis) continue;
    int least = 1 << 20, least_of_subset = 1 << 20;
    for (int a = 0; a < r.count; ++a) {
      for (int b = 0; b < a; ++b) {
        const int re = r.points[a].re - r.points[b].re, im = r.points[a].im - r.points[b].im;
        const int uncoded = r.bits - 2, squared = re * re + im * im;
        least = std::min(least, squared);
        if (a >> uncoded == b >> uncoded) least_of_subset = std::min(least_of_subset, squared);
      }
    }
    EXPECT_EQ(least_of_subset, 8 * least) << r.bit_rate;
  }
}

TEST(V32Coding, DecoderGivesAllThatWasSentWhenNoMoreComes) {
  for (const int symbols : {1, 20, ViterbiDecoder::kDepth, 4 * ViterbiDecoder::kDepth + 3}) {
    const Rate& r = kRates[4];
    v34::Random random(1, static_cast<unsigned>(symbols));
    Encoder encoder(r);
    ViterbiDecoder decoder(r);
    std::deque<int> sent;
    for (int n = 0; n < symbols; ++n) {
      sent.push_back(encoder.label(static_cast<int>(random.below(1u << r.bits))));
      if (const int label = decoder.put(complex(r.points[sent.back()])); label >= 0) {
        EXPECT_EQ(label, sent.front());
        sent.pop_front();
      }
    }
    int last[ViterbiDecoder::kDepth];
    ASSERT_EQ(decoder.finish(last), static_cast<int>(sent.size()));
    for (std::size_t n = 0; n < sent.size(); ++n) EXPECT_EQ(last[n], sent[n]) << symbols << ": " << n;
  }
}

TEST(V32Coding, DecoderInvertsTheEncoderAtAnyTurn) {
  for (const Rate& r : kRates) {
    if (!r.trellis) continue;
    for (int turn = 0; turn < 4; ++turn) {
      v34::Random random(r.bit_rate, static_cast<unsigned>(turn));
      Encoder encoder(r);
      ViterbiDecoder decoder(r);
      std::deque<int> sent;
      int before = -1, wrong = 0, compared = 0;
      for (int i = 0; i < 3000; ++i) {
        const int bits = static_cast<int>(random.below(1u << r.bits));
        sent.push_back(bits);
        Complex y = complex(r.points[encoder.label(bits)]);
        y = y + Complex{0.35f * static_cast<float>(random.gaussian()), 0.35f * static_cast<float>(random.gaussian())} *
                    Complex{r.scale < 2 ? 0.7f : 1.f, 0};
        for (int k = 0; k < turn; ++k) y = {-y.im, y.re};
        const int label = decoder.put(y);
        if (label < 0) continue;
        const int uncoded = r.bits - 2, now = label >> uncoded & 3;
        if (before >= 0) {
          const int q = undo(differential, now, before);
          wrong += (q << uncoded | (label & ((1 << uncoded) - 1))) != sent.front();
          ++compared;
        }
        before = now;
        sent.pop_front();
      }
      EXPECT_GT(compared, 2900);
      EXPECT_EQ(wrong, 0) << r.bit_rate << " turned by " << turn;
    }
  }
}

// The simplest decoder: measures every point of every subset, and keeps every path from the first symbol on.
struct PlainDecoder {
  const Rate& rate;
  std::vector<float> metric = std::vector<float>(8, 0.f);
  struct Step {
    int from[8], label[8];
  };
  std::vector<Step> steps{};
  int best = 0;

  void put(Complex y) {
    const int n = rate.count / 8;
    int nearest[8];
    float distance[8];
    for (int subset = 0; subset < 8; ++subset) {
      distance[subset] = 1e30f;
      for (int label = subset * n; label < (subset + 1) * n; ++label) {
        const float d = norm(y - complex(rate.points[label]));
        if (d < distance[subset]) distance[subset] = d, nearest[subset] = label;
      }
    }
    std::vector<float> after(8, 1e30f);
    Step step{};
    for (int state = 0; state < 8; ++state) {
      for (int pair = 0; pair < 4; ++pair) {
        const int subset = (state & 1) << 2 | pair, to = next_state(state, pair);
        const float m = metric[static_cast<std::size_t>(state)] + distance[subset];
        if (m >= after[static_cast<std::size_t>(to)]) continue;
        after[static_cast<std::size_t>(to)] = m;
        step.from[to] = state;
        step.label[to] = nearest[subset];
      }
    }
    steps.push_back(step);
    best = static_cast<int>(std::min_element(after.begin(), after.end()) - after.begin());
    const float least = after[static_cast<std::size_t>(best)];
    for (float& m : after) m -= least;
    metric = after;
  }
  int newest() const { return steps.back().label[best]; }
  std::vector<int> labels() const {
    std::vector<int> out(steps.size());
    int state = best;
    for (std::size_t k = steps.size(); k-- > 0; state = steps[k].from[state]) out[k] = steps[k].label[state];
    return out;
  }
};

// Noise that causes errors, and occasionally a symbol far outside of the diagram.
TEST(V32Coding, DecoderFindsTheNearestPointOfEachSubset) {
  for (const Rate& r : kRates) {
    if (!r.trellis) continue;
    v34::Random random(r.bit_rate, 3);
    Encoder encoder(r);
    ViterbiDecoder decoder(r);
    PlainDecoder plain{r};
    std::vector<int> labels;
    for (int n = 0; n < 4000; ++n) {
      const float size = n % 50 == 0 ? 6.f : 0.4f;
      const Complex noise{size * static_cast<float>(random.gaussian()), size * static_cast<float>(random.gaussian())};
      const Complex y = complex(r.points[encoder.label(static_cast<int>(random.below(1u << r.bits)))]) + noise;
      plain.put(y);
      if (const int label = decoder.put(y); label >= 0) labels.push_back(label);
      ASSERT_EQ(decoder.newest(), plain.newest()) << r.bit_rate << ": " << n;
      ASSERT_EQ(decoder.newest_point(), complex(r.points[plain.newest()]));
    }
    const std::vector<int> expected = plain.labels();
    ASSERT_EQ(labels.size(), expected.size() - ViterbiDecoder::kDepth + 1);
    for (std::size_t n = 0; n < labels.size(); ++n) ASSERT_EQ(labels[n], expected[n]) << r.bit_rate << ": " << n;
  }
}

TEST(V32Coding, RateSignalsSurvive) {
  for (unsigned rates = 0; rates < 32; ++rates) {
    for (const bool end : {false, true}) {
      RateSignal r{.v32bis = true, .rates = static_cast<RateSet>(rates), .end = end}, back;
      ASSERT_TRUE(RateSignal::decode(r.encode(), &back));
      EXPECT_EQ(back.rates & 31, rates);
      EXPECT_EQ(back.rates >> kPlain9600, rates >> 2 & 1u);  // a modem with 9600 and trellis coding also has it without
      EXPECT_EQ(back.end, end);
      EXPECT_EQ(back.v32bis, rates != 0);
    }
  }
  // V.32, Table 6: B5, B6, and B8 for trellis coding.
  for (const unsigned rates : {1u << 0, 1u << kPlain9600, 1u << 0 | 1u << kPlain9600, 1u << 2 | 1u << kPlain9600}) {
    RateSignal r{.v32bis = false, .rates = static_cast<RateSet>(rates)}, back;
    ASSERT_TRUE(RateSignal::decode(r.encode(), &back));
    EXPECT_EQ(back.rates, rates);
    EXPECT_FALSE(back.v32bis);
  }
  EXPECT_EQ((RateSignal{.v32bis = false, .rates = 1 << 0 | 1 << kPlain9600}.encode()), 0x88e0);
  EXPECT_EQ((RateSignal{.rates = 0}.encode()), 0x8880);  // Note 3: B4 to B6, B9, B10, B12
  EXPECT_EQ(highest(1 << 0 | 1 << 2 | 1 << kPlain9600), 2);
  EXPECT_EQ(highest(0), -1);
  EXPECT_EQ((RateSignal{.rates = 0b10000}.encode()), 0x9990);  // B4, B7, B8, B11, B12, B15
  RateSignal none;
  EXPECT_FALSE(RateSignal::decode(0x9991, &none));
  EXPECT_FALSE(RateSignal::decode(0x1990, &none));
}

}  // namespace
}  // namespace offhook::v32
