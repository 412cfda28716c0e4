// SPDX-License-Identifier: MIT
#include "driver/path/own_link.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <stdexcept>

#include "tests/unit/temporary_folder.h"

namespace offhook {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

struct OwnLinkTest : testing::Test {
  std::string complaint() const {
    return test::complaint([this] { const OwnLink link(path); });
  }
  test::TemporaryFolder temporary;
  fs::path folder = temporary.path();
  std::string path = folder / "tty";
};

TEST_F(OwnLinkTest, LeadsWhereItPointsAndIsGoneAfterwards) {
  {
    OwnLink link(path);
    link.point_to("/dev/pts/7");
    EXPECT_EQ(fs::read_symlink(path), "/dev/pts/7");
    link.point_to("/dev/pts/8");
    EXPECT_EQ(fs::read_symlink(path), "/dev/pts/8");
  }
  EXPECT_TRUE(fs::is_empty(folder));
}

TEST_F(OwnLinkTest, WhatIsNotOursStays) {
  std::ofstream(path) << "precious";
  EXPECT_THAT(complaint(), HasSubstr("tty: is a file; expected nothing there"));
  fs::remove(path);
  fs::create_symlink("/etc/passwd", path);
  EXPECT_THAT(complaint(), HasSubstr("tty: is a link to /etc/passwd; expected nothing there"));
  EXPECT_TRUE(fs::is_symlink(path));
  fs::remove(path);
  fs::create_symlink("/dev/pts/7", path);
  if (geteuid() == 0) {
    ASSERT_EQ(lchown(path.c_str(), 65534, 65534), 0);
    EXPECT_THAT(complaint(), HasSubstr("another user's link"));
    EXPECT_TRUE(fs::is_symlink(path));
  }
}

TEST_F(OwnLinkTest, OneThatLeadsElsewhereByNowIsNotRemoved) {
  {
    OwnLink link(path);
    link.point_to("/dev/pts/7");
    fs::remove(path);
    fs::create_symlink("/dev/pts/9", path);
  }
  EXPECT_EQ(fs::read_symlink(path), "/dev/pts/9");
}

TEST_F(OwnLinkTest, IsKeptByOneProcessAndFreeAfterACrash) {
  int ready[2];
  ASSERT_EQ(pipe(ready), 0);
  const pid_t child = fork();
  if (child == 0) {
    OwnLink link(path);
    link.point_to("/dev/pts/0");
    [[maybe_unused]] const ssize_t n = write(ready[1], "", 1);
    for (;;) pause();
  }
  char byte;
  ASSERT_EQ(read(ready[0], &byte, 1), 1);
  EXPECT_EQ(complaint(), path + ": a running modem keeps it; expected another name");
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  EXPECT_EQ(fs::read_symlink(path), "/dev/pts/0");
  EXPECT_EQ(complaint(), "no error");
}

}  // namespace
}  // namespace offhook
