// SPDX-License-Identifier: MIT
//
// A port at which calls by AudioSocket arrive, for several lines: each connection waits here until its first message
// has named the call. A line then gets the socket, with that message unread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "driver/network/internet_address.h"

namespace offhook {

/// A listening TCP socket that does not block. @param address  port 0: any; set to the actual port
/// @throws std::runtime_error with the address: it is in use, or not of this host
int listen_for_audiosocket(InternetAddress& address);

/// Sends the message to hang up, and closes.
void refuse_audiosocket(int socket);

/// Only for one thread, which it does not block.
class AudioSocketListener {
 public:
  static constexpr std::int64_t kNameMs = 2000;  ///< time limit for the first message
  static constexpr std::size_t kMostWaiting = 64;

  struct Connection {
    int socket = -1;
    std::string uuid;  ///< empty: its first message did not name the call within kNameMs
  };

  /// @throws std::runtime_error with the address
  explicit AudioSocketListener(const InternetAddress& address);
  ~AudioSocketListener();
  AudioSocketListener(const AudioSocketListener&) = delete;
  AudioSocketListener& operator=(const AudioSocketListener&) = delete;

  const InternetAddress& address() const { return address_; }
  /// Connections that have named their call, or failed to; the caller owns their sockets. @param now_ms  monotonic
  std::vector<Connection> arrived(std::int64_t now_ms);

 private:
  struct Waiting {
    int socket;
    std::int64_t until_ms;
  };
  void accept_all(std::int64_t now_ms);

  InternetAddress address_;
  int listener_;
  std::vector<Waiting> waiting_;
};

}  // namespace offhook
