// SPDX-License-Identifier: MIT
#include "driver/session/line_memory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdint>

#include "tests/realtime/realtime_guard.h"

namespace offhook::modem {
namespace {

using testing::ElementsAre;

void put(LineMemory& memory, std::int16_t from, std::int16_t to) {
  for (std::int16_t x = from; x < to; ++x) {
    const std::int16_t sent = static_cast<std::int16_t>(-x);
    memory.write(&x, &sent, 1);
  }
}

TEST(LineMemory, KeepsTheLastSamplesOfBothDirections) {
  LineMemory memory(4, OH_LINEAR16);
  put(memory, 1, 4);
  EXPECT_THAT(memory.samples(0).received, ElementsAre(1, 2, 3));
  put(memory, 4, 11);
  EXPECT_THAT(memory.samples(0).received, ElementsAre(7, 8, 9, 10));
  EXPECT_THAT(memory.samples(0).sent, ElementsAre(-7, -8, -9, -10));
  memory.clear(OH_LINEAR16);
  EXPECT_TRUE(memory.samples(0).received.empty());
}

TEST(LineMemory, ABlockLongerThanTheMemoryLeavesItsEnd) {
  LineMemory memory(4, OH_LINEAR16);
  const std::array<std::int16_t, 7> rx{1, 2, 3, 4, 5, 6, 7}, tx{};
  put(memory, 20, 22);
  memory.write(rx.data(), tx.data(), rx.size());
  EXPECT_THAT(memory.samples(0).received, ElementsAre(4, 5, 6, 7));
}

TEST(LineMemory, SentSamplesAreDelayedToTheTimeOfTheLine) {
  LineMemory memory(5, OH_LINEAR16);
  put(memory, 1, 6);
  EXPECT_THAT(memory.samples(2).sent, ElementsAre(0, 0, -1, -2, -3));
  EXPECT_THAT(memory.samples(9).sent, ElementsAre(0, 0, 0, 0, 0));
}

TEST(LineMemory, MissingSamplesAreSilence) {
  LineMemory memory(4, OH_LINEAR16);
  put(memory, 1, 5);
  memory.skip(2);
  EXPECT_THAT(memory.samples(0).received, ElementsAre(3, 4, 0, 0));
  memory.skip(1'000'000'000);
  EXPECT_THAT(memory.samples(0).received, ElementsAre(0, 0, 0, 0));
}

TEST(LineMemory, OctetsOfG711BecomeLinear) {
  LineMemory memory(3, OH_MULAW);
  const std::array<std::uint8_t, 2> rx{0x80, 0x00}, tx{0xff, 0xff};  // the largest values, Table 2 of G.711
  memory.write(rx.data(), tx.data(), 2);
  memory.skip(1);
  const LineMemory::Samples all = memory.samples(0);
  EXPECT_THAT(all.received, ElementsAre(32124, -32124, 0));
  EXPECT_THAT(all.sent, ElementsAre(0, 0, 0));
}

TEST(LineMemory, WhereTwoSamplesAreReceivedForOneSentItAppearsTwice) {
  LineMemory memory(3, OH_LINEAR16, 2);
  const std::array<std::int16_t, 8> rx{1, 2, 3, 4, 5, 6, 7, 8};
  const std::array<std::int16_t, 4> tx{-1, -2, -3, -4};
  memory.write(rx.data(), tx.data(), tx.size());
  const LineMemory::Samples line = memory.samples(1);
  EXPECT_EQ(line.rate_hz, 16'000);
  EXPECT_THAT(line.received, ElementsAre(3, 4, 5, 6, 7, 8));
  EXPECT_THAT(line.sent, ElementsAre(0, 0, -2, -2, -3, -3));
  memory.skip(2);
  EXPECT_THAT(memory.samples(0).received, ElementsAre(7, 8, 0, 0, 0, 0));
}

TEST(LineMemory, TheNextCallMayHaveTheOtherLaw) {
  LineMemory memory(2, OH_MULAW);
  const std::uint8_t octet = 0xAA;  // the loudest of A-law
  memory.write(&octet, &octet, 1);
  EXPECT_NE(memory.samples(0).received.front(), 32256);
  memory.clear(OH_ALAW);
  memory.write(&octet, &octet, 1);
  memory.skip(1);
  EXPECT_THAT(memory.samples(0).received, ElementsAre(32256, 8));
}

TEST(LineMemory, NothingIsKeptWithoutRoom) {
  LineMemory memory(0, OH_LINEAR16);
  put(memory, 1, 5);
  memory.skip(3);
  EXPECT_TRUE(memory.samples(0).sent.empty());
}

TEST(LineMemory, IsFitForTheRealTimePath) {
  LineMemory memory(1000, OH_LINEAR16);
  const std::array<std::int16_t, 105> rx{}, tx{};
  const test::RealtimeRun run = test::run_realtime([&] {
    std::uint64_t blocks = 0;
    for (; blocks < 100'000; ++blocks) {
      memory.write(rx.data(), tx.data(), rx.size());
      if (blocks % 100 == 0) memory.skip(blocks);
    }
    return blocks;
  });
  if (!run.skipped.empty()) GTEST_SKIP() << run.skipped;
  EXPECT_EQ(run.violation, "");
  EXPECT_EQ(run.value, 100'000u);
}

}  // namespace
}  // namespace offhook::modem
