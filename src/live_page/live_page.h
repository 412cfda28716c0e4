// SPDX-License-Identifier: MIT
//
// The live page of a command: `--page [ADDRESS:]PORT`. A separate process serves it, forked before the command has
// threads, locked memory or open cards. It reads the state of the lines from shared memory, which it cannot write. A
// client can therefore at most end or slow that process: it has no descriptor, priority or privilege of the command's.
//
//   command's thread   store(line, view): copies plain data under a sequence number; never waits
//   page's process     reads them four times per second, at nice 10; answers clients (server.h)
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "driver/network/internet_address.h"
#include "src/live_page/view.h"

namespace offhook::live_page {

struct PageAddress {
  InternetAddress address;
  std::string host;  ///< as given; empty: the loopback interface is the default
};
/// @param text  [ADDRESS:]PORT  @throws std::runtime_error with the expected form
PageAddress parse_page_address(std::string_view text);

class LivePage {
 public:
  /// Listens and starts the process. Call it before the command has threads. @param title  such as "offhook modem"
  /// @throws std::runtime_error if the address is in use or not of this host, or the build has no HTTP library
  LivePage(const PageAddress& address, std::string_view title, std::size_t lines);
  ~LivePage();
  LivePage(const LivePage&) = delete;
  LivePage& operator=(const LivePage&) = delete;

  /// From the command's thread. O(size of the view); no lock and no system call. @pre line < lines
  void store(std::size_t line, const LineView& view);
  void store(const PageView& view);
  /// "http://127.0.0.1:8080/"
  const std::string& url() const { return url_; }
  /// Why the page ended before the command, reported once; empty while it exists.
  std::string take_failure();

 private:
  struct Shared;
  Shared* shared_ = nullptr;
  std::size_t octets_ = 0;
  std::string url_;
  int pid_ = 0, end_ = -1;  // the process, and a pipe that ends with this object
};

}  // namespace offhook::live_page
