// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <numbers>

#include "dsp/v34/phase2/line_probe.h"
#include "dsp/v34/phase2/overload_detector.h"
#include "tests/unit/dsp/v34/random.h"

namespace offhook::v34 {
namespace {

constexpr double kRms = 2000;  // of L2, which equals that of data

/// @param limit  relative to the RMS of L2  @return the requested reduction
int reduction_db(double limit, double snr_db) {
  Random random(1, 0);
  OverloadDetector detector;
  const auto sample = [&](int n, double gain) {
    const double x = gain * kRms * static_cast<double>(kProbingTable.sample[n % kProbingSamples]);
    const double clipped = std::clamp(x, -limit * kRms, limit * kRms);
    return static_cast<float>(clipped + kRms * std::pow(10, -snr_db / 20) * random.gaussian());
  };
  for (int n = -50; n < 1280; ++n) detector.put_l1(n < 0 ? 0 : sample(n, 1.99526));
  for (int n = 0; n < 3000; ++n) detector.put_l2(sample(n + 77, 1));
  return detector.reduction_db();
}

// The peaks of data must be 3.5 times their RMS, or 11 dB, below the limit.
TEST(V34Overload, APowerReductionMakesRoomForThePeaksOfData) {
  EXPECT_EQ(reduction_db(2, 40), 5);
  EXPECT_EQ(reduction_db(2.5, 40), 3);
  EXPECT_EQ(reduction_db(1.7, 40), 7);
  EXPECT_EQ(reduction_db(1, 40), 7);
}

TEST(V34Overload, ALineWithRoomIsNotTouchedWhateverItsNoise) {
  for (const double limit : {3.3, 4., 16.}) {
    for (const double snr : {60., 30., 15., 10.}) EXPECT_EQ(reduction_db(limit, snr), 0) << limit << ", " << snr;
  }
}

struct Disturbance {
  double hz, db;  ///< a tone, and how far it is below L2
};

/// Tones as in Phase 2, then L2, both with these disturbances. @param dc  of L2's units
void probe_line(LineProbe& probe, std::initializer_list<Disturbance> hum, double dc, double snr_db) {
  constexpr double kTurn = 2 * std::numbers::pi / 8000;
  Random random(1, 0);
  const auto disturbance = [&](int n) {
    double sum = dc + kRms * std::pow(10, -snr_db / 20) * random.gaussian();
    for (const Disturbance& h : hum) sum += std::sqrt(2) * kRms * std::pow(10, -h.db / 20) * std::sin(kTurn * h.hz * n);
    return sum;
  };
  for (int n = 0; n < 1600; ++n) {
    const double tones = kRms * (std::cos(kTurn * 2400 * n) + 0.4 * std::cos(kTurn * 1800 * n));
    probe.put_quiet(static_cast<float>(tones + disturbance(n)), true);
  }
  probe.put_quiet(0, false);
  probe.start();
  for (int n = 0; n < 3072; ++n) {
    const double l2 = kRms * static_cast<double>(kProbingTable.sample[n % kProbingSamples]);
    probe.put(static_cast<float>(l2 + disturbance(1600 + n)));
  }
  probe.analyse();
}

const HighPassDesign* chosen_high_pass(std::initializer_list<Disturbance> hum, double dc, double snr_db) {
  LineProbe probe;
  probe_line(probe, hum, dc, snr_db);
  return probe.high_pass();
}

TEST(V34Overload, ProbingSeesHumAndDcAndTakesNoNoiseForThem) {
  EXPECT_EQ(chosen_high_pass({{50, 2}}, 0, 40), &kHighPassFrom220);
  EXPECT_EQ(chosen_high_pass({{50, -12}}, 0, 40), &kHighPassFrom220);
  EXPECT_EQ(chosen_high_pass({{100, -6}}, 0, 40), &kHighPassFrom220);
  EXPECT_EQ(chosen_high_pass({{50, 30}}, 0, 40), &kHighPassFrom220);
  EXPECT_EQ(chosen_high_pass({}, 500, 40), &kHighPassFrom220);
  EXPECT_EQ(chosen_high_pass({{50, 60}}, 0, 60), nullptr);
  for (const double snr : {60., 40., 25., 10., 3.}) EXPECT_EQ(chosen_high_pass({}, 0, snr), nullptr) << snr;
}

// 150 and 300 Hz are also frequencies of L2.
TEST(V34Overload, HarmonicsInTheBandNeedTheSteepHighPass) {
  for (const double hz : {150., 180., 250., 300., 350.}) {
    EXPECT_EQ(chosen_high_pass({{hz, 0}}, 0, 40), &kHighPassFrom450) << hz;
    EXPECT_NE(chosen_high_pass({{hz, 24}}, 0, 40), &kHighPassFrom450) << hz;
  }
  EXPECT_EQ(chosen_high_pass({{50, -6}, {150, 0}, {250, 6}}, 0, 40), &kHighPassFrom450);
  EXPECT_EQ(chosen_high_pass({{60, -6}, {180, 0}, {300, 6}}, 500, 40), &kHighPassFrom450);
  EXPECT_EQ(chosen_high_pass({{50, 10}, {150, 22}, {250, 28}}, 0, 40), &kHighPassFrom220);
}

TEST(V34Overload, WhatTheSteepHighPassRemovesIsNoBand) {
  LineProbe quiet, hum;
  probe_line(quiet, {}, 0, 46);
  probe_line(hum, {{150, 0}}, 0, 46);
  EXPECT_GT(quiet.projected_rate(SymbolRate::k3429, Carrier::kLow, 0),
            quiet.projected_rate(SymbolRate::k2800, Carrier::kHigh, 0));
  EXPECT_LT(hum.projected_rate(SymbolRate::k3429, Carrier::kLow, 0),
            hum.projected_rate(SymbolRate::k2800, Carrier::kHigh, 0));
  EXPECT_GT(hum.projected_rate(SymbolRate::k2800, Carrier::kHigh, 0), 28'800);
}

}  // namespace
}  // namespace offhook::v34
