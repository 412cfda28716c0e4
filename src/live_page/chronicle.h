// SPDX-License-Identifier: MIT
//
// The memory of the page: one sample of each line per second, and a list of events. Both are derived from successive
// states of the lines. So a page that is opened late or again also shows the last minutes.
#pragma once

#include <cstdint>
#include <deque>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <vector>

#include "src/live_page/view.h"

namespace offhook::live_page {

class Chronicle {
 public:
  static constexpr std::size_t kSeconds = 600, kEvents = 200;
  explicit Chronicle(std::size_t lines) : lines_(lines) {}

  /// Records the current state of the lines. @param unix_ms  the present time
  void look(std::span<const LineView> lines, std::int64_t unix_ms);
  /// {"t": [...], "snr_db": [...], "rx_level_dbm0": [...], "pending": [...], "dispatch_us": [...], "late": [...]}: a
  /// column for each value, oldest first; null if unknown. "t" is in ms since 1970.
  nlohmann::ordered_json history(std::size_t line) const;
  /// [{"id", "t", "line", "kind", "text"}] with id > after, oldest first.
  nlohmann::ordered_json events(std::uint64_t after) const;
  std::uint64_t newest_event() const { return next_id_ - 1; }
  /// Late blocks within the last ten seconds.
  std::uint64_t recent_late(std::size_t line) const;

 private:
  struct Sample {
    std::int64_t unix_ms = 0;
    float snr_db = 0, rx_level_dbm0 = 0, dispatch_us = 0;
    std::uint32_t pending = 0;
    std::uint64_t late = 0;  ///< blocks within the second
  };
  struct Line {
    LineView before;
    bool known = false;
    std::deque<Sample> samples;
    Sample now;
    std::uint64_t late_told = 0;   // counter of the card at the last second
    std::uint32_t slips_told = 0;  // of the call
  };
  struct Event {
    std::uint64_t id;
    std::int64_t unix_ms;
    std::size_t line;
    std::string_view kind;
    std::string text;
  };
  void tell_losses(Line& line, const LineView& now, std::size_t number, std::int64_t unix_ms);
  void compare(Line& line, const LineView& now, std::size_t number, std::int64_t unix_ms);
  void add(std::size_t line, std::int64_t unix_ms, std::string_view kind, std::string text);

  std::vector<Line> lines_;
  std::deque<Event> events_;
  std::uint64_t next_id_ = 1;
  std::int64_t second_ = 0;
};

}  // namespace offhook::live_page
