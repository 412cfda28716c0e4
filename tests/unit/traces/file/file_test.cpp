// SPDX-License-Identifier: MIT
#include "traces/file/file.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <functional>
#include <stdexcept>

#include "traces/file/csv.h"

namespace offhook {
namespace {

namespace fs = std::filesystem;

class FileFolder : public testing::Test {
 protected:
  FileFolder() {
    std::string name = (fs::temp_directory_path() / "offhook-file-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) std::abort();
    path_ = name;
  }
  ~FileFolder() override { fs::remove_all(path_); }
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

TEST_F(FileFolder, AFileIsReplacedWholeAndNothingElseIsLeft) {
  write_file(path_ / "a", "first, the longer one");
  write_file(path_ / "a", std::string("sec\0nd", 6));
  EXPECT_EQ(read_file(path_ / "a"), std::string("sec\0nd", 6));
  EXPECT_EQ(std::distance(fs::directory_iterator(path_), {}), 1);
}

TEST_F(FileFolder, ErrorsNameFileAndCause) {
  const std::string file = (path_ / "nowhere/a").string();
  EXPECT_EQ(complaint([&] { write_file(file, "x"); }), file + ": No such file or directory");
  EXPECT_EQ(complaint([&] { read_file(file); }), file + ": No such file or directory");
  EXPECT_EQ(complaint([&] { read_file(path_); }), path_.string() + ": Is a directory");
  write_file(path_ / "b", "x");
  EXPECT_EQ(complaint([&] { make_folder(path_ / "b"); }), (path_ / "b").string() + ": Not a directory");
}

// Fowler, Noll, Vo: the offset basis, and their test vector "a".
TEST(Fnv1a, GivesThePublishedHashes) {
  EXPECT_EQ(fnv1a_hex(""), "cbf29ce484222325");
  EXPECT_EQ(fnv1a_hex("a"), "af63dc4c8601ec8c");
}

TEST(CsvField, IsInQuotesWhereItNeedsThem) {
  EXPECT_EQ(csv_field("RES 2/8"), "RES 2/8");
  EXPECT_EQ(csv_field("a,b"), "\"a,b\"");
  EXPECT_EQ(csv_field("a \"b\"\n"), "\"a \"\"b\"\"\n\"");
}

}  // namespace
}  // namespace offhook
