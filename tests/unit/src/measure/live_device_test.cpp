// SPDX-License-Identifier: MIT
#include "src/measure/live_device.h"

#include <gtest/gtest.h>

#include "hostsim/call/subscriber_call.h"
#include "src/measure/declared_device.h"
#include "traces/scenario/data.h"
#include "traces/scenario/device.h"
#include "traces/scenario/scenario.h"

using namespace offhook;
using namespace offhook::measure;

namespace {

hostsim::Scenario g_lite() {
  config::ScenarioBuilder builder;
  builder.apply_file((config::data_dir() / "../../examples/g-lite.toml").string());
  return builder.finish();
}

// The number of losses depends on the machine; the test is that pump, driver and card work and count.
TEST(LiveDevice, TheDmtPumpIsServedOverItsLoopInAContextOfThisHost) {
  LiveDeviceConfig config;
  config.context = LiveContextConfig::parse("OTHER");
  config.context.best_effort = true;
  config.seconds = 1;
  const LiveDevice r = measure_live_device(g_lite(), config, [](double) { return true; });
  EXPECT_GE(r.seconds, 1);
  EXPECT_GT(r.driver.blocks_served, 0u);
  EXPECT_GT(r.dispatch.count(), 0u);
  EXPECT_LE(r.dispatch.count(), r.service.count()) << "what was asked for while it served is served without a wait";
  EXPECT_GT(r.buffer_samples, 0u);
  ASSERT_NE(r.dmt, nullptr);
  EXPECT_EQ(r.radio, nullptr);
}

TEST(LiveDevice, EndsWhenItIsToldTo) {
  LiveDeviceConfig config;
  config.context = LiveContextConfig::parse("OTHER");
  config.context.best_effort = true;
  config.seconds = 3600;
  int asked = 0;
  const LiveDevice r = measure_live_device(g_lite(), config, [&asked](double) { return ++asked < 3; });
  EXPECT_EQ(asked, 3);
  EXPECT_LT(r.seconds, 3600);
}

TEST(DeclaredDevice, SaysThatTheWatchdogDemotedAThreadThatKeepsTheCpu) {
  hostsim::SoftDevice device = config::load_device("rt-audio");
  device.cost_ns = static_cast<std::int64_t>(1e9 * device.buffer() / device.rate_hz);  // the whole CPU
  DeclaredDeviceConfig config;
  config.context = LiveContextConfig::parse("FIFO 50");
  config.context.best_effort = true;
  config.seconds = 20;  // ends after 3 s
  const DeclaredDevice r = measure_declared_device(device, config, [](double share) { return share < 0.15; });
  if (!r.live.without.empty()) GTEST_SKIP() << r.live.without.front();
  EXPECT_TRUE(r.live.demoted);
}

}  // namespace
