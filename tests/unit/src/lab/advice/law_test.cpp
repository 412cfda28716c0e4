// SPDX-License-Identifier: MIT
#include "src/lab/advice/law.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <tuple>

#include "traces/scenario/device.h"

using namespace offhook;

namespace {

constexpr double kTickMs = 1000.0 / 1024;

DeviceTiming vendor_modem(std::uint32_t lead, double cost_ms) {
  DeviceTiming device;
  device.transmit_lead_samples = lead;
  device.cost_ms = cost_ms;
  return device;
}

// Supply from the end of a slot, counted by slots.
double supplied_by(double time_ms, double x, double y) {
  double supply = 0;
  for (double slot = y - x; slot < time_ms; slot += y) supply += std::min(x, time_ms - slot);
  return supply;
}

// Runs the blocks through the slots in sequence, in whole ns; returns the least time left before an output was due, in
// ms.
double least_time_left(const DeviceTiming& device, double x_ms, double y_ms, double phase_ms, std::size_t start,
                       std::size_t blocks) {
  const auto ns = [](double ms) { return std::llround(ms * 1e6); };
  const long long x = ns(x_ms), y = ns(y_ms);
  const long long until_output = ns(device.output_fraction * device.cost_ms);
  long long now = 0, arrival = ns(phase_ms);
  double least = 1e9;
  const auto run = [&](long long work) {
    while (work > 0) {
      const long long into = now % y;
      if (into >= x) {
        now += y - into;
        continue;
      }
      const long long step = std::min(work, x - into);
      now += step;
      work -= step;
    }
  };
  for (std::size_t k = 0; k < blocks; ++k) {
    const std::uint32_t samples = device.block_plan[(start + k) % device.block_plan.size()];
    if (k > 0) arrival += ns(1000.0 * samples / device.rate_hz);
    now = std::max(now, arrival);
    run(until_output);
    least = std::min(least, device.slack_ms(samples) - static_cast<double>(now - arrival) * 1e-6);
    run(ns(device.cost_ms) - until_output);
  }
  return least;
}

}  // namespace

TEST(ReservationLaw, SupplyTimeInvertsTheSupply) {
  for (const double x : {1.0, 2.0, 3.5}) {
    for (const double y : {4.0, 8.0, 13.7}) {
      for (double work = 0.1; work < 20; work += 0.37) {
        EXPECT_NEAR(supplied_by(supply_time_ms(work, x, y), x, y), work, 1e-9);
        EXPECT_LT(supplied_by(supply_time_ms(work, x, y) - 0.01, x, y), work);
      }
    }
  }
  EXPECT_EQ(supply_time_ms(0, 1, 2), 0);
}

TEST(ReservationLaw, SlackIsTheLeadLessTheBlock) {
  const DeviceTiming device = vendor_modem(210, 1.84);
  EXPECT_DOUBLE_EQ(device.mean_period_ms(), 12.5);
  EXPECT_DOUBLE_EQ(device.slack_ms(105), 13.125);
  EXPECT_DOUBLE_EQ(device.slack_ms(90), 15.0);
  EXPECT_DOUBLE_EQ(device.least_slack_ms(), 13.125);
  EXPECT_NEAR(device.share(), 0.147, 0.0005);
}

// No phase of the blocks against the slots is worse than the law says, and one is as bad.
TEST(ReservationLaw, IsTheWorstOfAllPhases) {
  std::mt19937_64 random(11);
  std::uniform_real_distribution<double> x_of(0.5, 8), y_of(2, 24);
  int sufficient = 0, insufficient = 0;
  for (int i = 0; i < 600; ++i) {
    const double x = std::round(x_of(random) * 1e3) / 1e3;  // whole us: the two ways do not differ by rounding
    const double y = std::max(x, std::round(y_of(random) * 1e3) / 1e3);
    const DeviceTiming device = vendor_modem(180 + static_cast<std::uint32_t>(random() % 150), 1.74);
    const LawResult law = full_law(device, x, y);
    if (law.overloaded) continue;
    (law.sufficient ? sufficient : insufficient) += 1;
    double worst = 1e9;
    for (std::size_t start = 0; start < 3; ++start) {
      worst = std::min(worst, least_time_left(device, x, y, x, start, 400));  // the end of a slot
      for (int phase = 0; phase < 8; ++phase) {
        EXPECT_GE(least_time_left(device, x, y, y * phase / 8, start, 100), law.margin_ms - 1e-5) << x << '/' << y;
      }
    }
    EXPECT_NEAR(worst, law.margin_ms, 1e-5) << x << '/' << y;
  }
  EXPECT_GT(sufficient, 20);
  EXPECT_GT(insufficient, 20);
}

TEST(ReservationLaw, ImpliesTheSimpleForm) {
  const DeviceTiming device = vendor_modem(210, 1.74);
  for (double x = 0.25; x < 12; x += 0.25) {
    for (double y = x; y < 24; y += 0.25) {
      EXPECT_TRUE(!full_law(device, x, y).sufficient || simple_law(device, x, y)) << x << '/' << y;
    }
  }
}

// DESIGN.md, "The reservation law": the hypothesis that classifies Table 3. Marginal rows are outside the law.
TEST(ReservationLaw, ExplainsTable3) {
  const DeviceTiming device = vendor_modem(210, 1.74);
  struct Row {
    int x, y;
    bool works;
  };
  for (const Row row : {Row{1, 7, true},
                        {1, 8, false},
                        {2, 13, true},
                        {2, 15, false},
                        {3, 15, true},
                        {3, 17, false},
                        {4, 16, true},
                        {4, 17, false},
                        {7, 20, false},
                        {8, 20, true}}) {
    EXPECT_EQ(simple_law(device, row.x * kTickMs, row.y * kTickMs), row.works) << row.x << '/' << row.y;
  }
}

TEST(ReservationLaw, OneMoreBlockOfLeadMovesTheGapByItsLength) {
  const DeviceTiming one = vendor_modem(210, 1.74);
  const DeviceTiming two = vendor_modem(315, 1.74);
  EXPECT_NEAR(two.longest_gap_ms() - one.longest_gap_ms(), 13.125, 1e-9);
  EXPECT_DOUBLE_EQ(one.share(), two.share());
}

TEST(ReservationLaw, BoundaryIsTheLastPeriodThatIsSufficient) {
  const DeviceTiming device = vendor_modem(210, 1.74);
  for (const double x : {1.0, 2.0, 3.0, 4.0, 8.0}) {
    const double y = longest_period_ms(device, x);
    ASSERT_GT(y, x);
    EXPECT_TRUE(full_law(device, x, y).sufficient);
    EXPECT_FALSE(full_law(device, x, y + 0.002).sufficient);
  }
  EXPECT_EQ(longest_period_ms(vendor_modem(105, 1.74), 1.0), 0);  // no slack
}

TEST(ReservationLaw, AnOverloadedReservationNeverCatchesUp) {
  const LawResult law = full_law(vendor_modem(210, 1.84), 1, 7);  // 14.3 % of 14.7 %
  EXPECT_TRUE(law.overloaded);
  EXPECT_FALSE(law.sufficient);
}

// The costliest block comes first and all later blocks wait: by hand, 1 of every 2 ms, blocks of 1 ms every 10 ms.
TEST(ReservationLaw, OneCostlierBlockDelaysItselfAndThoseBehindIt) {
  DeviceTiming device;
  device.rate_hz = 1000;
  device.block_plan = {10};
  device.transmit_lead_samples = 20;  // 10 ms of slack
  device.cost_ms = 1;
  device.output_fraction = 1;
  EXPECT_NEAR(full_law(device, 1, 2).margin_ms, 10 - 2, 1e-9);
  EXPECT_NEAR(full_law(device, 1, 2, 1).margin_ms, 10 - 2, 1e-9);
  EXPECT_NEAR(full_law(device, 1, 2, 4).margin_ms, 10 - 8, 1e-9);
  // 8 ms of work end after 16; the next block came at 10 and is ready at 18, when 2 of its 10 ms remain.
  const LawResult late = full_law(device, 1, 2, 8);
  EXPECT_NEAR(late.margin_ms, 10 - 16, 1e-9);
  EXPECT_FALSE(late.sufficient);
}

TEST(ReservationLaw, TheAuthorsRuleIsAShareAndAGapBelowABlockPeriod) {
  DeviceTiming device;  // 105, 105, 90 samples at 8 kHz
  device.cost_ms = 1.84;
  EXPECT_TRUE(authors_rule(device, 2, 13));
  EXPECT_FALSE(authors_rule(device, 2, 14));    // 14.3 %
  EXPECT_FALSE(authors_rule(device, 7, 19.5));  // 12.5 ms
  EXPECT_TRUE(authors_rule(device, 8, 20));
}

TEST(ReservationLaw, WhatIsRecommendedIsTheLeastShareThatTheLawGrantsWithTheReserve) {
  for (const bool power_of_two : {false, true}) {
    for (const double reserve : {0.0, 0.1, 0.3}) {
      const DeviceTiming device = vendor_modem(204, 1.763);
      const auto best = recommend(device, {kTickMs, power_of_two, reserve, 0});
      ASSERT_TRUE(best);
      DeviceTiming costlier = device;
      costlier.cost_ms *= 1 + reserve;
      EXPECT_TRUE(full_law(costlier, best->x * kTickMs, best->y * kTickMs).sufficient);
      for (int y = 1; y <= kLongestPeriodTicks; ++y) {
        if (power_of_two && (y & (y - 1)) != 0) continue;
        for (int x = 1; x < y && x * best->y < best->x * y; ++x) {
          ASSERT_FALSE(full_law(costlier, x * kTickMs, y * kTickMs).sufficient) << x << "/" << y;
        }
      }
    }
  }
  DeviceTiming hasty = vendor_modem(106, 1.763);  // an eighth of a millisecond of slack: less than a gap of a tick
  EXPECT_FALSE(recommend(hasty, {}));
}

// Jones and Saroiu's soft DSL with Cota-Robles and Held's buffers (docs/device-numbers.md): share and longest gap.
TEST(DeviceTiming, SoftDslHasTheSharesAndGapsOfTheLaw) {
  const double buffers[] = {2, 3, 6}, g_lite[] = {3.6, 7.6, 19.6}, full_rate[] = {3.2, 7.2, 19.2};
  for (int i = 0; i < 3; i++) {
    for (const auto& [name, share, gaps] : {std::tuple{"g-lite", 0.25, g_lite}, {"full-rate-dsl", 0.5, full_rate}}) {
      hostsim::SoftDevice device = config::load_device(name);
      device.buffers = static_cast<std::uint32_t>(buffers[i]);
      const DeviceTiming timing = device_timing(device);
      EXPECT_NEAR(timing.mean_period_ms(), 4, 1e-12);
      EXPECT_NEAR(timing.share(), share, 1e-12);
      EXPECT_NEAR(timing.longest_gap_ms(), gaps[i], 1e-9) << name << " with " << buffers[i];
    }
  }
}

// A call whose output is ready at once still does not begin before its slot: the law has no jump at phi = 0.
TEST(ReservationLaw, IsContinuousWherePhiIsNothing) {
  DeviceTiming device = vendor_modem(204, 1.763);
  for (const double x : {1.0, 2.0, 4.0, 8.0}) {
    device.output_fraction = 0;
    const double at_zero = longest_period_ms(device, x);
    device.output_fraction = 1e-6;
    EXPECT_NEAR(longest_period_ms(device, x), at_zero, 2e-3) << x;
  }
  // By hand: 1 of every 10 ms, a block of 0.1 ms; a block that comes when a slot ends waits 9 ms for the next.
  DeviceTiming one;
  one.rate_hz = 1000;
  one.block_plan = {20};
  one.transmit_lead_samples = 30;
  one.cost_ms = 0.1;
  one.output_fraction = 0;
  EXPECT_NEAR(full_law(one, 1, 10).margin_ms, 10 - 9, 1e-9);
  EXPECT_NEAR(begin_time_ms(0, 1, 10), 9, 1e-12);
  EXPECT_NEAR(begin_time_ms(1, 1, 10), 19, 1e-12);  // the slot is full: the next work begins in the next slot
  EXPECT_NEAR(supply_time_ms(1, 1, 10), 10, 1e-12);
}

// The confirming experiment of one more block of lead: 4/28 fails in nine of ten phases, 4/27 in none.
TEST(ReservationLaw, CostsThatSpreadBringTheBoundaryNearer) {
  DeviceTiming device = vendor_modem(309, 1.763);
  device.output_fraction = 0.18;
  const HostWork host{kTickMs, 0.002, 0.005, 0.0054};
  EXPECT_TRUE(full_law(device, 4 * kTickMs, 28 * kTickMs, 0, host).sufficient);
  device.cost_spread = 0.02;
  EXPECT_FALSE(full_law(device, 4 * kTickMs, 28 * kTickMs, 0, host).sufficient);
  EXPECT_TRUE(full_law(device, 4 * kTickMs, 27 * kTickMs, 0, host).sufficient);
  EXPECT_TRUE(full_law(device, 3 * kTickMs, 21 * kTickMs, 0, host).sufficient);
}

TEST(ReservationLaw, WhatTheHostDoesInASlotIsNotSupplied) {
  const HostWork host{1, 0.01, 0.02, 0};
  EXPECT_NEAR(host.supplied_ms(3), 3 - 0.03 - 0.02, 1e-12);
  EXPECT_EQ(HostWork{}.supplied_ms(3), 3);
  EXPECT_EQ((HostWork{1, 2, 0, 0}.supplied_ms(3)), 0);
  // 14.2 % are enough for 14.1 %, but not when the clock takes a tenth of each slot.
  const DeviceTiming device = vendor_modem(400, 1.763);
  EXPECT_FALSE(full_law(device, 1, 7).overloaded);
  EXPECT_TRUE(full_law(device, 1, 7, 0, {1, 0.1, 0, 0}).overloaded);
}
