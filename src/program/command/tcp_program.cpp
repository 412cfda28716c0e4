// SPDX-License-Identifier: MIT
#include "src/program/command/tcp_program.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <termios.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace offhook::command {
namespace {

std::string text_of(int error) {
  return std::generic_category().message(error);
}

bool is_later(int error) {
  return error == EAGAIN || error == EWOULDBLOCK || error == EINTR;
}

}  // namespace

bool OctetFlow::fill(int from, int* error) {
  const ssize_t n = read(from, octets_.data(), octets_.size());
  if (n < 0) {
    if (!is_later(errno)) *error = errno;
    return false;
  }
  begin_ = 0;
  end_ = static_cast<std::size_t>(n);
  ended_ = n == 0;
  return n > 0;
}

bool OctetFlow::empty_into(int to, int* error) {
  const char* const octets = octets_.data() + begin_;
  const std::size_t count = end_ - begin_;
  const ssize_t n = to < 0                   ? static_cast<ssize_t>(count)
                    : sink_ == Sink::kSocket ? send(to, octets, count, MSG_NOSIGNAL)
                                             : write(to, octets, count);
  if (n < 0) {
    if (!is_later(errno)) *error = errno;
    return false;
  }
  begin_ += static_cast<std::size_t>(n);
  written_ += static_cast<std::uint64_t>(n);
  return begin_ == end_;
}

int OctetFlow::move(int from, int to) {
  int error = 0;
  while (error == 0) {
    if (begin_ == end_ && (ended_ || !fill(from, &error))) break;
    if (!empty_into(to, &error)) break;
  }
  return error;
}

TcpProgram::TcpProgram(const InternetAddress& server, const std::string& terminal, std::int64_t now_ms)
    : server_("TCP " + server.text()), until_ms_(now_ms + kConnectMs) {
  terminal_ = open(terminal.c_str(), O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK);
  if (terminal_ < 0) {
    fail(terminal + ": " + text_of(errno));
    return;
  }
  socket_ = socket(server.storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (socket_ < 0 || (connect(socket_, server.get(), server.length) != 0 && errno != EINPROGRESS)) fail(text_of(errno));
}

TcpProgram::~TcpProgram() {
  if (terminal_ >= 0) close(terminal_);
  if (socket_ >= 0) close(socket_);
}

void TcpProgram::fail(const std::string& why) {
  failure_ = server_ + ": " + why;
  state_ = State::kFailed;
}

void TcpProgram::connected(std::int64_t now_ms) {
  pollfd ready{socket_, POLLOUT, 0};
  if (poll(&ready, 1, 0) == 0) {
    if (now_ms >= until_ms_) fail("no answer");
    return;
  }
  int error = 0;
  socklen_t length = sizeof error;
  getsockopt(socket_, SOL_SOCKET, SO_ERROR, &error, &length);
  if (error != 0) return fail(text_of(error));
  state_ = State::kOpen;
}

void TcpProgram::work(std::int64_t now_ms) {
  if (state_ == State::kConnecting) connected(now_ms);
  if (state_ == State::kLeaving) return leave(now_ms);
  if (state_ != State::kOpen && state_ != State::kServerEnded) return;
  const int down = to_caller_.move(socket_, terminal_);
  const int up = down != 0 ? 0 : to_server_.move(terminal_, socket_);
  if (down != 0 || up != 0) return fail(text_of(down != 0 ? down : up));
  if (to_caller_.ended()) state_ = State::kServerEnded;
}

void TcpProgram::hang_up(std::int64_t now_ms) {
  if (over() || state_ == State::kLeaving) return;
  tcflush(terminal_, TCOFLUSH);  // octets that have not reached the modem's side
  state_ = state_ == State::kConnecting ? State::kOver : State::kLeaving;
  until_ms_ = now_ms + kLeaveMs;
}

void TcpProgram::leave(std::int64_t now_ms) {
  constexpr int kQuietRounds = 3;  // the modem may still write what it kept while the terminal was full
  const std::uint64_t before = to_server_.written();
  const int up = to_server_.move(terminal_, socket_);
  if (up == 0 && quiet_ < kQuietRounds) {
    quiet_ = to_server_.written() == before ? quiet_ + 1 : 0;
    if (quiet_ == kQuietRounds) shutdown(socket_, SHUT_WR);
  }
  const int down = to_caller_.move(socket_, -1);
  if (up != 0 || down != 0 || (to_caller_.ended() && quiet_ == kQuietRounds) || now_ms >= until_ms_)
    state_ = State::kOver;
}

}  // namespace offhook::command
