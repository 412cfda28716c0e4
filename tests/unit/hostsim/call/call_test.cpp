// SPDX-License-Identifier: MIT
//
// The script of a call, and what a call refuses. What comes out of calls is in tests/sim.
#include "hostsim/call/call.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <stdexcept>
#include <vector>

namespace offhook::hostsim {
namespace {

constexpr Ns kMs = 1'000'000;
constexpr Ns kSecond = 1000 * kMs;

/// A light pump, phases of 2, 9 and 12 s.
CostProfile profile() {
  CostProfile p;
  p.phases[0] = {7200, {18}, kMs / 10, 0, 2 * kSecond};
  p.phases[1] = {7200, {90}, kMs, 0, 9 * kSecond};
  p.phases[2] = {8000, {105, 105, 90}, kMs, 3 * kMs, 12 * kSecond};
  p.phases[3] = {8000, {105, 105, 90}, kMs, 0, 0};
  return p;
}

Scenario reservation(int x, int y) {
  Scenario s;
  s.context.kind = ContextKind::kReservation;
  s.context.x_ticks = x;
  s.context.y_ticks = y;
  return s;
}

struct Recorded {
  CallResult result;
  std::vector<oh_event> events;
  std::vector<std::string> names;
};

Recorded run(const Scenario& s) {
  const CostProfile p = profile();
  std::vector<oh_event> ring(1 << 16), out(1 << 16);
  oh_event_log log{};
  oh_event_log_init(&log, ring.data(), ring.size(), 0);
  Call call(s, p, make_link_model_connection(s, p, &log), &log);
  Recorded r;
  bool more = true;
  for (Ns horizon = kSecond; more; horizon += kSecond) {
    more = call.advance(horizon);
    const std::size_t n = oh_event_log_read(&log, out.data(), out.size());
    r.events.insert(r.events.end(), out.begin(), out.begin() + static_cast<std::ptrdiff_t>(n));
  }
  r.result = call.result();
  r.names = call.entity_names();
  return r;
}

std::string refusal(const Scenario& s) {
  const CostProfile p = profile();
  try {
    Call call(s, p, make_link_model_connection(s, p, nullptr), nullptr);
  } catch (const std::invalid_argument& e) {
    return e.what();
  }
  return "";
}

TEST(Call, RefusesAReservationThatCannotBeAdmittedBeforeItBegins) {
  EXPECT_EQ(refusal(reservation(2, 8)), "");
  EXPECT_THAT(refusal(reservation(9, 8)), testing::HasSubstr("9 of every 8, expected 0 < X <= Y"));
  EXPECT_THAT(refusal(reservation(0, 8)), testing::HasSubstr("0 of every 8"));
  EXPECT_THAT(refusal(reservation(1, 0)), testing::HasSubstr("1 of every 0"));
}

TEST(Call, RefusesBlocksAndLeadsThatTheDriverCannotDo) {
  Scenario s;
  s.transmit_lead_samples = 104;
  EXPECT_THAT(refusal(s), testing::HasSubstr("transmit_lead_samples is 104: expected at least the longest block, 105"));
  s.transmit_lead_samples = 513;
  EXPECT_THAT(refusal(s), testing::HasSubstr("at most 512"));
  s.transmit_lead_samples = 512;
  EXPECT_EQ(refusal(s), "");
  s.block_plan = {90, 257};
  EXPECT_THAT(refusal(s), testing::HasSubstr("a block of 257 samples"));
  s.block_plan = {0};
  EXPECT_THAT(refusal(s), testing::HasSubstr("a block of 0 samples"));
  s.block_plan.assign(9, 90);
  EXPECT_THAT(refusal(s), testing::HasSubstr("9 blocks: expected 1 to 8"));
}

TEST(Call, GoesThroughItsPhasesAndLosesNothingWhenTheRateChanges) {
  Scenario s;
  s.bytes = 20'000;
  const Recorded r = run(s);
  std::map<std::uint32_t, double> phase_at;
  std::vector<std::uint32_t> rates;
  std::uint64_t samples = 0;
  double begin = -1;
  for (const oh_event& e : r.events) {
    const double at = static_cast<double>(e.time_ns) / 1e9;
    if (e.kind == OH_EV_PHASE) {
      if (begin < 0) begin = at;
      phase_at[e.argument] = at - begin;
    }
    if (e.kind == OH_EV_CARD_RATE) rates.push_back(e.argument);
    if (e.kind == OH_EV_INTERRUPT) samples += e.argument;
  }
  EXPECT_DOUBLE_EQ(phase_at.at(1), 2);
  EXPECT_DOUBLE_EQ(phase_at.at(2), 11);
  EXPECT_NEAR(phase_at.at(3), 23, 0.03);  // at a block's end
  ASSERT_FALSE(rates.empty());
  EXPECT_EQ(rates.back(), 8000u);
  EXPECT_TRUE(r.result.completed);
  EXPECT_EQ(r.result.driver.samples_filled_in + r.result.driver.samples_late, 0u);
  EXPECT_EQ(r.result.card.overrun_samples + r.result.card.underrun_samples, 0u);
  // Every sample that an interrupt announced was served, but for a last block under way.
  EXPECT_NEAR(static_cast<double>(r.result.driver.samples_served), static_cast<double>(samples), 105);
}

TEST(Call, WithoutDiallingBeginsWithTheTraining) {
  Scenario s = reservation(2, 8);
  s.dial = false;
  s.bytes = 20'000;
  const Recorded r = run(s);
  EXPECT_TRUE(r.result.completed);
  EXPECT_LT(r.result.simulated_s, 17);
  for (const oh_event& e : r.events) {
    if (e.kind == OH_EV_PHASE) {
      EXPECT_GE(e.argument, 2u);
    }
  }
}

TEST(Call, TheThreadHasNoReservationOnHook) {
  Scenario s = reservation(1, 1024);  // a tick a second: with it, 18-sample blocks would overflow at once
  s.context.strict = true;
  s.time_limit_s = 1.9;
  EXPECT_EQ(run(s).result.card.underrun_samples, 0u);
  s.time_limit_s = 4;
  EXPECT_GT(run(s).result.card.underrun_samples, 0u);
}

TEST(Call, EndsAtItsTimeLimitAndSaysNotCompleted) {
  Scenario s;
  s.time_limit_s = 30;
  const CallResult r = run(s).result;
  EXPECT_FALSE(r.completed);
  EXPECT_EQ(r.transfer_s, 0);
  EXPECT_DOUBLE_EQ(r.simulated_s, 30);
  EXPECT_GT(r.transfer.bytes_delivered, 0u);
}

TEST(Call, EachContextRunsThePumpInAnEntityOfItsOwnKind) {
  const std::pair<ContextKind, const char*> kinds[] = {{ContextKind::kInterrupt, "modem interrupt"},
                                                       {ContextKind::kDpc, "modem DPC"},
                                                       {ContextKind::kThread, "modem thread"},
                                                       {ContextKind::kReservation, "modem thread"}};
  for (const auto& [kind, expected] : kinds) {
    Scenario s;
    s.context.kind = kind;
    s.time_limit_s = 15;
    const Recorded r = run(s);
    std::uint16_t running = 0xffff;
    std::uint64_t begins = 0;
    for (const oh_event& e : r.events) {
      if (e.kind == OH_EV_RUN) running = e.id;
      if (e.kind != OH_EV_SERVICE_BEGIN) continue;
      begins++;
      ASSERT_EQ(r.names.at(running), expected);
    }
    EXPECT_GT(begins, 1000u) << expected;
  }
}

}  // namespace
}  // namespace offhook::hostsim
