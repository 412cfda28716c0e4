// SPDX-License-Identifier: MIT
#include "src/program/command/pool_admission.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace offhook::command {
namespace {

std::string file_of(const std::string& text) {
  const std::string path = testing::TempDir() + "allow-" + std::to_string(getpid());
  std::ofstream(path) << text;
  return path;
}

TEST(PoolAdmission, LimitsTheCallsOfACaller) {
  PoolAdmission admission("", 2, 3);
  EXPECT_EQ(admission.refusal("300", 1, 0), "");
  EXPECT_EQ(admission.refusal("300", 2, 1), "2 calls of this caller");
  EXPECT_EQ(admission.refusal("301", 0, 2), "");
}

TEST(PoolAdmission, LimitsTheCallsWithinAMinute) {
  PoolAdmission admission("", 9, 2);
  EXPECT_EQ(admission.refusal("300", 0, 0), "");
  EXPECT_EQ(admission.refusal("300", 0, 30'000), "");
  EXPECT_EQ(admission.refusal("300", 0, 59'999), "2 calls of this caller within a minute");
  EXPECT_EQ(admission.refusal("301", 0, 59'999), "");
  EXPECT_EQ(admission.refusal("300", 0, 60'000), "");  // refused calls do not count
  EXPECT_EQ(admission.refusal("300", 0, 60'001), "2 calls of this caller within a minute");
}

TEST(PoolAdmission, TakesTheCallersOfAFile) {
  PoolAdmission admission(file_of("# friends\n300 \r\n+4989*  # Munich\n"), 9, 9);
  EXPECT_EQ(admission.refusal("300", 0, 0), "");
  EXPECT_EQ(admission.refusal("+49891234", 0, 0), "");
  EXPECT_NE(admission.refusal("3001", 0, 0).find("not in "), std::string::npos);
  EXPECT_NE(admission.refusal("+4930", 0, 0).find("not in "), std::string::npos);
}

TEST(PoolAdmission, RefusesAFileWithoutNumbers) {
  EXPECT_THROW(PoolAdmission(file_of("# nobody\n"), 1, 1), std::runtime_error);
  EXPECT_THROW(PoolAdmission("/nonexistent/allow", 1, 1), std::runtime_error);
}

}  // namespace
}  // namespace offhook::command
