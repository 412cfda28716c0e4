// SPDX-License-Identifier: MIT
//
// The JSON text at the head of an event log. The writer and the reader pass it through. Its content:
//
//   { "format": "offhook event log", "units": {"time": "ns"},
//     "entities": [ {"cpu": 0, "id": 3, "name": "modem thread", "kind": "thread"}, ... ],
//     "drivers": [ {"id": 1, "name": "near modem"}, ... ],
//     "host": {...}, "scenario": {...} }
//
// `entities` name the ids of RUN and FINISH events and `drivers` those of the driver's and the card's. `host` describes
// the machine: a simulated one has its `name` alone.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "traces/log/clock.h"

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

/// What ran. An empty part is absent.
struct LogScenario {
  std::string toml{};     ///< the scenario's file
  std::string context{};  ///< of a live call without a scenario
  std::string host{};     ///< "kernel": the kernel's modem ran the scenario
  bool live = false;
  std::optional<LogClock> clock{};  ///< of a live call
};

struct LogHeader {
  std::vector<LogEntity> entities;
  std::vector<LogDriver> drivers;
  std::string host_name;  ///< of a simulated host
  std::string host;       ///< JSON text: an object that describes a real machine; empty: none
  LogScenario scenario;
};

std::string to_json(const LogHeader& header);

/// Missing parts are empty, so that a log of another writer can still be read.
/// @param file  for messages  @throws LogError for invalid JSON, and for a part that differs from the above
LogHeader parse_log_header(std::string_view json, const std::string& file = "event log");

}  // namespace offhook::traces
