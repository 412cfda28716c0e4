// SPDX-License-Identifier: MIT
//
// The event logs of a pool's calls: one file for each call, in one folder.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "driver/base/output.h"
#include "offhook/event_log.h"
#include "src/program/command/line_watch.h"
#include "traces/log/writer.h"

namespace offhook::command {

/// Only from one thread.
class CallLogFolder {
 public:
  /// @throws std::runtime_error if the folder cannot be created or written, or is in use
  explicit CallLogFolder(const std::string& path) : folder_(path) {}
  struct File {
    std::string path;
    std::unique_ptr<traces::LogWriter> writer;
  };
  /// TIME-NUMBER-lineN.ohlog, where NUMBER counts all calls so far. @throws std::runtime_error
  File begin(std::size_t line, const std::string& context);

 private:
  OutputFolder folder_;
  std::uint64_t calls_ = 0;
};

/// The log of one line: its ring, and a file during a call.
class CallLog {
 public:
  /// @param folder  null: no files; the events are only for the page
  explicit CallLog(CallLogFolder* folder);
  /// For the driver.
  oh_event_log* ring() { return &log_; }
  /// A call begins: later events go to a new file.
  /// @return why there is no file; empty if there is one, or none is wanted
  std::string begin(std::size_t line, const std::string& context, LineWatch& watch, std::int64_t now_ms);
  /// Reads the events of the ring. @return why the file has ended; empty if it has not
  std::string drain(LineWatch& watch, std::int64_t now_ms);
  /// The call is over. @return path of the file; empty if there is none
  std::string end(LineWatch& watch, std::int64_t now_ms);

 private:
  CallLogFolder* folder_;
  std::vector<oh_event> events_;
  oh_event_log log_{};
  CallLogFolder::File file_;
};

}  // namespace offhook::command
