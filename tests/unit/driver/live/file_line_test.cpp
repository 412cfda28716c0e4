// SPDX-License-Identifier: MIT
#include "driver/live/file_line.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <numeric>
#include <stdexcept>

#include "driver/session/devices.h"

namespace offhook {
namespace {

class FileLineTest : public testing::Test {
 protected:
  std::string path(const std::string& name) { return folder_ / name; }
  std::filesystem::path folder_ = std::filesystem::temp_directory_path() / ("offhook-file-" + std::to_string(getpid()));
  void SetUp() override { std::filesystem::create_directories(folder_); }
  void TearDown() override { std::filesystem::remove_all(folder_); }
};

TEST_F(FileLineTest, HearsTheRecordingThenSilenceAndRecordsWhatIsPlayed) {
  std::vector<std::int16_t> ramp(1000);
  std::iota(ramp.begin(), ramp.end(), std::int16_t{1});
  std::vector<std::int16_t> heard(1000);
  {
    FileLine writer("", path("a.wav"));
    writer.exchange(ramp.data(), heard.data(), 600);
    writer.exchange(ramp.data() + 600, heard.data(), 400);
    EXPECT_EQ(writer.failure(), "");
  }
  EXPECT_EQ(heard, std::vector<std::int16_t>(1000));
  FileLine reader(path("a.wav"), "");
  heard.assign(1200, -1);
  reader.exchange(ramp.data(), heard.data(), 1000);
  reader.exchange(ramp.data(), heard.data() + 1000, 200);
  ramp.resize(1200);
  EXPECT_EQ(heard, ramp);
}

TEST_F(FileLineTest, RefusesWhatIsNoRecordingOfThisRate) {
  const auto refusal = [](const std::string& address) -> std::string {
    try {
      open_card(address);
    } catch (const std::runtime_error& e) {
      return e.what();
    }
    return "";
  };
  std::ofstream(path("text")) << "no audio";
  EXPECT_NE(refusal("file:" + path("text")).find(path("text") + ": "), std::string::npos);
  ASSERT_EQ(mkfifo(path("fifo").c_str(), 0600), 0);  // which has no writer
  EXPECT_NE(refusal("file:" + path("fifo")).find("fifo: is a FIFO; expected an audio file"), std::string::npos);
  EXPECT_NE(refusal("file:" + path("absent")).find("absent"), std::string::npos);
  EXPECT_NE(refusal("file:," + path("no/such/folder.wav")).find("folder.wav"), std::string::npos);
  EXPECT_NE(refusal("tape:x").find("is not a card; expected"), std::string::npos);
}

}  // namespace
}  // namespace offhook
