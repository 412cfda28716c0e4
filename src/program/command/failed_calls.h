// SPDX-License-Identifier: MIT
//
// `offhook modem --keep-failed DIR`: recording and decode page of each call that ended badly. A separate thread of low
// priority writes and decodes, so that the terminals do not wait for it.
#pragma once

#include <condition_variable>
#include <deque>
#include <filesystem>
#include <mutex>
#include <string>
#include <thread>

#include "driver/base/output.h"
#include "driver/session/line_memory.h"

namespace offhook::command {

inline constexpr double kKeptS = 120;  ///< length of the line's recording, up to the end of the call

class FailedCalls {
 public:
  /// @throws std::runtime_error if the folder cannot be created or is in use
  explicit FailedCalls(const std::filesystem::path& folder) : folder_(folder), worker_([this] { work(); }) {}
  ~FailedCalls() { finish(); }
  FailedCalls(const FailedCalls&) = delete;
  FailedCalls& operator=(const FailedCalls&) = delete;

  /// @param line  both directions  @param reason  a sentence for text and page: why the call ended
  void keep(modem::LineMemory::Samples line, std::string reason);
  /// Waits for the pages of all calls. @pre there are no further calls
  void finish();
  /// @return text lines since the previous call; empty: none
  std::string take_news();

 private:
  struct FailedCall {
    modem::LineMemory::Samples line;
    std::string reason, name;
  };
  void work();
  std::string write(const FailedCall& call) const;

  const OutputFolder folder_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<FailedCall> waiting_;
  std::string news_;
  int calls_ = 0;
  bool stopping_ = false;
  std::thread worker_;  // the last
};

}  // namespace offhook::command
