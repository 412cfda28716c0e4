// SPDX-License-Identifier: MIT
//
// What Jones and Saroiu measured, out of the simulation with one set of constants (traces/).
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>

#include "src/lab/analysis/verdict.h"
#include "tests/sim/calls.h"

namespace offhook {
namespace {

using hostsim::Phase;

constexpr std::size_t kConnecting = static_cast<std::size_t>(Phase::kConnecting);
constexpr std::size_t kConnected = static_cast<std::size_t>(Phase::kConnected);

test::Recorded model_call(std::string_view context, bool spinner = true, std::uint64_t seed = 1, bool logging = false,
                          bool keep_events = false) {
  hostsim::Scenario s = test::scenario(context, spinner);
  s.pump = hostsim::PumpKind::kCostProfile;
  s.seed = seed;
  s.event_logging_cost = logging;
  return test::run(s, {}, keep_events);
}

TEST(Paper, TheVendorDriverTakes14Point7PercentWithLogging) {
  const auto r = model_call("INT", true, 1, true).result;
  EXPECT_NEAR(r.pump_share * 100, 14.7, 0.1);
  EXPECT_NEAR(r.pump_share * 12.5, 1.84, 0.0125);
}

/// Duration of each job of `entity`, us, and its phase.
std::vector<std::pair<Phase, double>> jobs(const test::Recorded& call, std::string_view entity) {
  std::vector<std::pair<Phase, double>> found;
  Phase phase = Phase::kOnHook;
  double start = 0;
  for (const oh_event& e : call.events) {
    if (e.kind == OH_EV_PHASE) phase = static_cast<Phase>(e.argument);
    if ((e.kind != OH_EV_RUN && e.kind != OH_EV_FINISH) || call.names.at(e.id) != entity) continue;
    const double at = static_cast<double>(e.time_ns) / 1e3;
    if (e.kind == OH_EV_RUN && e.argument == 1) start = at;
    if (e.kind == OH_EV_FINISH) found.emplace_back(phase, at - start);
  }
  return found;
}

struct Elapsed {
  double mean = 0, max = 0;
};
Elapsed elapsed(const std::vector<std::pair<Phase, double>>& jobs, Phase phase) {
  Elapsed e;
  double n = 0;
  for (const auto& [p, us] : jobs) {
    if (p != phase) continue;
    e.mean += us;
    e.max = std::max(e.max, us);
    n++;
  }
  e.mean /= n;
  return e;
}

// Figures 2 and 4, logging on, as measured.
TEST(Paper, TheHandlerTakes1Point8AndAtMost3Point3MillisecondsWhereverItRuns) {
  const auto in_isr = jobs(model_call("INT", true, 1, true, true), "modem interrupt");
  const auto in_dpc = jobs(model_call("DPC", true, 1, true, true), "modem DPC");
  const auto in_thread = jobs(model_call("THR 24", true, 1, true, true), "modem thread");
  for (const auto& where : {in_isr, in_dpc, in_thread}) {
    EXPECT_NEAR(elapsed(where, Phase::kConnected).mean, 1840, 20);
    EXPECT_NEAR(elapsed(where, Phase::kConnecting).max, 3300, 50);
  }
}

TEST(Paper, TheInterruptRoutineTakes5Point4AndAtMost16MicrosecondsWhenServiceIsDeferred) {
  const auto routine = jobs(model_call("DPC", true, 1, true, true), "modem interrupt");
  constexpr double kClock = 2;  // may occur in between
  for (const Phase phase : {Phase::kOnHook, Phase::kDialling, Phase::kConnecting, Phase::kConnected}) {
    EXPECT_NEAR(elapsed(routine, phase).mean, 5.4, 0.2);
    EXPECT_LE(elapsed(routine, phase).max, 16 + kClock);
  }
}

TEST(Paper, IntDpcAndThread24TransferInEqualTime) {
  const double reference = model_call("INT").result.transfer_s;
  ASSERT_GT(reference, 0);
  EXPECT_NEAR(model_call("DPC").result.transfer_s / reference, 1, 0.01);
  EXPECT_NEAR(model_call("THR 24").result.transfer_s / reference, 1, 0.01);
}

TEST(Paper, NeverMoreThan30SamplesPendingAfterServiceInIntDpcAndThread24) {
  for (const char* context : {"INT", "DPC", "THR 24"}) {
    const auto r = model_call(context, true, 1, true).result;
    EXPECT_LE(r.pending_max[kConnecting], 30u) << context;
    EXPECT_LE(r.pending_max[kConnected], 30u) << context;
    EXPECT_GT(r.pending_max[kConnected], 0u) << context;
  }
}

TEST(Paper, Thread8WorksAloneAndOverflowsBesideASpinner) {
  const auto alone = model_call("THR 8", false).result;
  EXPECT_TRUE(alone.completed);
  EXPECT_EQ(alone.card.overrun_samples, 0u);
  const auto beside = model_call("THR 8", true).result;
  EXPECT_FALSE(beside.completed);
  EXPECT_FALSE(beside.transfer.connected);
  EXPECT_GT(beside.card.overrun_samples, 0u);
}

TEST(Paper, Reservation2Of8HasMorePendingThanThread24AndNeverOverflows) {
  const auto thread = model_call("THR 24").result;
  const auto reservation = model_call("RES 2/8").result;
  EXPECT_TRUE(reservation.completed);
  EXPECT_EQ(reservation.card.overrun_samples, 0u);
  EXPECT_EQ(reservation.blocks_late, 0u);
  EXPECT_GT(reservation.pending_max[kConnected], thread.pending_max[kConnected]);
  EXPECT_LT(reservation.pending_max[kConnected], 256u);
  EXPECT_NEAR(reservation.transfer_s / thread.transfer_s, 1, 0.01);
}

// Only the paper assigns the twelve classes; they are here
// and in traces/data/published, and nowhere in the program.
TEST(Paper, EveryRowOfTable3HasItsClass) {
  const std::map<std::string, Verdict> published = {
      {"RES 1/7 strict", Verdict::kSufficient},    {"RES 1/8 strict", Verdict::kInsufficient},
      {"RES 2/13 strict", Verdict::kSufficient},   {"RES 2/14 strict", Verdict::kMarginal},
      {"RES 2/15 strict", Verdict::kInsufficient}, {"RES 3/15 strict", Verdict::kSufficient},
      {"RES 3/16 strict", Verdict::kMarginal},     {"RES 3/17 strict", Verdict::kInsufficient},
      {"RES 4/16 strict", Verdict::kSufficient},   {"RES 4/17 strict", Verdict::kInsufficient},
      {"RES 7/20 strict", Verdict::kInsufficient}, {"RES 8/20 strict", Verdict::kSufficient}};
  const double reference = model_call("INT").result.transfer_s;
  for (const auto& [context, verdict] : published) {
    std::vector<RunOutcome> runs;
    for (std::uint64_t seed = 1; seed <= 10; seed++) {
      const auto r = model_call(context, true, seed).result;
      runs.push_back({r.completed, r.transfer_s});
    }
    const VerdictResult result = classify(runs, reference);
    EXPECT_EQ(result.verdict, verdict) << context << ": " << result.complete << " of 10 complete";
  }
}

// Standard Rialto/NT, leftover time shared with the spinner (Table 2): which reservations are as good as the vendor's
// driver, and which are not. How bad the latter are is not asserted.
TEST(Paper, ReservationsOfAQuarterDoAsWellAsTheVendorDriverInTable2AndLesserOnesDoNot) {
  const double reference = model_call("INT").result.transfer_s;
  for (const char* context : {"RES 2/8", "RES 1/4", "RES 3/16", "RES 2/16", "RES 1/8"}) {
    std::vector<RunOutcome> runs;
    for (std::uint64_t seed = 1; seed <= 10; seed++) {
      const auto r = model_call(context, true, seed).result;
      runs.push_back({r.completed, r.transfer_s});
    }
    const bool quarter = std::string(context) == "RES 2/8" || std::string(context) == "RES 1/4";
    EXPECT_EQ(classify(runs, reference, 0.01).verdict == Verdict::kSufficient, quarter) << context;
  }
}

/// Intervals of the 1 ms callback in the connected phase, ns.
std::vector<double> callback_intervals(std::string_view context) {
  hostsim::Scenario s = test::scenario(context);
  s.pump = hostsim::PumpKind::kCostProfile;
  s.load.timer_callback = true;
  std::vector<double> intervals;
  bool connected = false;
  for (const oh_event& e : test::run(s).events) {
    if (e.kind == OH_EV_PHASE && e.argument == kConnected) connected = true;
    if (connected && e.kind == OH_EV_TIMER_CALLBACK) intervals.push_back(e.argument);
  }
  return intervals;
}

TEST(Paper, TheTimerCallbackSuffersFromIntAndDpcButNotFromAThreadOrAReservation) {
  const auto worst = [](const std::vector<double>& v) { return *std::max_element(v.begin(), v.end()); };
  const auto thread = callback_intervals("THR 24");
  ASSERT_GT(thread.size(), 20'000u);
  // 1024 clock interrupts per second for 1000 wake-ups: 24 of them are late by a whole interrupt (6.3.1).
  const auto near_2ms = std::count_if(thread.begin(), thread.end(), [](double ns) { return std::abs(ns - 2e6) < 1e5; });
  EXPECT_NEAR(100.0 * static_cast<double>(near_2ms) / static_cast<double>(thread.size()), 2.4, 0.2);
  EXPECT_LT(worst(thread), 2.1e6);
  // 6.4.3: the callback is as predictable with a reservation as with the thread.
  EXPECT_LT(worst(callback_intervals("RES 2/8")), 2.1e6);
  EXPECT_GT(worst(callback_intervals("INT")), 2.5e6);
  EXPECT_GT(worst(callback_intervals("DPC")), 2.5e6);
}

TEST(Paper, TheCardInterruptsAsInFigure1) {
  hostsim::Scenario s = test::scenario("INT");
  s.pump = hostsim::PumpKind::kCostProfile;
  Phase phase = Phase::kOnHook;
  std::map<Phase, std::vector<double>> periods;
  double last = 0;
  for (const oh_event& e : test::run(s).events) {
    if (e.kind == OH_EV_PHASE) phase = static_cast<Phase>(e.argument);
    if (e.kind != OH_EV_INTERRUPT) continue;
    periods[phase].push_back((static_cast<double>(e.time_ns) - last) / 1e6);
    last = static_cast<double>(e.time_ns);
  }
  const auto median = [](std::vector<double> v) {
    std::nth_element(v.begin(), v.begin() + static_cast<std::ptrdiff_t>(v.size() / 2), v.end());
    return v[v.size() / 2];
  };
  EXPECT_NEAR(median(periods[Phase::kOnHook]), 2.5, 0.01);
  EXPECT_NEAR(median(periods[Phase::kDialling]), 12.5, 0.01);
  const auto& connected = periods[Phase::kConnected];
  EXPECT_NEAR(*std::max_element(connected.begin() + 3, connected.end()), 13.125, 0.01);
  EXPECT_NEAR(*std::min_element(connected.begin() + 3, connected.end()), 11.25, 0.01);
}

}  // namespace
}  // namespace offhook
