// SPDX-License-Identifier: MIT
#include "dsp/v34/coding/viterbi.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <limits>
#include <map>
#include <utility>
#include <vector>

#include "dsp/v34/coding/encoder.h"
#include "tests/unit/dsp/v34/coding_gain.h"
#include "tests/unit/dsp/v34/parameter_sets.h"
#include "tests/unit/dsp/v34/random.h"

namespace offhook::v34 {
namespace {

constexpr TrellisCode kCodes[] = {TrellisCode::k16, TrellisCode::k32, TrellisCode::k64};
constexpr PrecoderCoefficients kH{{{-9830, 3277}, {4915, -1638}, {-820, 16}}};

TEST(V34Confidence, ClopperPearsonAgreesWithKnownIntervals) {
  // 0 of n: upper limit 1 - (alpha/2)^(1/n); and the textbook case 10 of 100 at 95 %.
  EXPECT_NEAR(clopper_pearson(0, 100, 0.95).high, 1 - std::pow(0.025, 0.01), 1e-9);
  EXPECT_EQ(clopper_pearson(0, 100, 0.95).low, 0);
  EXPECT_NEAR(clopper_pearson(10, 100, 0.95).low, 0.0490047, 1e-6);
  EXPECT_NEAR(clopper_pearson(10, 100, 0.95).high, 0.1762226, 1e-6);
}

TEST(V34Viterbi, NoiselessDecisionsAreExactForEveryParameterSet) {
  for (const ParameterSet& set : all_parameter_sets()) {
    if (set.aux) continue;
    const Framing f = set.framing();
    for (const TrellisCode code : kCodes) {
      Encoder encoder({f, kGpc, code, kH});
      ViterbiDecoder decoder(code);
      decoder.reset(code, true);
      Random random(14, set.bit_rate);
      std::deque<Point> sent;
      int decided = 0;
      for (int i = 0; i < 40; ++i) {
        const FramePosition at = encoder.position();
        uint8_t bits[kMaxMappingFrameBits];
        for (uint8_t& b : bits) b = static_cast<uint8_t>(random.bit());
        Encoder::Symbol s[8];
        encoder.frame(bits, 0, s);
        for (int j = 0; j < 4; ++j) {
          const Point y[2] = {s[2 * j].y, s[2 * j + 1].y};
          sent.insert(sent.end(), {y[0], y[1]});
          const float r[4] = {static_cast<float>(y[0].re), static_cast<float>(y[0].im), static_cast<float>(y[1].re),
                              static_cast<float>(y[1].im)};
          Point out[2];
          Point now[2];
          const bool have = decoder.decode(r, at.bit_inversion(j), out);
          decoder.tentative(now);
          ASSERT_EQ(now[0], y[0]) << set;
          ASSERT_EQ(now[1], y[1]) << set;
          ASSERT_EQ(decoder.path_metric_step(), 0);
          ASSERT_EQ(have, 4 * i + j >= ViterbiDecoder::kDelay);
          if (!have) continue;
          ASSERT_EQ(out[0], sent[0]) << set;
          ASSERT_EQ(out[1], sent[1]) << set;
          sent.erase(sent.begin(), sent.begin() + 2);
          ++decided;
        }
      }
      EXPECT_EQ(decided, 160 - ViterbiDecoder::kDelay);
    }
  }
}

// An unexpected bit inversion violates the code; superframes are found in this way.
TEST(V34Viterbi, UnexpectedBitInversionShowsInThePathMetric) {
  for (const TrellisCode code : kCodes) {
    for (const bool expected : {true, false}) {
      LatticeSource source(code, 15);
      ViterbiDecoder decoder(code);
      double metric = 0;
      for (int m = 0; m < 400; ++m) {
        const bool inverted = m == 200;
        Point y[2];
        source.next(inverted, y);
        const float r[4] = {static_cast<float>(y[0].re), static_cast<float>(y[0].im), static_cast<float>(y[1].re),
                            static_cast<float>(y[1].im)};
        Point out[2];
        decoder.decode(r, inverted && expected, out);
        if (m >= 100) metric += decoder.path_metric_step();
      }
      if (expected) {
        EXPECT_EQ(metric, 0);
      } else {
        EXPECT_GE(metric, 4);
      }
    }
  }
}

TEST(V34Viterbi, DecidesTurnedSequencesToo) {
  for (const TrellisCode code : kCodes) {
    for (int turns = 1; turns < 4; ++turns) {
      LatticeSource source(code, 16);
      ViterbiDecoder decoder(code);
      Random noise(17, static_cast<uint32_t>(turns));
      std::deque<Point> sent;
      int wrong = 0;
      for (int m = 0; m < 2000; ++m) {
        Point y[2];
        source.next(false, y);
        float r[4];
        for (int k = 0; k < 2; ++k) {
          const Point p = rotate_cw(y[k], turns);
          sent.push_back(p);
          r[2 * k] = static_cast<float>(p.re + 0.35 * noise.gaussian());
          r[2 * k + 1] = static_cast<float>(p.im + 0.35 * noise.gaussian());
        }
        Point out[2];
        if (!decoder.decode(r, false, out)) continue;
        wrong += !(out[0] == sent[0]) || !(out[1] == sent[1]);
        sent.erase(sent.begin(), sent.begin() + 2);
      }
      EXPECT_EQ(wrong, 0) << trellis_states(code) << " states, " << turns;
    }
  }
}

TEST(V34Viterbi, SurvivesAnyInput) {
  Random random(18, 0);
  const float odd[] = {0, 1e30f, -1e30f, std::nanf(""), std::numeric_limits<float>::infinity(), -254.9f, 255.1f};
  for (const TrellisCode code : kCodes) {
    ViterbiDecoder decoder(code);
    for (int m = 0; m < 5000; ++m) {
      float r[4];
      for (float& v : r) v = random.below(4) == 0 ? odd[random.below(7)] : static_cast<float>(300 * random.gaussian());
      Point out[2];
      if (!decoder.decode(r, random.bit() != 0, out)) continue;
      for (const Point p : out) {
        ASSERT_LE(std::abs(p.re), 255);
        ASSERT_LE(std::abs(p.im), 255);
        ASSERT_EQ(p.re & p.im & 1, 1);
      }
    }
  }
}

TEST(V34Viterbi, InstructionSetsGiveTheSame) {
  for (const TrellisCode code : kCodes) {
    for (const InstructionSet set : kInstructionSets) {
      if (!cpu_has(set)) continue;
      ViterbiDecoder plain(code, InstructionSet::kPlain), other(code, set);
      Random random(23, 0);
      for (int m = 0; m < 500; ++m) {
        float r[4];
        for (float& v : r) v = static_cast<float>(40 * random.gaussian());
        Point a[2], b[2];
        const bool inverted = random.bit() != 0;
        ASSERT_EQ(plain.decode(r, inverted, a), other.decode(r, inverted, b));
        ASSERT_EQ(plain.path_metric_step(), other.path_metric_step());
        if (m < ViterbiDecoder::kDelay) continue;
        ASSERT_EQ(a[0], b[0]);
        ASSERT_EQ(a[1], b[1]);
        ASSERT_EQ(plain.toss_up(), other.toss_up());
      }
    }
  }
}

// The nearest point of each subset, by search.
struct NearestPoints {
  Point at[8];
  double distance[8];  // squared
  NearestPoints(double re, double im) {
    std::fill(distance, distance + 8, 1e9);
    for (int x = -41; x <= 41; x += 2) {
      for (int y = -41; y <= 41; y += 2) {
        const double d = (re - x) * (re - x) + (im - y) * (im - y);
        const Point p{static_cast<int16_t>(x), static_cast<int16_t>(y)};
        if (d >= distance[subset_label(p)]) continue;
        distance[subset_label(p)] = d;
        at[subset_label(p)] = p;
      }
    }
  }
};

// Paths into a state come from different states; only the best of parallel transitions is one.
TEST(V34Viterbi, AStepFindsTheSurvivorsAndWhereTheyAreTossUps) {
  for (const TrellisCode code : kCodes) {
    const int states = trellis_states(code);
    const GroupedTrellis& t = grouped_trellis(code);
    Random random(24, static_cast<uint32_t>(code));
    int toss_ups = 0, others = 0;
    for (int m = 0; m < 40; ++m) {
      alignas(64) int32_t before[kMaxTrellisStates], after[kMaxTrellisStates];
      double metric[kMaxTrellisStates];  // by state
      int slot_of_state[kMaxTrellisStates];
      for (int place = 0; place < states; ++place) {
        const auto units = static_cast<int32_t>(8 * random.uniform() * (kMetricUnit >> kMetricIdBits));
        before[place] = units << kMetricIdBits | slot_of(place, t.inputs);
        metric[t.next_state[place]] = static_cast<double>(units << kMetricIdBits) / kMetricUnit;
        slot_of_state[t.next_state[place]] = slot_of(place, t.inputs);
      }
      float r[4];
      for (float& v : r) v = static_cast<float>(40 * random.uniform() - 20);
      const NearestPoints near[2] = {{r[0], r[1]}, {r[2], r[3]}};
      const bool inverted = random.bit() != 0;
      std::vector<std::map<int, double>> into(static_cast<size_t>(states));  // by state and previous state
      for (int state = 0; state < states; ++state) {
        for (int s0 = 0; s0 < 8; ++s0) {
          for (int s1 = 0; s1 < 8; ++s1) {
            if (((s0 ^ s1) & 1) != (trellis_output(state) ^ inverted)) continue;
            auto& paths = into[static_cast<size_t>(trellis_next(code, state, trellis_input(s0, s1)))];
            const double d = metric[state] + near[0].distance[s0] + near[1].distance[s1];
            if (!paths.contains(state) || d < paths[state]) paths[state] = d;
          }
        }
      }
      for (const InstructionSet set : kInstructionSets) {
        if (!cpu_has(set)) continue;
        alignas(64) uint8_t step[StepLayout::kMostBytes];
        viterbi_step(code, set)(r, inverted, before, after, step);
        for (int state = 0; state < states; ++state) {
          std::vector<std::pair<double, int>> paths;
          for (const auto& [from, d] : into[static_cast<size_t>(state)]) paths.emplace_back(d, from);
          std::sort(paths.begin(), paths.end());
          const double margin = paths[1].first - paths[0].first;
          const uint8_t found = step[slot_of_state[state]];
          if (margin > 1e-3) {
            EXPECT_EQ(found & kMetricIds, slot_of_state[paths[0].second]);
          }
          if (std::abs(margin - 0.5) < 1e-3) continue;
          EXPECT_EQ((found & StepLayout::kTossUpBit) != 0, margin < 0.5) << margin;
          ++(margin < 0.5 ? toss_ups : others);
        }
      }
    }
    EXPECT_GT(toss_ups, 100);
    EXPECT_GT(others, 100);
  }
}

// The textbook decoder: every state, every input, every pair of subsets, the nearest point of each subset by search,
// and the whole history.
struct Survivor {
  double metric;
  std::vector<Point> path;
};

Survivor reference_decode(TrellisCode code, const std::vector<float>& received) {
  const int states = trellis_states(code);
  std::vector<Survivor> now(static_cast<size_t>(states));
  for (size_t at = 0; at < received.size(); at += 4) {
    const NearestPoints near[2] = {{received[at], received[at + 1]}, {received[at + 2], received[at + 3]}};
    std::vector<Survivor> next(static_cast<size_t>(states), {1e18, {}});
    std::vector<int> from(static_cast<size_t>(states));
    std::vector<int> pair(static_cast<size_t>(states));
    for (int state = 0; state < states; ++state) {
      for (int s0 = 0; s0 < 8; ++s0) {
        for (int s1 = 0; s1 < 8; ++s1) {
          if (((s0 ^ s1) & 1) != trellis_output(state)) continue;
          const auto to = static_cast<size_t>(trellis_next(code, state, trellis_input(s0, s1)));
          const double m = now[static_cast<size_t>(state)].metric + near[0].distance[s0] + near[1].distance[s1];
          if (m >= next[to].metric) continue;
          next[to].metric = m;
          from[to] = state;
          pair[to] = 8 * s0 + s1;
        }
      }
    }
    for (size_t to = 0; to < next.size(); ++to) {
      next[to].path = now[static_cast<size_t>(from[to])].path;
      next[to].path.push_back(near[0].at[pair[to] >> 3]);
      next[to].path.push_back(near[1].at[pair[to] & 7]);
    }
    now = std::move(next);
  }
  return *std::min_element(now.begin(), now.end(), [](auto& a, auto& b) { return a.metric < b.metric; });
}

TEST(V34Viterbi, DecidesAsThePlainAlgorithmDoesInHeavyNoise) {
  for (const TrellisCode code : kCodes) {
    LatticeSource source(code, 20);
    Random noise(21, 0);
    ViterbiDecoder decoder(code);
    std::vector<float> received;
    std::vector<Point> sent;
    std::vector<Point> decided;
    for (int m = 0; m < 1500; ++m) {
      Point y[2];
      source.next(false, y);
      for (const Point p : y) {
        sent.push_back(p);
        received.push_back(static_cast<float>(p.re + 0.5 * noise.gaussian()));
        received.push_back(static_cast<float>(p.im + 0.5 * noise.gaussian()));
      }
      Point out[2];
      if (decoder.decode(&received[received.size() - 4], false, out)) decided.insert(decided.end(), {out[0], out[1]});
    }
    const std::vector<Point> reference = reference_decode(code, received).path;
    int differences = 0;
    int errors = 0;
    for (size_t n = 0; n < decided.size(); ++n) {
      differences += !(decided[n] == reference[n]);
      errors += !(reference[n] == sent[n]);
    }
    EXPECT_GT(errors, 10) << "not heavy";
    EXPECT_LE(differences, 4) << trellis_states(code) << " states";  // of 2936: because of the bounded traceback
  }
}

// Points that do not obey the code use every subset and every branch; the best path must cost the same.
TEST(V34Viterbi, BestPathCostsWhatThePlainAlgorithmFindsForArbitraryPoints) {
  for (const TrellisCode code : kCodes) {
    Random random(22, static_cast<uint32_t>(code));
    ViterbiDecoder decoder(code);
    std::vector<float> received;
    double metric = 0;
    for (int m = 0; m < 300; ++m) {
      for (int k = 0; k < 4; ++k) received.push_back(static_cast<float>(60 * random.uniform() - 30));
      Point out[2];
      decoder.decode(&received[received.size() - 4], false, out);
      metric += decoder.path_metric_step();
    }
    EXPECT_NEAR(metric, reference_decode(code, received).metric, 1e-5 * metric) << trellis_states(code) << " states";
  }
}

// Error rate near 3e-4, where the many neighbours still reduce the gain. The slow test covers lower rates.
TEST(V34Viterbi, GainOverUncodedAtHighErrorRate) {
  const double required_db[] = {2.3, 2.4, 2.7};
  for (const TrellisCode code : kCodes) {
    const GainPoint g = measure_gain(code, 0.44, 150000, 19);
    EXPECT_GT(g.errors, 20);
    EXPECT_LT(g.rate.high, g.uncoded_rate / 10) << trellis_states(code);
    EXPECT_GT(g.gain_db.low, required_db[static_cast<int>(code)])
        << trellis_states(code) << " states: " << g.gain_db.low << " .. " << g.gain_db.high << " dB at " << g.rate.low
        << " .. " << g.rate.high;
  }
}

}  // namespace
}  // namespace offhook::v34
