// SPDX-License-Identifier: MIT
#include "offhook/event_log.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <thread>
#include <vector>

#include "driver/core/event_log_one_writer.h"

namespace offhook {
namespace {

TEST(EventLog, RefusesACapacityThatIsNoPowerOfTwo) {
  oh_event_log log;
  std::vector<oh_event> slots(8);
  EXPECT_EQ(oh_event_log_init(&log, slots.data(), 0, 0), -EINVAL);
  EXPECT_EQ(oh_event_log_init(&log, slots.data(), 7, 0), -EINVAL);
  EXPECT_EQ(oh_event_log_init(&log, nullptr, 8, 0), -EINVAL);
  EXPECT_EQ(oh_event_log_init(&log, slots.data(), 1, 0), 0);
}

TEST(EventLog, ANullLogIsANoOp) {
  oh_event_log_write(nullptr, 1, OH_EV_MARK, 0, 0);
}

TEST(EventLog, GivesBackEveryFieldInOrder) {
  oh_event_log log;
  std::vector<oh_event> slots(4);
  ASSERT_EQ(oh_event_log_init(&log, slots.data(), slots.size(), 200), 0);
  std::uint64_t next = 0;
  for (std::uint32_t round = 0; round < 10; ++round) {
    for (std::uint32_t i = 0; i < 3; ++i) {
      oh_event_log_write(&log, 0xfedcba9876543210u + 3 * round + i, OH_EV_MARK, 65535, 0xffffffffu - 3 * round - i);
    }
    oh_event out[4];
    ASSERT_EQ(oh_event_log_read(&log, out, 4), 3u);
    for (std::uint64_t i = 0; i < 3; ++i, ++next) {
      EXPECT_EQ(out[i].time_ns, 0xfedcba9876543210u + next);
      EXPECT_EQ(out[i].argument, 0xffffffffu - next);
      EXPECT_EQ(out[i].kind, OH_EV_MARK);
      EXPECT_EQ(out[i].cpu, 200);
      EXPECT_EQ(out[i].id, 65535);
    }
  }
}

TEST(EventLog, DropsAndCountsTheNewestWhenFull) {
  oh_event_log log;
  std::vector<oh_event> slots(4);
  ASSERT_EQ(oh_event_log_init(&log, slots.data(), slots.size(), 0), 0);
  for (std::uint32_t i = 0; i < 7; ++i) oh_event_log_write(&log, i, OH_EV_MARK, 0, i);
  EXPECT_EQ(oh_event_log_lost(&log), 3u);
  oh_event out[8];
  ASSERT_EQ(oh_event_log_read(&log, out, 8), 4u);
  for (std::uint32_t i = 0; i < 4; ++i) EXPECT_EQ(out[i].argument, i);
  oh_event_log_write(&log, 9, OH_EV_MARK, 0, 9);
  ASSERT_EQ(oh_event_log_read(&log, out, 8), 1u);
  EXPECT_EQ(out[0].argument, 9u);
}

TEST(EventLog, ALoneWriterLeavesTheSameBytesAndMayTakeTurnsWithTheOther) {
  oh_event_log log, other;
  std::vector<oh_event> slots(4), other_slots(4);
  ASSERT_EQ(oh_event_log_init(&log, slots.data(), slots.size(), 7), 0);
  ASSERT_EQ(oh_event_log_init(&other, other_slots.data(), other_slots.size(), 7), 0);
  oh_event_log_write_alone(nullptr, 1, OH_EV_MARK, 0, 0);
  for (std::uint64_t i = 0; i < 100; ++i) {
    const auto kind = static_cast<oh_event_kind>(1 + i % 200);
    const auto id = static_cast<std::uint16_t>(~i);
    const auto argument = static_cast<std::uint32_t>(0x9e3779b9u * i);
    (i % 3 == 0 ? oh_event_log_write : oh_event_log_write_alone)(&log, i << 33, kind, id, argument);
    oh_event_log_write(&other, i << 33, kind, id, argument);
    oh_event out[4] = {}, expected[4] = {};
    if (i % 7 < 6) continue;  // three are lost
    ASSERT_EQ(oh_event_log_read(&log, out, 4), oh_event_log_read(&other, expected, 4));
    ASSERT_EQ(std::memcmp(out, expected, sizeof out), 0);
  }
  EXPECT_EQ(oh_event_log_lost(&log), oh_event_log_lost(&other));
  EXPECT_GT(oh_event_log_lost(&log), 0u);
}

/// Two writers (an interrupt on another CPU is the worst case) and one reader at once: no event is torn or repeated,
/// each writer's events are in order, and read + lost = written. Also run under the tsan preset.
TEST(EventLog, ConcurrentWritersAndReaderLoseOnlyWhatIsCounted) {
  constexpr std::uint32_t kEvents = 200'000;
  oh_event_log log;
  std::vector<oh_event> slots(64);
  ASSERT_EQ(oh_event_log_init(&log, slots.data(), slots.size(), 3), 0);
  std::atomic<int> writing{2};
  const auto write = [&](std::uint16_t id) {
    for (std::uint32_t i = 0; i < kEvents; ++i) {
      oh_event_log_write(&log, (std::uint64_t{id} << 32) | i, OH_EV_MARK, id, i);
      if (i % 64 == 0) std::this_thread::yield();
    }
    --writing;
  };
  std::thread first(write, std::uint16_t{1});
  std::thread second(write, std::uint16_t{2});
  std::uint64_t read = 0;
  std::int64_t last[3] = {-1, -1, -1};
  std::uint64_t bad = 0;
  oh_event out[16];
  for (bool finished = false; !finished;) {
    finished = writing == 0;
    while (const std::size_t n = oh_event_log_read(&log, out, 16)) {
      for (std::size_t i = 0; i < n; ++i) {
        const oh_event& e = out[i];
        const bool whole = e.kind == OH_EV_MARK && e.cpu == 3 && (e.id == 1 || e.id == 2) &&
                           e.time_ns == ((std::uint64_t{e.id} << 32) | e.argument);
        bad += !whole || last[e.id] >= std::int64_t{e.argument};
        if (whole) last[e.id] = e.argument;
      }
      read += n;
    }
    std::this_thread::yield();
  }
  first.join();
  second.join();
  EXPECT_EQ(bad, 0u);
  EXPECT_GT(read, 0u);
  EXPECT_EQ(read + oh_event_log_lost(&log), 2u * kEvents);
}

}  // namespace
}  // namespace offhook
