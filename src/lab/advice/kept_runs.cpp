// SPDX-License-Identifier: MIT
#include "src/lab/advice/kept_runs.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <sstream>
#include <stdexcept>

#include "driver/path/output.h"
#include "traces/file/file.h"
#include "traces/scenario/scenario.h"
#include "traces/text/json.h"

namespace offhook::advice {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

// Where nlohmann's library looks for them.
void to_json(Json& json, const Lost& l) {
  json = {
      {"seconds", l.seconds}, {"blocks", l.blocks}, {"blocks_late", l.blocks_late}, {"samples_lost", l.samples_lost}};
}

void from_json(const Json& json, Lost& l) {
  json.at("seconds").get_to(l.seconds);
  json.at("blocks").get_to(l.blocks);
  json.at("blocks_late").get_to(l.blocks_late);
  json.at("samples_lost").get_to(l.samples_lost);
}

void to_json(Json& json, const Measured& m) {
  to_json(json, static_cast<const Lost&>(m));
  json.update({{"margin_ms", m.margin_ms},
               {"buffers_needed", m.buffers_needed},
               {"swamped", m.swamped},
               {"latency_p999_ms", m.latency_p999_ms},
               {"latency_max_ms", m.latency_max_ms},
               {"isr_max_us", m.isr_max_us},
               {"dpc_max_us", m.dpc_max_us},
               {"share", m.share},
               {"stolen_share", m.stolen_share},
               {"timer_late_max_ms", m.timer_late_max_ms},
               {"timer_late_p999_ms", m.timer_late_p999_ms},
               {"longest_ms", m.longest_ms}});
}

void from_json(const Json& json, Measured& m) {
  from_json(json, static_cast<Lost&>(m));
  json.at("margin_ms").get_to(m.margin_ms);
  json.at("buffers_needed").get_to(m.buffers_needed);
  json.at("swamped").get_to(m.swamped);
  json.at("latency_p999_ms").get_to(m.latency_p999_ms);
  json.at("latency_max_ms").get_to(m.latency_max_ms);
  json.at("isr_max_us").get_to(m.isr_max_us);
  json.at("dpc_max_us").get_to(m.dpc_max_us);
  json.at("share").get_to(m.share);
  json.at("stolen_share").get_to(m.stolen_share);
  json.at("timer_late_max_ms").get_to(m.timer_late_max_ms);
  json.at("timer_late_p999_ms").get_to(m.timer_late_p999_ms);
  json.at("longest_ms").get_to(m.longest_ms);
}

KeptRuns::KeptRuns(const OutputFolder& folder, const std::string& name, std::string identity)
    : file_(folder / name), out_(folder.append(name, Privacy::kShared)), identity_(std::move(identity)) {
  std::istringstream lines(read_file(file_));
  for (std::string line; std::getline(lines, line);) {
    try {
      const Json entry = parse_json<Json>(line);
      const auto key = entry.at("key").get<std::string>();
      if (entry.at("checksum") == fnv1a_hex(key + entry.at("run").dump())) runs_[key] = entry.at("run");
    } catch (const Json::exception&) {  // such a run is made again
    }
  }
}

std::string KeptRuns::key(const hostsim::Scenario& scenario) const {
  std::string text = identity_ + fmt::format(", {} s\n", scenario.device_s) + config::to_toml(scenario);
  if (const fs::path trace = scenario.load.trace; !trace.empty()) {
    text += fmt::format("{} bytes of {}", fs::file_size(trace), fs::last_write_time(trace).time_since_epoch().count());
  }
  return fnv1a_hex(text);
}

template <typename Run>
std::optional<Run> KeptRuns::find(const hostsim::Scenario& scenario) const {
  const std::string wanted = key(scenario);
  const std::lock_guard lock(mutex_);
  const auto found = runs_.find(wanted);
  if (found == runs_.end()) return std::nullopt;
  try {
    return found->second.get<Run>();
  } catch (const Json::exception&) {  // of something else: it is made again
    return std::nullopt;
  }
}

template <typename Run>
void KeptRuns::keep(const hostsim::Scenario& scenario, const Run& run) {
  const std::string name = key(scenario);
  const Json json = run;
  const Json entry{{"key", name}, {"checksum", fnv1a_hex(name + json.dump())}, {"run", json}};
  const std::lock_guard lock(mutex_);
  // A line of its own, whatever a run that was killed left at the end.
  out_.write(fmt::format("\n{}\n", json_text(entry)));
  runs_[name] = json;
}

template std::optional<Lost> KeptRuns::find(const hostsim::Scenario&) const;
template std::optional<Measured> KeptRuns::find(const hostsim::Scenario&) const;
template void KeptRuns::keep(const hostsim::Scenario&, const Lost&);
template void KeptRuns::keep(const hostsim::Scenario&, const Measured&);

}  // namespace offhook::advice
