// SPDX-License-Identifier: MIT
//
// Automode in whole calls: driver, card, line and V.42, caller and answerer each with modems of its own.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <tuple>

#include "tests/sim/calls.h"

namespace offhook {
namespace {

struct End {
  const char* name;
  oh_modulation modem;
  std::uint32_t modulations;
};
constexpr std::uint32_t kV22bis = OH_MODULATION_V22BIS, kV32bis = OH_MODULATION_V32BIS, kV34 = OH_MODULATION_V34;
constexpr End kEnds[] = {{"V34Auto", OH_MODULATION_NONE, kV34 | kV32bis | kV22bis},
                         {"V34Only", OH_MODULATION_NONE, kV34},
                         {"V32bisAuto", OH_MODULATION_NONE, kV32bis | kV22bis},
                         {"V32bisOnly", OH_MODULATION_NONE, kV32bis},
                         {"V22bisOnly", OH_MODULATION_V22BIS, kV22bis}};

hostsim::Scenario scenario_of(const char* context, const End& near_end, const End& far_end, oh_pump_role role) {
  hostsim::Scenario s = test::scenario(context);
  s.role = role;
  s.modem = near_end.modem;
  s.modulations = near_end.modulations;
  s.far_modem = far_end.modem;
  s.far_modulations = far_end.modulations;
  s.time_limit_s = 120;
  return s;
}

/// By the speed of the file: the lines of V.42 and of the modulation are unambiguous.
struct Band {
  double least_bit_s, most_bit_s;
};
Band band_of(std::uint32_t common) {
  if (common & kV34) return {16'000, 33'600};
  if (common & kV32bis) return {6'000, 14'400};
  return {1'800, 2'500};
}

class Automode : public testing::TestWithParam<std::tuple<const char*, End, End>> {};

TEST_P(Automode, CarriesTheFileByTheBestModulationOrSaysWhyNot) {
  const auto& [context, near_end, far_end] = GetParam();
  const std::uint32_t common = near_end.modulations & far_end.modulations;
  const auto file = test::random_file(common & kV34 ? 12'000 : common & kV32bis ? 5000 : 1000);
  const auto r = test::run(scenario_of(context, near_end, far_end, OH_PUMP_CALL), file, false).result;
  if (common == 0) {
    EXPECT_FALSE(r.completed);
    EXPECT_THAT(r.transfer.failure,
                testing::AnyOf("the modem under test has no modulation in common with the other end",
                               "the far modem has no modulation in common with the other end",
                               "the modem under test could not connect", "the far modem could not connect"));
    EXPECT_EQ(r.transfer.bytes_delivered, 0u);
    return;
  }
  EXPECT_TRUE(r.completed) << r.transfer.failure;
  EXPECT_TRUE(r.transfer.intact);
  EXPECT_EQ(r.transfer.bytes_delivered, file.size());
  EXPECT_EQ(r.transfer.retrains, 0u);
  EXPECT_EQ(r.blocks_late, 0u);
  const double bit_s = static_cast<double>(8 * file.size()) / r.transfer_s;
  EXPECT_GT(bit_s, band_of(common).least_bit_s);
  EXPECT_LT(bit_s, band_of(common).most_bit_s);
}

INSTANTIATE_TEST_SUITE_P(CallerAndAnswerer, Automode,
                         testing::Combine(testing::Values("INT", "THR 24"), testing::ValuesIn(kEnds),
                                          testing::ValuesIn(kEnds)),
                         [](const testing::TestParamInfo<Automode::ParamType>& cell) {
                           return std::string(std::get<0>(cell.param)).substr(0, 3) + std::get<1>(cell.param).name +
                                  "Calls" + std::get<2>(cell.param).name;
                         });

TEST(AutomodeCall, TheNearEndAnswersAsWellAsItCalls) {
  const auto file = test::random_file(1000);
  for (const End& caller : {kEnds[2], kEnds[4]}) {
    const auto r = test::run(scenario_of("INT", kEnds[0], caller, OH_PUMP_ANSWER), file, false).result;
    EXPECT_TRUE(r.completed) << caller.name << ": " << r.transfer.failure;
    EXPECT_TRUE(r.transfer.intact) << caller.name;
  }
}

// The line determines where in a symbol S1 begins. V.22bis must connect at 2400 bit/s, not 1200, at every delay.
TEST(AutomodeCall, V22bisFindsS1AtEveryDelay) {
  const auto file = test::random_file(500);
  for (int eighths = 0; eighths < 8; ++eighths) {
    hostsim::Scenario s = scenario_of("INT", kEnds[4], kEnds[0], OH_PUMP_CALL);
    s.line.delay_ms = 12 + eighths / 8.;
    const auto r = test::run(s, file, false).result;
    EXPECT_TRUE(r.completed) << s.line.delay_ms << " ms: " << r.transfer.failure;
    EXPECT_GT(8 * 500 / r.transfer_s, band_of(kV22bis).least_bit_s) << s.line.delay_ms << " ms";
  }
}

TEST(AutomodeCall, SameSeedSameBytes) {
  const auto file = test::random_file(500);
  const hostsim::Scenario s = scenario_of("THR 24", kEnds[0], kEnds[2], OH_PUMP_CALL);
  const test::Recorded first = test::run(s, file), second = test::run(s, file);
  EXPECT_EQ(first.line, second.line);
  EXPECT_FALSE(first.line.empty());
}

}  // namespace
}  // namespace offhook
