// SPDX-License-Identifier: MIT
#include "src/live_page/chronicle.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace offhook::live_page {
namespace {

constexpr std::int64_t kBegin = 1'000'000;

std::vector<std::string> texts(const Chronicle& chronicle) {
  std::vector<std::string> all;
  for (const auto& e : chronicle.events(0)) all.push_back(e.at("text"));
  return all;
}

TEST(LivePageChronicle, KeepsTheWorstOfEachSecond) {
  Chronicle chronicle(1);
  LineView v;
  v.phase = Phase::kData;
  for (int k = 0; k < 12; ++k) {  // three seconds, and the start of a fourth
    v.snr_db = 30 + static_cast<float>(k);
    v.pending_peak = k == 5 ? 70 : 10;
    v.blocks_late = k >= 6 ? 3 : 0;
    chronicle.look({&v, 1}, kBegin + 250 * k);
  }
  chronicle.look({&v, 1}, kBegin + 3000);
  const auto history = chronicle.history(0);
  EXPECT_EQ(history.at("pending").dump(), "[10,70,10]");
  EXPECT_EQ(history.at("late").dump(), "[0,3,0]");
  EXPECT_EQ(history.at("snr_db").dump(), "[33.0,37.0,41.0]");
  EXPECT_EQ(chronicle.recent_late(0), 3u);
}

TEST(LivePageChronicle, ForgetsWhatIsOlderThanTenMinutes) {
  Chronicle chronicle(1);
  const LineView v;
  for (int s = 0; s < 700; ++s) chronicle.look({&v, 1}, kBegin + 1000 * s);
  EXPECT_EQ(chronicle.history(0).at("t").size(), Chronicle::kSeconds);
  EXPECT_EQ(chronicle.history(0).at("t").back(), kBegin + 1000 * 698);
}

TEST(LivePageChronicle, ListsStatesRetrainsAndEndsOfACall) {
  Chronicle chronicle(1);
  LineView v;
  v.state.set("on hook");
  std::int64_t now = kBegin;
  const auto look = [&] { chronicle.look({&v, 1}, now += 1000); };
  look();
  EXPECT_TRUE(texts(chronicle).empty());
  v.phase = Phase::kRinging, v.state.set("ringing"), v.caller.set("+4989");
  look();
  v.phase = Phase::kData, v.state.set("online"), v.calls = 1;
  look();
  v.phase = Phase::kRetraining, v.retrains[OH_RETRAIN_LOST] = 1;
  look();
  v.phase = Phase::kData;
  look();
  v.phase = Phase::kOnHook, v.state.set("on hook"), v.last_end.set("60,the carrier was lost"), v.calls_failed = 1;
  look();
  EXPECT_EQ(texts(chronicle),
            (std::vector<std::string>{"ringing, caller +4989", "online", "retraining", "retrain signal lost", "data",
                                      "on hook", "call ended: 60,the carrier was lost"}));
  EXPECT_EQ(chronicle.events(0).back().at("kind"), "failure");
  EXPECT_EQ(chronicle.events(chronicle.newest_event()).size(), 0u);
  EXPECT_EQ(chronicle.events(chronicle.newest_event() - 2).size(), 2u);
}

TEST(LivePageChronicle, ANewCallHasRetrainsOfItsOwn) {
  Chronicle chronicle(1);
  LineView v;
  v.calls = 1, v.retrains[OH_RETRAIN_FAR] = 2;
  chronicle.look({&v, 1}, kBegin);
  v.calls = 2, v.retrains[OH_RETRAIN_FAR] = 1;
  chronicle.look({&v, 1}, kBegin + 250);
  EXPECT_EQ(texts(chronicle), std::vector<std::string>{"retrain by the far end"});
}

TEST(LivePageChronicle, ListsLossesOncePerSecond) {
  Chronicle chronicle(1);
  LineView v;
  for (int k = 0; k <= 8; ++k) {
    chronicle.look({&v, 1}, kBegin + 250 * k);
    if (k == 0) v.blocks_late = 1;
    if (k > 3) v.slips += 2;
  }
  EXPECT_EQ(texts(chronicle), (std::vector<std::string>{"1 block late", "8 slips of the receiver"}));
}

TEST(LivePageChronicle, AFloodOfEventsKeepsTheNewest) {
  Chronicle chronicle(1);
  LineView v;
  for (int k = 0; k < 1000; ++k) {
    v.state.set(std::to_string(k));
    chronicle.look({&v, 1}, kBegin + 250 * k);
  }
  EXPECT_EQ(texts(chronicle).size(), Chronicle::kEvents);
  EXPECT_EQ(texts(chronicle).back(), "999");
}

}  // namespace
}  // namespace offhook::live_page
