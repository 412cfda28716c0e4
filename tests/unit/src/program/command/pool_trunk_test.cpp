// SPDX-License-Identifier: MIT
#include "src/program/command/pool_trunk.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/temporary_folder.h"

namespace offhook::command {
namespace {

using testing::HasSubstr;

TEST(RingBursts, APauseOfTheRingIsNoEndAndALongOneIs) {
  RingBursts bursts;
  EXPECT_FALSE(bursts.rings());
  std::int64_t now = 1000;
  for (int burst = 0; burst < 3; ++burst) {  // 2 s of ring, 4 s of pause
    for (int k = 0; k < 600; ++k, now += 10) {
      bursts.follow(k < 200, false, now);
      EXPECT_TRUE(bursts.rings());
    }
  }
  for (const std::int64_t end = now + RingBursts::kPauseMs; now < end; now += 10) bursts.follow(false, false, now);
  EXPECT_FALSE(bursts.rings());
}

TEST(RingBursts, AnAnsweredRingIsOver) {
  RingBursts bursts;
  bursts.follow(true, false, 1000);
  bursts.follow(false, true, 1010);
  EXPECT_FALSE(bursts.rings());
  bursts.follow(false, false, 1020);  // on hook again during the pause
  EXPECT_FALSE(bursts.rings());
}

TEST(PoolTrunk, AnAddressThatIsNoneGetsOneReason) {
  const auto complaint = [](const char* address) {
    return test::complaint([&] { open_pool_trunk(address, 0, [](const std::string&) {}); });
  };
  for (const char* address : {"", "sip:", "dahdi", "tape:1", "audiosocket:", "rtp::4000,:4000"})
    EXPECT_THAT(complaint(address), HasSubstr("expected sip:USER@HOST, audiosocket:HOST:PORT,listen or dahdi:SPAN"));
  EXPECT_THAT(complaint("audiosocket::9092"), HasSubstr("a pool takes calls"));
  EXPECT_THAT(complaint("audiosocket::9092,listen,law=g729"), HasSubstr("expected law=pcmu or pcma"));
  EXPECT_THAT(complaint("dahdi:1/0"), HasSubstr("expected a span or channels of a span"));
}

TEST(PoolTrunk, AnAudioSocketPortHasTheLinesAskedFor) {
  const auto quiet = [](const std::string&) {};
  const auto two = open_pool_trunk("audiosocket::0,listen,law=pcma", 2, quiet);
  EXPECT_EQ(two->lines(), 2u);
  EXPECT_EQ(two->card(1).encoding(), OH_ALAW);
  EXPECT_THAT(two->address(0), HasSubstr("audiosocket:127.0.0.1:"));
  EXPECT_TRUE(two->names_callers());
  EXPECT_EQ(open_pool_trunk("audiosocket::0,listen", 0, quiet)->lines(), kUsualLines);
}

}  // namespace
}  // namespace offhook::command
