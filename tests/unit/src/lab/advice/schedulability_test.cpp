// SPDX-License-Identifier: MIT
#include "src/lab/advice/schedulability.h"

#include <gtest/gtest.h>

#include <cmath>

#include "hostsim/engine/random.h"

namespace offhook {
namespace {

using hostsim::HostLatencies;
using hostsim::LatencyDistribution;
using hostsim::Modality;

LatencyDistribution always(double ms) {
  return LatencyDistribution({{1, ms}});
}
HostLatencies constant(double ms) {
  return {always(ms), always(ms), always(ms), always(ms)};
}
Computation thread(int priority, double period_ms, double cost_ms) {
  return {"", Modality::kThread, priority, period_ms, cost_ms, 0, 2, 3600};
}
constexpr double kNone = 1e-9;  // the same as no latency

// Audsley et al.'s recurrence by hand: 1; 2 + 1 = 3; 3 + 3 x 1 + 2 x 2 = 10.
TEST(ResponseTimes, OfPreemptiveThreadsAreTheTextbooks) {
  const auto r = response_times({thread(3, 4, 1), thread(2, 6, 2), thread(1, 12, 3)}, constant(kNone));
  EXPECT_NEAR(r[0].response_ms, 1, 1e-6);
  EXPECT_NEAR(r[1].response_ms, 3, 1e-6);
  EXPECT_NEAR(r[2].response_ms, 10, 1e-6);
}

TEST(ResponseTimes, ModalitiesStandAboveEachOtherAndEqualsAreServedInTurn) {
  std::vector<Computation> c = {thread(1, 100, 1), thread(31, 100, 2), thread(31, 100, 4)};
  c.push_back({"dpc a", Modality::kDpc, 0, 100, 8, 0, 2, 3600});
  c.push_back({"dpc b", Modality::kDpc, 0, 100, 16, 0, 2, 3600});
  c.push_back({"isr", Modality::kInterrupt, 5, 100, 32, 0, 2, 3600});
  c[0].raised_ms = 0.5;
  const auto r = response_times(c, constant(kNone));
  EXPECT_NEAR(r[5].response_ms, 32, 1e-6);
  EXPECT_NEAR(r[3].response_ms, 8 + 16 + 32 + 0.5, 1e-6);  // blocked by the thread at raised IRQL
  EXPECT_NEAR(r[1].response_ms, 2 + 4 + 8 + 16 + 32 + 0.5, 1e-6);
  EXPECT_NEAR(r[0].response_ms, 63, 1e-6);
}

TEST(ResponseTimes, DoubleBufferingBearsTheWorstLatencyAndMoreBuffersShareIt) {
  const HostLatencies host = constant(6);
  Computation c{"", Modality::kDpc, 0, 8, 1, 0, 2, 3600};
  EXPECT_NEAR(response_times({c}, host)[0].response_ms, 7, 1e-9);
  EXPECT_TRUE(response_times({c}, host)[0].schedulable);
  c.cost_ms = 2.1;
  EXPECT_FALSE(response_times({c}, host)[0].schedulable);

  HostLatencies rare = constant(0.1);
  rare.dpc = LatencyDistribution({{1, 0.1}, {8e-3 / 3600, 20}, {1e-7, 30}});
  c.buffers = 5;
  const ResponseTime r = response_times({c}, rare)[0];
  EXPECT_NEAR(r.worst_latency_ms, 20, 1e-9);
  EXPECT_NEAR(r.pseudo_worst_ms, (20 + 3 * rare.dpc->mean_ms()) / 4, 1e-9);
  c.interval_s = 1e6;
  EXPECT_TRUE(response_times({c}, rare)[0].beyond_data);
}

TEST(ResponseTimes, AnOverloadHasNone) {
  EXPECT_TRUE(std::isinf(response_times({thread(2, 2, 1.5), thread(1, 10, 3)}, constant(kNone))[1].response_ms));
}

TEST(Deadlines, NoSetThatIsSchedulableAtConstantLatencyMissesOne) {
  const hostsim::Random random(42, 1);
  std::uint64_t n = 0;
  int schedulable = 0;
  for (int set = 0; set < 150; set++) {
    std::vector<Computation> all;
    for (int i = 0; i < 5; i++) {
      const double period = 2 + std::floor(30 * random.uniform(n++));
      const double cost = period * 0.25 * random.uniform(n++) + 0.001;
      Computation c{std::to_string(i),
                    static_cast<Modality>(random.word(n++) % 3),
                    1 + static_cast<int>(random.word(n++) % 3),
                    period,
                    cost,
                    0,
                    2,
                    3600};
      if (c.modality == Modality::kThread) c.raised_ms = cost * random.uniform(n++);
      all.push_back(c);
    }
    const HostLatencies host = constant(0.3 * random.uniform(n++) + kNone);
    const auto times = response_times(all, host);
    // The bound for equal priorities holds when all of them are schedulable (one unfinished job each).
    bool every = true;
    for (const ResponseTime& t : times) every &= t.schedulable;
    if (!every) continue;
    schedulable++;
    const auto runs = simulate_deadlines(all, host, 5, static_cast<std::uint64_t>(set));
    for (std::size_t i = 0; i < all.size(); i++) {
      EXPECT_EQ(runs[i].missed, 0u) << set << " " << i;
      EXPECT_LE(runs[i].longest_ms, times[i].response_ms + 1e-4) << set << " " << i;
    }
  }
  EXPECT_GT(schedulable, 30);
}

TEST(Deadlines, ALatencyBeyondTheSlackIsMissed) {
  HostLatencies host = constant(0.001);
  host.dpc = LatencyDistribution({{1, 0.001}, {0.01, 0.001}, {0.0099, 9.5}});
  const Computation c{"", Modality::kDpc, 0, 10, 1, 0, 2, 3600};
  const DeadlineRun run = simulate_deadlines({c}, host, 1000, 1)[0];
  EXPECT_NEAR(static_cast<double>(run.jobs), 100'000, 1);
  EXPECT_NEAR(static_cast<double>(run.drops), 990, 5 * std::sqrt(990.0));
  EXPECT_NEAR(run.longest_ms, 10.5, 0.01);
}

}  // namespace
}  // namespace offhook
