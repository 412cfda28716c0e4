// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <istream>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "offhook/event_log.h"
#include "traces/log/format.h"

namespace offhook::traces {

/// Reads an event-log file chunk by chunk, in memory that does not grow with the file.
///
///     LogReader log("run.ohlog");
///     while (log.next()) use(log.events());
///     if (!log.ending().complete) warn(log.ending().message);
class LogReader {
 public:
  /// @throws LogError if the file is not an event log or its header is damaged: then the events have no meaning.
  explicit LogReader(const std::string& path);
  /// From any source, for example memory. @param name for messages
  LogReader(std::unique_ptr<std::istream> in, std::string name);

  const std::string& header_json() const { return header_json_; }
  const std::string& name() const { return name_; }

  /// The next chunk. @return false at the end, complete or not; see ending().
  bool next();
  /// Events of the last chunk read; valid until the next call of next().
  std::span<const oh_event> events() const { return events_; }
  std::uint8_t cpu() const { return cpu_; }
  /// Events dropped on this chunk's CPU until this chunk.
  std::uint64_t lost() const { return lost_; }

  /// How the log ended, once next() has returned false.
  struct Ending {
    bool complete = false;     ///< the end record was there
    bool truncated = false;    ///< the file ends too early, as after a killed writer; nothing in it is damaged
    std::uint64_t offset = 0;  ///< end of reading: everything before it is complete
    std::uint64_t events = 0;  ///< events read
    std::uint64_t lost = 0;    ///< dropped on all CPUs, by the log's counts
    std::string message;       ///< empty when complete; else file, offset, expected and found content
  };
  const Ending& ending() const { return ending_; }

 private:
  std::size_t read(void* out, std::size_t bytes);
  bool stop(std::string why);
  bool cut_off(std::string why);

  std::unique_ptr<std::istream> in_;
  std::string name_;
  std::string header_json_;
  std::vector<oh_event> events_;
  std::vector<std::uint64_t> lost_by_cpu_ = std::vector<std::uint64_t>(256);
  std::uint8_t cpu_ = 0;
  std::uint64_t lost_ = 0;
  bool done_ = false;
  Ending ending_;
};

}  // namespace offhook::traces
