// SPDX-License-Identifier: MIT
//
// Law and simulator on random devices; `offhook law --check 2000` for more of them.
#include "src/lab/law/check.h"

#include <gtest/gtest.h>

#include <set>

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

}  // namespace
}  // namespace offhook::law
