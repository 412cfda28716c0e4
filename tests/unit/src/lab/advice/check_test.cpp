// SPDX-License-Identifier: MIT
//
// Law and simulator on random devices; `offhook advise law --check 2000` for more of them.
#include "src/lab/advice/check.h"

#include <gtest/gtest.h>

#include <set>
#include <utility>

#include "hostsim/call/call.h"
#include "traces/scenario/device.h"
#include "traces/scenario/scenario.h"

namespace offhook::law {
namespace {

TEST(LawCheck, LawAndSimulationHaveTheSameBoundaryOnRandomDevices) {
  CheckOptions options;
  options.devices = 60;
  options.seed = 3;
  const std::vector<CheckedDevice> devices = check_devices(options);
  ASSERT_EQ(devices.size(), options.devices);
  std::size_t equal = 0, granted = 0;
  for (const CheckedDevice& c : devices) {
    EXPECT_TRUE(explained(c.agreement)) << c.index << ": " << to_string(c.agreement);
    equal += c.agreement == Agreement::kEqual;
    granted += c.y_ticks > 0;
  }
  EXPECT_GE(equal, 50u);
  EXPECT_GE(granted, 30u);
}

TEST(LawCheck, ADeviceIsTheSameForTheSameSeedAndIndex) {
  const CheckedDevice a = check_device(5, 7), b = check_device(5, 7), other = check_device(6, 7);
  EXPECT_EQ(a.device.block_plan, b.device.block_plan);
  EXPECT_EQ(a.y_ticks, b.y_ticks);
  EXPECT_NE(a.device.rate_hz, other.device.rate_hz);
}

// The slots of a reservation exist before the device is switched on: its first block waits for no first period. All of
// the CPU is enough for any period, and 10 of every 17 ticks are enough by the law.
TEST(LawCheck, ADeviceThatIsSwitchedOnFindsItsSlotsRunning) {
  for (const auto& [x, y] : {std::pair{1, 1}, {2, 2}, {7, 7}, {16, 16}, {33, 33}, {64, 64}, {10, 17}}) {
    for (std::uint64_t seed = 1; seed <= 4; seed++) {
      hostsim::Scenario s = config::ScenarioBuilder().finish();
      s.pump = hostsim::PumpKind::kDevice;
      s.device = config::load_device("g-lite");
      s.device_s = 1;
      s.seed = seed;
      s.context = ContextSpec::parse("RES 1/1 strict");
      s.context.x_ticks = x;
      s.context.y_ticks = y;
      const auto call = hostsim::make_device_call(s, nullptr);
      while (call->advance(call->now() + 1'000'000'000)) {
      }
      EXPECT_TRUE(call->result().completed) << x << "/" << y << ", seed " << seed;
      EXPECT_GT(call->result().blocks, 240u);
    }
  }
}

}  // namespace
}  // namespace offhook::law
