// SPDX-License-Identifier: MIT
#include "src/live_page/text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

namespace offhook::live_page {
namespace {

using testing::HasSubstr;
using testing::Not;

LineView call() {
  LineView v;
  v.name.set("/dev/ttySM0");
  v.address.set("rtp::4000,:4002");
  v.context.set("FIFO 50");
  v.state.set("online (call), 33600 bit/s sent");
  v.phase = Phase::kData;
  v.rx_bit_rate = 33'600;
  v.snr_db = 38.5f;
  v.rx_level_dbm0 = -12;
  v.retrains[OH_RETRAIN_FAR] = 2;
  v.dispatch = {100, 4, 20, 60, 80};
  v.figures[0].key.set("packets_lost");
  v.figures[0].value = 3;
  v.figure_count = 1;
  for (std::int16_t k = 0; k < 5; ++k) v.points[v.symbols++ % LineView::kPoints] = {k, static_cast<std::int16_t>(-k)};
  return v;
}

TEST(LivePageText, JsonHasEachValueOfTheTable) {
  const nlohmann::ordered_json json = line_json(call(), 3, Points::kWith);
  for (const Value& value : values()) EXPECT_TRUE(json.contains(std::string(value.key))) << value.key;
  EXPECT_EQ(json.at("line"), 3);
  EXPECT_EQ(json.at("phase"), "data");
  EXPECT_EQ(json.at("snr_db"), 38.5);
  EXPECT_EQ(json.at("rx_bit_rate"), 33'600);
  EXPECT_EQ(json.at("retrain_causes").at("far"), 2);
  EXPECT_EQ(json.at("network").at("packets_lost"), 3);
  EXPECT_EQ(json.at("constellation").dump(), "[0,0,1,-1,2,-2,3,-3,4,-4]");
}

TEST(LivePageText, WhatIsNotKnownIsNullInJsonAndAbsentFromMetrics) {
  LineView v = call();
  EXPECT_TRUE(line_json(v, 0, Points::kWithout).at("echo_return_loss_db").is_null());
  EXPECT_THAT(metrics_text({&v, 1}, 0), Not(HasSubstr("echo_return_loss")));
  v.rx_level_dbm0 = -300;
  EXPECT_TRUE(line_json(v, 0, Points::kWithout).at("rx_level_dbm0").is_null());
  v.phase = Phase::kOnHook;  // values of the last call are not the line's current ones
  EXPECT_TRUE(line_json(v, 0, Points::kWithout).at("snr_db").is_null());
}

TEST(LivePageText, PointsBeginWhereTheClientIs) {
  LineView v = call();
  EXPECT_EQ(points_json(v, 4).dump(), "[4,-4]");
  EXPECT_EQ(points_json(v, 5).size(), 0u);
  v.symbols = 10 * LineView::kPoints;
  EXPECT_EQ(points_json(v, 0).size(), 2 * LineView::kPoints);
}

TEST(LivePageText, ADeviceHasNoValuesOfCalls) {
  LineView v;
  v.has_calls = 0;
  v.phase = Phase::kRunning;
  const nlohmann::ordered_json json = line_json(v, 0, Points::kWith);
  EXPECT_FALSE(json.contains("snr_db"));
  EXPECT_FALSE(json.contains("retrain_causes"));
  EXPECT_EQ(json.at("blocks_late"), 0);
  const std::string text = metrics_text({&v, 1}, 0);
  EXPECT_THAT(text, HasSubstr("offhook_line_phase{line=\"0\",phase=\"running\"} 1\n"));
  EXPECT_THAT(text, Not(HasSubstr("retrains")));
}

TEST(LivePageText, MetricsAreInBaseUnitsWithOneHeadEach) {
  const LineView lines[] = {call(), call()};
  const std::string text = metrics_text(lines, 2);
  EXPECT_THAT(text, HasSubstr("offhook_snr_db{line=\"1\"} 38.5\n"));
  EXPECT_THAT(text, HasSubstr("offhook_bit_rate{line=\"0\",direction=\"received\"} 33600\n"));
  EXPECT_THAT(text, HasSubstr("offhook_retrains{line=\"0\",cause=\"far\"} 2\n"));
  EXPECT_THAT(text, HasSubstr("offhook_dispatch_latency_seconds{line=\"0\",quantile=\"0.99\"} 2e-05\n"));
  EXPECT_THAT(text, HasSubstr("offhook_card_figure{line=\"0\",figure=\"packets_lost\"} 3\n"));
  EXPECT_THAT(text, HasSubstr("# TYPE offhook_blocks_late_total counter\n"));
  EXPECT_THAT(text, HasSubstr("offhook_page_clients 2\n"));
  // The check of a scraper: one head before its samples, and every sample belongs to the last head.
  std::istringstream rows(text);
  std::set<std::string> heads;
  std::string last;
  for (std::string row; std::getline(rows, row);) {
    std::istringstream words(row);
    std::string mark, kind, name;
    words >> mark;
    if (mark == "#") {
      words >> kind >> name;
      if (kind == "HELP") {
        EXPECT_TRUE(heads.insert(name).second) << name;
      }
      last = name;
    } else {
      EXPECT_EQ(mark.substr(0, mark.find('{')), last);
    }
  }
}

TEST(LivePageText, TextsFromOutsideAreEscaped) {
  LineView v = call();
  v.caller.set("<script>alert(1)</script>\"\\\n\xff");
  v.name.set("a\"b\\c\nd");
  const std::string json = line_json(v, 0, Points::kWithout).dump();
  EXPECT_THAT(json, Not(HasSubstr("\n")));
  EXPECT_EQ(nlohmann::json::parse(json).at("name"), "a\"b\\c\nd");
  const std::string text = metrics_text({&v, 1}, 0);
  EXPECT_THAT(text, HasSubstr("name=\"a\\\"b\\\\c\\\\x0ad\""));
}

TEST(LivePageText, ALongTextEndsWithAWholeCharacter) {
  Text<4> text;
  text.set("abc\xc3\xa4");
  EXPECT_EQ(text.view(), "abc");
  text.set("ab\xc3\xa4");
  EXPECT_EQ(text.view(), "ab\xc3\xa4");
}

TEST(LivePageText, TheManualHasEachValue) {
  std::ifstream file(OFFHOOK_SOURCE_DIR "/docs/live-page.md");
  std::stringstream manual;
  manual << file.rdbuf();
  for (const Value& value : values()) {
    EXPECT_THAT(manual.str(), HasSubstr("`" + std::string(value.key) + "`"));
    EXPECT_THAT(manual.str(), HasSubstr("`offhook_" + std::string(value.metric) + "`"));
  }
}

}  // namespace
}  // namespace offhook::live_page
