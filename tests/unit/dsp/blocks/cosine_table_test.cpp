// SPDX-License-Identifier: MIT
#include "dsp/blocks/cosine_table.h"

#include <gtest/gtest.h>

namespace offhook {
namespace {

TEST(CosineTable, IsToTheBitWhatTheSeriesGivesAlsoForManyTurns) {
  for (uint32_t steps = 0; steps < 40 * CosineTable::kSteps; steps += 37)
    ASSERT_EQ(kCosine(steps), sincos_turns(static_cast<double>(steps) / CosineTable::kSteps).cos) << steps;
}

}  // namespace
}  // namespace offhook
