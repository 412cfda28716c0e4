// SPDX-License-Identifier: MIT
#include "driver/base/record.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

namespace offhook::record {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

struct Cells {
  std::uint64_t received = 0;
};
struct Direction {
  std::uint32_t rate = 0;
  float snr_db = 0;
  std::optional<Cells> cells;
  double ratio() const { return rate / 3.0; }
};
struct Call {
  std::string name;
  std::int64_t asked_ns = -1;
  double line_s = 0;
  std::optional<std::uint64_t> bytes;
  bool complete = false;
  Direction down, up;
  std::shared_ptr<const Direction> third;
  std::vector<Direction> all;
  std::vector<std::string> reasons;
  std::array<Direction, 2> ends;
};

using D = Rows<Direction>;
constexpr Row kDirectionRows[] = {
    D::of<&Direction::rate>("rate", "bit/s", "of the data").label("bit/s, down and up"),
    D::of<&Direction::snr_db>("snr_db", "dB", "of the symbols").decimals(1).label("SNR, dB"),
    D::of<&Direction::cells, &Cells::received>("cells", "", "received").label("cells"),
    D::of<&Direction::ratio>("ratio", "", "a third").significant(2).label("ratio"),
};
constexpr Table kDirection{kDirectionRows};

using C = Rows<Call>;
constexpr Row kCallRows[] = {
    C::of("version", "", "of this document", [](const Call&) { return 1; }),
    C::of<&Call::name>("name", "", "of the call"),
    C::of<&Call::asked_ns>("asked_s", "s", "when").scale(1e-9).decimals(9).absent_below_0(),
    C::of<&Call::line_s>("line_s", "s", "if known").absent_if_0(),
    C::of<&Call::bytes>("bytes", "bytes", "of the file"),
    C::of<&Call::complete>("complete", "", "whether all came"),
    C::part<&Call::down>("down", kDirection),
    C::part<&Call::up>("up", kDirection),
    C::part<&Call::third>("third", kDirection),
    C::part<&Call::all>("all", kDirection),
    C::of<&Call::reasons>("reasons", "", "why"),
    C::part<&Call::ends>("ends", kDirection),
    C::of("down.half", "", "of the rate", [](const Call& c) { return c.down.rate / 2; }),
};
constexpr Table kCall{kCallRows};

Call call() {
  Call c;
  c.name = "a \"call\"";
  c.asked_ns = 1'234'567'890;
  c.bytes = 18'446'744'073'709'551'615u;
  c.complete = true;
  c.down = {48000, 30.26f, Cells{7}};
  c.third = std::make_shared<Direction>(Direction{5, 1, {}});
  c.all = {{1, 0, {}}, {2, 0, Cells{3}}};
  c.reasons = {"one", "two"};
  return c;
}

TEST(Record, JsonHasRowsInOrderWithUnitsRoundedAndWithoutWhatIsAbsent) {
  const Call given = call();
  EXPECT_EQ(to_json(kDirection, &given.down).dump(), R"({"rate":48000,"snr_db":30.3,"cells":7,"ratio":16000.0})");
  const nlohmann::ordered_json json = to_json(kCall, &given);
  EXPECT_EQ(json.at("version"), 1);
  EXPECT_EQ(json.at("asked_s").dump(), "1.23456789");
  EXPECT_FALSE(json.contains("line_s"));
  EXPECT_EQ(json.at("bytes").dump(), "18446744073709551615");
  EXPECT_EQ(json.at("down").at("half"), 24000);
  EXPECT_FALSE(json.at("up").contains("cells"));
  EXPECT_EQ(json.at("reasons").dump(), R"(["one","two"])");
  EXPECT_EQ(json.at("ends").size(), 2u);
  const Call empty;
  const nlohmann::ordered_json none = to_json(kCall, &empty);
  for (const char* key : {"asked_s", "bytes", "third"}) EXPECT_FALSE(none.contains(key)) << key;
  EXPECT_EQ(none.at("all").dump(), "[]");
}

TEST(Record, WhatIsReadBackWritesTheSame) {
  const Call given = call();
  const nlohmann::ordered_json json = to_json(kCall, &given);
  Call back;
  from_json(kCall, nlohmann::ordered_json::parse(json.dump()), &back);
  EXPECT_EQ(back.asked_ns, given.asked_ns);
  EXPECT_EQ(back.bytes, given.bytes);
  ASSERT_TRUE(back.down.cells);
  EXPECT_EQ(back.down.cells->received, 7u);
  ASSERT_EQ(back.all.size(), 2u);
  EXPECT_EQ(to_json(kCall, &back), json);
}

struct Curve {
  std::vector<double> y;
};
constexpr Row kCurveRows[] = {Rows<Curve>::of<&Curve::y>("y", "", "values")};
constexpr Table kCurve{kCurveRows};

// JSON has no NaN, so such a value is null in a list.
TEST(Record, AListKeepsThePlaceOfAValueThatIsNoNumber) {
  const Curve given{{1.5, std::nan(""), 3}};
  const nlohmann::ordered_json json = nlohmann::ordered_json::parse(to_json(kCurve, &given).dump());
  EXPECT_EQ(json.dump(), R"({"y":[1.5,null,3.0]})");
  Curve back;
  from_json(kCurve, json, &back);
  ASSERT_EQ(back.y.size(), 3u);
  EXPECT_TRUE(std::isnan(back.y[1]));
  EXPECT_EQ(back.y[2], 3);
}

TEST(Record, RefusesWhatIsMissingOrOfAnotherType) {
  const Call given = call();
  const auto refused = [&](const char* key, const nlohmann::ordered_json& value) -> std::string {
    nlohmann::ordered_json json = to_json(kCall, &given);
    json.erase(key);
    if (!value.is_discarded()) json[key] = value;
    Call back;
    try {
      from_json(kCall, json, &back);
    } catch (const nlohmann::json::exception& e) {
      return e.what();
    }
    return "";
  };
  const nlohmann::ordered_json gone(nlohmann::ordered_json::value_t::discarded);
  EXPECT_THAT(refused("name", gone), HasSubstr("key 'name' not found"));
  EXPECT_THAT(refused("name", 3), HasSubstr("key 'name' is of another type"));
  EXPECT_THAT(refused("bytes", -1), HasSubstr("key 'bytes'"));
  EXPECT_THAT(refused("complete", 1), HasSubstr("key 'complete'"));
  EXPECT_THAT(refused("asked_s", "soon"), HasSubstr("key 'asked_s' is no number"));
  EXPECT_THAT(refused("down", nlohmann::ordered_json::array()), HasSubstr("key 'down'"));
  EXPECT_THAT(refused("down", nlohmann::ordered_json{{"rate", 1e30}, {"snr_db", 1}}), HasSubstr("key 'rate'"));
  EXPECT_EQ(refused("bytes", gone), "");
  EXPECT_EQ(refused("version", "any"), "") << "derived, and not read";
}

TEST(Record, LabelledRowsStandBesideEachOther) {
  const Direction down{48000, 30.26f, Cells{7}}, up{1000, 12, Cells{8}}, without{1000, 12, {}};
  EXPECT_THAT(labelled(kDirection, {&down, &up}),
              ElementsAre(Pair("bit/s, down and up", "48000, 1000"), Pair("SNR, dB", "30.3, 12.0"),
                          Pair("cells", "7, 8"), Pair("ratio", "1.6e+04, 3.3e+02")));
  EXPECT_EQ(labelled(kDirection, {&without}).size(), 3u);
}

TEST(Record, KeysAreListedOnceForPartsOfOneTable) {
  EXPECT_EQ(describe(kCall),
            "  version: of this document\n  name: of the call\n  asked_s? (s): when\n  line_s? (s): if known\n"
            "  bytes? (bytes): of the file\n  complete: whether all came\n"
            "  {down,up,third?,all[],ends[]}.rate (bit/s): of the data\n"
            "  {down,up,third?,all[],ends[]}.snr_db (dB): of the symbols\n"
            "  {down,up,third?,all[],ends[]}.cells?: received\n  {down,up,third?,all[],ends[]}.ratio: a third\n"
            "  reasons[]: why\n  down.half: of the rate\n");
}

struct Quantiles {
  double median = 1.5, rare = 9;
};
struct Measured {
  Quantiles here;
};
constexpr Row kQuantilesRows[] = {
    Rows<Quantiles>::of<&Quantiles::median>("p99", "us", "often"),
    Rows<Quantiles>::of<&Quantiles::rare>("p99.9", "us", "rarely"),
};
constexpr Table kQuantiles{kQuantilesRows, "quantiles"};
constexpr Row kMeasuredRows[] = {
    Rows<Measured>::part<&Measured::here>("here", kQuantiles).described_apart("times of this machine"),
};
constexpr Table kMeasured{kMeasuredRows};

TEST(Record, ADotAfterANumberIsPartOfTheKey) {
  const Quantiles given;
  EXPECT_EQ(to_json(kQuantiles, &given).dump(), R"({"p99":1.5,"p99.9":9.0})");
}

TEST(Record, APartThatIsDescribedApartNamesItsTable) {
  EXPECT_EQ(describe(kMeasured), "  here.**: times of this machine (keys: quantiles)\n");
}

}  // namespace
}  // namespace offhook::record
