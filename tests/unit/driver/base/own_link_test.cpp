// SPDX-License-Identifier: MIT
#include "driver/base/own_link.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstddef>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "tests/unit/descriptors.h"
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
  EXPECT_THAT(complaint(), HasSubstr("tty: is a file; expected no such file"));
  fs::remove(path);
  fs::create_symlink("/etc/passwd", path);
  EXPECT_THAT(complaint(), HasSubstr("tty: is a link to /etc/passwd; expected no such file"));
  EXPECT_TRUE(fs::is_symlink(path));
  fs::remove(path);
  fs::create_symlink("/dev/pts/7", path);
  if (geteuid() == 0) {
    ASSERT_EQ(lchown(path.c_str(), 65534, 65534), 0);
    EXPECT_THAT(complaint(), HasSubstr("another user's link"));
    EXPECT_TRUE(fs::is_symlink(path));
  }
}

TEST_F(OwnLinkTest, AFolderThatIsNotThereIsSaidAtOnce) {
  path = folder / "nowhere/tty";
  EXPECT_EQ(complaint(), path + ": No such file or directory");
}

TEST_F(OwnLinkTest, WhatKeepsItFromItsNameIsSaid) {
#if defined(__SANITIZE_ADDRESS__)
  GTEST_SKIP() << "a sanitizer needs descriptors to look at an exception";
#endif
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  const int next = dup(STDERR_FILENO);
  close(next);
  rlimit full = before;
  full.rlim_cur = static_cast<rlim_t>(next);
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &full), 0);
  const std::string why = complaint();
  setrlimit(RLIMIT_NOFILE, &before);
  EXPECT_EQ(why, path + ": Too many open files");
}

/// The abstract socket that keeps the link, as listed in /proc/net/unix. Modems that run meanwhile have others there:
/// the name contains the folder's inode.
std::string name_that_keeps(const fs::path& path) {
  const OwnLink link(path);
  struct stat folder {};
  EXPECT_EQ(stat(path.parent_path().c_str(), &folder), 0);
  std::ostringstream inode;
  inode << ' ' << std::hex << folder.st_ino << ' ';
  std::string name;
  std::ifstream sockets("/proc/net/unix");
  for (std::string line; std::getline(sockets, line);) {
    const auto at = line.find("@offhook ");
    if (at != std::string::npos && line.find(inode.str(), at) != std::string::npos) name = line.substr(at + 1);
  }
  return name;
}

TEST_F(OwnLinkTest, AnotherUserCannotKeepUsFromOurs) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root, to be another user";
  const std::string name = name_that_keeps(path);
  ASSERT_NE(name, "");
  int ready[2];
  ASSERT_EQ(pipe(ready), 0);
  const pid_t child = fork();
  if (child == 0) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path + 1, name.data(), name.size());
    const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
    const int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    const bool taken =
        setuid(65534) == 0 && bind(fd, reinterpret_cast<const sockaddr*>(&address), size) == 0 && listen(fd, 1) == 0;
    [[maybe_unused]] const ssize_t n = write(ready[1], taken ? "1" : "0", 1);
    for (;;) pause();
  }
  char taken = 0;
  ASSERT_EQ(read(ready[0], &taken, 1), 1);
  EXPECT_EQ(taken, '1');
  const std::ptrdiff_t before = test::open_descriptors();
  EXPECT_EQ(complaint(), "no error");
  EXPECT_EQ(test::open_descriptors(), before);
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  close(ready[0]);
  close(ready[1]);
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
  EXPECT_EQ(complaint(), path + ": a running modem uses it; expected another name");
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  EXPECT_EQ(fs::read_symlink(path), "/dev/pts/0");
  EXPECT_EQ(complaint(), "no error");
}

}  // namespace
}  // namespace offhook
