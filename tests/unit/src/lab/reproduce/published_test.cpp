// SPDX-License-Identifier: MIT
#include "src/lab/reproduce/published.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "src/lab/reproduce/registry.h"
#include "tests/unit/traces/scenario/data_folder.h"

namespace offhook::reproduce {
namespace {

std::vector<Published> read(std::string_view text) {
  return read_published(config::Document::parse(text, "claims.toml"));
}

std::string error_of(std::string_view text) {
  try {
    read(text);
  } catch (const config::Error& e) {
    return e.what();
  }
  return "";
}

constexpr std::string_view kClaim = R"([[claim]]
id = "a.one"
seed = "paper.txt"
at = "Table 1"
grade = "soft"
period_ms = 2.5
phase = { samples = [105, 90], name = "connected" }
rows = [ { x = 1, ok = 10 }, { x = 2 } ]
)";

TEST(Published, ValuesAreReadByTheirPaths) {
  const Published p = read(kClaim).at(0);
  EXPECT_EQ(p.id(), "a.one");
  EXPECT_EQ(p.at(), "Table 1");
  EXPECT_EQ(p.grade(), Grade::kSoft);
  EXPECT_EQ(p.number("period_ms"), 2.5);
  EXPECT_EQ(p.table("phase").numbers("samples"), (std::vector<double>{105, 90}));
  EXPECT_EQ(p.text("phase.name"), "connected");
  ASSERT_EQ(p.rows("rows").size(), 2u);
  EXPECT_EQ(p.rows("rows")[1].number("x"), 2);
  EXPECT_TRUE(p.rows("rows")[0].has("ok"));
  EXPECT_FALSE(p.rows("rows")[1].has("ok"));
}

TEST(Published, WhatNobodyReadIsKnown) {
  const Published p = read(kClaim).at(0);
  p.number("period_ms");
  p.rows("rows")[0].number("x");
  EXPECT_EQ(p.unread(), (std::vector<std::string>{"phase.name", "phase.samples", "rows[0].ok", "rows[1].x"}));
}

TEST(Published, AMissingOrMistypedValueIsAnErrorWithItsPlace) {
  const Published p = read(kClaim).at(0);
  try {
    p.number("phase.name");
    FAIL();
  } catch (const config::Error& e) {
    EXPECT_STREQ(e.what(), "claims.toml:2:1: a.one: phase.name: expected a number");
  }
  EXPECT_THROW(p.number("nothing"), config::Error);
  EXPECT_THROW(p.numbers("period_ms"), config::Error);
  EXPECT_THROW(p.rows("phase"), config::Error);
}

TEST(Published, AClaimNeedsItsHeadAndAKnownGrade) {
  EXPECT_EQ(error_of("[[claim]]\nid = \"a\"\nseed = \"s\"\nat = \"4\"\n"), "claims.toml:2:1: a claim without grade");
  EXPECT_EQ(error_of("[[claim]]\nid = \"a\"\nseed = \"s\"\nat = \"4\"\ngrade = \"firm\"\n"),
            "claims.toml:5:1: grade is \"firm\"; expected one of: hard, soft, input, paper");
  const std::string head = "[[claim]]\nid = \"a\"\nseed = \"s\"\nat = \"4\"\ngrade = \"soft\"\n";
  EXPECT_NE(error_of(head + head).find("is there twice"), std::string::npos);
  EXPECT_NE(error_of("other = 1\n" + head).find("unknown key"), std::string::npos);
  for (const char* odd : {"\"x~y\" = 1", "\"x.y\" = 1", "\"x/y\" = 1", "\"x[0]\" = 1"}) {
    EXPECT_NE(error_of(head + odd + "\n").find("a holds a key that is no word"), std::string::npos) << odd;
  }
  for (const char* endless : {"x = inf", "x = nan"}) {
    const Published p = read(head + endless + "\n").at(0);
    EXPECT_THROW(p.number("x"), config::Error) << endless;
  }
}

TEST(Published, EveryFileOfTheFolderAddsItsClaimsOnce) {
  const config::DataFolder data;
  const std::filesystem::path folder = data.path() / "published";
  std::filesystem::create_directories(folder);
  const std::string head = "[[claim]]\nseed = \"s\"\nat = \"4\"\ngrade = \"soft\"\n";
  std::ofstream(folder / "b.toml") << head << "id = \"b.one\"\n";
  std::ofstream(folder / "a.toml") << head << "id = \"a.one\"\nshare = 0.5\n";
  const std::vector<Published> all = load_published();
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].id(), "a.one");
  EXPECT_EQ(load_published("a.one").number("share"), 0.5);
  EXPECT_THROW(load_published("c.one"), config::Error);
  std::ofstream(folder / "c.toml") << head << "id = \"a.one\"\n";
  EXPECT_THROW(load_published(), config::Error);
}

TEST(Registry, NamesMeanClaimsAndTheirFigures) {
  const auto ids = [](const std::vector<std::string>& names) {
    std::vector<std::string> out;
    for (const Claim& c : select_claims(load_published(), names)) out.push_back(c.published.id());
    return out;
  };
  EXPECT_EQ(ids({}).size(), load_published().size());
  EXPECT_EQ(ids({"jones.fig1"}), (std::vector<std::string>{"jones.fig1.interrupt_period"}));
  EXPECT_EQ(ids({"jones.table3"}), (std::vector<std::string>{"jones.table3"}));
  EXPECT_GT(ids({"cota"}).size(), 2u);
  EXPECT_THROW(ids({"jones.tabel3"}), config::Error);
  EXPECT_THROW(ids({"jon"}), config::Error);
}

}  // namespace
}  // namespace offhook::reproduce
