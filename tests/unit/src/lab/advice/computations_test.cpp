// SPDX-License-Identifier: MIT
#include "src/lab/advice/computations.h"

#include <gtest/gtest.h>

#include "traces/scenario/data.h"

namespace offhook::config {
namespace {

std::string complaint(std::string_view text) {
  try {
    read_computations(Document::parse(text, "tasks.toml"));
  } catch (const Error& e) {
    return e.what();
  }
  return "";
}

TEST(Computations, TheExampleIsOne) {
  const auto file =
      read_computations(Document::read_file((data_dir() / "../../examples/schedulability.toml").string()));
  ASSERT_EQ(file.computations.size(), 4u);
  EXPECT_EQ(file.host, "win98-games");
  EXPECT_EQ(file.computations[1].modality, hostsim::Modality::kDpc);
  EXPECT_EQ(file.computations[1].interval_s, 3600);
  EXPECT_EQ(file.computations[0].interval_s, 300);
}

TEST(Computations, MistakesAreNamedWithTheirPlace) {
  const std::string fine = "[[computation]]\nname = \"a\"\nperiod_ms = 8\ncost_ms = 2\n";
  EXPECT_EQ(complaint(fine), "");
  EXPECT_EQ(complaint("host = \"x\"\n"), "tasks.toml: expected 1 to 100 tables [[computation]]");
  EXPECT_NE(complaint(fine + "bufers = 2\n").find("5:1: unknown key \"bufers\"; the nearest known key is \"buffers\""),
            std::string::npos);
  EXPECT_NE(complaint(fine + "failure = \"week\"\n").find("\"5min\" or \"hour\" or \"day\""), std::string::npos);
  EXPECT_NE(complaint(fine + "buffers = 1\n").find("2 to 1000"), std::string::npos);
  EXPECT_NE(complaint("[[computation]]\nname = \"a\"\nperiod_ms = 1\ncost_ms = 2\n")
                .find("tasks.toml:4:1: computation \"a\": expected a cost_ms of at most the period"),
            std::string::npos);
  EXPECT_NE(complaint(fine + "modality = \"dpc\"\nraised_ms = 1\n").find("of threads only"), std::string::npos);
  EXPECT_NE(complaint("hots = \"x\"\n" + fine).find("unknown key \"hots\""), std::string::npos);
}

}  // namespace
}  // namespace offhook::config
