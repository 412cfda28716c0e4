// SPDX-License-Identifier: MIT
#include "src/lab/reproduce/published.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "src/lab/reproduce/claim.h"
#include "src/lab/reproduce/registry.h"
#include "src/lab/reproduce/results.h"
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
judged = [
  { what = "file", grade = "input", provenance = "input" },
  { what = "*, mean *", grade = "hard", provenance = "independent", because = "nothing was fitted" },
  { what = "RES *", provenance = "calibrated", because = "phi" },
]
)";

constexpr std::string_view kJudged = "judged = [ { what = \"*\", provenance = \"derived\", because = \"sums\" } ]\n";

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
  EXPECT_EQ(p.unread(), (std::vector<std::string>{"phase.name", "phase.samples", "rows[0].ok", "rows[1].x",
                                                  "judged \"file\"", "judged \"*, mean *\"", "judged \"RES *\""}));
  p.judgement("file");
  EXPECT_EQ(p.unread().size(), 6u);
}

TEST(Published, TheFirstJudgementThatMatchesIsARows) {
  const Published p = read(kClaim).at(0);
  EXPECT_EQ(p.judgement("file").provenance, Provenance::kInput);
  EXPECT_EQ(p.judgement("RES 1/7, mean time").grade, Grade::kHard);
  EXPECT_EQ(p.judgement("RES 1/7, mean time").provenance, Provenance::kIndependent);
  EXPECT_EQ(p.judgement("RES 1/7, class").grade, Grade::kSoft);  // the claim's
  EXPECT_EQ(p.judgement("RES 1/7, class").because, "phi");
  EXPECT_THROW(p.judgement("files"), config::Error);
  EXPECT_THROW(p.judgement("INT, class"), config::Error);
  EXPECT_THROW(p.judgement(", mean"), config::Error);
}

TEST(Published, AJudgementThatContradictsItselfIsAnError) {
  const std::string head = "[[claim]]\nid = \"a\"\nseed = \"s\"\nat = \"4\"\ngrade = \"soft\"\n";
  const auto judged = [&](std::string_view row) {
    return error_of(head + "judged = [ { " + std::string(row) + " } ]\n");
  };
  EXPECT_NE(error_of(head).find("a claim without the key judged"), std::string::npos);
  EXPECT_NE(judged("what = \"*\"").find("a judgement without provenance"), std::string::npos);
  EXPECT_NE(
      judged("what = \"*\", provenance = \"luck\"").find("expected one of: input, calibrated, derived, independent"),
      std::string::npos);
  EXPECT_NE(judged("what = \"*\", provenance = \"derived\"").find("a judgement without because"), std::string::npos);
  EXPECT_NE(judged("what = \"*\", provenance = \"input\"").find("an input is both or neither"), std::string::npos);
  EXPECT_NE(
      judged("what = \"*\", grade = \"input\", provenance = \"derived\", because = \"b\"").find("both or neither"),
      std::string::npos);
  EXPECT_NE(judged("what = \"*\", provenance = \"derived\", because = \"b\", why = 1").find("unknown key"),
            std::string::npos);
  EXPECT_NE(judged("what = \"*****\", provenance = \"derived\", because = \"b\"").find("more than four"),
            std::string::npos);
}

// An experiment states its results, but not their value.
TEST(Judgement, CodeCannotMakeARowWhatItIsNotJudgedToBe) {
  const Published p = read(kClaim).at(0);
  const auto made = [&](Row row) { return judged({std::move(row)}, p).at(0); };
  const JudgedRow row = made(within("RES 1/7, class", "", 1, 2, 0.5));
  EXPECT_EQ(row.grade, Grade::kSoft);
  EXPECT_EQ(row.provenance, Provenance::kCalibrated);
  EXPECT_EQ(row.because, "phi");
  EXPECT_FALSE(row.agrees);
  EXPECT_NO_THROW(made(input("file", "bytes", 1, 1, "here")));
  EXPECT_THROW(made(input("RES 1/7, class", "", 1, 1, "here")), config::Error);
  EXPECT_THROW(made(paper_only("RES 1/7, class", "", 1, 2, "a slip")), config::Error);
  EXPECT_THROW(made(within("nobody judged", "", 1, 1, 0)), config::Error);
}

TEST(Row, ASingleRunAgreesWhereOneMoreOfOursWouldLie) {
  // Mean 10, deviation 2, Student's t of 2 degrees 4.303: 10 +- 4.303 * 2 * sqrt(4 / 3) = 10 +- 9.936.
  const std::vector<double> runs = {8, 10, 12};
  EXPECT_TRUE(as_one_run("misses", "", 19.9, runs).agrees);
  EXPECT_FALSE(as_one_run("misses", "", 20, runs).agrees);
  EXPECT_FALSE(as_one_run("misses", "", 8.1, {8}).agrees);
}

TEST(Totals, InputsAreNoResultsAndProvenancesAreCountedApart) {
  const Published p = read(kClaim).at(0);
  ClaimResult claim;
  claim.id = "a.one";
  claim.grade = Grade::kSoft;
  claim.standing = "agrees";
  claim.rows = judged({input("file", "bytes", 1, 1, "here"), within("INT, mean time", "s", 1, 1, 0),
                       within("RES 1/7, mean time", "s", 1, 2, 0), same("RES 1/7, class", "a", "a")},
                      p);
  Results results;
  results.totals = totals({claim});
  const nlohmann::ordered_json counts = record::to_json(kResults, &results).at("counts");
  EXPECT_EQ(counts.dump(), R"({"independent":{"rows":2,"agree":1,"hard":2,"hard_agree":1},)"
                           R"("calibrated":{"rows":1,"agree":1,"hard":0,"hard_agree":0},)"
                           R"("derived":{"rows":0,"agree":0,"hard":0,"hard_agree":0},)"
                           R"("input":{"rows":1,"agree":1},"can_fail":{"rows":3,"agree":2},)"
                           R"("inconsistent_in_the_paper":0})");
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
  EXPECT_NE(error_of(head + std::string(kJudged) + head).find("duplicate claim"), std::string::npos);
  EXPECT_NE(error_of("other = 1\n" + head + std::string(kJudged)).find("unknown key"), std::string::npos);
  for (const char* odd : {"\"x~y\" = 1", "\"x.y\" = 1", "\"x/y\" = 1", "\"x[0]\" = 1"}) {
    EXPECT_NE(error_of(head + odd + "\n" + std::string(kJudged)).find("a has a key that is not a word"),
              std::string::npos)
        << odd;
  }
  for (const char* endless : {"x = inf", "x = nan"}) {
    const Published p = read(head + endless + "\n" + std::string(kJudged)).at(0);
    EXPECT_THROW(p.number("x"), config::Error) << endless;
  }
}

TEST(Published, EveryFileOfTheFolderAddsItsClaimsOnce) {
  const config::DataFolder data;
  const std::filesystem::path folder = data.path() / "published";
  std::filesystem::create_directories(folder);
  const std::string head = "[[claim]]\nseed = \"s\"\nat = \"4\"\ngrade = \"soft\"\n";
  std::ofstream(folder / "b.toml") << head << "id = \"b.one\"\n" << kJudged;
  std::ofstream(folder / "a.toml") << head << "id = \"a.one\"\nshare = 0.5\n" << kJudged;
  const std::vector<Published> all = load_published();
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].id(), "a.one");
  EXPECT_EQ(load_published("a.one").number("share"), 0.5);
  EXPECT_THROW(load_published("c.one"), config::Error);
  std::ofstream(folder / "c.toml") << head << "id = \"a.one\"\n" << kJudged;
  EXPECT_THROW(load_published(), config::Error);
}

TEST(Registry, NamesMeanClaimsAndTheirFigures) {
  const auto ids = [](const std::vector<std::string>& names, bool on_request = false) {
    std::vector<std::string> out;
    for (const Claim& c : select_claims(load_published(), names, on_request)) out.push_back(c.published.id());
    return out;
  };
  EXPECT_EQ(ids({}, true).size(), load_published().size());
  EXPECT_EQ(ids({"jones.fig1"}), (std::vector<std::string>{"jones.fig1.interrupt_period"}));
  EXPECT_EQ(ids({"jones.table3"}), (std::vector<std::string>{"jones.table3"}));
  EXPECT_GT(ids({"cota"}).size(), 2u);
  EXPECT_THROW(ids({"jones.tabel3"}), config::Error);
  EXPECT_THROW(ids({"jon"}), config::Error);
}

TEST(Registry, WhatTakesMinutesRunsWhereItIsAskedFor) {
  const auto runs = [](const std::vector<std::string>& names, bool on_request) {
    const auto claims = select_claims(load_published(), names, on_request);
    return std::any_of(claims.begin(), claims.end(),
                       [](const Claim& c) { return c.published.id() == "jones.real_pump"; });
  };
  EXPECT_FALSE(runs({}, false));
  EXPECT_FALSE(runs({"jones"}, false));
  EXPECT_FALSE(runs({"cota"}, true));
  EXPECT_TRUE(runs({"jones.real_pump"}, false));
  EXPECT_TRUE(runs({"jones"}, true));
  EXPECT_TRUE(runs({}, true));
}

}  // namespace
}  // namespace offhook::reproduce
