// SPDX-License-Identifier: MIT
//
// A TCP connection as the program of a call: octets move between the line's terminal and the connection.
//
//   kConnecting -- connected --> kOpen -- the server ends its direction --> kServerEnded
//        |                         |                                            |
//        +-- refused, no answer ---+-- an error ------------------> kFailed     +-- hang_up() --+
//                                  +-- hang_up(): the call is over --> kLeaving <---------------+
//                                                     +-- the server closes, 5 s --> kOver
//
// In kServerEnded the octets of the caller still go to the server; the owner hangs up when the server's last octet has
// reached the caller. In kLeaving the caller's last octets and the end of that direction go to the server, and octets
// of the server are dropped.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "driver/network/internet_address.h"

namespace offhook::command {

/// Octets on their way from one descriptor to another. Neither side blocks.
class OctetFlow {
 public:
  enum class Sink : std::uint8_t { kTerminal, kSocket };
  explicit OctetFlow(Sink sink) : sink_(sink) {}
  /// @param to  descriptor of the sink; -1: drop the octets  @return errno of a failure, or 0
  int move(int from, int to);
  bool ended() const { return ended_ && begin_ == end_; }  ///< and all octets were written
  std::uint64_t written() const { return written_; }

 private:
  bool fill(int from, int* error);
  bool empty_into(int to, int* error);

  Sink sink_;
  std::array<char, 4096> octets_;
  std::size_t begin_ = 0, end_ = 0;
  bool ended_ = false;
  std::uint64_t written_ = 0;
};

/// Only from one thread.
class TcpProgram {
 public:
  /// Opens the terminal immediately and begins to connect. @param terminal  device of the line, raw
  TcpProgram(const InternetAddress& server, const std::string& terminal, std::int64_t now_ms);
  ~TcpProgram();
  TcpProgram(const TcpProgram&) = delete;
  TcpProgram& operator=(const TcpProgram&) = delete;

  /// Call it about every 10 ms.
  void work(std::int64_t now_ms);
  /// The call is over. Octets of the server that the modem has not read stay in the terminal.
  void hang_up(std::int64_t now_ms);
  bool server_ended() const { return state_ == State::kServerEnded; }
  /// The reason, such as "TCP 127.0.0.1:23: Connection refused"; empty if it has not failed.
  const std::string& failure() const { return failure_; }
  bool over() const { return state_ == State::kOver || state_ == State::kFailed; }

  static constexpr std::int64_t kConnectMs = 10'000, kLeaveMs = 5000;

 private:
  enum class State : std::uint8_t { kConnecting, kOpen, kServerEnded, kFailed, kLeaving, kOver };
  void connected(std::int64_t now_ms);
  void leave(std::int64_t now_ms);
  void fail(const std::string& why);

  std::string server_;
  int terminal_ = -1, socket_ = -1;
  State state_ = State::kConnecting;
  OctetFlow to_caller_{OctetFlow::Sink::kTerminal}, to_server_{OctetFlow::Sink::kSocket};
  std::string failure_;
  std::int64_t until_ms_;
  int quiet_ = 0;  // rounds of kLeaving in which the terminal had no data
};

}  // namespace offhook::command
