// SPDX-License-Identifier: MIT
//
// The JSON text at the head of an event log. The writer and the reader pass it through. Its content:
//
//   { "format": "offhook event log", "units": {"time": "ns"},
//     "entities": [ {"cpu": 0, "id": 3, "name": "modem thread", "kind": "thread"}, ... ],
//     "drivers": [ {"id": 1, "name": "near modem"}, ... ],
//     "host": {...}, "scenario": {...} }
//
// `entities` name the ids of RUN and FINISH events and `drivers` those of the driver's and the card's; `host` and
// `scenario` are the caller's own.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace offhook::traces {

struct LogEntity {
  std::uint32_t cpu = 0;
  std::uint16_t id = 0;
  std::string name;
  std::string kind;  ///< "interrupt", "dpc" or "thread"
};
struct LogDriver {
  std::uint16_t id = 0;
  std::string name;
};

struct LogHeader {
  std::vector<LogEntity> entities;
  std::vector<LogDriver> drivers;
  nlohmann::json host = nlohmann::json::object();
  nlohmann::json scenario = nlohmann::json::object();
};

std::string to_json(const LogHeader& header);

/// Missing parts are empty, so that a log of another writer can still be read.
/// @param file  for messages  @throws LogError for invalid JSON, and for a part that differs from the above
LogHeader parse_log_header(std::string_view json, const std::string& file = "event log");

}  // namespace offhook::traces
