// SPDX-License-Identifier: MIT
#include "driver/tty/terminal.h"

#include <fcntl.h>
#include <grp.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <filesystem>

namespace offhook::modem {
namespace {

struct Program {
  explicit Program(const std::string& path) : fd(open(path.c_str(), O_RDWR | O_NOCTTY)) {}
  ~Program() { close(fd); }
  bool listens_to_carrier() {  // as stty -clocal
    termios t{};
    if (tcgetattr(fd, &t) != 0) return false;
    t.c_cflag &= ~static_cast<tcflag_t>(CLOCAL);
    return tcsetattr(fd, TCSANOW, &t) == 0;
  }
  std::string read_line() {
    char text[64];
    const ssize_t n = read(fd, text, sizeof text);
    return n < 0 ? "" : std::string(text, static_cast<std::size_t>(n));
  }
  int fd;
};

struct TerminalTest : testing::Test {
  std::string link = testing::TempDir() + "offhook-tty-" + std::to_string(getpid());
  PseudoTerminal terminal{link};
};

TEST_F(TerminalTest, AProgramThatLeavesClocalKeepsItsTerminalWhenTheCarrierIsLost) {
  Program program(link);
  const std::string before = terminal.device();
  terminal.carrier_lost();
  EXPECT_EQ(terminal.device(), before);
  terminal.write("NO CARRIER\n");
  EXPECT_EQ(program.read_line(), "NO CARRIER\n");
}

TEST_F(TerminalTest, AProgramThatClearsClocalIsHungUpAndFindsANewTerminalUnderTheSameName) {
  Program program(link);
  ASSERT_TRUE(program.listens_to_carrier());
  ASSERT_EQ(chmod(terminal.device().c_str(), 0660), 0);
  terminal.carrier_lost();
  char byte;
  EXPECT_LE(read(program.fd, &byte, 1), 0);  // end of file, or EIO
  EXPECT_LT(write(program.fd, "x", 1), 0);

  EXPECT_EQ(std::filesystem::read_symlink(link), terminal.device());
  struct stat now {};
  ASSERT_EQ(stat(link.c_str(), &now), 0);
  EXPECT_EQ(now.st_mode & 07777, 0660u);
  Program next(link);
  terminal.write("RING\n");
  EXPECT_EQ(next.read_line(), "RING\n");
  termios t{};
  ASSERT_EQ(tcgetattr(next.fd, &t), 0);
  EXPECT_NE(t.c_cflag & CLOCAL, 0u);  // only those are hung up that requested it
}

TEST(Terminal, IsItsGroupsFromTheStartAndAfterAHangUp) {
  std::array<gid_t, 64> groups{};
  const int n = getgroups(static_cast<int>(groups.size()), groups.data());
  const gid_t own = n > 0 ? groups[static_cast<std::size_t>(n) - 1] : getegid();
  const ::group* entry = geteuid() == 0 ? getgrnam("dialout") : getgrgid(own);
  if (entry == nullptr) GTEST_SKIP() << "this user's group has no name";
  const gid_t wanted = entry->gr_gid;
  PseudoTerminal terminal("", entry->gr_name);
  for (int hang_up = 0; hang_up < 2; ++hang_up) {
    struct stat now {};
    ASSERT_EQ(stat(terminal.device().c_str(), &now), 0);
    EXPECT_EQ(now.st_gid, wanted);
    EXPECT_EQ(now.st_mode & 07777, 0660u);
    ASSERT_TRUE(Program(terminal.device()).listens_to_carrier());
    terminal.carrier_lost();
  }
}

TEST(Terminal, OfAGroupThatDoesNotExistIsRefused) {
  EXPECT_THROW(PseudoTerminal("", "no-such-group"), std::runtime_error);
}

}  // namespace
}  // namespace offhook::modem
