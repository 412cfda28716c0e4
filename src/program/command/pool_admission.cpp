// SPDX-License-Identifier: MIT
#include "src/program/command/pool_admission.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <stdexcept>

#include "driver/base/printable.h"

namespace offhook::command {
namespace {

constexpr std::int64_t kMinuteMs = 60'000;

bool covers(const std::string& allowed, const std::string& caller) {
  return allowed.back() == '*' ? caller.starts_with(allowed.substr(0, allowed.size() - 1)) : caller == allowed;
}

}  // namespace

PoolAdmission::PoolAdmission(const std::string& allow_file, int per_caller, int per_minute)
    : allow_file_(printable(allow_file)), per_caller_(per_caller), per_minute_(per_minute) {
  if (allow_file.empty()) return;
  std::ifstream file(allow_file);
  for (std::string line; std::getline(file, line);) {
    line.erase(std::min(line.find('#'), line.size()));
    line.erase(line.find_last_not_of(" \t\r") + 1);
    if (!line.empty()) allowed_.push_back(line);
  }
  if (allowed_.empty())
    throw std::runtime_error(allow_file_ +
                             ": cannot be read, or is empty; expected callers' numbers or UUIDs, one per line");
}

std::string PoolAdmission::refusal(const std::string& caller, std::int64_t in_progress, std::int64_t now_ms) {
  const auto allows = [&caller](const std::string& allowed) { return covers(allowed, caller); };
  if (!allowed_.empty() && std::none_of(allowed_.begin(), allowed_.end(), allows)) return "not in " + allow_file_;
  if (in_progress >= per_caller_) return fmt::format("{} calls of this caller", per_caller_);
  std::erase_if(taken_, [now_ms](const auto& call) { return now_ms - call.second >= kMinuteMs; });
  const auto recent =
      std::count_if(taken_.begin(), taken_.end(), [&](const auto& call) { return call.first == caller; });
  if (recent >= per_minute_) return fmt::format("{} calls of this caller within a minute", per_minute_);
  taken_.emplace_back(caller, now_ms);
  return {};
}

}  // namespace offhook::command
