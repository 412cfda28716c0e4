// SPDX-License-Identifier: MIT
#include "src/program/command/line_recording.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

#include "driver/base/file.h"

namespace offhook {
namespace {

namespace fs = std::filesystem;

class InAFolder : public testing::Test {
 protected:
  InAFolder() {
    std::string name = (fs::temp_directory_path() / "offhook-output-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) std::abort();
    path_ = name;
  }
  ~InAFolder() override { fs::remove_all(path_); }
  fs::path path_;
};

TEST(LineRecording, AnErrorNamesTheFile) {
  try {
    LineRecording line(OutputFile("/dev/full", Privacy::kPrivate, Appears::kAtOnce), 8000);
    line.write(std::vector<std::int16_t>(1 << 16), std::vector<std::int16_t>(1 << 16));
    FAIL();
  } catch (const std::runtime_error& e) {
    EXPECT_THAT(e.what(), testing::StartsWith("/dev/full: "));
  }
}

TEST_F(InAFolder, ALineRecordingIsA16BitStereoWav) {
  const std::array<std::int16_t, 3> left = {1, -2, 3}, right = {-1, 2, 256};
  LineRecording line(OutputFile(path_ / "line.wav", Privacy::kPrivate, Appears::kAtOnce), 8000);
  line.write(left, right);
  line.close();
  const std::string bytes = read_file(path_ / "line.wav");
  EXPECT_EQ(bytes.substr(0, 4), "RIFF");
  EXPECT_EQ(bytes.substr(bytes.size() - 12), std::string("\1\0\xff\xff\xfe\xff\2\0\3\0\0\1", 12));
}

}  // namespace
}  // namespace offhook
