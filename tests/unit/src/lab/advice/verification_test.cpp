// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <filesystem>
#include <mutex>
#include <set>

#include "src/lab/advice/advice.h"
#include "src/lab/advice/kept_runs.h"
#include "tests/unit/temporary_folder.h"
#include "traces/scenario/device.h"
#include "traces/scenario/scenario.h"

namespace offhook::advice {
namespace {

constexpr double kHour = 3600;

// THR 24 was chosen because it should lose samples at most once in `low_s`.
Advice advice_of(double low_s) {
  Advice advice;
  config::ScenarioBuilder builder;
  builder.set("host.name=nt2000-p2-450");
  advice.base = builder.finish();
  advice.base.pump = hostsim::PumpKind::kDevice;
  advice.base.device = config::load_device("g-lite");
  advice.trials.emplace_back();
  advice.trials[0].context = hostsim::ContextScenario{};
  advice.trials[0].expectation.interval_s.low = low_s;
  advice.chosen = 0;
  return advice;
}

// Each run loses `late` of 1000 blocks.
Options counting(std::uint64_t late) {
  Options options;
  options.count = [late](const hostsim::Scenario& s) {
    Lost lost;
    lost.seconds = s.device_s;
    lost.blocks = 1000;
    lost.blocks_late = late;
    return lost;
  };
  return options;
}

TEST(Verification, AWeekIsContradictedByTheFirstLoss) {
  EXPECT_FALSE(verify(advice_of(kWeekS), 2 * kHour, 5, counting(0))->safer);
  const auto one = verify(advice_of(kWeekS), 2 * kHour, 5, counting(1));
  EXPECT_TRUE(one->safer);
  EXPECT_EQ(one->seen.losses(), 5u);
  EXPECT_EQ(one->seen.blocks, 5000u);
  EXPECT_DOUBLE_EQ(one->seen.seconds, 10 * kHour);
}

// Ten losses in ten hours: one in 0.54 to 2.09 h (Garwood's interval of a count of 10: 4.795 to 18.39).
TEST(Verification, AShorterPromiseIsContradictedBeyondTheIntervalOfWhatWasSeen) {
  EXPECT_FALSE(verify(advice_of(2.0 * kHour), 2 * kHour, 5, counting(2))->safer);
  EXPECT_TRUE(verify(advice_of(2.2 * kHour), 2 * kHour, 5, counting(2))->safer);
}

TEST(Verification, RunsFromSeedsThatTheAdviceHasNotSeen) {
  std::set<std::uint64_t> seeds;
  std::mutex mutex;
  Options options = counting(0);
  options.threads = 2;
  options.count = [&, count = options.count](const hostsim::Scenario& s) {
    const std::lock_guard lock(mutex);
    seeds.insert(s.seed);
    return count(s);
  };
  const Advice advice = advice_of(kWeekS);
  (void)verify(advice, 60, 5, options);
  EXPECT_EQ(seeds.size(), 5u);
  EXPECT_GT(*seeds.begin(), advice.base.seed + options.repeats);
}

TEST(Verification, WhatWasCountedIsKeptAndReadBack) {
  const test::TemporaryFolder folder;
  const hostsim::Scenario scenario = advice_of(kWeekS).base;
  Lost lost;
  lost.seconds = 7200;
  lost.blocks = 9;
  lost.blocks_late = 2;
  lost.blocks_given_up = 4;
  lost.samples_lost = 3;
  const OutputFolder out(folder.path());
  KeptRuns(out, "verified.jsonl", "this program").keep(scenario, lost);
  const auto again = KeptRuns(out, "verified.jsonl", "this program").find<Lost>(scenario);
  ASSERT_TRUE(again);
  EXPECT_EQ(again->blocks, 9u);
  EXPECT_EQ(again->losses(), 2u);
  EXPECT_EQ(again->blocks_lost(), 6u);
  EXPECT_EQ(again->samples_lost, 3u);
  EXPECT_DOUBLE_EQ(again->seconds, 7200);
  EXPECT_FALSE(KeptRuns(out, "verified.jsonl", "another").find<Lost>(scenario));
  EXPECT_FALSE(KeptRuns(out, "verified.jsonl", "this program").find<Measured>(scenario)) << "has no figures";
}

// A device whose work never ran counts no late block: all blocks are lost, and no margin remains.
TEST(Measure, WorkThatNeverRanLostEveryBlock) {
  const hostsim::Scenario scenario = advice_of(kWeekS).base;
  Figures figures;
  figures.end_ns = 30'000'000'000;
  figures.total.interrupts = 7500;
  figures.total.losses.underrun_samples = 33'000'000;
  const Measured m = measure(figures, scenario);
  EXPECT_EQ(m.blocks, 7500u);
  EXPECT_EQ(m.losses(), 7500u);
  EXPECT_TRUE(m.swamped);
  EXPECT_LT(m.margin_ms, -29'000);
}

// Of 7500 blocks 300 were served, 100 of them late; the input of the others was overwritten in the meantime.
TEST(Measure, BlocksThatWereGivenUpAreLost) {
  const hostsim::Scenario scenario = advice_of(kWeekS).base;
  Figures figures;
  figures.end_ns = 30'000'000'000;
  figures.total.interrupts = 7500;
  figures.total.blocks = 300;
  figures.total.losses.blocks_late = 100;
  figures.total.losses.samples_filled_in = 7200 * 1104;
  const Measured m = measure(figures, scenario);
  EXPECT_EQ(m.blocks_that_came(), 7500u);
  EXPECT_EQ(m.blocks_lost(), 7300u);
  EXPECT_EQ(m.losses(), 100u);
}

TEST(Measure, WorkThatRanInTimeLostNothing) {
  const hostsim::Scenario scenario = advice_of(kWeekS).base;
  Figures figures;
  figures.end_ns = 30'000'000'000;
  figures.total.interrupts = figures.total.blocks = 7500;
  const Measured m = measure(figures, scenario);
  EXPECT_EQ(m.losses(), 0u);
  EXPECT_FALSE(m.swamped);
  EXPECT_DOUBLE_EQ(m.margin_ms, 12);
}

}  // namespace
}  // namespace offhook::advice
