// SPDX-License-Identifier: MIT
#include "src/lab/advice/kept_runs.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string_view>

#include "driver/base/file.h"
#include "driver/base/json.h"
#include "driver/base/output.h"
#include "traces/scenario/scenario.h"

namespace offhook::advice {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

namespace {

/// A count that is written as one: what is negative, or has a fraction or an exponent, has none of ours.
std::uint64_t count_at(const Json& json, const char* key, std::uint64_t most = UINT64_MAX) {
  const Json& value = json.at(key);
  if (!value.is_number_unsigned() || value.get<std::uint64_t>() > most)
    throw Json::other_error::create(501, "expected a count", nullptr);
  return value.get<std::uint64_t>();
}

std::string checksum(const std::string& key, const Json& run) {
  return fnv1a_hex(key + run.dump(-1, ' ', false, Json::error_handler_t::replace));
}

}  // namespace

// Where nlohmann's library looks for them.
void to_json(Json& json, const Lost& l) {
  json = {{"seconds", l.seconds},
          {"blocks", l.blocks},
          {"blocks_late", l.blocks_late},
          {"blocks_given_up", l.blocks_given_up},
          {"samples_lost", l.samples_lost}};
}

void from_json(const Json& json, Lost& l) {
  json.at("seconds").get_to(l.seconds);
  l.blocks = count_at(json, "blocks");
  l.blocks_late = count_at(json, "blocks_late");
  l.blocks_given_up = count_at(json, "blocks_given_up");
  l.samples_lost = count_at(json, "samples_lost");
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
  m.buffers_needed = static_cast<std::uint32_t>(count_at(json, "buffers_needed", UINT32_MAX));
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

RunsByKey parse_kept_runs(std::string_view text) {
  RunsByKey runs;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    try {
      const Json entry = parse_json<Json>(line);
      const auto key = entry.at("key").get<std::string>();
      if (entry.at("checksum") == checksum(key, entry.at("run"))) runs[key] = entry.at("run");
    } catch (const Json::exception&) {  // such a run is made again
    }
  }
  return runs;
}

std::string kept_run_line(const std::string& key, const Json& run) {
  return json_text(Json{{"key", key}, {"checksum", checksum(key, run)}, {"run", run}});
}

template <typename Run>
std::optional<Run> run_from(const Json& run) {
  try {
    return run.get<Run>();
  } catch (const Json::exception&) {  // of something else: it is made again
    return std::nullopt;
  }
}

KeptRuns::KeptRuns(const OutputFolder& folder, const std::string& name, std::string identity)
    : out_(folder.append(name, Privacy::kShared)),
      identity_(std::move(identity)),
      runs_(parse_kept_runs(read_file(folder / name))) {}

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
  return run_from<Run>(found->second);
}

template <typename Run>
void KeptRuns::keep(const hostsim::Scenario& scenario, const Run& run) {
  const std::string name = key(scenario);
  const Json json = run;
  const std::lock_guard lock(mutex_);
  // A line of its own, whatever a run that was killed left at the end.
  out_.write(fmt::format("\n{}\n", kept_run_line(name, json)));
  runs_[name] = json;
}

template std::optional<Lost> run_from(const Json&);
template std::optional<Measured> run_from(const Json&);
template std::optional<Lost> KeptRuns::find(const hostsim::Scenario&) const;
template std::optional<Measured> KeptRuns::find(const hostsim::Scenario&) const;
template void KeptRuns::keep(const hostsim::Scenario&, const Lost&);
template void KeptRuns::keep(const hostsim::Scenario&, const Measured&);

}  // namespace offhook::advice
