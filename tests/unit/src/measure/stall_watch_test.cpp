// SPDX-License-Identifier: MIT
#include "src/measure/stall_watch.h"

#include <gtest/gtest.h>

namespace offhook::measure {
namespace {

constexpr std::uint64_t kMs = OH_MODEM_RATE_HZ / 1000;

/// Bursts of 1 ms in succession; the function gives `behind` of each.
template <typename Behind>
StallWatch watched(int bursts, const Behind& behind, int late_from, int late_to) {
  StallWatch watch;
  std::uint64_t late = 0;
  for (int ms = 1; ms <= bursts; ms++) {
    late += ms > late_from && ms <= late_to ? 2 : 0;
    watch.look(static_cast<std::uint64_t>(ms) * kMs, behind(ms) * kMs, [&] { return late; });
  }
  return watch;
}

TEST(StallWatch, AStallIsAsLongAsTheLatestOfItsBurstsAndHasTheLateBlocksOf100msAfterThem) {
  // From 50 ms on 8 ms behind, 1 ms less at each burst: at 3 ms it is still a stall. Two blocks are late in each ms up
  // to 200.
  const auto behind = [](int ms) { return static_cast<std::uint64_t>(ms < 50 || ms > 58 ? 0 : 58 - ms); };
  const StallWatch watch = watched(400, behind, 10, 200);
  ASSERT_EQ(watch.stalls().size(), 1u);
  const BankStall& stall = watch.stalls().front();
  EXPECT_DOUBLE_EQ(stall.at_s, 0.050);
  EXPECT_DOUBLE_EQ(stall.ms, 8);
  EXPECT_EQ(stall.blocks_late, 2u * (55 + 100 - 50)) << "from the first of them until 100 ms after the last, at 55 ms";
  EXPECT_EQ(watch.blocks_late(), stall.blocks_late);
}

TEST(StallWatch, LessThan3msIsNoneAndOneThatIsNotOverDoesNotCount) {
  EXPECT_TRUE(watched(
                  400, [](int) { return std::uint64_t{2}; }, 0, 400)
                  .stalls()
                  .empty());
  const auto at_the_end = [](int ms) { return static_cast<std::uint64_t>(ms == 350 ? 5 : 0); };
  EXPECT_TRUE(watched(449, at_the_end, 0, 400).stalls().empty());
  EXPECT_EQ(watched(450, at_the_end, 0, 400).stalls().size(), 1u);
}

TEST(StallWatch, TwoStallsAreToldApartAndOnlyTheFirstAreKept) {
  const auto twice = [](int ms) { return static_cast<std::uint64_t>(ms == 50 || ms == 151 ? 4 : 0); };
  const StallWatch watch = watched(400, twice, 100, 160);
  ASSERT_EQ(watch.stalls().size(), 2u);
  EXPECT_EQ(watch.stalls()[0].blocks_late, 2u * 50);
  EXPECT_EQ(watch.stalls()[1].blocks_late, 2u * 9);
  EXPECT_EQ(watch.blocks_late(), 2u * 59);

  StallWatch many;
  const auto none_late = [] { return std::uint64_t{0}; };
  for (std::uint64_t n = 0; n <= StallWatch::kMost; n++) {
    const std::uint64_t at = n * 1000 * kMs;
    many.look(at, 4 * kMs, none_late);
    many.look(at + StallWatch::kAftermathMs * kMs, 0, none_late);
  }
  EXPECT_EQ(many.stalls().size(), StallWatch::kMost);
}

}  // namespace
}  // namespace offhook::measure
