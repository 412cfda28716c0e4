// SPDX-License-Identifier: MIT
#include "hostsim/sched/slot_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

namespace offhook::hostsim {
namespace {

using ::testing::HasSubstr;

std::string refusal(const std::vector<Reservation>& reservations) {
  try {
    plan_slots(reservations);
  } catch (const std::invalid_argument& e) {
    return e.what();
  }
  return "admitted";
}

TEST(SlotPlan, NoTickIsGivenTwiceInRandomPlans) {
  std::mt19937 random(1);
  int admitted = 0;
  for (int round = 0; round < 2000; round++) {
    std::vector<Reservation> reservations;
    std::int64_t longest = 1;
    for (std::uint64_t i = 0, n = 1 + random() % 6; i < n; i++) {
      const std::int64_t y = std::int64_t{1} << random() % 8;
      reservations.push_back({"r" + std::to_string(i), 1 + static_cast<std::int64_t>(random() % y) / 3, y});
      longest = std::max(longest, y);
    }
    std::vector<std::int64_t> offsets;
    try {
      offsets = plan_slots(reservations);
    } catch (const std::invalid_argument&) {
      continue;
    }
    admitted++;
    std::vector<int> owners(static_cast<std::size_t>(longest));
    for (std::size_t i = 0; i < reservations.size(); i++) {
      EXPECT_GE(offsets[i], 0);
      EXPECT_LT(offsets[i], reservations[i].y_ticks);
      for (std::int64_t k = 0; k < longest / reservations[i].y_ticks; k++)
        for (std::int64_t x = 0; x < reservations[i].x_ticks; x++)
          owners[static_cast<std::size_t>((offsets[i] + k * reservations[i].y_ticks + x) % longest)]++;
    }
    for (const int owner : owners) ASSERT_LE(owner, 1) << "round " << round;
  }
  EXPECT_GT(admitted, 300);
}

TEST(SlotPlan, FillsTheWholeCpuWhenPeriodsHalve) {
  const std::vector<Reservation> r = {{"a", 1, 8}, {"b", 1, 4}, {"c", 1, 2}, {"d", 1, 8}};
  EXPECT_EQ(plan_slots(r), (std::vector<std::int64_t>{3, 1, 0, 7}));
}

TEST(SlotPlan, RefusalNamesTheReservationAndTheReason) {
  EXPECT_THAT(refusal({{"modem", 9, 8}}), HasSubstr("'modem' (9 of every 8 ticks) cannot be admitted: expected 0 < X"));
  EXPECT_THAT(refusal({{"modem", 1, 6}}), HasSubstr("power of two"));
  EXPECT_THAT(refusal({{"modem", 3, 4}, {"audio", 3, 8}}), HasSubstr("'audio' (3 of every 8 ticks)"));
  EXPECT_THAT(refusal({{"modem", 3, 4}, {"audio", 3, 8}}), HasSubstr("112.5"));
  EXPECT_THAT(refusal({{"modem", 1, 2}, {"audio", 2, 4}}), HasSubstr("no 2 ticks in a row are left"));
  EXPECT_EQ(refusal({{"modem", 1, 2}, {"audio", 1, 2}}), "admitted");
}

}  // namespace
}  // namespace offhook::hostsim
