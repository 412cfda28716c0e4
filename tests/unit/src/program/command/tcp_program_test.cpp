// SPDX-License-Identifier: MIT
#include "src/program/command/tcp_program.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "driver/tty/terminal.h"

namespace offhook::command {
namespace {

/// A server on the loopback interface, and a line's terminal.
class TcpProgramTest : public testing::Test {
 protected:
  void SetUp() override {
    address_ = internet_address("127.0.0.1:0");
    listener_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    ASSERT_EQ(bind(listener_, address_.get(), address_.length), 0);
    ASSERT_EQ(listen(listener_, 1), 0);
    address_ = address_of_socket(listener_);
  }
  void TearDown() override {
    if (server_ >= 0) close(server_);
    if (listener_ >= 0) close(listener_);
  }
  void connect_and_accept() {
    program_.emplace(address_, terminal_.device(), 0);
    server_ = accept(listener_, nullptr, nullptr);
    ASSERT_GE(server_, 0);
    work(3);
  }
  void work(int rounds) {
    for (int k = 0; k < rounds; ++k) {
      poll(nullptr, 0, 5);
      program_->work(now_ += 10);
    }
  }
  /// The modem's input.
  std::string at_the_modem() {
    char octets[4096];
    const int n = terminal_.read(octets, sizeof octets);
    return {octets, static_cast<std::size_t>(std::max(n, 0))};
  }
  std::string at_the_server() const {
    char octets[4096];
    const ssize_t n = recv(server_, octets, sizeof octets, MSG_DONTWAIT);
    return {octets, static_cast<std::size_t>(std::max<ssize_t>(n, 0))};
  }
  bool server_sees_the_end() const {
    char octet;
    return recv(server_, &octet, 1, MSG_DONTWAIT) == 0;
  }

  InternetAddress address_;
  int listener_ = -1, server_ = -1;
  modem::PseudoTerminal terminal_{""};
  std::optional<TcpProgram> program_;
  std::int64_t now_ = 0;
};

TEST_F(TcpProgramTest, MovesOctetsBothWays) {
  connect_and_accept();
  terminal_.write("from the caller");
  ASSERT_EQ(send(server_, "from the server", 15, 0), 15);
  work(3);
  EXPECT_EQ(at_the_server(), "from the caller");
  EXPECT_EQ(at_the_modem(), "from the server");
  EXPECT_FALSE(program_->over());
}

TEST_F(TcpProgramTest, SaysWhyAConnectionIsRefused) {
  close(std::exchange(listener_, -1));
  program_.emplace(address_, terminal_.device(), 0);
  work(3);
  EXPECT_TRUE(program_->over());
  EXPECT_EQ(program_->failure(), "TCP " + address_.text() + ": Connection refused");
}

TEST_F(TcpProgramTest, TheServersEndLeavesTheOtherDirectionOpen) {
  connect_and_accept();
  send(server_, "last words", 10, 0);
  shutdown(server_, SHUT_WR);
  work(3);
  EXPECT_TRUE(program_->server_ended());
  EXPECT_EQ(at_the_modem(), "last words");
  terminal_.write("and an answer");
  work(3);
  EXPECT_EQ(at_the_server(), "and an answer");
  EXPECT_FALSE(program_->over());
}

TEST_F(TcpProgramTest, TheCallersLastOctetsReachTheServerBeforeTheEnd) {
  connect_and_accept();
  terminal_.write(std::string(3000, 'x'));
  program_->hang_up(now_);
  terminal_.write("end");
  work(8);
  std::string got;
  for (std::string more = at_the_server(); !more.empty(); more = at_the_server()) got += more;
  EXPECT_EQ(got, std::string(3000, 'x') + "end");
  EXPECT_TRUE(server_sees_the_end());
  EXPECT_FALSE(program_->over());  // the server can still send
  send(server_, "too late", 8, 0);
  close(std::exchange(server_, -1));
  work(3);
  EXPECT_TRUE(program_->over());
  EXPECT_EQ(at_the_modem(), "");
}

TEST_F(TcpProgramTest, DoesNotWaitForEverForAServer) {
  connect_and_accept();
  program_->hang_up(now_);
  program_->work(now_ + TcpProgram::kLeaveMs);
  EXPECT_TRUE(program_->over());
}

TEST_F(TcpProgramTest, ALostConnectionIsAFailure) {
  connect_and_accept();
  const linger at_once{1, 0};
  setsockopt(server_, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
  close(std::exchange(server_, -1));
  work(3);
  EXPECT_EQ(program_->failure(), "TCP " + address_.text() + ": Connection reset by peer");
}

}  // namespace
}  // namespace offhook::command
