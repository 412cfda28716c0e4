// SPDX-License-Identifier: MIT
#include "src/lab/advice/expectation.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "src/lab/advice/advice.h"
#include "traces/scenario/device.h"
#include "traces/scenario/scenario.h"

namespace offhook::advice {
namespace {

hostsim::Scenario on(const std::string& host, const std::string& device, const std::string& context) {
  config::ScenarioBuilder builder;
  builder.set("host.name=" + host);
  builder.set("context=" + context);
  hostsim::Scenario s = builder.finish();
  s.pump = hostsim::PumpKind::kDevice;
  s.device = config::load_device(device);
  return s;
}

// The k longest of n times with the tail (t0 / t)^alpha, at the quantiles.
Seen pareto(double alpha, double least_ms, std::uint64_t n, double period_s) {
  Seen seen{static_cast<double>(n) * period_s, n, 0, {}};
  for (std::size_t i = 0; i < kLongestKept; ++i)
    seen.longest_ms.push_back(least_ms * std::pow((static_cast<double>(i) + 0.5) / static_cast<double>(n), -1 / alpha));
  return seen;
}

// THR 8 of nt2000-boosts does not have the CPU for a second, once in minutes, after waits of 0.03 ms (--verify).
TEST(Expectation, NoTailIsDrawnOnWhereWindowsBoostsDecide) {
  const Seen seen = pareto(4, 0.01, 600'000, 312.5e-6);
  hostsim::Scenario beside = on("nt2000-boosts", "bluetooth", "THR 8");
  beside.load.spinner = true;
  EXPECT_FALSE(expectation(beside, seen).carries(3600));
  beside.context = on("nt2000-boosts", "bluetooth", "THR 16").context;
  const double above = expectation(beside, seen).interval_s.low;
  EXPECT_GT(above,
            expectation(on("nt2000-boosts", "bluetooth", "THR 8"), {seen.seconds, seen.blocks, 0, {}}).interval_s.low);
  beside.context = on("nt2000-boosts", "bluetooth", "THR 8").context;
  beside.load.spinner = false;
  EXPECT_EQ(expectation(beside, seen).interval_s.low, above);
}

TEST(Expectation, LossesThatWereSeenGiveTheirRate) {
  const Expectation e = expectation(on("nt2000-p2-450", "g-lite", "THR 24"), {180, 45'000, 4, {}});
  EXPECT_EQ(e.evidence, Evidence::kLosses);
  EXPECT_DOUBLE_EQ(e.expected_s, 45);
  EXPECT_NEAR(e.interval_s.low, 180 / 10.242, 0.01);  // Garwood's interval of a count of 4
  EXPECT_NEAR(e.interval_s.high, 180 / 1.0899, 0.1);
  EXPECT_FALSE(e.carries(60));
}

// A load whose period is a multiple of the device's keeps its phase on the machine: there each burst may lose three
// blocks, though a simulation with all phases lost 2.4 (docs/results/2026-12-01-advice.md: one block per 6.7 ms).
TEST(Expectation, LossesInBurstsPromiseNoMoreThanTheWorstBurst) {
  const hostsim::Scenario s = on("nt2000-p2-450", "bluetooth", "THR 24");
  const Seen alone{10, 32'000, 1200, {}};
  Seen bursts = alone;
  bursts.late_bursts = 500;
  bursts.longest_burst = 3;
  EXPECT_GT(expectation(s, alone).interval_s.low, 0.02 / 3);
  const Expectation e = expectation(s, bursts);
  EXPECT_LT(e.interval_s.low, 0.02 / 3);
  EXPECT_GT(e.interval_s.low, 0.02 / 3 / 1.1);  // 500 bursts are known to 9 %
  EXPECT_GE(e.interval_s.high, expectation(s, alone).interval_s.high);
  EXPECT_DOUBLE_EQ(e.expected_s, expectation(s, alone).expected_s);
  // Every block lost in one burst: not more often than once a block.
  const Seen all_lost{10, 32'000, 32'000, {}, 1, 32'000};
  EXPECT_NEAR(expectation(s, all_lost).interval_s.low, 10 / 32e3, 0.02 * 10 / 32e3);
}

TEST(Expectation, TheLawCarriesAReservationForAWeekAndNotOneBeyondIt) {
  const Seen nothing_lost{180, 14'400, 0, {}};
  const Expectation granted = expectation(on("nt2000-p2-450", "vendor-modem", "RES 1/6 strict"), nothing_lost);
  EXPECT_EQ(granted.evidence, Evidence::kLaw);
  EXPECT_TRUE(granted.carries(kWeekS));
  const Expectation beyond = expectation(on("nt2000-p2-450", "vendor-modem", "RES 1/8 strict"), nothing_lost);
  EXPECT_NE(beyond.evidence, Evidence::kLaw);
  EXPECT_FALSE(beyond.carries(3600));
  hostsim::Scenario disturbed = on("nt2000-p2-450", "vendor-modem", "RES 1/6 strict");
  disturbed.load.devices.emplace_back();
  EXPECT_NE(expectation(disturbed, nothing_lost).evidence, Evidence::kLaw);
}

// 3D games on Windows 98: a DPC is later than 7.6 ms more than once an hour (cota.table3: 9.7 ms).
TEST(Expectation, MeasuredLatenciesSayWhatThreeMinutesDoNot) {
  const Seen nothing_lost{180, 45'000, 0, {}};
  const Expectation e = expectation(on("win98-games", "g-lite", "DPC"), nothing_lost);
  EXPECT_EQ(e.evidence, Evidence::kDistribution);
  EXPECT_LT(e.interval_s.low, e.expected_s);
  EXPECT_GT(e.interval_s.high, e.expected_s);
  EXPECT_FALSE(e.carries(3600));
  // Office: no DPC of 35 hours of use was later than 2 ms, of the 7.6 that a block can wait. These were 307440 waits,
  // ten times as dense as in use: a device of 4 ms has the same number in 20.5 minutes.
  const Expectation office = expectation(on("win98-office", "g-lite", "DPC"), nothing_lost);
  EXPECT_EQ(office.evidence, Evidence::kDistribution);
  EXPECT_TRUE(office.expects_none());
  EXPECT_NEAR(office.interval_s.low, 0.004 * 35 * 3600 * 24.4 / 10 / 3, 1);
  // Many more losses than the latencies explain: the observed ones count.
  EXPECT_EQ(expectation(on("win98-games", "g-lite", "DPC"), {180, 45'000, 20'000, {}}).evidence, Evidence::kLosses);
}

// 12 ms of lead, blocks of 4 ms: after a wait of 6.4 ms or more two blocks are served in one call, and 40 % of their 4
// ms is too much. A DPC on win98-workstation waits 6.9 ms at most; of 9 million blocks 30 lost samples.
TEST(Expectation, BlocksThatComeMeanwhileAreServedInTheSameCall) {
  const Seen nothing_lost{180, 45'000, 0, {}};
  hostsim::Scenario s = on("win98-workstation", "full-rate-dsl", "DPC");
  const Expectation all = expectation(s, nothing_lost);
  EXPECT_EQ(all.evidence, Evidence::kDistribution);
  EXPECT_FALSE(all.expects_none());
  EXPECT_LT(all.interval_s.low, 36'000.0 / 30);
  EXPECT_GT(all.interval_s.high, 36'000.0 / 30);
  s.policy = OH_SERVICE_ONE_BLOCK;
  EXPECT_TRUE(expectation(s, nothing_lost).expects_none());
}

// An interrupt waits 6.3 ms there at most: then 0.07 ms of 12 remain, and a simulation of three minutes cannot change
// that.
TEST(Expectation, TheLongestWaitThatIsKnownLeavesAMargin) {
  const Seen nothing_lost{180, 45'000, 0, {}};
  const Expectation e = expectation(on("win98-workstation", "full-rate-dsl", "INT"), nothing_lost);
  EXPECT_TRUE(e.expects_none());
  EXPECT_NEAR(e.margin_ms, 0.07, 0.02);
  Trial trial;
  trial.margin_ms = 6.3;
  trial.least_margin_ms = 0.6;
  EXPECT_FALSE(trial.thin());
  trial.expectation = e;
  EXPECT_TRUE(trial.thin());
}

// Beside a thread of its own priority that never blocks it waits for a turn of 20 ms, and then for the host: of 3.6
// million blocks two lost samples, although all latencies end at 14 ms and a block can wait 29.5 ms.
TEST(Expectation, LatenciesDoNotSpeakForAThreadThatTakesTurns) {
  const Seen nothing_lost{180, 18'000, 0, std::vector<double>(kLongestKept, 20.0)};
  hostsim::Scenario s = on("nt4-games", "rt-audio", "THR 24");
  s.load.spinner = true;
  s.load.spinner_priority = 24;
  const Expectation turns = expectation(s, nothing_lost);
  EXPECT_EQ(turns.evidence, Evidence::kSeen);
  EXPECT_FALSE(turns.carries(180));
  s.load.spinner_priority = 23;
  EXPECT_EQ(expectation(s, nothing_lost).evidence, Evidence::kDistribution);
}

// The paper measured threads at 24 and 28; nothing is known of a thread at 16, so no week is promised.
TEST(Expectation, LatenciesCountForThePriorityThatWasMeasuredAndAbove) {
  const Seen nothing_lost{180, 18'000, 0, {}};
  EXPECT_EQ(expectation(on("nt4-games", "rt-audio", "THR 24"), nothing_lost).evidence, Evidence::kDistribution);
  const Expectation below = expectation(on("nt4-games", "rt-audio", "THR 16"), nothing_lost);
  EXPECT_EQ(below.evidence, Evidence::kAssumed);
  EXPECT_DOUBLE_EQ(below.interval_s.low, 60);
  // cyclictest -p80 does not measure SCHED_FIFO 25.
  EXPECT_EQ(expectation(on("linux-6.12-rt-am64x", "rt-audio", "THR 25"), nothing_lost).evidence, Evidence::kAssumed);
  const Expectation measured = expectation(on("linux-6.12-rt-am64x", "rt-audio", "THR 80"), nothing_lost);
  EXPECT_EQ(measured.evidence, Evidence::kDistribution);
  EXPECT_DOUBLE_EQ(measured.interval_s.low, 6 * 3600 / 3.0);  // six hours of it
}

// Waits of 40 ms at FIFO 25, 1 ms at FIFO 60, 0.1 ms of SCHED_DEADLINE and 200 ms of SCHED_OTHER: all separate.
TEST(Expectation, EachMeasuredClassAndPriorityCountsForItself) {
  const Seen nothing_lost{180, 18'000, 0, {}};
  const auto ends_at = [](double ms) { return hostsim::LatencyDistribution({{1, 0.001}, {1e-6, ms}}); };
  const auto of = [&](const char* context) {
    hostsim::Scenario s = on("linux-6.12-rt-am64x", "rt-audio", context);
    s.host.latency = hostsim::HostLatencies{.interrupt = ends_at(0.01),
                                            .dpc = std::nullopt,
                                            .thread = ends_at(40),
                                            .high_thread = ends_at(40),
                                            .high_priority = 99,
                                            .waits_per_s = 1000,
                                            .measured_priority = 25,
                                            .more = {{hostsim::ThreadKind::kRealTime, 60, ends_at(1)},
                                                     {hostsim::ThreadKind::kDeadline, 0, ends_at(0.1)},
                                                     {hostsim::ThreadKind::kNormal, 0, ends_at(200)}}};
    return expectation(s, nothing_lost);
  };
  EXPECT_FALSE(of("FIFO 25").expects_none());
  EXPECT_TRUE(of("FIFO 60").expects_none());
  EXPECT_DOUBLE_EQ(of("FIFO 60").interval_s.low, 1000 / 3.0);  // a million waits at 1000 a second
  EXPECT_EQ(of("OTHER").evidence, Evidence::kDistribution);
  EXPECT_FALSE(of("OTHER").expects_none());
  EXPECT_EQ(of("RES 1ms/5ms").evidence, Evidence::kDistribution);
  EXPECT_NE(of("RES 0.3ms/5ms").evidence, Evidence::kDistribution);  // a block of 500 us requires two periods
}

// Six hours of cyclictest -p80 and ten seconds of a recording of the same host.
TEST(Expectation, HoursOfLatenciesAndSecondsOfRecordingCountTogether) {
  const Seen nothing_lost{180, 18'000, 0, {}};
  hostsim::Scenario s = on("linux-6.12-rt-am64x", "rt-audio", "THR 80");
  auto recorded = std::make_shared<hostsim::HostLoad>();
  recorded->duration = 10'000'000'000;
  recorded->sources = {{hostsim::HostLoad::Kind::kInterrupt, 0, "eth0"},
                       {hostsim::HostLoad::Kind::kThread, hostsim::linux_priority(99 - 90), "urgent"},
                       {hostsim::HostLoad::Kind::kThread, hostsim::linux_priority(99 - 40), "below"}};
  // 0.2 ms of interrupt and 1 ms of a FIFO 90 thread within one work of 0.5 ms; the thread at 40 takes nothing.
  recorded->cpus = {{0, {{1'000'000, 200'000, 0}, {1'100'000, 1'000'000, 1}, {1'200'000, 9'000'000, 2}}, 0}};
  s.load.recorded = recorded;
  s.load.trace = "board.load";
  const Expectation both = expectation(s, nothing_lost);
  EXPECT_EQ(both.evidence, Evidence::kDistribution);
  EXPECT_DOUBLE_EQ(both.interval_s.low, 6 * 3600 / 3.0 / 2);  // a block meets rare delays waiting and running
  EXPECT_NE(both.because.find("to 1.2 ms"), std::string::npos) << both.because;
  // For a priority that was not measured only the recording counts.
  s.context = on("linux-6.12-rt-am64x", "rt-audio", "THR 25").context;
  const Expectation below = expectation(s, nothing_lost);
  EXPECT_EQ(below.evidence, Evidence::kSeen);
  EXPECT_NEAR(below.interval_s.low, 10 / 3.0, 1e-9);
}

// Three seconds of latencies support more at the measured priority than sixty simulated seconds below it.
TEST(Expectation, AnUnmeasuredPriorityIsNoBetterThanTheMeasurement) {
  hostsim::Scenario s = on("linux-6.12-rt-am64x", "rt-audio", "THR 25");
  s.host.latency->waits_per_s *= 6 * 3600 / 3.0;
  const Expectation below = expectation(s, {180, 18'000, 0, {}});
  EXPECT_EQ(below.evidence, Evidence::kAssumed);
  EXPECT_NEAR(below.interval_s.low, 1, 0.01);

  Advice advice;
  Trial measured, unmeasured;
  measured.expectation = {Evidence::kDistribution, INFINITY, {1, INFINITY}, ""};
  unmeasured.expectation = {Evidence::kAssumed, INFINITY, {60, INFINITY}, ""};
  advice.trials = {measured, unmeasured};
  EXPECT_TRUE(advice.enough(advice.trials[0]));
  EXPECT_FALSE(advice.enough(advice.trials[1]));
  EXPECT_DOUBLE_EQ(advice.best_supported_s(), 1);
  advice.trials.erase(advice.trials.begin());  // nothing better exists: it counts, with a warning
  EXPECT_TRUE(advice.enough(advice.trials[0]));
  EXPECT_FALSE(advice.keeps_clear(advice.trials[0]));
}

// Nineteen replays of ten seconds are ten seconds.
TEST(Expectation, ARecordingSupportsAThirdOfItsLengthHoweverOftenItIsReplayed) {
  hostsim::Scenario s = on("linux-hz250", "rt-audio", "FIFO 50");
  auto recorded = std::make_shared<hostsim::HostLoad>();
  recorded->duration = 10'000'000'000;
  s.load.trace = "a.load";
  s.load.recorded = recorded;
  const Seen short_times{190, 19'000, 0, std::vector<double>(kLongestKept, 0.1)};
  const Expectation e = expectation(s, short_times);
  EXPECT_EQ(e.evidence, Evidence::kSeen);
  EXPECT_DOUBLE_EQ(e.interval_s.low, 10.0 / 3);
  EXPECT_DOUBLE_EQ(e.evidence_s, 10);
  // One loss that occurs in each replay is one loss in ten seconds.
  const Expectation lost = expectation(s, {190, 19'000, 19, {}});
  EXPECT_EQ(lost.evidence, Evidence::kLosses);
  EXPECT_DOUBLE_EQ(lost.expected_s, 10);
  EXPECT_NEAR(lost.interval_s.high, 10 / 0.0253, 1);  // Garwood's interval of a count of 1
}

TEST(Expectation, OfAnAssumedHostNothingIsDrawnOutBeyondWhatWasSimulated) {
  const Seen seen = pareto(4, 0.01, 45'000, 0.004);
  const hostsim::Scenario s = on("linux-hz250", "g-lite", "FIFO 50");
  EXPECT_EQ(expectation(s, seen, false).evidence, Evidence::kTail);
  const Expectation e = expectation(s, seen, true);
  EXPECT_EQ(e.evidence, Evidence::kAssumed);
  EXPECT_DOUBLE_EQ(e.interval_s.low, 60);
}

TEST(Expectation, ATailIsExtrapolatedAsItFalls) {
  hostsim::Scenario s = on("nt2000-p2-450", "g-lite", "THR 24");  // 8 ms to wait, and a block every 4 ms
  for (const double alpha : {2.0, 4.0}) {
    const Seen seen = pareto(alpha, 0.01, 45'000, 0.004);
    const Expectation e = expectation(s, seen);
    EXPECT_EQ(e.evidence, Evidence::kTail);
    const double truth = 0.004 * std::pow(8 / 0.01, alpha);
    EXPECT_LT(e.interval_s.low, truth) << alpha;
    EXPECT_GE(e.interval_s.high, std::min(truth, kWeekS)) << alpha;
    EXPECT_LE(e.interval_s.low, kWeekS);
    EXPECT_GT(e.interval_s.low, std::min(truth, kWeekS) / 10) << alpha;
    if (truth < kWeekS) {
      EXPECT_NEAR(e.expected_s, truth, 0.1 * truth) << alpha;
    }
  }
  // A tail as long as the time a block can wait supports no more than the run itself.
  const Expectation none = expectation(s, {180, 45'000, 0, std::vector<double>(kLongestKept, 9.0)});
  EXPECT_DOUBLE_EQ(none.interval_s.low, 60);
  EXPECT_TRUE(std::isinf(none.interval_s.high));
}

TEST(Expectation, SpansAreExactToThreeDigitsAndNeverRoundedUp) {
  EXPECT_EQ(span(45), "45 s");
  EXPECT_EQ(span(90), "90 s");
  EXPECT_EQ(span(10.0 / 3), "3.33 s");
  EXPECT_EQ(span(150), "2.5 min");
  EXPECT_EQ(span(720), "12 min");
  EXPECT_EQ(span(3 * 3600), "3 h");
  EXPECT_EQ(span(1.9999 * 3600), "119 min");
  EXPECT_EQ(span(3 * 86400), "3 days");
  EXPECT_EQ(span(kWeekS), "a week or more");
}

}  // namespace
}  // namespace offhook::advice
