// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "driver/base/output.h"
#include "offhook/event_log.h"
#include "traces/log/format.h"

namespace offhook::traces {

/// Writes an event-log file (format.h), record by record.
///
/// The first failure throws, once, with the file, the offset and the cause (disk full ...); it removes the incomplete
/// record, earlier records stay readable, and later events are dropped. Not thread-safe; not for the real-time path.
class LogWriter {
 public:
  /// Writes the header. @param file  a new file  @param header_json see header.h  @throws LogError
  LogWriter(OutputFile file, std::string_view header_json);
  /// Closes the file if close() was not called or failed: without a message, and possibly without the end record.
  ~LogWriter();
  LogWriter(const LogWriter&) = delete;
  LogWriter& operator=(const LogWriter&) = delete;

  /// Takes all events in a ring now. Whole chunks are written at once, the rest waits for flush(). @throws LogError
  void drain(oh_event_log& log);
  /// Events of one CPU from another source. @param lost dropped on this CPU so far  @throws LogError
  void append(std::uint8_t cpu, std::span<const oh_event> events, std::uint64_t lost);
  /// Writes the buffered events, so that a later kill loses none of them. @throws LogError
  void flush();
  /// flush(), write the end record, close the file. @throws LogError
  void close();

  std::uint64_t events_written() const { return events_; }  ///< in complete records in the file
  std::uint64_t bytes_written() const { return bytes_; }

 private:
  struct Pending {
    std::vector<oh_event> events;
    std::uint64_t lost = 0;
  };
  void write_pending(std::uint8_t cpu, Pending& p);
  void write_chunk(std::uint32_t marker, std::uint32_t cpu, std::span<const oh_event> events, std::uint64_t lost);
  void write(std::span<const char> record);

  std::string path_;
  std::optional<OutputFile> file_;  // none: closed
  bool failed_ = false;
  std::uint64_t bytes_ = 0;
  std::uint64_t events_ = 0;
  std::map<std::uint8_t, Pending> pending_;  // ordered: the same events give the same file
  std::vector<oh_event> chunk_;
  std::vector<char> record_;
};

}  // namespace offhook::traces
