// SPDX-License-Identifier: MIT
#include "driver/base/output.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <iterator>
#include <stdexcept>
#include <thread>

#include "tests/unit/descriptors.h"
#include "tests/unit/temporary_folder.h"

namespace offhook {
namespace {

namespace fs = std::filesystem;
using test::complaint;
using testing::HasSubstr;

struct Output : testing::Test {
  Output() : before(umask(022)) {}
  ~Output() override { umask(before); }
  static std::string content(const fs::path& file) {
    std::ifstream in(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  static mode_t mode(const fs::path& file) {
    struct stat s {};
    return lstat(file.c_str(), &s) == 0 ? s.st_mode & 07777 : 0;
  }
  std::ptrdiff_t entries() const { return std::distance(fs::directory_iterator(path), {}); }
  test::TemporaryFolder temporary;
  fs::path path = temporary.path();
  mode_t before;
};

TEST_F(Output, AFileIsReplacedWholeAndNothingElseIsLeft) {
  write_file(path / "a", "first, the longer one");
  write_file(path / "a", std::string("sec\0nd", 6));
  EXPECT_EQ(content(path / "a"), std::string("sec\0nd", 6));
  EXPECT_EQ(entries(), 1);
}

TEST_F(Output, WhatWasNotClosedIsNotThereAndLeavesTheOldOne) {
  write_file(path / "a", "old");
  {
    OutputFile file(path / "a", Privacy::kShared, Appears::kWhole);
    file.write("half of the n");
  }
  EXPECT_EQ(content(path / "a"), "old");
  EXPECT_EQ(entries(), 1);
}

TEST_F(Output, ADeviceAndAFifoAreWrittenAndStayWhatTheyAre) {
  const fs::path fifo = path / "fifo";
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  const int reader = open(fifo.c_str(), O_RDONLY | O_NONBLOCK);
  write_file(fifo, "through");
  char text[16];
  ASSERT_EQ(read(reader, text, sizeof text), 7);
  EXPECT_EQ(std::string(text, 7), "through");
  close(reader);
  EXPECT_TRUE(fs::is_fifo(fifo));
  write_file("/dev/null", "nothing");
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
  EXPECT_THAT(complaint([] { write_file("/dev/full", "x"); }), HasSubstr("/dev/full: No space left on device"));
}

TEST_F(Output, AFifoThatNobodyReadsIsRefusedAtOnceAndNamed) {
  const fs::path fifo = path / "fifo";
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  alarm(30);  // a wait would never end
  for (const Appears appears : {Appears::kAtOnce, Appears::kWhole})
    EXPECT_THAT(complaint([&] { OutputFile(fifo, Privacy::kPrivate, appears); }),
                HasSubstr("fifo: is a FIFO without a reader"));
  const int reader = open(fifo.c_str(), O_RDONLY | O_NONBLOCK);
  const OutputFile log(fifo, Privacy::kPrivate, Appears::kAtOnce);
  alarm(0);
  EXPECT_EQ(fcntl(log.fd(), F_GETFL) & O_NONBLOCK, 0) << "a slow reader is waited for";
  close(reader);
}

std::atomic<int> signals{0};

// A slow reader makes the writer wait, and a signal meanwhile neither ends the wait nor repeats or loses a byte.
TEST_F(Output, ASignalDoesNotDisturbAWriteThatWaits) {
  const fs::path fifo = path / "fifo";
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  const int reader = open(fifo.c_str(), O_RDONLY | O_NONBLOCK);
  struct sigaction counted {};
  struct sigaction kept {};
  counted.sa_handler = [](int) { ++signals; };  // without SA_RESTART
  ASSERT_EQ(sigaction(SIGUSR1, &counted, &kept), 0);
  std::string sent(300'000, ' '), got;
  for (std::size_t i = 0; i < sent.size(); ++i) sent[i] = static_cast<char>(i % 251);
  std::atomic<bool> done{false};
  std::string why;
  std::thread writer([&] {
    why = complaint([&] { write_file(fifo, sent); });
    done = true;
  });
  const int full = fcntl(reader, F_GETPIPE_SZ);
  for (int waiting = 0; waiting < full && !done; ioctl(reader, FIONREAD, &waiting)) std::this_thread::yield();
  for (int sent_signals = 1; sent_signals <= 50 && !done; ++sent_signals) {
    ASSERT_EQ(pthread_kill(writer.native_handle(), SIGUSR1), 0);
    while (signals < sent_signals && !done) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  std::array<char, 4096> bytes;
  for (ssize_t n = 1; n != 0;) {
    const bool last = done;
    n = read(reader, bytes.data(), bytes.size());
    if (n > 0) got.append(bytes.data(), static_cast<std::size_t>(n));
    if (n < 0) std::this_thread::yield();
    if (n < 0 && last) break;
  }
  writer.join();
  close(reader);
  sigaction(SIGUSR1, &kept, nullptr);
  EXPECT_EQ(why, "no error");
  EXPECT_TRUE(got == sent) << got.size() << " bytes of " << sent.size();
}

TEST_F(Output, AReaderThatWentIsNamedAsTheCause) {
  const fs::path fifo = path / "fifo";
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  const int reader = open(fifo.c_str(), O_RDONLY | O_NONBLOCK);
  OutputFile file(fifo, Privacy::kPrivate, Appears::kAtOnce);
  close(reader);
  const auto kept = std::signal(SIGPIPE, SIG_IGN);
  EXPECT_THAT(complaint([&] { file.write("x"); }), HasSubstr("fifo: Broken pipe"));
  std::signal(SIGPIPE, kept);
}

TEST_F(Output, WhatDoesNotReachTheDiskDoesNotReplaceTheOldFile) {
  write_file(path / "a", "old");
  OutputFile file(path / "a", Privacy::kShared, Appears::kWhole);
  file.write("new");
  int pipes[2];  // cannot be written to a disk
  ASSERT_EQ(pipe(pipes), 0);
  ASSERT_GE(dup2(pipes[1], file.fd()), 0);
  EXPECT_EQ(complaint([&] { file.close(); }), (path / "a").string() + ": Invalid argument");
  EXPECT_EQ(content(path / "a"), "old");
  close(pipes[0]);
  close(pipes[1]);
}

TEST_F(Output, AFolderThatIsGoneIsSaidAndNotTriedForEver) {
  const OutputFolder folder(path / "out");
  fs::remove(path / "out");
  const std::string why = (path / "out/a").string() + ": No such file or directory";
  for (const Appears appears : {Appears::kAtOnce, Appears::kWhole})
    EXPECT_EQ(complaint([&] { folder.create("a", Privacy::kShared, appears).close(); }), why);  // tmpfs: at its end
  EXPECT_EQ(complaint([&] { folder.append("a", Privacy::kShared); }), why);
}

TEST_F(Output, NoDescriptorIsLeftOpen) {
  const OutputFolder folder(path / "out");
  const test::WithoutStandardInput without;
  const std::ptrdiff_t at_first = test::open_descriptors();
  { folder.sub("sub").write("a", "x"); }
  folder.append("b", Privacy::kShared).write("x");
  { const OutputFolder other(path / "other"); }
  write_file(path / "a", "x");
  { OutputFile unfinished(path / "a", Privacy::kShared, Appears::kWhole); }
  EXPECT_NE(complaint([&] { folder.write("sub", "x"); }), "no error");
  EXPECT_NE(complaint([&] { (void)folder.sub("b"); }), "no error");
  EXPECT_EQ(test::open_descriptors(), at_first);
}

TEST_F(Output, AnOpenDescriptorIsWrittenWhereItStands) {
  const fs::path file = path / "a";
  const int fd = open(file.c_str(), O_RDWR | O_CREAT, 0600);
  ASSERT_EQ(write(fd, "before, ", 8), 8);
  write_file("/dev/fd/" + std::to_string(fd), "after");
  close(fd);
  EXPECT_EQ(content(file), "before, after");
}

TEST_F(Output, AWholeFileHasNoNameBeforeItsEndSoThatAKillLeavesNothing) {
  OutputFile file(path / "a", Privacy::kShared, Appears::kWhole);
  file.write("half of the n");
  EXPECT_EQ(entries(), 0) << "on a file system with O_TMPFILE, as ext4, xfs, btrfs and tmpfs have";
  file.close();
  EXPECT_EQ(entries(), 1);
  EXPECT_EQ(mode(path / "a"), 0644u);
}

TEST_F(Output, WhatIsNoFileIsNotRemovedFromAnOutputFolder) {
  const OutputFolder folder(path);
  ASSERT_EQ(mkfifo((path / "line.wav").c_str(), 0600), 0);
  EXPECT_THAT(complaint([&] { folder.remove("line.wav"); }), HasSubstr("line.wav: is a FIFO; expected a file"));
  EXPECT_EQ(entries(), 1);
  folder.remove("absent");
}

TEST_F(Output, ALinkThatTheUserNamedIsFollowed) {
  write_file(path / "target", "old, and longer");
  fs::create_symlink(path / "target", path / "link");
  write_file(path / "link", "new");
  EXPECT_TRUE(fs::is_symlink(path / "link"));
  EXPECT_EQ(content(path / "target"), "new");
}

TEST_F(Output, WhatAnotherUserLaidInAFolderOfAllUsersIsRefused) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root, to make another user's link";
  write_file(path / "precious", "precious");
  fs::create_directory(path / "tmp");
  ASSERT_EQ(chmod((path / "tmp").c_str(), 01777), 0);
  fs::create_symlink(path / "precious", path / "tmp/link");
  write_file(path / "tmp/link", "ours");
  EXPECT_EQ(content(path / "precious"), "ours");
  ASSERT_EQ(lchown((path / "tmp/link").c_str(), 65534, 65534), 0);
  EXPECT_THAT(complaint([&] { write_file(path / "tmp/link", "x"); }),
              HasSubstr("is a symbolic link that another user"));
  ASSERT_EQ(mkfifo((path / "tmp/fifo").c_str(), 0666), 0);
  ASSERT_EQ(chown((path / "tmp/fifo").c_str(), 65534, 65534), 0);
  EXPECT_THAT(complaint([&] { write_file(path / "tmp/fifo", "x"); }), HasSubstr("is a FIFO that another user"));
  EXPECT_EQ(content(path / "precious"), "ours");
}

TEST_F(Output, ALinkInAnOutputFolderIsReplacedAndNeverFollowed) {
  write_file(path / "precious", "precious");
  const OutputFolder folder(path / "out");
  for (const Appears appears : {Appears::kAtOnce, Appears::kWhole}) {
    fs::remove(path / "out/file");
    fs::create_symlink(path / "precious", path / "out/file");
    OutputFile file = folder.create("file", Privacy::kShared, appears);
    file.write("x");
    file.close();
    EXPECT_FALSE(fs::is_symlink(path / "out/file"));
    EXPECT_EQ(content(path / "out/file"), "x");
  }
  fs::create_symlink(path / "precious", path / "out/kept");
  EXPECT_THAT(complaint([&] { folder.append("kept", Privacy::kShared); }),
              HasSubstr("kept: is a symbolic link; expected a file"));
  fs::create_symlink(path, path / "out/sub");
  EXPECT_THAT(complaint([&] { (void)folder.sub("sub"); }), HasSubstr("is a symbolic link; expected a folder"));
  EXPECT_EQ(content(path / "precious"), "precious");
}

TEST_F(Output, AnotherNameOfAFileElsewhereIsNotWrittenThrough) {
  write_file(path / "precious", "precious");
  const OutputFolder folder(path / "out");
  fs::create_hard_link(path / "precious", path / "out/events");
  OutputFile file = folder.create("events", Privacy::kPrivate, Appears::kAtOnce);
  file.write("x");
  file.close();
  EXPECT_EQ(content(path / "precious"), "precious");

  fs::create_hard_link(path / "precious", path / "out/runs");
  EXPECT_THAT(complaint([&] { folder.append("runs", Privacy::kShared); }), HasSubstr("runs: has a second name"));
  EXPECT_EQ(content(path / "precious"), "precious");
}

TEST_F(Output, AnOutputFolderHoldsFilesOnly) {
  const OutputFolder folder(path);
  ASSERT_EQ(mkfifo((path / "fifo").c_str(), 0600), 0);
  fs::create_directory(path / "folder");
  EXPECT_THAT(complaint([&] { folder.write("fifo", "x"); }), HasSubstr("fifo: is a FIFO; expected a file"));
  EXPECT_THAT(complaint([&] { folder.write("folder", "x"); }), HasSubstr("folder: is a folder; expected a file"));
  for (const char* name : {"..", ".", "", "a/b", "/etc/passwd"}) {
    EXPECT_THAT(complaint([&] { folder.write(name, "x"); }), HasSubstr("without a folder")) << name;
  }
}

TEST_F(Output, AFolderThatWasMovedAwayIsStillTheOneThatIsWritten) {
  const OutputFolder folder(path / "out");
  fs::create_directory(path / "trap");
  fs::rename(path / "out", path / "moved");
  fs::create_symlink(path / "trap", path / "out");
  folder.write("a", "x");
  EXPECT_TRUE(fs::is_empty(path / "trap"));
  EXPECT_EQ(content(path / "moved/a"), "x");
}

TEST_F(Output, TheUmaskHoldsAndRecordsAreTheOwnersAlone) {
  const OutputFolder folder(path / "out");
  umask(027);
  folder.write("page", "x");
  folder.write("record", "x", Privacy::kPrivate);
  { OutputFile log = folder.create("log", Privacy::kPrivate, Appears::kAtOnce); }
  EXPECT_EQ(mode(path / "out/page"), 0640u);
  EXPECT_EQ(mode(path / "out/record"), 0600u);
  EXPECT_EQ(mode(path / "out/log"), 0600u);
  umask(0);
  folder.write("page0", "x");
  folder.write("record0", "x", Privacy::kPrivate);
  EXPECT_EQ(mode(path / "out/page0"), 0666u);
  EXPECT_EQ(mode(path / "out/record0"), 0600u);
  // A process that wants to share a record gets it at the next attempt.
  fs::permissions(path / "out/record", fs::perms(0644));
  folder.write("record", "y", Privacy::kPrivate);
  EXPECT_EQ(mode(path / "out/record"), 0644u);
}

TEST_F(Output, AFolderIsOneRunsAtATime) {
  const auto open_again = [&](OutputFolder::Use use) { return complaint([&] { OutputFolder(path / "out", use); }); };
  {
    const OutputFolder first(path / "out");
    EXPECT_THAT(open_again(OutputFolder::Use::kAlone), HasSubstr("out: another run writes to this folder"));
    EXPECT_THAT(open_again(OutputFolder::Use::kShared), HasSubstr("out: another run writes to this folder"));
    EXPECT_EQ(open_again(OutputFolder::Use::kOneFile), "no error");
  }
  {
    const OutputFolder shard(path / "out", OutputFolder::Use::kShared);
    EXPECT_EQ(open_again(OutputFolder::Use::kShared), "no error");
    EXPECT_THAT(open_again(OutputFolder::Use::kAlone), HasSubstr("out: another run writes to this folder"));
  }
  EXPECT_EQ(open_again(OutputFolder::Use::kAlone), "no error");
  EXPECT_EQ(entries(), 1);  // the lock leaves nothing behind
  EXPECT_TRUE(fs::is_empty(path / "out"));
}

TEST_F(Output, ErrorsNameFileAndCause) {
  const std::string file = (path / "nowhere/a").string();
  EXPECT_EQ(complaint([&] { write_file(file, "x"); }), file + ": No such file or directory");
  write_file(path / "b", "x");
  EXPECT_EQ(complaint([&] { OutputFolder(path / "b"); }), (path / "b").string() + ": is a file; expected a folder");
  EXPECT_EQ(complaint([&] { expect_writable(path); }), path.string() + ": is a folder; expected a file");
  EXPECT_EQ(complaint([&] { expect_writable("/dev/null"); }), "no error");
}

TEST_F(Output, AStreamsErrorIsTheFilesError) {
  OutputStream out(OutputFile("/dev/full", Privacy::kShared, Appears::kWhole));
  EXPECT_EQ(complaint([&] {
              for (int i = 0; i < 100'000; ++i) out << "more than the buffer holds\n";
              out.close();
            }),
            "/dev/full: No space left on device");
}

TEST_F(Output, AStreamsBytesArriveInOrder) {
  std::string all;
  OutputStream out(OutputFile(path / "a", Privacy::kShared, Appears::kWhole));
  for (int i = 0; i < 50'000; ++i) {
    out << i << ' ';
    all += std::to_string(i) + ' ';
  }
  EXPECT_FALSE(fs::exists(path / "a"));
  out.close();
  EXPECT_EQ(content(path / "a"), all);
}

}  // namespace
}  // namespace offhook
