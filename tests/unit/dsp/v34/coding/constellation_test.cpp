// SPDX-License-Identifier: MIT
#include "dsp/v34/coding/constellation.h"

#include <gtest/gtest.h>

#include <set>

#include "tests/unit/dsp/v34/printed_figure5.h"

namespace offhook::v34 {
namespace {

TEST(V34Constellation, EqualsEveryLabelOfPrintedFigure5) {
  int points = 0;
  for (const PrintedFigureRow& row : kFigure5) {
    int re = row.first_re;
    for (const int label : row.labels) {
      EXPECT_EQ(quarter_point(label), (Point{static_cast<int16_t>(re), static_cast<int16_t>(row.im)})) << label;
      re += 4;
      ++points;
    }
  }
  EXPECT_EQ(points, kQuarterPoints);
}

TEST(V34Constellation, LabelInvertsPointForEveryQuadrant) {
  std::set<std::pair<int, int>> seen;
  for (int label = 0; label < kQuarterPoints; ++label) {
    for (int k = 0; k < 4; ++k) {
      const Point u = rotate_cw(quarter_point(label), k);
      EXPECT_EQ(quadrant(u), k);
      EXPECT_EQ(quarter_label(rotate_cw(u, -k), kQuarterPoints), label);
      seen.insert({u.re, u.im});
    }
  }
  EXPECT_EQ(seen.size(), 1664u);
}

TEST(V34Constellation, RotationIsClockwise) {
  EXPECT_EQ(rotate_cw({1, 1}, 1), (Point{1, -1}));
  EXPECT_EQ(rotate_cw({1, 5}, 1), (Point{5, -1}));
  EXPECT_EQ(rotate_cw({1, 5}, -1), rotate_cw({1, 5}, 3));
}

TEST(V34Constellation, PointsOutsideAreDrawnInside) {
  for (int re = -255; re <= 253; re += 4) {
    for (int im = -255; im <= 253; im += 4) {
      for (const int limit : {1, 2, 20, 240, 416}) {
        const int label = quarter_label({static_cast<int16_t>(re), static_cast<int16_t>(im)}, limit);
        ASSERT_GE(label, 0);
        ASSERT_LT(label, limit);
      }
    }
  }
}

TEST(V34Constellation, SubsetLabelsAreThoseOfFigure9WithPeriodEight) {
  const int top_down[8][8] = {{1, 6, 5, 2, 1, 6, 5, 2}, {4, 3, 0, 7, 4, 3, 0, 7}, {5, 2, 1, 6, 5, 2, 1, 6},
                              {0, 7, 4, 3, 0, 7, 4, 3}, {1, 6, 5, 2, 1, 6, 5, 2}, {4, 3, 0, 7, 4, 3, 0, 7},
                              {5, 2, 1, 6, 5, 2, 1, 6}, {0, 7, 4, 3, 0, 7, 4, 3}};
  for (int re = -255; re <= 255; re += 2) {
    for (int im = -255; im <= 255; im += 2) {
      const int column = ((re + 7) / 2 + 128) % 4;
      const int row = ((7 - im) / 2 + 128) % 4;
      ASSERT_EQ(subset_label({static_cast<int16_t>(re), static_cast<int16_t>(im)}), top_down[row][column])
          << re << "," << im;
    }
  }
  EXPECT_EQ(subset_label({1, 1}), 0);  // the figure as printed, its four inner points
  EXPECT_EQ(subset_label({-1, 1}), 3);
  EXPECT_EQ(subset_label({-1, -1}), 2);
  EXPECT_EQ(subset_label({1, -1}), 1);
}

}  // namespace
}  // namespace offhook::v34
