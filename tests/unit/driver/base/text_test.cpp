// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <string>

#include "driver/base/csv.h"
#include "driver/base/json.h"
#include "driver/base/nearest.h"
#include "driver/base/printable.h"

namespace offhook {
namespace {

TEST(Printable, WhatCommandsATerminalIsEscapedAndAllElseStays) {
  EXPECT_EQ(printable("caf\u00e9 \u2014 \u65e5\u672c \U0001f4de"), "caf\u00e9 \u2014 \u65e5\u672c \U0001f4de");
  EXPECT_EQ(printable("\x1b]0;title\x07"), "\\x1b]0;title\\x07");
  EXPECT_EQ(printable("a\r\nb\tc\x7f"), "a\\x0d\\x0ab\\x09c\\x7f");
  EXPECT_EQ(printable(std::string("\0", 1)), "\\x00");
  EXPECT_EQ(printable("\u009b31m"), "\\xc2\\x9b31m");                         // CSI as a single character
  EXPECT_EQ(printable("gnp.\u202etxt"), "gnp.\\xe2\\x80\\xaetxt");            // the following text would run backwards
  EXPECT_EQ(printable("\xff\xc3(\xe9"), "\\xff\\xc3(\\xe9");                  // Latin-1, and a truncated sequence
  EXPECT_EQ(printable("\xed\xa0\x80\xc0\xaf"), "\\xed\\xa0\\x80\\xc0\\xaf");  // surrogate, overlong
}

TEST(Printable, APageKeepsItsLinesButNothingTurnsItsText) {
  EXPECT_EQ(of_one_direction("caf\u00e9\n\tgnp.\u202etxt"), "caf\u00e9\n\tgnp.\\xe2\\x80\\xaetxt");
  EXPECT_EQ(of_one_direction("\u2066a\u2069\u200e\u061c\xff"),
            "\\xe2\\x81\\xa6a\\xe2\\x81\\xa9\\xe2\\x80\\x8e\\xd8\\x9c\\xff");
}

// An escaped byte is never part of a character that remains, whatever surrounds it.
TEST(Printable, EveryByteComesOutPrintable) {
  for (int a = 0; a < 256; ++a) {
    for (int b = 0; b < 256; ++b) {
      const std::string text{static_cast<char>(a), static_cast<char>(b)};
      const std::string shown = printable(text);
      for (const char c : shown) EXPECT_GE(static_cast<unsigned char>(c), 0x20) << a << ' ' << b;
      EXPECT_EQ(printable(shown), shown);
    }
  }
}

TEST(CsvField, IsInQuotesWhereItNeedsThemAndOneLine) {
  EXPECT_EQ(csv_field("RES 2/8"), "RES 2/8");
  EXPECT_EQ(csv_field("a,b"), "\"a,b\"");
  EXPECT_EQ(csv_field("a \"b\"\n"), "\"a \"\"b\"\"\\x0a\"");
}

TEST(CsvTable, HasEachKeyOfAnyRowOnce) {
  const auto rows = parse_json<nlohmann::ordered_json>(
      R"([{"a": 1, "b": {"c": true, "d": null}}, {"a": "x,y", "e": ["p", 2], "b": {"d": -0.5}}])");
  EXPECT_EQ(csv_table(rows), "a,b_c,b_d,e\n1,true,,\n\"x,y\",,-0.5,p; 2\n");
  EXPECT_EQ(csv_table(nlohmann::ordered_json::array()), "");
}

TEST(CsvField, IsNoFormulaUnlessItIsANumber) {
  EXPECT_EQ(csv_field("=1+1"), "'=1+1");
  EXPECT_EQ(csv_field("+cmd|' /C calc'!A0"), "'+cmd|' /C calc'!A0");
  EXPECT_EQ(csv_field("-2+3"), "'-2+3");
  EXPECT_EQ(csv_field("@SUM(1,2)"), "\"'@SUM(1,2)\"");
  EXPECT_EQ(csv_field("-3.5e-7"), "-3.5e-7");
  EXPECT_EQ(csv_field(""), "");
}

TEST(JsonText, TakesAnyBytesAndCommandsNoTerminal) {
  const nlohmann::json value{{"name", "a\xff\x7f\u009b\x1b\u00e9"}};
  const std::string text = json_text(value);
  EXPECT_EQ(text, "{\"name\":\"a\ufffd\\u007f\\u009b\\u001b\u00e9\"}");
  EXPECT_EQ(nlohmann::json::parse(text).at("name"), "a\ufffd\x7f\u009b\x1b\u00e9");
}

TEST(ParseJson, SaysWhatIsWrongWithoutTheLibrarysNumbers) {
  for (const char* text : {"{\"a\": ", "1e999", "[1]"}) {
    try {
      parse_json(text).at("b");
      ADD_FAILURE() << text << " has a b";
    } catch (const nlohmann::json::exception& e) {
      EXPECT_EQ(in_words(e).find("json.exception"), std::string_view::npos) << e.what();
      EXPECT_GT(in_words(e).size(), 10u) << e.what();
    }
  }
}

TEST(ParseJson, RefusesWhatIsTooDeepToWalk) {
  EXPECT_EQ(parse_json("[[1]]").size(), 1u);
  const std::string deep(1'000'000, '[');
  EXPECT_THROW(parse_json(deep), nlohmann::json::exception);
  EXPECT_THROW(parse_json(std::string(100, '[') + std::string(100, ']')), nlohmann::json::exception);
}

std::string refusal(const std::string& text) {
  try {
    parse_json<nlohmann::ordered_json>(text);
  } catch (const nlohmann::json::exception& e) {
    return std::string(in_words(e));
  }
  return "";
}

TEST(ParseJson, RefusesWhatWouldTakeTooMuchMemoryOrTime) {
  std::string many = "[0", members = R"({"a": 0)";
  for (std::size_t k = 1; k < kMostJsonValues; ++k) many += ",0";
  for (std::size_t k = 1; k < kMostJsonMembers; ++k) members += ",\"a" + std::to_string(k) + "\": 0";
  EXPECT_EQ(refusal(members + "}"), "");
  EXPECT_EQ(refusal(members + R"(, "b": 0})"),
            "an object with more than 1000 members, the limit of every Offhook file");
  EXPECT_EQ(refusal(many + "]"), "more than 2000000 values, the limit of every Offhook file");
  EXPECT_EQ(refusal(R"([{"a": "[[{{,,::\"[["}, {"b": 1}])"), "") << "what is in a string does not count";
}

// With a callback, the library searched the parent's members at the end of each object: 11.6 s for 600 kB.
TEST(ParseJson, TakesTimeInProportionToTheSize) {
  std::string text = "[{}";
  for (int k = 1; k < 400'000; ++k) text += ",{}";
  EXPECT_EQ(parse_json(text + "]").size(), 400'000u);
}

TEST(Nearest, IsANameALetterAwayOrTheLastPartOfAKeyOrWhatItBeginsWith) {
  constexpr std::string_view kKeys[] = {"seed", "host", "load.spinner", "line.loss_db", "line.delay_ms", "pump.modem"};
  EXPECT_EQ(nearest("sede", kKeys), "seed");
  EXPECT_EQ(nearest("los", kKeys), "line.loss_db");
  EXPECT_EQ(nearest("loss", kKeys), "line.loss_db");
  EXPECT_EQ(nearest("delay_ms", kKeys), "line.delay_ms");
  EXPECT_EQ(nearest("modme", kKeys), "pump.modem");
  EXPECT_EQ(nearest("line.los_db", kKeys), "line.loss_db");
  EXPECT_EQ(nearest("lo", kKeys), "") << "two letters tell no word";
  EXPECT_EQ(nearest("quantum", kKeys), "");
  constexpr std::string_view kCommands[] = {"fax", "law"};
  EXPECT_EQ(nearest("foo", kCommands), "") << "two of three letters differ";
}

}  // namespace
}  // namespace offhook
