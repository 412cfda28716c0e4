// SPDX-License-Identifier: MIT
//
// What is copied into a terminal puts a program where the advice says; and the choice among contexts.
#include "src/lab/advice/recipe.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "traces/scenario/device.h"
#include "traces/scenario/scenario.h"

namespace offhook::advice {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

Advice chosen(const char* host, const char* context) {
  Advice advice;
  config::ScenarioBuilder builder;
  builder.set(std::string("host.name=") + host);
  builder.set(std::string("context=") + context);
  advice.base = builder.finish();
  advice.device = "a device";
  advice.base.device = config::load_device("g-lite");
  advice.trials.emplace_back();
  advice.trials[0].context = advice.base.context;
  advice.trials[0].in_full = context;
  advice.chosen = 0;
  return advice;
}

TEST(Recipe, AThreadIsStartedByChrtAndItsInterruptThreadGoesBeforeIt) {
  const auto lines = recipe(chosen("linux-rt", "THR 75"));
  EXPECT_THAT(lines, Contains("chrt -f 75 PROGRAM"));
  EXPECT_THAT(lines, Contains("CPUSchedulingPriority=75"));
  EXPECT_THAT(lines, Contains(HasSubstr("chrt -f -p 76 $t")));
  EXPECT_THAT(recipe(chosen("linux-hz250", "THR 75")), testing::Not(Contains(HasSubstr("-p 76"))));
  EXPECT_TRUE(recipe(chosen("nt2000-p2-450", "THR 24")).empty());
}

TEST(Recipe, AReservationIsInNanosecondsAndNamesTheAdmissionLimit) {
  const auto lines = recipe(chosen("linux-hz250", "RES 2ms/8ms strict"));
  EXPECT_THAT(lines,
              Contains("chrt -d --sched-runtime 2000000 --sched-deadline 8000000 --sched-period 8000000 0 PROGRAM"));
  EXPECT_THAT(lines, Contains(HasSubstr("may have 95.0 % of a CPU together; this is 25.0 %")));
}

TEST(Recipe, TheOrderOfPrioritiesHasInterruptThreadsAt50) {
  Advice advice = chosen("linux-rt", "THR 60");
  advice.base.load.threads = {{.name = "motor", .scheduling = hostsim::ThreadClass::kFifo, .priority = 49},
                              {.name = "shell"},
                              {.name = "video", .scheduling = hostsim::ThreadClass::kDeadline, .period_ns = 1}};
  EXPECT_THAT(
      order_of_priorities(advice),
      ElementsAre(HasSubstr("hard interrupt"), "SCHED_DEADLINE: video", "THR 60: a device <- this device",
                  HasSubstr("SCHED_FIFO 50: interrupt threads"), "SCHED_FIFO 49: motor", "SCHED_OTHER, nice 0: shell"));
}

/// Options that simulate nothing: each context gives the result in `measured`.
Options made_up(std::function<void(const hostsim::Scenario&, Measured&)> measured) {
  Options options;
  options.repeats = 1;
  options.run = [measured](const hostsim::Scenario& s) {
    Measured m;
    m.seconds = s.device_s;
    m.blocks = 15'000;
    m.margin_ms = 5;
    m.buffers_needed = 2;
    m.longest_ms.assign(kLongestKept, 0.1);
    measured(s, m);
    return m;
  };
  return options;
}

hostsim::Scenario question(const char* device) {
  config::ScenarioBuilder builder;
  builder.set("host.name=nt2000-p2-450");
  hostsim::Scenario s = builder.finish();
  s.pump = hostsim::PumpKind::kDevice;
  s.device = config::load_device(device);
  return s;
}

TEST(Advice, ASufficientContextComesBeforeAMarginalOne) {
  // The reservations have a thin margin; threads have no such fault.
  const auto advice = advise(question("g-lite"), made_up([](const hostsim::Scenario& s, Measured& m) {
                               if (s.context.kind == OH_CONTEXT_RESERVATION) m.margin_ms = 0.01;
                             }));
  ASSERT_TRUE(advice && advice->suffices);
  const Trial& t = advice->trials[*advice->chosen];
  EXPECT_TRUE(advice->keeps_clear(t)) << t.name;
  EXPECT_EQ(t.context.kind, OH_CONTEXT_THREAD);
}

// Rejected with more margin, or with evidence that supports more: the reason says so.
TEST(Advice, EvidenceThatCarriesFurtherIsNamedWhereItIsRejected) {
  const auto advice = advise(question("g-lite"), made_up([](const hostsim::Scenario& s, Measured& m) {
                               // The tail of THR 28 supports more, but less than twice as much.
                               const bool urgent = s.context.kind == OH_CONTEXT_THREAD && s.context.priority == 28;
                               m.margin_ms = urgent ? 7.9 : 5;
                               for (std::size_t i = 0; i < m.longest_ms.size(); ++i)
                                 m.longest_ms[i] =
                                     (urgent ? 0.11 : 0.13) * std::pow(static_cast<double>(i + 1) / 64, -0.3);
                               if (s.context.kind == OH_CONTEXT_RESERVATION) m.blocks_late = m.samples_lost = 1;
                             }));
  ASSERT_TRUE(advice && advice->suffices);
  const Trial& chosen = advice->trials[*advice->chosen];
  int further = 0;
  for (const Trial& t : advice->trials) {
    if (!t.loses_nothing() || &t == &chosen) continue;
    if (t.expectation.interval_s.low <= 1.05 * chosen.expectation.interval_s.low) continue;
    ++further;
    EXPECT_THAT(t.against, HasSubstr("Its evidence supports a longer time: " + span(t.expectation.interval_s.low)))
        << t.name;
  }
  EXPECT_GT(further, 0);
}

TEST(Advice, TwoBuffersOfTwoAreNoFault) {
  hostsim::Scenario s = question("g-lite");
  s.device.buffers = 2;
  const auto advice = advise(s, made_up([](const hostsim::Scenario&, Measured&) {}));
  ASSERT_TRUE(advice && advice->suffices);
  EXPECT_FALSE(advice->with_reserve() && advice->warnings.empty());
  for (const std::string& reason : advice->reasons) EXPECT_THAT(reason, testing::Not(HasSubstr("one more is advised")));
}

TEST(Advice, OneCostlyFirstBlockIsToldApartFromSteadyWork) {
  hostsim::Scenario s = question("g-lite");
  s.device.worst_cost_ns = 400'000'000;
  const auto advice = advise(s, made_up([](const hostsim::Scenario& of, Measured& m) {
                               if (of.device.worst_cost_ns <= of.device.cost_ns) return;
                               m.blocks_late = m.samples_lost = 1;
                             }));
  ASSERT_TRUE(advice.has_value());
  EXPECT_FALSE(advice->suffices);
  EXPECT_FALSE(advice->buffers_that_suffice.has_value());
  EXPECT_THAT(advice->reasons, Contains(HasSubstr("Only the first block is too costly: 400 ms")));
}

}  // namespace
}  // namespace offhook::advice
