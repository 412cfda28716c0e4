// SPDX-License-Identifier: MIT
#include "src/measure/live_device.h"

#include <gtest/gtest.h>

#include "hostsim/call/subscriber_call.h"
#include "traces/scenario/data.h"
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

}  // namespace
