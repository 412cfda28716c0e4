// SPDX-License-Identifier: MIT
//
// V.92's choices by AT commands: Quick Connect with the profiles of earlier calls, and the PCM upstream.
#include <gtest/gtest.h>

#include <string>

#include "driver/tty/dce.h"
#include "tests/unit/driver/tty/desk.h"

namespace offhook::modem {
namespace {

constexpr oh_v90_profile kProfile{
    .upstream_symbol_rate = 5, .upstream_high_carrier = 1, .u_qts = 79, .reserved = 0, .round_trip_samples = 96};

/// A call that reaches data mode, and its end.
void make_call(Desk& desk, const std::string& order, const oh_v90_profile& learnt) {
  desk.say(order);
  desk.work(0.3);
  desk.far_end(OH_PUMP_DATA, 3);
  desk.line.now.profile = learnt;
  desk.work(1.2);
  desk.say("+++");
  desk.work(1.2);
  desk.say("ATH\r");
  desk.work(0.3);
  desk.heard();
}
/// The configuration of a call that is aborted at once.
CallConfig tried(Desk& desk, const std::string& order) {
  desk.say(order);
  desk.work(0.3);
  const CallConfig config = desk.line.config;
  desk.say("x");
  desk.work(0.3);
  desk.heard();
  return config;
}

TEST(DceV92, AKnownLineHasTheShortPhasesThatPqcPermits) {
  Desk desk;
  desk.say("ATE0\r");
  make_call(desk, "ATD5\r", kProfile);
  for (const auto& [pqc, phases] :
       {std::pair{3, 0u}, {0, v90::kShortPhases}, {1, v90::kShortPhase1 + 0u}, {2, v90::kShortPhase2 + 0u}}) {
    EXPECT_EQ(desk.say("AT+PQC=" + std::to_string(pqc) + "\r"), "OK");
    const CallConfig call = tried(desk, "ATD5\r");
    EXPECT_EQ(call.short_phases, phases) << pqc;
    EXPECT_EQ(call.profile.round_trip_samples, 96u);
    EXPECT_EQ(tried(desk, "ATD6\r").short_phases, 0u) << "another number";
    EXPECT_EQ(tried(desk, "ATA\r").short_phases, 0u) << "another role";
  }
}

TEST(DceV92, PssForcesAFullStartUp) {
  Desk desk;
  desk.say("ATE0+PQC=0\r");
  make_call(desk, "ATD5\r", kProfile);
  for (const auto& [pss, phases] : {std::pair{0, v90::kShortPhases}, {1, v90::kShortPhases}, {2, 0u}}) {
    EXPECT_EQ(desk.say("AT+PSS=" + std::to_string(pss) + "\r"), "OK");
    EXPECT_EQ(tried(desk, "ATD5\r").short_phases, phases) << pss;
  }
}

TEST(DceV92, AnAnswererKnowsItsCallers) {
  Desk desk;
  desk.say("ATE0+PQC=0\r");
  desk.line.who.number = "100";
  make_call(desk, "ATA\r", kProfile);
  EXPECT_EQ(tried(desk, "ATA\r").short_phases, v90::kShortPhases);
  desk.line.who.number = "101";
  EXPECT_EQ(tried(desk, "ATA\r").short_phases, 0u);
}

TEST(DceV92, ACallWithoutV90LeavesNoProfile) {
  Desk desk;
  desk.say("ATE0+PQC=0\r");
  make_call(desk, "ATD5\r", {});
  EXPECT_EQ(tried(desk, "ATD5\r").short_phases, 0u);
}

TEST(DceV92, SharedProfilesBelongToTheirCard) {
  QuickProfiles profiles;
  Desk a, b;
  a.dce.share_profiles(profiles, "card-a");
  b.dce.share_profiles(profiles, "card-b");
  for (Desk* d : {&a, &b}) d->say("ATE0+PQC=0\r");
  make_call(a, "ATD5\r", kProfile);
  EXPECT_EQ(profiles.find({"card-a", OH_PUMP_CALL, "5"}).u_qts, 79);
  EXPECT_EQ(tried(b, "ATD5\r").short_phases, 0u);
  EXPECT_EQ(tried(a, "ATD5\r").short_phases, v90::kShortPhases);
}

TEST(DceV92, PigPermitsThePcmUpstream) {
  Desk desk;
  desk.say("ATE0\r");
  EXPECT_FALSE(tried(desk, "ATD5\r").pcm_upstream);
  desk.say("AT+PIG=0\r");
  EXPECT_TRUE(tried(desk, "ATD5\r").pcm_upstream);
}

TEST(DceV92, TheLastCallTellsOfQuickConnect) {
  Desk desk;
  desk.say("ATE0\r");
  desk.line.now.quick_connect = true;
  desk.say("ATD5\r");
  desk.work(0.3);
  desk.line.now.quick_connect = true;
  desk.far_end(OH_PUMP_DATA, 3);
  desk.work(1.2);
  desk.say("+++");
  desk.work(1.2);
  EXPECT_NE(desk.say("AT&V1\r").find("start-up: Quick Connect"), std::string::npos);
}

}  // namespace
}  // namespace offhook::modem
