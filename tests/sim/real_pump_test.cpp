// SPDX-License-Identifier: MIT
//
// The real pumps on a line, in every context; V.22bis unless said.
#include <gtest/gtest.h>

#include <cstring>
#include <thread>

#include "tests/sim/calls.h"

namespace offhook {
namespace {

TEST(RealPump, TheFileArrivesByteForByteInEverySufficientContext) {
  const auto file = test::random_file(3000);
  double reference = 0;
  for (const char* context : {"INT", "DPC", "THR 24", "RES 2/8", "RES 4/16 strict"}) {
    const auto r = test::run(test::scenario(context), file).result;
    EXPECT_TRUE(r.completed) << context << ": " << r.transfer.failure;
    EXPECT_TRUE(r.transfer.intact) << context;
    EXPECT_EQ(r.transfer.bytes_delivered, file.size()) << context;
    EXPECT_EQ(r.blocks_late, 0u) << context;
    EXPECT_EQ(r.transfer.frames_retransmitted, 0u) << context;
    if (reference == 0) reference = r.transfer_s;
    EXPECT_NEAR(r.transfer_s / reference, 1, 0.01) << context;
  }
  // At most 2400 bit/s, of which V.42 takes less than a tenth.
  EXPECT_GT(reference, 3000 * 8 / 2400.0);
  EXPECT_LT(reference, 3000 * 8 / (2400.0 * 0.9));
}

TEST(RealPump, V34CarriesTheFileInEverySufficientContext) {
  const auto file = test::random_file(20'000);
  double reference = 0;
  for (const char* context : {"INT", "DPC", "THR 24", "RES 2/8", "RES 4/16 strict"}) {
    hostsim::Scenario s = test::scenario(context);
    s.modem = OH_MODULATION_V34;
    const auto r = test::run(s, file).result;
    EXPECT_TRUE(r.completed) << context << ": " << r.transfer.failure;
    EXPECT_TRUE(r.transfer.intact) << context;
    EXPECT_EQ(r.blocks_late, 0u) << context;
    EXPECT_EQ(r.transfer.retrains, 0u) << context;
    if (reference == 0) reference = r.transfer_s;
    EXPECT_NEAR(r.transfer_s / reference, 1, 0.05) << context << ": the pump hears the same line";
  }
  EXPECT_LT(reference, 20'000 * 8 / 19'200.0) << "the default line has echo, mu-law and noise";
}

TEST(RealPump, V34LosesNothingToAReservationThatIsTooSmall) {
  hostsim::Scenario s = test::scenario("RES 1/8 strict");
  s.modem = OH_MODULATION_V34;
  s.time_limit_s = 60;
  const test::Recorded r = test::run(s, test::random_file(20'000));
  EXPECT_GT(r.result.driver.samples_filled_in, 0u);
  EXPECT_TRUE(r.result.transfer.intact) << "V.42 gives on nothing that is wrong";
}

// The card counts and the log reports every loss; V.42 notices it, and no wrong data get through.
TEST(RealPump, AnInsufficientReservationLosesSamplesFramesAndTheConnection) {
  const auto file = test::random_file(3000);
  const test::Recorded r = test::run(test::scenario("RES 1/8 strict"), file);
  EXPECT_FALSE(r.result.completed);
  EXPECT_TRUE(r.result.transfer.intact);
  EXPECT_GT(r.result.card.underrun_samples, 0u);
  EXPECT_GT(r.result.card.overrun_samples, 0u);
  EXPECT_EQ(r.result.card.overrun_samples, r.result.driver.samples_filled_in);
  std::uint64_t logged = 0;
  for (const oh_event& e : r.events) {
    if (e.kind == OH_EV_FILL_IN) logged += e.argument;
  }
  EXPECT_EQ(logged, r.result.driver.samples_filled_in);
  EXPECT_GT(r.result.transfer.bad_frames, 0u);
}

TEST(RealPump, HolesThatTheConnectionSurvivesCostFramesAndTime) {
  const auto file = test::random_file(3000);
  const auto clean = test::run(test::scenario("INT"), file).result;
  const auto r = test::run(test::scenario("RES 3/17 strict"), file).result;
  EXPECT_GT(r.blocks_late, 0u);
  EXPECT_GT(r.transfer.bad_frames, 0u);
  EXPECT_GE(r.transfer_s, clean.transfer_s);
  EXPECT_TRUE(r.transfer.intact);
}

bool same(const test::Recorded& a, const test::Recorded& b) {
  return a.events.size() == b.events.size() && a.line == b.line &&
         std::memcmp(a.events.data(), b.events.data(), a.events.size() * sizeof(oh_event)) == 0;
}

TEST(Determinism, SameSeedSameBytesOnOneThreadAndTwo) {
  const auto file = test::random_file(500);
  const hostsim::Scenario s = test::scenario("RES 3/16 strict");
  const test::Recorded first = test::run(s, file);
  test::Recorded second, third;
  std::thread one([&] { second = test::run(s, file); });
  std::thread other([&] { third = test::run(s, file); });
  one.join();
  other.join();
  ASSERT_FALSE(first.line.empty());
  EXPECT_TRUE(same(first, second));
  EXPECT_TRUE(same(first, third));
  hostsim::Scenario changed = s;
  changed.seed = 2;
  EXPECT_FALSE(same(first, test::run(changed, file)));
}

}  // namespace
}  // namespace offhook
