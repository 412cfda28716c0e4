// SPDX-License-Identifier: MIT
#include "src/report/comparison.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace offhook::comparison {
namespace {

const Row& row_of(const Comparison& c, const std::string& item, const std::string& quantity) {
  const auto found = std::find_if(c.rows.begin(), c.rows.end(),
                                  [&](const Row& r) { return r.item == item && r.quantity == quantity; });
  if (found == c.rows.end()) throw std::runtime_error("no row " + item + " " + quantity);
  return *found;
}

Json decoded(const char* technology, int rate, int retrains, const char* reason = "") {
  Json call = {{"schema", "offhook.decode/1"},
               {"recording", {{"duration_s", 12.5}}},
               {"verdict",
                {{"technology", technology},
                 {"retrains", retrains},
                 {"rate_renegotiations", 0},
                 {"cleardowns", 1},
                 {"directions", Json::array()}}}};
  Json direction = {{"name", "call to answer"}, {"data", "data decoded to the end"}};
  if (rate > 0) direction["bit_rate"] = rate;
  if (*reason != '\0') direction["reason"] = reason;
  call["verdict"]["directions"].push_back(direction);
  return call;
}

TEST(Comparison, FisherExactMatchesPublishedTable) {
  // Fisher's tea tasting, 3 of 4 against 1 of 4, two-sided: 34/70 (Fisher 1935, The Design of Experiments, II).
  EXPECT_NEAR(fisher_exact(3, 4, 1, 4), 34.0 / 70, 1e-12);
  EXPECT_NEAR(fisher_exact(4, 4, 0, 4), 2.0 / 70, 1e-12);
  EXPECT_DOUBLE_EQ(fisher_exact(5, 10, 5, 10), 1);
}

TEST(Comparison, OfRunsNamesVerdictsUnitsAndDifferences) {
  const Json a = {{"offhook_summary", 1}, {"verdict", "sufficient"}, {"transfer_s", 10.0}, {"reasons", {"x"}}};
  const Json b = {{"offhook_summary", 1}, {"verdict", "marginal"}, {"transfer_s", 12.5}, {"line_s", 3.0}};
  const Comparison c = compare(Kind::kRun, "one", a, "two", b);
  EXPECT_EQ(c.headline, "one is sufficient, two is marginal.");
  const Row& transfer = row_of(c, "", "transfer_s");
  EXPECT_EQ(transfer.unit, "s");
  EXPECT_DOUBLE_EQ(*transfer.difference(), 2.5);
  EXPECT_DOUBLE_EQ(*transfer.ratio(), 1.25);
  EXPECT_TRUE(transfer.beyond(24.9));
  EXPECT_FALSE(transfer.beyond(25));
  EXPECT_TRUE(row_of(c, "", "line_s").a.is_null());
  EXPECT_EQ(
      to_csv(c),
      "item,quantity,unit,a,b,difference,ratio\n,verdict,,sufficient,marginal,,\n,transfer_s,s,10.0,12.5,2.5,1.25\n"
      ",line_s,s,,3.0,,\n");
}

TEST(Comparison, OfSweepsMatchesCellsByName) {
  const auto sweep = [](const char* verdict, const char* last) {
    return Json{{"offhook_sweep", 1},
                {"cells",
                 {{{"name", "RES 1/4"}, {"verdict", verdict}, {"transfer_mean_s", 5.0}},
                  {{"name", last}, {"verdict", "sufficient"}}}}};
  };
  const Comparison c = compare(Kind::kSweep, "one", sweep("sufficient", "INT"), "two", sweep("insufficient", "DPC"));
  EXPECT_EQ(c.headline, "1 of 1 cells changed class.");
  ASSERT_GE(c.reasons.size(), 3u);
  EXPECT_EQ(c.reasons[0], "Changed class: RES 1/4 (sufficient, then insufficient).");
  EXPECT_EQ(c.reasons[1], "Only in one: INT.");
  EXPECT_EQ(c.reasons[2], "Only in two: DPC.");
  EXPECT_TRUE(row_of(c, "RES 1/4", "transfer_mean_s").equal());
}

TEST(Comparison, OfDecodedCallsComparesEachDirection) {
  const Comparison c = compare(Kind::kDecodedCall, "one", decoded("V.34", 33600, 0), "two", decoded("V.34", 28800, 2));
  EXPECT_EQ(c.headline, "Both calls are V.34.");
  EXPECT_EQ(c.reasons[0], "call to answer: 33600 bit/s, then 28800 bit/s.");
  EXPECT_DOUBLE_EQ(*row_of(c, "call to answer", "bit_rate").difference(), -4800);
  EXPECT_DOUBLE_EQ(*row_of(c, "", "retrains").difference(), 2);
}

TEST(Comparison, OfTwoModemsCountsConnectedCallsRatesAndReasons) {
  const std::vector<Json> a = {decoded("V.34", 33600, 0), decoded("V.34", 31200, 1), decoded("no modem found", 0, 0)};
  const std::vector<Json> b = {decoded("V.34", 24000, 3, "a symbol clock was lost"), decoded("V.34", 26400, 0)};
  const Comparison c = compare_calls("A", a, "B", b);
  EXPECT_EQ(c.headline, "A connected in 2 of 3 calls, B in 2 of 2.");
  EXPECT_EQ(row_of(c, "", "with_modem").a, 2);
  EXPECT_EQ(row_of(c, "call to answer", "bit_rate_median").a, 32400.0);
  EXPECT_EQ(row_of(c, "call to answer", "bit_rate_least").b, 24000.0);
  EXPECT_EQ(row_of(c, "", "retrains_per_call").b, 1.5);
  EXPECT_EQ(row_of(c, "reason", "a symbol clock was lost").a, 0);
  EXPECT_EQ(row_of(c, "reason", "a symbol clock was lost").b, 1);
}

TEST(Comparison, OfLatenciesMatchesLoads) {
  const auto under = [](const char* load, double p999, double max) {
    return Json{{"load", load}, {"missed", 0}, {"latency", {{"count", 10}, {"p99.9", p999}, {"max", max}}}};
  };
  Json one = under("none", 40, 55), all = {{"loads", {under("web", 90, 300), under("none", 60, 70)}}};
  one["measure"] = all["measure"] = "latency";
  one["context"] = all["context"] = "FIFO 80";
  const Comparison c = compare(Kind::kLatency, "one", one, "all", all);
  EXPECT_EQ(c.headline, "The longest latency is 55.0 us in one and 300.0 us in all.");
  EXPECT_DOUBLE_EQ(*row_of(c, "none", "p99.9").ratio(), 1.5);
  EXPECT_EQ(row_of(c, "none", "p99.9").unit, "us");
  EXPECT_TRUE(row_of(c, "web", "max").a.is_null());
}

TEST(Comparison, RefusesAnotherDocument) {
  EXPECT_FALSE(kind_of(Json{{"offhook_demo", 1}}).has_value());
  EXPECT_FALSE(kind_of(Json::array()).has_value());
  EXPECT_THROW(compare(Kind::kRun, "a", {{"offhook_summary", 1}}, "b", {{"x", 1}}), DocumentError);
}

}  // namespace
}  // namespace offhook::comparison
