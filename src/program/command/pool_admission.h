// SPDX-License-Identifier: MIT
//
// Which calls `offhook pool` takes, by the caller's number or UUID. A caller can state any.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace offhook::command {

class PoolAdmission {
 public:
  /// @param allow_file  numbers or UUIDs, one per line; one that ends with "*" matches all with that beginning; #
  /// begins a comment. Empty: all callers  @param per_caller  simultaneous calls of a caller  @param per_minute  calls
  /// of a caller within a minute
  /// @throws std::runtime_error naming the file if it cannot be read or has no number
  PoolAdmission(const std::string& allow_file, int per_caller, int per_minute);

  /// Counts the call if it is accepted. @param in_progress  calls of this caller  @param now_ms  must not decrease
  /// @return why it is refused, for people; empty if it is accepted
  std::string refusal(const std::string& caller, std::int64_t in_progress, std::int64_t now_ms);

 private:
  std::string allow_file_;
  int per_caller_, per_minute_;
  std::vector<std::string> allowed_;
  std::vector<std::pair<std::string, std::int64_t>> taken_;  // calls within the last minute
};

}  // namespace offhook::command
