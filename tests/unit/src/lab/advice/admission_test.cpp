// SPDX-License-Identifier: MIT
#include "src/lab/advice/admission.h"

#include <gtest/gtest.h>

#include "traces/scenario/device.h"

namespace offhook::law {
namespace {

using namespace hostsim;

/// Soft ADSL and a modem with reservations, beside a thread that never sleeps, on a host whose CPU does nothing else.
Scenario two(const char* first, const char* second) {
  Scenario s;
  s.pump = PumpKind::kDevice;
  s.host.tick_hz = 1000;
  s.load.spinner = true;
  s.device_s = 2;
  s.device = config::load_device("g-lite");
  s.device.isr_mean_ns = s.device.isr_max_ns = 0;
  s.context = ContextSpec::parse(first);
  CompetingDevice modem{
      .name = "modem", .device = config::load_device("vendor-modem"), .context = ContextSpec::parse(second)};
  modem.device.isr_mean_ns = modem.device.isr_max_ns = 0;
  s.load.soft_devices = {modem};
  return s;
}

TEST(Admission, SharesAreThoseOfTheDevicesAndTheSlots) {
  const Admission a = admission_of(two("RES 3/8", "RES 1/4"));
  ASSERT_EQ(a.devices.size(), 2u);
  EXPECT_NEAR(a.devices[0].demand, 0.25, 1e-9);
  EXPECT_NEAR(a.devices[1].demand, 1.763 / 12.5, 1e-9);
  EXPECT_NEAR(a.demand, 0.25 + 1.763 / 12.5, 1e-9);
  EXPECT_NEAR(a.reserved, 3.0 / 8 + 1.0 / 4, 1e-9);
  EXPECT_TRUE(a.admitted());
}

TEST(Admission, MoreThanTheCpuOrLessThanADevicesShareIsNotAdmitted) {
  EXPECT_FALSE(admission_of(two("RES 6/8", "RES 2/4")).admitted());
  // Less than the device's share: the slots fit, but the law says no.
  const Admission small = admission_of(two("RES 1/8", "RES 1/4"));
  EXPECT_TRUE(small.devices[0].overloaded);
  EXPECT_FALSE(small.admitted());
}

TEST(Admission, WhatIsAdmittedLosesNothingAndWhatTheLawRefusesLoses) {
  for (const DeviceOutcome& d : run_devices(two("RES 3/8", "RES 1/4"))) {
    EXPECT_GT(d.blocks, 100u);
    EXPECT_EQ(d.samples_lost, 0u);
    EXPECT_LT(d.first_loss_s, 0);
  }
  const auto starved = run_devices(two("RES 1/8", "RES 1/4"));
  EXPECT_GT(starved[0].samples_lost, 0u);
  EXPECT_GT(starved[0].first_loss_s, 0);
  EXPECT_EQ(starved[1].samples_lost, 0u);  // a reservation is protected from other threads
}

// 3/8 over 25 % is 1.5, 1/4 over 14.1 % is 1.77: each breaks at the first step beyond its share, the ADSL first.
TEST(Admission, TheFirstToBreakIsTheOneWithTheLeastRoomInItsShare) {
  const std::vector<Growth> growths = grow(two("RES 3/8", "RES 1/4"), {.step = 0.1, .most = 2});
  ASSERT_EQ(breaks_first(growths), 0u);
  EXPECT_NEAR(breaks_at(growths, 0).value(), 1.55, 0.06);
  EXPECT_NEAR(breaks_at(growths, 1).value(), 1.8, 0.06);
}

TEST(Admission, NothingBreaksWhereNothingIsLost) {
  const std::vector<Growth> growths = grow(two("RES 3/8", "RES 1/4"), {.step = 0.1, .most = 1.1});
  EXPECT_EQ(growths.size(), 2u);
  EXPECT_EQ(breaks_first(growths), std::nullopt);
  EXPECT_EQ(breaks_at(growths, 0), std::nullopt);
}

}  // namespace
}  // namespace offhook::law
