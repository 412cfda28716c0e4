// SPDX-License-Identifier: MIT
#include "driver/base/file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <functional>
#include <stdexcept>
#include <thread>

#include "driver/base/output.h"
#include "tests/unit/temporary_folder.h"

namespace offhook {
namespace {

namespace fs = std::filesystem;
using test::complaint;

class FileFolder : public testing::Test {
 protected:
  test::TemporaryFolder temporary_;
  fs::path path_ = temporary_.path();
};

TEST_F(FileFolder, AFileIsReadWhole) {
  write_file(path_ / "a", std::string("sec\0nd", 6));
  EXPECT_EQ(read_file(path_ / "a"), std::string("sec\0nd", 6));
  EXPECT_EQ(read_file(path_ / "a", 6).size(), 6u);
  EXPECT_FALSE(read_file("/proc/self/status").empty());  // which reports a size of no bytes
  write_file(path_ / "empty", "");
  EXPECT_EQ(read_file(path_ / "empty"), "");
  std::string large(1'000'000, 'x');
  large.back() = 'y';
  write_file(path_ / "large", large);
  EXPECT_EQ(read_file(path_ / "large"), large);
}

TEST_F(FileFolder, ErrorsNameFileAndCause) {
  const std::string file = (path_ / "nowhere/a").string();
  EXPECT_EQ(complaint([&] { read_file(file); }), file + ": No such file or directory");
  EXPECT_EQ(complaint([&] { read_file(path_); }), path_.string() + ": is a folder; expected a file");
  EXPECT_EQ(complaint([&] { read_file(""); }), "empty file name; expected a path");
}

TEST_F(FileFolder, AFifoIsReadFromItsWriterAndNotWaitedForWithoutOne) {
  const fs::path fifo = path_ / "fifo";
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  alarm(30);  // a wait would never end
  EXPECT_EQ(complaint([&] { read_file(fifo); }), fifo.string() + ": a FIFO that has no writer");
  const int both = open(fifo.c_str(), O_RDWR);
  ASSERT_EQ(write(both, "text", 4), 4);
  std::thread writer([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));  // the reader waits for the rest
    EXPECT_EQ(write(both, " end", 4), 4);
    close(both);
  });
  EXPECT_EQ(read_file(fifo), "text end");
  alarm(0);
  writer.join();
}

TEST_F(FileFolder, TheSizeIsLookedAtBeforeMemoryIsAskedFor) {
  const fs::path sparse = path_ / "sparse";
  write_file(sparse, "x");
  fs::resize_file(sparse, 1'000'000'000'000);
  EXPECT_EQ(complaint([&] { read_file(sparse); }),
            sparse.string() + ": has 1000000000000 bytes; expected at most 67108864");
  write_file(path_ / "seven", "1234567");
  EXPECT_EQ(complaint([&] { read_file(path_ / "seven", 6); }),
            (path_ / "seven").string() + ": has 7 bytes; expected at most 6");
  EXPECT_EQ(complaint([&] { read_file("/dev/zero"); }), "/dev/zero: does not end within 67108864 bytes");
}

// Fowler, Noll, Vo: the offset basis, and their test vector "a".
TEST(Fnv1a, GivesThePublishedHashes) {
  EXPECT_EQ(fnv1a_hex(""), "cbf29ce484222325");
  EXPECT_EQ(fnv1a_hex("a"), "af63dc4c8601ec8c");
}

}  // namespace
}  // namespace offhook
