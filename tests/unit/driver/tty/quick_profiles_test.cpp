// SPDX-License-Identifier: MIT
#include "driver/tty/quick_profiles.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>

#include "driver/base/file.h"

namespace offhook::modem {
namespace {

constexpr oh_v90_profile kProfile{
    .upstream_symbol_rate = 5, .upstream_high_carrier = 1, .u_qts = 79, .reserved = 0, .round_trip_samples = 96};

class QuickProfilesFile : public testing::Test {
 protected:
  QuickProfilesFile() {
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }
  ~QuickProfilesFile() override { std::filesystem::remove_all(folder_); }
  std::filesystem::path folder_ =
      std::filesystem::path(testing::TempDir()) /
      (std::string("quick_profiles_") + testing::UnitTest::GetInstance()->current_test_info()->name());
  std::filesystem::path file_ = folder_ / "profiles";
  void put(const std::string& text) const { std::ofstream(file_) << text; }
};

TEST_F(QuickProfilesFile, KeepsAProfileForTheNextProgram) {
  const QuickProfiles::Key call{"unix:/run/card-a", OH_PUMP_CALL, "5551234"}, answer{"sip:100@pbx", OH_PUMP_ANSWER, ""};
  oh_v90_profile digital = kProfile;
  digital.u_qts = 0;
  digital.upstream_high_carrier = 0;
  {
    QuickProfiles profiles(file_);
    profiles.store(call, kProfile);
    profiles.store(answer, digital);
    profiles.save();
  }
  const auto mode = std::filesystem::status(file_).permissions();
  EXPECT_EQ(mode & (std::filesystem::perms::group_all | std::filesystem::perms::others_all),
            std::filesystem::perms::none)
      << "it has dialled numbers";
  const QuickProfiles again(file_);
  EXPECT_EQ(again.size(), 2u);
  EXPECT_EQ(again.find(call).upstream_symbol_rate, 5);
  EXPECT_EQ(again.find(call).upstream_high_carrier, 1);
  EXPECT_EQ(again.find(call).u_qts, 79);
  EXPECT_EQ(again.find(call).round_trip_samples, 96u);
  EXPECT_EQ(again.find(answer).u_qts, 0);
  EXPECT_EQ(again.find(answer).upstream_high_carrier, 0);
  EXPECT_EQ(again.find({"unix:/run/card-a", OH_PUMP_CALL, "5551235"}).upstream_symbol_rate, 0);
  EXPECT_EQ(again.find({"unix:/run/card-a", OH_PUMP_ANSWER, "5551234"}).upstream_symbol_rate, 0);
}

TEST_F(QuickProfilesFile, IsWrittenOnlyIfAProfileHasChanged) {
  QuickProfiles profiles(file_);
  profiles.save();
  EXPECT_FALSE(std::filesystem::exists(file_));
  profiles.store({"a", OH_PUMP_CALL, "1"}, kProfile);
  profiles.save();
  std::filesystem::remove(file_);
  profiles.store({"a", OH_PUMP_CALL, "1"}, kProfile);
  profiles.save();
  EXPECT_FALSE(std::filesystem::exists(file_));
}

TEST_F(QuickProfilesFile, NamesTheLineThatIsWrong) {
  for (const char* wrong : {"a\tcall\t1\t5\thigh\t79", "a\tcall\t1\t5\thigh\t79\t96\t1", "a\tring\t1\t5\thigh\t79\t96",
                            "a\tcall\t1\t6\thigh\t79\t96", "a\tcall\t1\t2\thigh\t79\t96", "a\tcall\t1\t5\tup\t79\t96",
                            "a\tcall\t1\t5\thigh\t128\t96", "a\tcall\t1\t5\thigh\t79\t100000",
                            "a\tcall\t1\t5\thigh\t79\t-1", "a\tcall\t1\t5\thigh\t\t96"}) {
    put(std::string("# text\n\na\tcall\t1\t5\thigh\t79\t96\n") + wrong + "\n");
    try {
      const QuickProfiles profiles(file_);
      FAIL() << wrong;
    } catch (const std::runtime_error& e) {
      EXPECT_NE(std::string(e.what()).find("profiles:4: not a Quick Connect profile, expected"), std::string::npos)
          << e.what();
    }
  }
  EXPECT_THROW(QuickProfiles(folder_ / "absent" / "profiles"), std::runtime_error);
}

TEST(QuickProfiles, ForgetsTheOldestAndStoresNoControlCharacters) {
  QuickProfiles profiles;
  for (std::size_t k = 0; k <= QuickProfiles::kMost; ++k)
    profiles.store({"card", OH_PUMP_CALL, std::to_string(k)}, kProfile);
  EXPECT_EQ(profiles.size(), QuickProfiles::kMost);
  EXPECT_EQ(profiles.find({"card", OH_PUMP_CALL, "0"}).upstream_symbol_rate, 0);
  EXPECT_NE(profiles.find({"card", OH_PUMP_CALL, "1"}).upstream_symbol_rate, 0);
  profiles.store({"card", OH_PUMP_CALL, "1\n2"}, kProfile);
  EXPECT_EQ(profiles.find({"card", OH_PUMP_CALL, "1\n2"}).upstream_symbol_rate, 0);
}

}  // namespace
}  // namespace offhook::modem
