// SPDX-License-Identifier: MIT
#include "src/lab/reproduce/constants.h"

#include <gtest/gtest.h>

#include <stdexcept>

#include "src/lab/reproduce/call_log.h"
#include "src/lab/reproduce/sensitivity.h"
#include "traces/scenario/profile.h"

namespace offhook::reproduce {
namespace {

reproduce::Setup setup() {
  hostsim::Scenario s = call_scenario("INT", true, 1);
  return {s, config::load_profile(s.cost_profile)};
}

TEST(Constants, EachReadsBackWhatItIsSetTo) {
  for (const Constant& c : constants()) {
    reproduce::Setup s = setup();
    const double before = c.get(s), other = c.low >= c.high ? before * 1.5 : before < c.high ? c.high : c.low;
    c.set(s, other);
    EXPECT_NEAR(c.get(s), other, 0.51 + 1e-3 * before) << c.name;  // whole numbers are the ones rounded to
    EXPECT_NE(c.get(s), before) << c.name;
  }
}

TEST(Perturbation, ChangesByShareByAmountAndToAValue) {
  reproduce::Setup s = setup();
  const double phi = constant("phi").get(s), lead = constant("lead_samples").get(s);
  Perturbation::parse({"phi=+10%", "lead_samples=-2", "block_us=1700"}).apply(s);
  EXPECT_NEAR(constant("phi").get(s), 1.1 * phi, 1e-12);
  EXPECT_EQ(constant("lead_samples").get(s), lead - 2);
  EXPECT_EQ(constant("block_us").get(s), 1700);
  EXPECT_TRUE(Perturbation::parse({}).empty());
}

TEST(Perturbation, WhatIsNoChangeIsAnError) {
  for (const char* bad : {"phi", "phi=", "phi=x", "phi=10%", "phi=+", "phi=inf", "phi=1e999", "fi=1", "=1", ""})
    EXPECT_THROW(Perturbation::parse({bad}), std::invalid_argument) << bad;
}

TEST(Scan, ARangeIsWhereItHoldsAroundTheValueThatIsUsed) {
  Scan scan;
  scan.constant = &constant("phi");
  scan.used = 3;
  scan.values = {1, 2, 3, 4, 5};
  scan.holds = {{true, false, true, true, false}, {true, true, true, true, true}, {true, true, false, true, true}};
  EXPECT_EQ(scan.range(0).low, 3);
  EXPECT_EQ(scan.range(0).high, 4);
  EXPECT_FALSE(scan.range(0).from_end);
  EXPECT_TRUE(scan.range(1).from_end && scan.range(1).to_end);
  EXPECT_FALSE(scan.range(2).any);
  // Rows 0 to 2 are separate folds. Without row 0, all others hold at 1, 2, 4, 5; of the first longest run, 1 and 2,
  // the middle is 2, where row 0 does not hold. Without row 1: 1 and 4 alone, so 1, where it holds. Without row 2: 1,
  // 3, 4, the longest run is 3 and 4, so 4, where it holds.
  EXPECT_EQ(scan.held_out(), 2u);
  // All rows: three hold at 1 and 4, two at each other value; of the two runs of one value the first.
  EXPECT_EQ(scan.best([](std::size_t) { return true; }), 0u);
}

}  // namespace
}  // namespace offhook::reproduce
