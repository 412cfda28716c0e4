// SPDX-License-Identifier: MIT
#include "src/lab/advice/kept_runs.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string_view>
#include <type_traits>

#include "driver/base/file.h"
#include "driver/base/json.h"
#include "driver/base/output.h"
#include "driver/base/record.h"
#include "traces/scenario/scenario.h"

namespace offhook::advice {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

namespace {

std::string checksum(const std::string& key, const Json& run) {
  return fnv1a_hex(key + run.dump(-1, ' ', false, Json::error_handler_t::replace));
}

}  // namespace

namespace {

using record::Row;

template <typename Run>
constexpr auto kLostRows = std::to_array<Row>({
    record::Rows<Run>::template of<&Run::seconds>("seconds", "s", "simulated"),
    record::Rows<Run>::template of<&Run::blocks>("blocks", "", "served"),
    record::Rows<Run>::template of<&Run::blocks_late>("blocks_late", "", "served late"),
    record::Rows<Run>::template of<&Run::blocks_given_up>("blocks_given_up", "", "never served"),
    record::Rows<Run>::template of<&Run::samples_lost>("samples_lost", "samples", "lost"),
});
constexpr record::Table kLost{kLostRows<Lost>}, kLostOfMeasured{kLostRows<Measured>};

using M = record::Rows<Measured>;
constexpr Row kMeasuredRows[] = {
    M::part("", kLostOfMeasured, [](const Measured& m) -> const Measured& { return m; }),
    M::of<&Measured::margin_ms>("margin_ms", "ms", "left at the worst moment"),
    M::of<&Measured::buffers_needed>("buffers_needed", "", "buffers"),
    M::of<&Measured::swamped>("swamped", "", "input was overwritten before it was taken"),
    M::of<&Measured::latency_p999_ms>("latency_p999_ms", "ms", "interrupt to output queued"),
    M::of<&Measured::latency_max_ms>("latency_max_ms", "ms", "interrupt to output queued"),
    M::of<&Measured::isr_max_us>("isr_max_us", "us", "longest interrupt routine"),
    M::of<&Measured::dpc_max_us>("dpc_max_us", "us", "longest DPC"),
    M::of<&Measured::share>("share", "", "share of the CPU used by the device, 0 to 1"),
    M::of<&Measured::stolen_share>("stolen_share", "", "share of the CPU taken above every thread, 0 to 1"),
    M::of<&Measured::timer_late_max_ms>("timer_late_max_ms", "ms", "greatest lateness of a 1 ms timer"),
    M::of<&Measured::timer_late_p999_ms>("timer_late_p999_ms", "ms", "lateness of a 1 ms timer, 99.9th percentile"),
    M::of<&Measured::longest_ms>("longest_ms", "ms", "longest time from interrupt to output"),
};
constexpr record::Table kMeasured{kMeasuredRows};

template <typename Run>
constexpr const record::Table& kTable = std::is_same_v<Run, Lost> ? kLost : kMeasured;

}  // namespace

RunsByKey parse_kept_runs(std::string_view text) {
  RunsByKey runs;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    try {
      const Json entry = parse_json<Json>(line);
      const auto key = entry.at("key").get<std::string>();
      if (entry.at("checksum") == checksum(key, entry.at("run"))) runs[key] = entry.at("run");
    } catch (const Json::exception&) {  // such a run is repeated
    }
  }
  return runs;
}

std::string kept_run_line(const std::string& key, const Json& run) {
  return json_text(Json{{"key", key}, {"checksum", checksum(key, run)}, {"run", run}});
}

template <typename Run>
std::optional<Run> run_from(const Json& run) {
  Run found;
  try {
    record::from_json(kTable<Run>, run, &found);
    return found;
  } catch (const Json::exception&) {  // the file belongs to other inputs: all runs are repeated
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
  const Json json = record::to_json(kTable<Run>, &run);
  const std::lock_guard lock(mutex_);
  // On a new line, because a killed run may have left a partial one.
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
