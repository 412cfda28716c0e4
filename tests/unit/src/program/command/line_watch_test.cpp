// SPDX-License-Identifier: MIT
#include "src/program/command/line_watch.h"

#include <gtest/gtest.h>

namespace offhook::command {
namespace {

oh_event event(std::uint64_t time_ns, oh_event_kind kind, std::uint32_t argument = 0) {
  return {time_ns, static_cast<std::uint8_t>(kind), 0, 0, argument};
}

TEST(LineWatch, KeepsTheNewestPoints) {
  LineWatch watch;
  std::vector<oh_event> events;
  for (std::uint32_t k = 0; k < 1000; ++k) events.push_back(event(k, OH_EV_SYMBOL, k | (0xffffu & -k) << 16));
  watch.add(events, 0);
  EXPECT_EQ(watch.view.symbols, 1000u);
  const auto& newest = watch.view.points[999 % live_page::LineView::kPoints];
  EXPECT_EQ(newest[0], 999);
  EXPECT_EQ(newest[1], -999);
}

TEST(LineWatch, ShowsTheLongestOfTheLastSecond) {
  LineWatch watch;
  const oh_event late[] = {event(1'000, OH_EV_SERVICE_REQUEST), event(501'000, OH_EV_SERVICE_RUN_BEGIN),
                           event(600'000, OH_EV_SERVICE_END, 90), event(701'000, OH_EV_SERVICE_RUN_END)};
  const oh_event usual[] = {event(1'000'000, OH_EV_SERVICE_REQUEST), event(1'010'000, OH_EV_SERVICE_RUN_BEGIN),
                            event(1'020'000, OH_EV_SERVICE_END, 3), event(1'030'000, OH_EV_SERVICE_RUN_END)};
  watch.add(late, 5000);
  for (std::int64_t ms = 5100; ms < 6000; ms += 100) {
    watch.add(usual, ms);
    EXPECT_FLOAT_EQ(watch.view.dispatch_peak_us, 500) << ms;
    EXPECT_FLOAT_EQ(watch.view.service_peak_us, 200) << ms;
    EXPECT_EQ(watch.view.pending_peak, 90u) << ms;
  }
  watch.add(usual, 6000);
  EXPECT_FLOAT_EQ(watch.view.dispatch_peak_us, 10);
  EXPECT_FLOAT_EQ(watch.view.service_peak_us, 20);
  EXPECT_EQ(watch.view.pending_peak, 3u);
  watch.add({}, 8000);
  EXPECT_EQ(watch.view.pending_peak, 0u);
}

TEST(LineWatch, DrainsARingAndCountsWhatItLost) {
  std::vector<oh_event> ring(16);
  oh_event_log log;
  ASSERT_EQ(oh_event_log_init(&log, ring.data(), ring.size(), 0), 0);
  for (std::uint64_t k = 0; k < 20; ++k) oh_event_log_write(&log, k, OH_EV_SYMBOL, 0, 1);
  LineWatch watch;
  watch.drain(log, nullptr, 0);
  EXPECT_EQ(watch.view.symbols, 16u);
  EXPECT_EQ(watch.view.events_lost, 4u);
}

TEST(LineWatch, TakesAsManyFiguresOfACardAsTheViewHolds) {
  LineWatch watch;
  watch.follow(std::vector<CardFigure>(100, CardFigure{"packets_lost", std::int64_t{7}}));
  EXPECT_EQ(watch.view.figure_count, live_page::LineView::kFigures);
  EXPECT_EQ(watch.view.figures[0].value, 7);
  EXPECT_EQ(watch.view.figures[0].key.view(), "packets_lost");
}

}  // namespace
}  // namespace offhook::command
