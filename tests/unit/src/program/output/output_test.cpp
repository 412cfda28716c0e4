// SPDX-License-Identifier: MIT
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <stdexcept>
#include <string>

#include "src/program/output/file.h"
#include "src/program/output/line_recording.h"
#include "src/program/output/terminal.h"

namespace offhook {
namespace {

namespace fs = std::filesystem;

class OutputFolder : public testing::Test {
 protected:
  OutputFolder() {
    std::string name = (fs::temp_directory_path() / "offhook-output-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) std::abort();
    path_ = name;
  }
  ~OutputFolder() override { fs::remove_all(path_); }
  fs::path path_;
};

std::string complaint(const std::function<void()>& act) {
  try {
    act();
  } catch (const std::runtime_error& e) {
    return e.what();
  }
  return "no error";
}

TEST_F(OutputFolder, AFileIsReplacedWholeAndNothingElseIsLeft) {
  write_file(path_ / "a", "first, the longer one");
  write_file(path_ / "a", std::string("sec\0nd", 6));
  EXPECT_EQ(read_file(path_ / "a"), std::string("sec\0nd", 6));
  EXPECT_EQ(std::distance(fs::directory_iterator(path_), {}), 1);
}

TEST_F(OutputFolder, ErrorsNameFileAndCause) {
  const std::string file = (path_ / "nowhere/a").string();
  EXPECT_EQ(complaint([&] { write_file(file, "x"); }), file + ": No such file or directory");
  EXPECT_EQ(complaint([&] { read_file(file); }), file + ": No such file or directory");
  EXPECT_EQ(complaint([&] { read_file(path_); }), path_.string() + ": Is a directory");
  write_file(path_ / "b", "x");
  EXPECT_EQ(complaint([&] { make_folder(path_ / "b"); }), (path_ / "b").string() + ": Not a directory");
  EXPECT_THAT(complaint([] { LineRecording("/dev/null/line.wav", 8000); }),
              testing::StartsWith("/dev/null/line.wav: "));
}

// Fowler, Noll, Vo: the offset basis, and their test vector "a".
TEST(Fnv1a, GivesThePublishedHashes) {
  EXPECT_EQ(fnv1a_hex(""), "cbf29ce484222325");
  EXPECT_EQ(fnv1a_hex("a"), "af63dc4c8601ec8c");
}

TEST_F(OutputFolder, ALineRecordingIsA16BitStereoWav) {
  const std::array<std::int16_t, 3> left = {1, -2, 3}, right = {-1, 2, 256};
  LineRecording line(path_ / "line.wav", 8000);
  line.write(left, right);
  line.close();
  const std::string bytes = read_file(path_ / "line.wav");
  EXPECT_EQ(bytes.substr(0, 4), "RIFF");
  EXPECT_EQ(bytes.substr(bytes.size() - 12), std::string("\1\0\xff\xff\xfe\xff\2\0\3\0\0\1", 12));
}

TEST(Table, ColumnsAreAsWideAsTheirWidestCell) {
  Table table;
  table.column("name");
  table.column("verdict", Table::Align::kLeft);
  table.column("s");
  table.row({"caf\u00e9", "ok", "1.5"});
  table.row({"longer name", "sufficient", "10.25"});
  EXPECT_EQ(table.str(),
            "name         verdict         s\n"
            "------------------------------\n"
            "caf\u00e9         ok            1.5\n"
            "longer name  sufficient  10.25\n");
}

TEST(DurationText, PicksTheUnit) {
  EXPECT_EQ(duration_text(4.24), "4.2 s");
  EXPECT_EQ(duration_text(59), "59 s");
  EXPECT_EQ(duration_text(200), "3 min 20 s");
  EXPECT_EQ(duration_text(3720), "1 h 02 min");
}

}  // namespace
}  // namespace offhook
