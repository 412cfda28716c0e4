// SPDX-License-Identifier: MIT
//
// V.21, V.23, Bell 103, Bell 212A and V.22 in whole calls: driver, card, the telephone network's lines, caller and
// answerer.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <tuple>

#include "tests/sim/calls.h"

namespace offhook {
namespace {

/// The line of a call. A modem's own echo is up to 16 dB louder than the far end.
struct Way {
  const char* name;
  double loss_db, near_echo_db, noise_dbm0, delay_ms, frequency_offset_hz, clock_ppm;
  const char *codec, *channel;
};
constexpr Way kWays[] = {{"Flat", 10, 12, -60, 10, 0, 0, "mu-law", "flat"},
                         {"LongLoop", 26, 10, -55, 30, 0, 40, "a-law", "v56bis-ad6-edd2"},
                         {"Satellite", 15, 8, -52, 300, 6, -80, "mu-law", "v56bis-ad5-edd3"}};

hostsim::Scenario scenario_of(const Modulation& modem, oh_pump_role role, const Way& way) {
  hostsim::Scenario s = test::scenario("THR 24");
  s.role = role;
  s.modem = modem.id;
  if (modem.v42_window == 0) s.link.error_control = OH_ERROR_CONTROL_NONE;
  s.line.loss_db = way.loss_db;
  s.line.near_echo_db = way.near_echo_db;
  s.line.noise_dbm0 = way.noise_dbm0;
  s.line.delay_ms = way.delay_ms;
  s.line.frequency_offset_hz = way.frequency_offset_hz;
  s.line.clock_ppm = way.clock_ppm;
  s.line.codec = way.codec;
  s.line.channel = way.channel;
  s.time_limit_s = 120;
  return s;
}

class SlowCall : public testing::TestWithParam<std::tuple<Modulation, oh_pump_role, Way>> {};

TEST_P(SlowCall, CarriesTheFileWhole) {
  const auto& [modem, role, way] = GetParam();
  // The far end sends: in V.23 an answerer is faster than a caller.
  const std::uint32_t rate = role == OH_PUMP_CALL ? modem.max_bit_rate : modem.min_bit_rate;
  const auto file = test::random_file(rate < 300 ? 150 : 600);
  const auto r = test::run(scenario_of(modem, role, way), file, false).result;
  EXPECT_TRUE(r.completed) << r.transfer.failure;
  EXPECT_TRUE(r.transfer.intact);
  EXPECT_EQ(r.transfer.bytes_delivered, file.size());
  EXPECT_EQ(r.transfer.retrains, 0u);
  EXPECT_LE(static_cast<double>(8 * file.size()) / r.transfer_s, rate);
}

INSTANTIATE_TEST_SUITE_P(Lines, SlowCall,
                         testing::Combine(testing::Values(kV21, kV23, kBell103, kBell212a, kV22),
                                          testing::Values(OH_PUMP_CALL, OH_PUMP_ANSWER), testing::ValuesIn(kWays)),
                         [](const testing::TestParamInfo<SlowCall::ParamType>& cell) {
                           return std::string(std::get<0>(cell.param).name) +
                                  (std::get<1>(cell.param) == OH_PUMP_CALL ? "Calls" : "Answers") +
                                  std::get<2>(cell.param).name;
                         });

TEST(SlowCalls, V42IsNotToBeHadAndTheResultSaysSo) {
  hostsim::Scenario s = scenario_of(kV21, OH_PUMP_CALL, kWays[0]);
  s.link.error_control = OH_ERROR_CONTROL_REQUIRED;
  const auto r = test::run(s, test::random_file(100), false).result;
  EXPECT_FALSE(r.completed);
  EXPECT_THAT(r.transfer.failure, testing::HasSubstr("requires V.42, which does not run over this modulation"));
}

TEST(SlowCalls, AutomodeFallsToAMarkWhereTheFarEndHasNoMore) {
  for (const Modulation& far : {kV21, kV23, kBell103, kBell212a}) {
    hostsim::Scenario s = scenario_of(far, OH_PUMP_CALL, kWays[0]);
    s.link.error_control = OH_ERROR_CONTROL_OPTIONAL;
    s.far_modem = far.id;
    s.modem = OH_MODULATION_NONE;
    const auto file = test::random_file(200);
    const auto r = test::run(s, file, false).result;
    EXPECT_TRUE(r.completed) << far.name << ": " << r.transfer.failure;
    EXPECT_TRUE(r.transfer.intact) << far.name;
  }
}

}  // namespace
}  // namespace offhook
