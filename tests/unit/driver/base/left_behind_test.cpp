// SPDX-License-Identifier: MIT
#include "driver/base/left_behind.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <functional>
#include <optional>
#include <thread>

#include "driver/base/local_socket.h"
#include "driver/base/own_link.h"
#include "tests/unit/temporary_folder.h"

namespace offhook {
namespace {

namespace fs = std::filesystem;

struct LeftBehind : testing::Test {
  /// Creates with `make` in another process, which is then killed.
  static void killed_after(const std::function<void()>& make) {
    const pid_t pid = fork();
    if (pid == 0) {
      make();
      raise(SIGKILL);
    }
    int status = 0;
    ASSERT_EQ(waitpid(pid, &status, 0), pid);
    ASSERT_TRUE(WIFSIGNALED(status));
  }
  test::TemporaryFolder temporary;
  fs::path folder = temporary.path();
  fs::path path = folder / "s";
};

TEST_F(LeftBehind, TheSocketAndTheLinkOfAProcessThatWasKilledAreRemoved) {
  killed_after([&] {
    static std::optional<LocalListener> listener;
    listener.emplace(LocalListener::at(path));
    static OwnLink link(folder / "tty");
    link.point_to("/dev/pts/9999");
  });
  EXPECT_TRUE(fs::is_socket(path));
  EXPECT_TRUE(fs::is_symlink(folder / "tty"));
  remove_left_behind();
  EXPECT_FALSE(fs::exists(path));
  EXPECT_FALSE(fs::is_symlink(folder / "tty"));
}

TEST_F(LeftBehind, WhatALivingProcessKeepsStays) {
  const LocalListener listener = LocalListener::at(path);
  remove_left_behind();
  EXPECT_TRUE(fs::is_socket(path));
}

TEST_F(LeftBehind, WhatHasTakenThePlaceOfTheEntryStays) {
  killed_after([&] {
    static std::optional<LocalListener> listener;
    listener.emplace(LocalListener::at(path));
  });
  fs::remove(path);
  std::ofstream(path) << "precious";
  remove_left_behind();
  EXPECT_EQ(fs::file_size(path), 8u);
}

TEST_F(LeftBehind, OnlyATemporaryFolderOfOursIsRemovedWithWhatIsInIt) {
  fs::create_directories(folder / "offhook-load-x");
  fs::create_directories(folder / "home");
  std::ofstream(folder / "offhook-load-x" / "log") << "x";
  killed_after([&] { static const MadeEntry ours(folder / "offhook-load-x"), other(folder / "home"); });
  remove_left_behind();
  // Another command of this machine, which is just starting, may be removing it.
  for (int k = 0; k < 200 && fs::exists(folder / "offhook-load-x"); ++k)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  EXPECT_FALSE(fs::exists(folder / "offhook-load-x"));
  EXPECT_TRUE(fs::exists(folder / "home"));
}

}  // namespace
}  // namespace offhook
