// SPDX-License-Identifier: MIT
//
// V.90 in whole calls: driver, card of 16000 samples/s, digital trunk, V.42, and the digital modem at the far end.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "driver/core/logged_rate.h"
#include "tests/sim/calls.h"

namespace offhook {
namespace {

constexpr std::uint32_t kV34 = OH_MODULATION_V34, kV32bis = OH_MODULATION_V32BIS;

hostsim::Scenario trunk(const char* context, oh_modulation modem) {
  hostsim::Scenario s = test::scenario(context);
  s.line_kind = hostsim::LineKind::kDigitalTrunk;
  s.trunk.noise_dbm0 = -80;
  s.modem = modem;
  s.time_limit_s = 120;
  return s;
}

struct Rates {
  std::uint32_t received = 0, sent = 0;
  friend bool operator==(const Rates&, const Rates&) = default;
};
/// At the near end, when data mode began.
Rates rates(const test::Recorded& r) {
  for (const oh_event& e : r.events) {
    if (e.kind == OH_EV_PUMP_RATES && e.id == 0)
      return {rate_logged(e.argument >> 16), rate_logged(e.argument & 0xffff)};
  }
  return {};
}

TEST(V90Call, TheFileArrivesByteForByteInEverySufficientContext) {
  const auto file = test::random_file(30'000);
  double reference = 0;
  for (const char* context : {"INT", "DPC", "THR 24", "RES 2/8"}) {
    const test::Recorded r = test::run(trunk(context, OH_MODULATION_V90), file);
    EXPECT_TRUE(r.result.completed) << context << ": " << r.result.transfer.failure;
    EXPECT_TRUE(r.result.transfer.intact) << context;
    EXPECT_EQ(r.result.blocks_late, 0u) << context;
    EXPECT_EQ(r.result.transfer.retrains, 0u) << context;
    EXPECT_EQ(rates(r), (Rates{56'000, 33'600})) << context;
    if (reference == 0) reference = r.result.transfer_s;
    EXPECT_NEAR(r.result.transfer_s / reference, 1, 0.05) << context;
  }
  EXPECT_GT(reference, 30'000 * 8 / 56'000.0);
  EXPECT_LT(reference, 30'000 * 8 / 45'000.0);
}

TEST(V90Call, WhoAnswersHasTheSameRatesAsWhoCalls) {
  for (const char* law : {"mu-law", "a-law"}) {
    hostsim::Scenario s = trunk("INT", OH_MODULATION_V90);
    s.role = OH_PUMP_ANSWER;
    s.trunk.law = s.trunk.codec = law;
    const test::Recorded r = test::run(s, test::random_file(5000));
    EXPECT_TRUE(r.result.completed) << law << ": " << r.result.transfer.failure;
    EXPECT_EQ(rates(r), (Rates{56'000, 33'600})) << law;
  }
}

TEST(V90Call, AutomodeAtBothEndsFindsV90) {
  for (const oh_pump_role role : {OH_PUMP_CALL, OH_PUMP_ANSWER}) {
    hostsim::Scenario s = trunk("DPC", OH_MODULATION_NONE);
    s.role = role;
    const test::Recorded r = test::run(s, test::random_file(5000));
    EXPECT_TRUE(r.result.completed) << r.result.transfer.failure;
    EXPECT_EQ(rates(r), (Rates{56'000, 33'600}));
  }
}

TEST(V90Call, ARouteThatIsNotDigitalCarriesV34) {
  for (const oh_modulation modem : {OH_MODULATION_NONE, OH_MODULATION_V90}) {
    hostsim::Scenario s = trunk("DPC", modem);
    s.trunk.converters = true;
    const test::Recorded r = test::run(s, test::random_file(5000));
    EXPECT_TRUE(r.result.completed) << r.result.transfer.failure;
    EXPECT_GE(rates(r).received, 19'200u);
    EXPECT_LE(rates(r).received, 33'600u);
  }
}

TEST(V90Call, AnEndWithoutV90IsMetWithWhatItHas) {
  struct End {
    oh_modulation near_modem, far_modem;
    std::uint32_t near_set, far_set, most;
  };
  const End ends[] = {{OH_MODULATION_NONE, OH_MODULATION_NONE, kAllModulations, kV34, 33'600},
                      {OH_MODULATION_NONE, OH_MODULATION_NONE, kV34, kAllModulations, 33'600},
                      {OH_MODULATION_NONE, OH_MODULATION_NONE, kAllModulations, kV32bis, 14'400},
                      {OH_MODULATION_NONE, OH_MODULATION_V22BIS, kAllModulations, kAllModulations, 2400},
                      {OH_MODULATION_V90, OH_MODULATION_V34, kAllModulations, kAllModulations, 33'600},
                      {OH_MODULATION_V34, OH_MODULATION_V90, kAllModulations, kAllModulations, 33'600}};
  for (const End& end : ends) {
    hostsim::Scenario s = trunk("INT", end.near_modem);
    s.far_modem = end.far_modem;
    s.modulations = end.near_set;
    s.far_modulations = end.far_set;
    SCOPED_TRACE(testing::Message() << end.near_modem << " " << end.far_modem << " " << end.near_set << " "
                                    << end.far_set);
    const test::Recorded r = test::run(s, test::random_file(1500));
    EXPECT_TRUE(r.result.completed) << r.result.transfer.failure;
    EXPECT_LE(rates(r).received, end.most);
    EXPECT_GE(rates(r).received, end.most * 3 / 4);
  }
}

TEST(V90Call, TcpOverPppCarriesTheFileAndItsHeadersAndPausesCostTime) {
  const auto file = test::random_file(60'000);
  double seconds[2];
  for (const bool ppp : {false, true}) {
    hostsim::Scenario s = trunk("RES 2/8", OH_MODULATION_V90);
    if (ppp) s.protocol = hostsim::TransferProtocol::kPppTcp;
    const test::Recorded r = test::run(s, file, false);
    ASSERT_TRUE(r.result.completed) << r.result.transfer.failure;
    EXPECT_TRUE(r.result.transfer.intact);
    seconds[ppp] = r.result.transfer_s;
    // 42 segments of 1460 octets, each with 47 additional ones, one octet in 128 escaped, plus the SYN.
    EXPECT_NEAR(static_cast<double>(r.result.transfer.octets_carried), ppp ? 60'000 + 43 * 47 + 60'000 / 128 : 60'000,
                ppp ? 200 : 0);
  }
  EXPECT_GT(seconds[1] / seconds[0], 1 + 47.0 / 1460);
  EXPECT_LT(seconds[1], seconds[0] * (1 + 47.0 / 1460 + 1. / 128) + 2) << "slow start is a few round trips";
}

/// The states of OH_EV_PUMP_HOLD at an end, in order.
std::vector<int> holds(const test::Recorded& r, int end) {
  std::vector<int> states;
  for (const oh_event& e : r.events) {
    if (e.kind == OH_EV_PUMP_HOLD && e.id == end) states.push_back(static_cast<int>(e.argument & 0xffff));
  }
  return states;
}

// V.92 9.10 during a transfer; V.42 pauses and then continues (9.10.3).
TEST(V90Call, AHoldInMidTransferLeavesTheBytesWhole) {
  const auto file = test::random_file(60'000);
  for (const bool by_far_end : {false, true}) {
    for (const oh_modulation modem : {OH_MODULATION_V90, OH_MODULATION_NONE}) {
      hostsim::Scenario s = trunk("RES 2/8", modem);
      s.hold = {.at_s = 3, .away_s = 4, .by_far_end = by_far_end, .limit = 2};
      SCOPED_TRACE(testing::Message() << "by the far end: " << by_far_end << ", modem " << modem);
      const test::Recorded r = test::run(s, file);
      ASSERT_TRUE(r.result.completed) << r.result.transfer.failure;
      EXPECT_TRUE(r.result.transfer.intact);
      EXPECT_EQ(r.result.transfer.timeouts, 0u);
      ASSERT_TRUE(r.result.transfer.hold);
      const hostsim::HoldStatus& h = *r.result.transfer.hold;
      EXPECT_GE(h.asked_at, r.result.transfer.connected_at + 3'000'000'000);
      EXPECT_LT(h.refused_at, 0);
      EXPECT_EQ(h.limit_s, 20u);
      EXPECT_NEAR(static_cast<double>(h.resumed_at - h.away_at) * 1e-9, 4, 0.02) << "by the block";
      EXPECT_GT(h.data_at, h.resumed_at + 5'000'000'000) << "a whole start-up";
      EXPECT_LT(h.data_at, r.result.transfer.done_at) << "the rest of the file came after it";
      EXPECT_GT(r.result.transfer_s, 4 + 60'000 * 8 / 56'000.0);
      const int asks = by_far_end ? 1 : 0;
      EXPECT_EQ(holds(r, asks), (std::vector<int>{OH_HOLD_ASKED, OH_HOLD_AWAY, OH_HOLD_NONE}));
      EXPECT_EQ(holds(r, 1 - asks), (std::vector<int>{OH_HOLD_WAITING, OH_HOLD_NONE}));
    }
  }
}

TEST(V90Call, AHoldThatIsNotGrantedCostsAStartUpAndNoByte) {
  hostsim::Scenario s = trunk("INT", OH_MODULATION_V90);
  s.hold = {.at_s = 1, .limit = 0};
  const test::Recorded r = test::run(s, test::random_file(20'000));
  ASSERT_TRUE(r.result.completed) << r.result.transfer.failure;
  EXPECT_TRUE(r.result.transfer.intact);
  ASSERT_TRUE(r.result.transfer.hold);
  EXPECT_GT(r.result.transfer.hold->refused_at, r.result.transfer.hold->asked_at);
  EXPECT_LT(r.result.transfer.hold->away_at, 0);
  EXPECT_GT(r.result.transfer.hold->data_at, r.result.transfer.hold->refused_at);
}

TEST(V90Call, WhoStaysAwayForLongerThanGrantedLosesTheCall) {
  hostsim::Scenario s = trunk("INT", OH_MODULATION_V90);
  s.hold = {.at_s = 1, .away_s = 30, .limit = 1};
  const test::Recorded r = test::run(s, test::random_file(20'000));
  EXPECT_FALSE(r.result.completed);
  EXPECT_TRUE(r.result.transfer.failed);
  ASSERT_TRUE(r.result.transfer.hold);
  EXPECT_EQ(r.result.transfer.hold->limit_s, 10u);
  EXPECT_LT(r.result.transfer.hold->resumed_at, 0);
}

// Both ends use automode, and the line is analogue, so V.34 has no hold.
TEST(V90Call, WhereThereIsNoV90AHoldIsRefusedAndNothingHappens) {
  hostsim::Scenario s = test::scenario("INT");
  s.modem = OH_MODULATION_NONE;
  s.hold = {.at_s = 1};
  const test::Recorded r = test::run(s, test::random_file(10'000));
  ASSERT_TRUE(r.result.completed) << r.result.transfer.failure;
  EXPECT_EQ(r.result.transfer.retrains, 0u);
  ASSERT_TRUE(r.result.transfer.hold);
  EXPECT_EQ(r.result.transfer.hold->refused_at, r.result.transfer.hold->asked_at);
  EXPECT_TRUE(holds(r, 0).empty());
}

TEST(V90Call, TwoAnalogueModemsHaveV34InCommon) {
  hostsim::Scenario s = test::scenario("INT");
  s.modem = OH_MODULATION_NONE;
  const test::Recorded r = test::run(s, test::random_file(5000));
  EXPECT_TRUE(r.result.completed) << r.result.transfer.failure;
  EXPECT_LE(rates(r).received, 33'600u) << "a card of 8000 samples/s offers no V.90";
}

}  // namespace
}  // namespace offhook
