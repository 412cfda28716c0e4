// SPDX-License-Identifier: MIT
//
// A modem trains in the slots in which it works later: the law of a call is that of both phases.
#include <gtest/gtest.h>

#include <cmath>
#include <utility>
#include <vector>

#include "hostsim/call/call.h"
#include "src/lab/advice/law.h"
#include "traces/scenario/profile.h"
#include "traces/scenario/scenario.h"

namespace offhook {
namespace {

using hostsim::Phase;

hostsim::CostProfile profile_with(double training_us, double connected_us) {
  hostsim::CostProfile profile = config::load_profile("pentium2-450-vendor");
  profile.service_spread = 0;
  for (const auto& [phase, us] : {std::pair{Phase::kConnecting, training_us}, {Phase::kConnected, connected_us}}) {
    profile.phases[static_cast<int>(phase)].service_ns = std::llround(us * 1e3);
    profile.phases[static_cast<int>(phase)].worst_service_ns = 0;
  }
  return profile;
}

hostsim::Scenario scenario_of(int x, int y, std::uint64_t seed) {
  hostsim::Scenario s = config::ScenarioBuilder().finish();
  s.pump = hostsim::PumpKind::kCostProfile;
  s.bytes = 20'000;
  s.seed = seed;
  s.time_limit_s = 120;
  s.host.clock_isr_ns = s.host.dispatch_ns = 0;
  s.context = ContextSpec::parse("RES 1/1 strict");
  s.context.x_ticks = x;
  s.context.y_ticks = y;
  return s;
}

struct Losses {
  bool training = false, connected = false;
};

/// The phases of a call in which the card had nothing to play, for this starting phase.
Losses losses(const hostsim::CostProfile& profile, int x, int y, std::uint64_t seed) {
  const hostsim::Scenario s = scenario_of(x, y, seed);
  std::vector<oh_event> ring(1 << 16), events(1 << 16);
  oh_event_log log{};
  oh_event_log_init(&log, ring.data(), ring.size(), 0);
  hostsim::Call call(s, profile, hostsim::make_link_model_connection(s, profile, &log), &log, hostsim::Logged::kModem);
  Losses out;
  std::uint32_t phase = 0;
  for (bool more = true; more;) {
    more = call.advance(call.now() + 1'000'000'000);
    const std::size_t n = oh_event_log_read(&log, events.data(), events.size());
    for (std::size_t i = 0; i < n; ++i) {
      if (events[i].kind == OH_EV_PHASE) phase = events[i].argument;
      if (events[i].kind != OH_EV_TX_UNDERRUN) continue;
      out.training |= phase == static_cast<std::uint32_t>(Phase::kConnecting);
      out.connected |= phase == static_cast<std::uint32_t>(Phase::kConnected);
    }
  }
  return out;
}

// Blocks of 12.5 ms: 3 of 15 ticks are 20 % of the CPU. Training that takes 24 % falls behind there, for any cost of
// data mode; with 12 % for both nothing is lost; data mode of 24 % loses samples after a training of 12 %.
TEST(LawOfACall, TrainingIsJudgedAsWellAsDataMode) {
  constexpr int kX = 3, kY = 15;
  constexpr double kTickMs = 1000.0 / 1024, kLight = 1500, kHeavy = 3000;
  for (const auto& [training_us, connected_us] :
       {std::pair{kLight, kLight}, {kHeavy, kLight}, {kLight, kHeavy}, {kHeavy, kHeavy}}) {
    const hostsim::CostProfile profile = profile_with(training_us, connected_us);
    const hostsim::Scenario s = scenario_of(kX, kY, 1);
    const DeviceTiming training = device_timing(s, profile, Phase::kConnecting),
                       connected = device_timing(s, profile, Phase::kConnected);
    const LawResult law = full_law_of_call(training, connected, kX * kTickMs, kY * kTickMs);
    EXPECT_EQ(full_law(training, kX * kTickMs, kY * kTickMs).sufficient, training_us == kLight);
    EXPECT_EQ(full_law(connected, kX * kTickMs, kY * kTickMs).sufficient, connected_us == kLight);
    EXPECT_EQ(law.sufficient, training_us == kLight && connected_us == kLight);
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
      const Losses lost = losses(profile, kX, kY, seed);
      EXPECT_EQ(lost.training, training_us == kHeavy) << training_us << ", " << connected_us << ", seed " << seed;
      if (!lost.training) {
        EXPECT_EQ(lost.connected, connected_us == kHeavy) << "seed " << seed;
      }
      EXPECT_EQ(lost.training || lost.connected, !law.sufficient) << "seed " << seed;
    }
  }
}

// A scenario's own plan applies to data mode; training keeps its profile's.
TEST(LawOfACall, AnOwnBlockPlanIsThatOfDataModeOnly) {
  hostsim::Scenario s = scenario_of(3, 15, 1);
  s.block_plan = {90};
  EXPECT_EQ(device_timing(s, Phase::kConnected).block_plan, std::vector<std::uint32_t>{90});
  EXPECT_EQ(device_timing(s, Phase::kConnecting).block_plan.size(), 3u);
}

}  // namespace
}  // namespace offhook
