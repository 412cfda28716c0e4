// SPDX-License-Identifier: MIT
//
// A fax call of a simulated host: the contexts in which every page arrives, and what T.30 does about late blocks.
#include "hostsim/call/fax_call.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

#include "driver/context/context_spec.h"
#include "hostsim/call/call.h"
#include "tests/unit/hostsim/call/device_run.h"

namespace offhook {
namespace {

using namespace hostsim;
using test::held_off;
using test::run_device;

constexpr Ns kMs = 1'000'000;

Scenario fax_in(const char* context, bool error_correction, oh_pump_role role = OH_PUMP_CALL) {
  Scenario s;
  s.pump = PumpKind::kDevice;
  s.context = ContextSpec::parse(context);
  s.device.name = "fax";
  s.device.block_plan = {100};
  s.device.buffers = 5;
  s.fax = {.pages = 2, .lines = 200, .error_correction = error_correction};
  s.role = role;
  s.load.spinner = true;
  s.device_s = 200;
  return s;
}

TEST(FaxCall, EveryPageArrivesInEveryContextThatIsOnTime) {
  for (const char* context : {"INT", "DPC", "THR 24", "RES 3/8 strict"}) {
    for (const oh_pump_role role : {OH_PUMP_CALL, OH_PUMP_ANSWER}) {
      SCOPED_TRACE(context);
      const CallResult r = run_device(fax_in(context, true, role));
      ASSERT_NE(r.fax, nullptr);
      EXPECT_TRUE(r.completed) << r.transfer.failure;
      EXPECT_TRUE(r.fax->intact()) << r.fax->failure;
      EXPECT_EQ(r.fax->whole, 2u);
      EXPECT_EQ(r.fax->confirmed, 2u);
      EXPECT_EQ(r.fax->frames_again + r.fax->bad_lines + r.fax->failed_trainings + r.fax->refused_pages, 0u);
      EXPECT_EQ(r.fax->starved_bits, 0u);
      EXPECT_EQ(r.driver.blocks_late, 0u);
      ASSERT_EQ(r.fax->pages.size(), 2u);
      EXPECT_EQ(r.fax->pages[1].modulation, "V.17");
      EXPECT_EQ(r.fax->pages[1].bit_rate, 14'400u);
      EXPECT_LT(r.fax->pages[0].taken_s, r.fax->pages[1].taken_s);
    }
  }
}

TEST(FaxCall, TheRateLimitSelectsTheModulation) {
  Scenario s = fax_in("INT", true);
  s.fax.max_bit_rate = 9600;
  EXPECT_EQ(run_device(s).fax->pages.at(0).modulation, "V.29");
  s.fax.max_bit_rate = 4800;
  EXPECT_EQ(run_device(s).fax->pages.at(0).modulation, "V.27ter");
}

TEST(FaxCall, ErrorCorrectionRepairsHolesAndTheCallTakesLonger) {
  const Scenario s = fax_in("INT", true);
  const CallResult whole = run_device(s), holes = run_device(held_off(s, 5000 * kMs, 120 * kMs));
  EXPECT_GT(holes.driver.samples_late + holes.driver.samples_filled_in, 0u);
  EXPECT_TRUE(holes.fax->intact()) << holes.fax->failure;
  EXPECT_GT(holes.fax->frames_again, 0u);
  EXPECT_GT(holes.fax->lasted_s, whole.fax->lasted_s);
}

TEST(FaxCall, WithoutErrorCorrectionTheSameHolesCostLinesOrPages) {
  for (const oh_pump_role role : {OH_PUMP_CALL, OH_PUMP_ANSWER}) {
    const CallResult r = run_device(held_off(fax_in("INT", false, role), 5000 * kMs, 120 * kMs));
    EXPECT_FALSE(r.completed);
    EXPECT_LT(r.fax->whole, 2u);
    EXPECT_GT(r.fax->lost(), 0u);
    EXPECT_NE(r.transfer.failure.find("samples were lost"), std::string::npos) << r.transfer.failure;
  }
}

TEST(FaxCall, AStarvedContextFailsWithTheReasonOfT30) {
  const CallResult r = run_device(fax_in("THR 4", true));
  EXPECT_FALSE(r.completed);
  EXPECT_EQ(r.fax->whole, 0u);
  EXPECT_NE(r.fax->failure, "");
  EXPECT_NE(r.transfer.failure.find("T.30"), std::string::npos) << r.transfer.failure;
}

TEST(FaxCall, V34CarriesThePagesInEveryContextThatIsOnTime) {
  for (const char* context : {"INT", "DPC", "THR 24", "RES 3/8 strict"}) {
    for (const oh_pump_role role : {OH_PUMP_CALL, OH_PUMP_ANSWER}) {
      SCOPED_TRACE(context);
      Scenario s = fax_in(context, true, role);
      s.fax.v34 = true;
      const CallResult r = run_device(s);
      EXPECT_TRUE(r.completed) << r.transfer.failure;
      EXPECT_EQ(r.fax->whole, 2u);
      EXPECT_EQ(r.fax->failed_trainings, 0u);
      ASSERT_EQ(r.fax->pages.size(), 2u);
      EXPECT_EQ(r.fax->pages[1].modulation, "V.34");
      EXPECT_GT(r.fax->pages[1].bit_rate, 14'400u);
      EXPECT_LT(r.fax->lasted_s, run_device(fax_in(context, true, role)).fax->lasted_s);
    }
  }
}

// Next to this hum, the first frames of a page were lost each time, until flags preceded them for 200 ms.
TEST(FaxCall, V34FramesFollowWhenTheReceiverHasSettled) {
  Scenario s = fax_in("INT", true);
  s.fax.v34 = true;
  s.fax.lines = 1143;
  s.line.hum_dbm0 = -26;
  s.line.hum_hz = 60;
  const CallResult r = run_device(s);
  EXPECT_TRUE(r.fax->intact()) << r.fax->failure;
  EXPECT_EQ(r.fax->frames_again, 0u);
}

TEST(FaxCall, V34RepairsHoles) {
  Scenario s = fax_in("INT", true);
  s.fax.v34 = true;
  const CallResult r = run_device(held_off(s, 5000 * kMs, 120 * kMs));
  EXPECT_GT(r.driver.samples_late + r.driver.samples_filled_in, 0u);
  EXPECT_TRUE(r.fax->intact()) << r.fax->failure;
}

/// The device is a T.38 gateway; the machine behind it calls or answers.
Scenario gateway_in(const char* context, oh_pump_role role) {
  Scenario s = fax_in(context, true, role);
  s.fax.gateway = true;
  return s;
}

TEST(FaxGateway, EveryPageArrivesInEveryContextAndOverALossyNetwork) {
  for (const char* context : {"INT", "DPC", "THR 24", "RES 3/8 strict"}) {
    for (const oh_pump_role role : {OH_PUMP_CALL, OH_PUMP_ANSWER}) {
      SCOPED_TRACE(testing::Message() << context << " " << role);
      Scenario s = gateway_in(context, role);
      s.fax.packet_loss = 0.05;
      const CallResult r = run_device(s);
      ASSERT_NE(r.fax, nullptr);
      EXPECT_TRUE(r.completed) << r.transfer.failure;
      EXPECT_EQ(r.fax->whole, 2u);
      EXPECT_EQ(r.fax->confirmed, 2u);
      EXPECT_EQ(r.fax->packets_lost, 0u);
      EXPECT_GT(r.fax->packets_recovered, 10u);
      EXPECT_GT(r.fax->packets_sent, 300u);
      EXPECT_EQ(r.driver.blocks_late, 0u);
    }
  }
}

TEST(FaxGateway, WithoutCopiesLossesReachT30) {
  Scenario s = gateway_in("INT", OH_PUMP_CALL);
  s.fax.packet_loss = 0.05;
  s.fax.packet_copies = 0;
  const CallResult r = run_device(s);
  EXPECT_GT(r.fax->packets_lost, 0u);
  EXPECT_EQ(r.fax->packets_recovered, 0u);
  EXPECT_TRUE(!r.completed || r.fax->frames_again > 0);
}

TEST(FaxGateway, AnIdealNetworkLosesNothingAndAStarvedContextFails) {
  const CallResult good = run_device(gateway_in("INT", OH_PUMP_ANSWER));
  EXPECT_TRUE(good.completed) << good.transfer.failure;
  EXPECT_EQ(good.fax->packets_lost + good.fax->packets_recovered, 0u);
  const CallResult bad = run_device(gateway_in("THR 4", OH_PUMP_ANSWER));
  EXPECT_FALSE(bad.completed);
  EXPECT_EQ(bad.fax->whole, 0u);
}

TEST(FaxCall, V34RequiresErrorCorrectionAndNoGateway) {
  Scenario s = fax_in("INT", false);
  s.fax.v34 = true;
  EXPECT_THROW(check_fax(s), std::invalid_argument);
  s.fax.error_correction = true;
  EXPECT_NO_THROW(check_fax(s));
  s.fax.gateway = true;
  EXPECT_THROW(check_fax(s), std::invalid_argument);
}

TEST(FaxCall, EndsAtItsTimeLimit) {
  Scenario s = fax_in("INT", true);
  s.device_s = 10;
  const CallResult r = run_device(s);
  EXPECT_FALSE(r.completed);
  EXPECT_FALSE(r.fax->over);
  EXPECT_NE(r.transfer.failure.find("time limit"), std::string::npos) << r.transfer.failure;
}

TEST(FaxCall, ThePagesComeFromTheSeed) {
  const Scenario s = held_off(fax_in("INT", true), 5000 * kMs, 120 * kMs);
  const CallResult a = run_device(s), b = run_device(s);
  EXPECT_EQ(a.fax->lasted_s, b.fax->lasted_s);
  EXPECT_EQ(a.fax->frames_again, b.fax->frames_again);
  EXPECT_EQ(a.driver.samples_late, b.driver.samples_late);
  Scenario other = s;
  other.seed = 2;
  EXPECT_NE(run_device(other).fax->lasted_s, a.fax->lasted_s);
}

TEST(FaxCall, RefusesDevicesAndLinesWithoutFax) {
  Scenario s = fax_in("INT", true);
  s.line_kind = LineKind::kDigitalTrunk;
  EXPECT_THROW((void)make_device_call(s, nullptr), std::invalid_argument);
  s = fax_in("INT", true);
  s.device.rate_hz = 9600;
  EXPECT_THROW((void)make_device_call(s, nullptr), std::invalid_argument);
  s = fax_in("INT", true);
  s.device.pump = "audio-64";
  EXPECT_THROW((void)make_device_call(s, nullptr), std::invalid_argument);
}

}  // namespace
}  // namespace offhook
