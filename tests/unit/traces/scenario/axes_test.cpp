// SPDX-License-Identifier: MIT
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "traces/scenario/document.h"

namespace offhook::config {
namespace {

TEST(Axes, ListsAndRangesStandInTheOrderOfTheFile) {
  const auto axes = Document::parse(
                        "\"context.y_ticks\" = { from = 1, to = 7, step = 2 }\n"
                        "context.x_ticks = [1, 2]\n"
                        "line.noise_dbm0 = { from = 0.1, to = 0.3, step = 0.1 }\n"
                        "pump.kind = [\"real\"]\n",
                        "grid.toml")
                        .axes();
  ASSERT_EQ(axes.size(), 4u);
  EXPECT_EQ(axes[0].path, "context.y_ticks");
  EXPECT_THAT(axes[0].values, testing::ElementsAre("1", "3", "5", "7"));
  EXPECT_EQ(axes[1].position, "grid.toml:2:9");
  EXPECT_THAT(axes[1].values, testing::ElementsAre("1", "2"));
  EXPECT_EQ(axes[2].values.size(), 3u);
  EXPECT_THAT(axes[3].values, testing::ElementsAre("\"real\"")) << axes[3].values.at(0);
}

TEST(Axes, EntriesThatAreNeitherListNorRangeAreRefused) {
  for (const char* text : {"seed = 3", "seed = []", "seed = { from = 3 }", "seed = { from = 3, to = 1 }",
                           "seed = { from = 1, to = 3, step = 0 }", "seed = { from = 1, to = 3, stop = 1 }",
                           "seed = { from = 1, to = 1e30 }"}) {
    EXPECT_THROW(Document::parse(text, "grid.toml").axes(), Error) << text;
  }
}

}  // namespace
}  // namespace offhook::config
