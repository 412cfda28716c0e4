// SPDX-License-Identifier: MIT
#include "traces/log/header.h"

#include "driver/base/json.h"
#include "traces/log/format.h"

namespace offhook::traces {

using nlohmann::json;

namespace {

json host_of(const LogHeader& header) {
  json host = header.host.empty() ? json::object() : json::parse(header.host);
  if (!header.host_name.empty()) host["name"] = header.host_name;
  return host;
}

json scenario_of(const LogScenario& s) {
  json scenario = json::object();
  for (const auto& [key, text] : {std::pair("toml", &s.toml), {"context", &s.context}, {"host", &s.host}})
    if (!text->empty()) scenario[key] = *text;
  if (s.live) scenario["live"] = true;
  if (s.clock) scenario["clock"] = {{"name", s.clock->name}, {"offsets_ns", s.clock->offsets_ns}};
  return scenario;
}

}  // namespace

std::string to_json(const LogHeader& header) {
  json entities = json::array();
  for (const LogEntity& e : header.entities) {
    entities.push_back({{"cpu", e.cpu}, {"id", e.id}, {"name", e.name}, {"kind", e.kind}});
  }
  json drivers = json::array();
  for (const LogDriver& d : header.drivers) drivers.push_back({{"id", d.id}, {"name", d.name}});
  return json_text(json{{"format", "offhook event log"},
                        {"units", {{"time", "ns"}}},
                        {"entities", entities},
                        {"drivers", drivers},
                        {"host", host_of(header)},
                        {"scenario", scenario_of(header.scenario)}});
}

namespace {

[[noreturn]] void refuse(const std::string& where, const std::string& expected) {
  throw LogError(where + ": expected " + expected);
}

/// A list of the header, each entry an object. Empty if absent.
const json& list_of(const json& root, const std::string& file, const char* name) {
  static const json kNone = json::array();
  const auto found = root.find(name);
  if (found == root.end()) return kNone;
  if (!found->is_array()) refuse(file + ": header: " + name, "a list");
  return *found;
}

std::uint32_t number_of(const json& entry, const std::string& where, const char* key, std::uint32_t most) {
  const auto found = entry.find(key);
  if (found == entry.end() || !found->is_number_unsigned() || found->get<std::uint64_t>() > most)
    refuse(where + "." + key, "a whole number, 0 to " + std::to_string(most));
  return found->get<std::uint32_t>();
}

std::string text_of(const json& entry, const std::string& where, const char* key) {
  const auto found = entry.find(key);
  if (found == entry.end() || !found->is_string()) refuse(where + "." + key, "a string");
  return found->get<std::string>();
}

json object_of(const json& root, const std::string& file, const char* name) {
  const auto found = root.find(name);
  if (found == root.end()) return json::object();
  if (!found->is_object()) refuse(file + ": header: " + name, "an object");
  return *found;
}

/// Empty if it is absent or no string.
std::string text_or_none(const json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

/// A part of another type counts as absent.
LogScenario scenario_from(const json& object) {
  LogScenario s{text_or_none(object, "toml"), text_or_none(object, "context"), text_or_none(object, "host"), {}, {}};
  s.live = object.value("live", json()) == true;
  const auto clock = object.find("clock");
  if (clock == object.end()) return s;
  LogClock& found = s.clock.emplace();
  if (!clock->is_object()) return s;
  found.name = text_or_none(*clock, "name");
  const json offsets = clock->value("offsets_ns", json::object());
  if (!offsets.is_object()) return s;
  for (const auto& [name, offset] : offsets.items())
    if (offset.is_number_integer()) found.offsets_ns[name] = offset.get<std::int64_t>();
  return s;
}

}  // namespace

LogHeader parse_log_header(std::string_view text, const std::string& file) {
  json root;
  try {
    root = parse_json(text);
  } catch (const json::exception& e) {
    throw LogError(file + ": header: not the JSON of a header: " + std::string(in_words(e)));
  }
  if (!root.is_object()) refuse(file + ": header", "an object");
  LogHeader header;
  const auto each = [&](const char* name, const auto& take) {
    std::size_t n = 0;
    for (const json& entry : list_of(root, file, name)) {
      const std::string where = file + ": header: " + name + "[" + std::to_string(n++) + "]";
      if (!entry.is_object()) refuse(where, "an object");
      take(entry, where);
    }
  };
  constexpr std::uint32_t kMostId = 0xffff, kMostCpu = 0xff;
  each("entities", [&](const json& e, const std::string& where) {
    header.entities.push_back({e.contains("cpu") ? number_of(e, where, "cpu", kMostCpu) : 0,
                               static_cast<std::uint16_t>(number_of(e, where, "id", kMostId)),
                               text_of(e, where, "name"),
                               e.contains("kind") ? text_of(e, where, "kind") : std::string("thread")});
  });
  each("drivers", [&](const json& d, const std::string& where) {
    header.drivers.push_back(
        {static_cast<std::uint16_t>(number_of(d, where, "id", kMostId)), text_of(d, where, "name")});
  });
  const json host = object_of(root, file, "host");
  header.host_name = text_or_none(host, "name");
  header.host = json_text(host);
  header.scenario = scenario_from(object_of(root, file, "scenario"));
  return header;
}

}  // namespace offhook::traces
