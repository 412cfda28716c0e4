// SPDX-License-Identifier: MIT
#include "traces/log/header.h"

#include "traces/log/format.h"

namespace offhook::traces {

using nlohmann::json;

std::string to_json(const LogHeader& header) {
  json entities = json::array();
  for (const LogEntity& e : header.entities) {
    entities.push_back({{"cpu", e.cpu}, {"id", e.id}, {"name", e.name}, {"kind", e.kind}});
  }
  json drivers = json::array();
  for (const LogDriver& d : header.drivers) drivers.push_back({{"id", d.id}, {"name", d.name}});
  return json{{"format", "offhook event log"}, {"units", {{"time", "ns"}}},
              {"entities", entities},          {"drivers", drivers},
              {"host", header.host},           {"scenario", header.scenario}}
      .dump();
}

LogHeader parse_log_header(std::string_view text) {
  LogHeader header;
  try {
    const json root = json::parse(text);
    for (const json& e : root.value("entities", json::array())) {
      header.entities.push_back({e.value("cpu", 0u), e.at("id").get<std::uint16_t>(), e.at("name").get<std::string>(),
                                 e.value("kind", std::string("thread"))});
    }
    for (const json& d : root.value("drivers", json::array())) {
      header.drivers.push_back({d.at("id").get<std::uint16_t>(), d.at("name").get<std::string>()});
    }
    header.host = root.value("host", json::object());
    header.scenario = root.value("scenario", json::object());
  } catch (const json::exception& e) {
    throw LogError(std::string("event log header: ") + e.what());
  }
  return header;
}

}  // namespace offhook::traces
