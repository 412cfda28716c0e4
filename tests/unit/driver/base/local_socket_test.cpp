// SPDX-License-Identifier: MIT
#include "driver/base/local_socket.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <stdexcept>

#include "tests/unit/descriptors.h"
#include "tests/unit/temporary_folder.h"

namespace offhook {
namespace {

namespace fs = std::filesystem;
using test::complaint;
using testing::HasSubstr;

struct LocalSocket : testing::Test {
  int bound(int type) const {
    const int fd = socket(AF_UNIX, type, 0);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, path.data(), path.size());
    EXPECT_EQ(bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    return fd;
  }
  /// The remains of a killed program.
  void leave_behind() const { close(bound(SOCK_STREAM)); }
  test::TemporaryFolder temporary;
  fs::path folder = temporary.path();
  std::string path = folder / "s";
};

TEST_F(LocalSocket, NothingButAStaleSocketIsRemoved) {
  const auto listen_there = [&] { return complaint([&] { (void)LocalListener::at(path); }); };
  std::ofstream(path) << "precious";
  EXPECT_EQ(listen_there(), path + ": is a file; expected a socket, or an unused name");
  EXPECT_EQ(fs::file_size(path), 8u);
  fs::remove(path);
  fs::create_directory(path);
  EXPECT_THAT(listen_there(), HasSubstr("is a folder"));
  fs::remove(path);
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  EXPECT_THAT(listen_there(), HasSubstr("is a FIFO"));
  EXPECT_TRUE(fs::is_fifo(path));
  fs::remove(path);
  fs::create_symlink("nowhere", path);
  EXPECT_THAT(listen_there(), HasSubstr("is a symbolic link"));
  EXPECT_TRUE(fs::is_symlink(path));
  fs::remove(path);
  const int datagrams = bound(SOCK_DGRAM);  // of another kind of program, like /dev/log
  EXPECT_EQ(listen_there(), path + ": Protocol wrong type for socket");
  EXPECT_TRUE(fs::is_socket(path));
  close(datagrams);
  fs::remove(path);
  leave_behind();
  EXPECT_EQ(listen_there(), "no error");
}

TEST_F(LocalSocket, OneThatSomebodyListensOnStays) {
  const LocalListener first = LocalListener::at(path);
  EXPECT_EQ(complaint([&] { (void)LocalListener::at(path); }), path + ": another program listens at this path");
  const int peer = connect_local(path);
  EXPECT_GE(peer, 0);
  close(peer);
}

TEST_F(LocalSocket, AtItsEndItRemovesItsOwnPathOnly) {
  { const LocalListener listener = LocalListener::at(path); }
  EXPECT_FALSE(fs::exists(path));
  {
    const LocalListener listener = LocalListener::at(path);
    fs::remove(path);
    std::ofstream(path) << "precious";
  }
  EXPECT_TRUE(fs::is_regular_file(path));
  fs::remove(path);
  {
    const LocalListener listener = LocalListener::at(path);
    fs::rename(path, path + ".moved");
    leave_behind();  // another socket, of another program
  }
  EXPECT_TRUE(fs::is_socket(path));
}

TEST_F(LocalSocket, ItIsItsOwnersAtAnyUmask) {
  const mode_t before = umask(0);
  const LocalListener listener = LocalListener::at(path);
  umask(before);
  struct stat s {};
  ASSERT_EQ(lstat(path.c_str(), &s), 0);
  EXPECT_EQ(s.st_mode & 07777, 0600u);
}

TEST_F(LocalSocket, AFullQueueIsNotWaitedFor) {
  const LocalListener listener = LocalListener::at(path);
  std::vector<int> peers;
  while (peers.size() < 100) {
    const int peer = connect_local(path);
    if (peer == -EAGAIN) break;
    ASSERT_GE(peer, 0);
    peers.push_back(peer);
  }
  EXPECT_LT(peers.size(), 100u);
  for (const int peer : peers) close(peer);
}

TEST_F(LocalSocket, APathThatIsNoneIsSaid) {
  EXPECT_THAT(complaint([] { (void)LocalListener::at(""); }), HasSubstr("is not a valid socket path"));
  EXPECT_THAT(complaint([] { (void)LocalListener::at(std::string(200, 'x')); }), HasSubstr("at most 107 characters"));
}

TEST_F(LocalSocket, WhatKeepsItFromAPathIsSaidOnlyAPathThatIsTakenIsNoError) {
  const std::string nowhere = folder / "nowhere/s";
  EXPECT_EQ(complaint([&] { (void)LocalListener::where_nothing_is(nowhere); }),
            nowhere + ": No such file or directory");
  leave_behind();
  EXPECT_FALSE(LocalListener::where_nothing_is(path));
  EXPECT_TRUE(fs::is_socket(path));
}

TEST_F(LocalSocket, NoDescriptorIsLeftOpen) {
  const test::WithoutStandardInput without;
  const std::ptrdiff_t before = test::open_descriptors();
  EXPECT_EQ(connect_local(path), -ENOENT);
  leave_behind();
  EXPECT_EQ(connect_local(path), -ECONNREFUSED);
  EXPECT_FALSE(LocalListener::where_nothing_is(path));
  {
    const LocalListener listener = LocalListener::at(path);
    complaint([&] { (void)LocalListener::at(path); });
  }
  complaint([&] { (void)LocalListener::at(folder / "nowhere/s"); });
  EXPECT_EQ(test::open_descriptors(), before);
}

}  // namespace
}  // namespace offhook
