// SPDX-License-Identifier: MIT
//
// The page's HTTP: `/`, `/status`, `/events` and `/metrics`, only GET and HEAD. cpp-httplib reads the request line and
// writes the responses. Connections, their limits and the reading of requests are Offhook's own code (request.h).
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "src/live_page/chronicle.h"
#include "src/live_page/view.h"

namespace offhook::live_page {

/// The state of the lines and its history, shared by all clients. From any thread.
class Board {
 public:
  explicit Board(std::size_t lines) : lines_(lines), views_(lines), chronicle_(lines) {}
  /// Stores a new state and wakes the threads that wait for one. @param views  [lines()]
  void update(const std::vector<LineView>& views, const PageView& page, std::int64_t unix_ms);
  std::size_t lines() const { return lines_; }

  /// `/status`
  std::string status() const;
  std::string metrics(std::uint32_t clients) const;
  /// The first messages of a stream: history, events, state. @pre line < lines()
  struct Cursor {
    std::size_t line = 0;
    std::uint64_t look = 0, event = 0, symbols = 0;
  };
  std::string begin(Cursor* cursor) const;
  /// Waits for a new state, at most a second. @return messages; empty: none
  std::string next(Cursor* cursor) const;

 private:
  std::string news(Cursor* cursor) const;
  const std::size_t lines_;
  mutable std::mutex mutex_;  // of all below
  mutable std::condition_variable changed_;
  std::vector<LineView> views_;
  PageView page_;
  Chronicle chronicle_;
  std::uint64_t looks_ = 0;
  std::int64_t unix_ms_ = 0;
  std::string state_;  // one message, shared by all streams
};

struct Limits {
  std::uint32_t connections = 32;  ///< simultaneous ones; further ones are refused with 503
  std::uint32_t streams = 8;       ///< of them /events
  int head_ms = 3000;              ///< time until the head of a request must be complete
  int write_ms = 5000;             ///< time for a client to read the written bytes
};

/// Octets to and from one client.
class Connection {
 public:
  virtual ~Connection() = default;
  /// @return number of octets, at least 1; 0 if it has ended or the time is over
  virtual std::size_t read(char* octets, std::size_t n, int timeout_ms) = 0;
  /// @return false if the client is gone or does not read in time
  virtual bool write(std::string_view octets, int timeout_ms) = 0;
  virtual bool is_open() const = 0;
};

class Server {
 public:
  /// @param html  content of `/`  @param host_name  host name given to the page, unless it was an address
  Server(const Board& board, std::string html, std::string host_name, const Limits& limits = {});
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  /// @return whether this build has the HTTP library; without it, serve() and run() have no effect
  static bool is_available();
  /// One request and its response.
  void serve(Connection& connection);
  /// Accepts connections, each in a separate thread, until `end` is readable. The threads use the server until the
  /// process ends. @param listener, end  descriptors
  void run(int listener, int end);

 private:
  class Http;
  std::unique_ptr<Http> http_;
};

}  // namespace offhook::live_page
