// SPDX-License-Identifier: MIT
#include "src/measure/bank.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

namespace offhook::measure {
namespace {

BankConfig two_modems() {
  BankConfig config;
  config.context.best_effort = true;
  config.channels = 2;
  config.modem = kV22bis;
  config.seconds = 3;
  return config;
}

/// Measures until the machine kept time once: a stall longer than the card's ring loses samples, and then calls fail
/// because of the machine.
/// @return false if it stalled five times
bool measure_without_a_stall(const BankConfig& config, BankResult& result) {
  for (int attempt = 0; attempt < 5; ++attempt) {
    result = {};
    measure_bank(
        config, [](double, const std::string&) { return true; }, result);
    if (result.samples_filled_in == 0 && result.underrun_samples == 0) return true;
  }
  return false;
}

TEST(MeasureBank, DataOfBothDirectionsArriveAsTheyWereSent) {
  BankResult result;
  if (!measure_without_a_stall(two_modems(), result)) GTEST_SKIP() << "the machine stalled in each of five runs";
  EXPECT_EQ(result.connected, 2);
  EXPECT_EQ(result.channels, 2);
  EXPECT_GT(result.bytes, 100u) << "at 2400 bit/s, in 3 s";
  EXPECT_EQ(result.bytes_wrong, 0u);
  EXPECT_GE(result.seconds, 3);
  EXPECT_GT(result.blocks, 0u);
  EXPECT_EQ(result.service.count(), result.blocks) << "one service run serves one block";
  EXPECT_LE(result.blocks_late_in_stalls, result.blocks_late);
}

TEST(MeasureBank, OneThreadServesWhatIsOwedAtOneTimeInOneCall) {
  BankConfig config = two_modems();
  config.channels = 6;
  config.together = config.one_thread = true;
  BankResult result;
  if (!measure_without_a_stall(config, result)) GTEST_SKIP() << "the machine stalled in each of five runs";
  EXPECT_EQ(result.connected, 6);
  EXPECT_GT(result.bytes, 100u);
  EXPECT_EQ(result.bytes_wrong, 0u);
  EXPECT_GT(result.blocks, 6 * 80 * 3u) << "of 12.5 ms each";
  EXPECT_LE(result.service.count(), result.blocks / 6);
}

TEST(MeasureBank, StopsWhenAskedAndRefusesAnOddNumber) {
  BankResult result;
  measure_bank(
      two_modems(), [](double, const std::string&) { return false; }, result);
  EXPECT_EQ(result.bytes, 0u);
  BankConfig config = two_modems();
  config.channels = 3;
  EXPECT_THROW(measure_bank(
                   config, [](double, const std::string&) { return true; }, result),
               std::runtime_error);
}

}  // namespace
}  // namespace offhook::measure
