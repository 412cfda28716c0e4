// SPDX-License-Identifier: MIT
#include "dsp/blocks/hot_lines.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace offhook {
namespace {

// Lines that are only prefetched: unmapped memory at the ends of ranges and beyond their number does no harm.
TEST(HotLines, AsksForWhatItWasGivenAndNoMore) {
  HotLines hot;
  EXPECT_EQ(hot.left(), 0u);
  for (int k = 0; k < HotLines::kMostRanges + 5; ++k) {
    hot.add(reinterpret_cast<const void*>(uintptr_t{4096} * static_cast<unsigned>(k + 1)), 3 * HotLines::kLine);
  }
  EXPECT_EQ(hot.left(), size_t{HotLines::kMostRanges} * 3);
  hot.prefetch(4);
  EXPECT_EQ(hot.left(), size_t{HotLines::kMostRanges} * 3 - 4);
  hot.prefetch(100000);
  EXPECT_EQ(hot.left(), 0u);
  hot.clear();
  hot.add(&hot, 1);
  EXPECT_EQ(hot.left(), 1u);
  hot.add(&hot, 0);
  EXPECT_EQ(hot.left(), 1u);
}

}  // namespace
}  // namespace offhook
