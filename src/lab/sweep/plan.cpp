// SPDX-License-Identifier: MIT
#include "src/lab/sweep/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "driver/base/file.h"
#include "driver/base/json.h"
#include "hostsim/call/host_policies.h"
#include "traces/scenario/data.h"
#include "traces/scenario/device.h"
#include "traces/scenario/document.h"
#include "traces/scenario/load_device.h"
#include "traces/scenario/scenario.h"

namespace offhook::sweep {

using config::Document;
using config::Error;
using config::ScenarioBuilder;
using hostsim::Scenario;

namespace {

constexpr std::size_t kMostCells = 100'000;
constexpr std::size_t kMostRuns = 100'000'000;
constexpr std::uint32_t kDefaultShards = 1000;

/// The keys of a grid file other than [scenario] and [axes].
struct Head {
  std::string base, name;
  std::uint32_t repeats = 1;
};
const config::KeyTable& head_keys() {
  using config::Field;
  static const config::KeyTable keys = {
      config::key<Head>("base", "scenario file, relative to the grid file", &Head::base),
      config::key<Head>("name", "name of the sweep, shown in reports", &Head::name),
      config::key<Head>("repeats", 1, 1'000'000, "runs per cell; seeds count up from the scenario's", &Head::repeats),
      // Listed so that a misspelt one is detected; removed before the head is read.
      config::key<Head>("scenario", "keys that override the base scenario", &Head::base),
      config::key<Head>("axes", "keys that vary, with their values", &Head::base),
  };
  return keys;
}

/// @return number of combinations of all axes  @throws Error before any is constructed
std::size_t count_combinations(const Plan& plan, const std::vector<std::string>& positions) {
  std::size_t combinations = 1;
  for (std::size_t a = 0; a < plan.axes.size(); ++a) {
    const std::size_t values = plan.axes[a].values.size();
    if (values > kMostCells / combinations) {
      throw Error(fmt::format(
          "{}: the grid has over {} cells; expected fewer, because each cell needs memory and time before any run",
          positions[a], kMostCells));
    }
    combinations *= values;
    if (combinations * plan.repeats > kMostRuns)
      throw Error(fmt::format("{}: the grid has over {} runs", positions[a], kMostRuns));
  }
  return combinations;
}

/// Sets cells and references.
void expand(Plan& plan, const std::vector<std::string>& positions) {
  const std::size_t combinations = count_combinations(plan, positions);
  ScenarioBuilder base;
  base.apply(Document::parse(plan.base, "base"));
  std::map<std::string, std::size_t> references;
  for (std::size_t n = 0; n < combinations; ++n) {
    Cell cell;
    cell.at.resize(plan.axes.size());
    ScenarioBuilder builder(base.scenario());
    for (std::size_t a = plan.axes.size(), rest = n; a-- > 0; rest /= plan.axes[a].values.size()) {
      cell.at[a] = rest % plan.axes[a].values.size();
    }
    for (std::size_t a = 0; a < plan.axes.size(); ++a) {
      builder.apply(Document::setting(plan.axes[a].key, plan.axes[a].values[cell.at[a]], positions[a]));
    }
    if (!hostsim::admission_problem(builder.scenario().host, builder.scenario().context).empty()) {
      ++plan.left_out;
      continue;
    }
    cell.scenario = builder.finish();
    if (std::optional<Scenario> reference = reference_of(cell.scenario)) {
      const auto [found, added] = references.try_emplace(config::to_toml(*reference), plan.references.size());
      if (added) plan.references.push_back(std::move(*reference));
      cell.reference = found->second;
    }
    plan.cells.push_back(std::move(cell));
  }
  if (plan.cells.empty()) {
    ScenarioBuilder all(base.scenario());
    throw Error(
        fmt::format("no cell of the grid can run: {} reservations cannot be admitted (X > Y, or a standard scheduler's "
                    "period that is not a power of two)",
                    plan.left_out));
  }
}

std::string hash_of_profiles(const Plan& plan) {
  std::set<std::string> names;
  for (const Cell& cell : plan.cells) names.insert(cell.scenario.cost_profile);
  std::string all;
  for (const std::string& name : names) all += read_file(config::data_file("profiles", name));
  std::set<std::string> devices;
  for (const Cell& cell : plan.cells) {
    devices.insert(config::to_toml(cell.scenario.device) + config::to_toml(cell.scenario.load.devices));
  }
  for (const std::string& device : devices) all += device;
  return fnv1a_hex(all);
}

nlohmann::ordered_json grid_json(const Plan& plan) {
  nlohmann::ordered_json axes = nlohmann::ordered_json::array();
  for (const Axis& axis : plan.axes) axes.push_back({{"key", axis.key}, {"values", axis.values}});
  return {{"offhook_plan", 2}, {"version", plan.version}, {"name", plan.name},     {"base", plan.base},
          {"axes", axes},      {"repeats", plan.repeats}, {"data", plan.data_hash}};
}

}  // namespace

std::optional<Scenario> reference_of(const Scenario& scenario) {
  if (scenario.pump == hostsim::PumpKind::kDevice || scenario.context.kind == OH_CONTEXT_INTERRUPT) return std::nullopt;
  Scenario in_int = scenario;
  in_int.context = {};
  in_int.context.interrupt_cpu = scenario.context.interrupt_cpu;
  return in_int;
}

Scenario Plan::scenario(std::size_t run) const {
  if (run >= cells.size() * repeats) return references[run - cells.size() * repeats];
  Scenario s = cells[run / repeats].scenario;
  s.seed += run % repeats;
  return s;
}

std::string Plan::grid_hash() const {
  return fnv1a_hex(json_text(grid_json(*this)));
}

std::string Plan::hash() const {
  nlohmann::ordered_json json = grid_json(*this);
  json["shards"] = shards;
  return fnv1a_hex(json_text(json));
}

Plan read_grid(const std::filesystem::path& file, std::uint32_t shards) {
  Document document = Document::read_file(file);
  const auto axes = document.take_table("axes");
  auto over = document.take_table("scenario");
  const std::string base_at = document.position("base");
  Head head;
  head.name = file.stem().string();
  document.apply(head_keys(), &head);

  ScenarioBuilder builder;
  if (!head.base.empty()) {
    try {
      builder.apply_file(file.parent_path() / head.base);
    } catch (const Error& e) {
      throw Error(fmt::format("{}: base: {}", base_at, e.what()));
    }
  }
  if (over) builder.apply(std::move(*over));

  Plan plan;
  plan.name = head.name;
  plan.version = OFFHOOK_VERSION;
  plan.base = config::to_toml(builder.scenario());
  plan.repeats = head.repeats;
  std::vector<std::string> positions;
  if (axes) {
    for (Document::Axis& axis : axes->axes()) {
      positions.push_back(fmt::format("{}: axis {}", axis.position, axis.path));
      plan.axes.push_back({std::move(axis.path), std::move(axis.values)});
    }
    count_combinations(plan, positions);
    for (std::size_t a = 0; a < plan.axes.size(); ++a) {
      for (const std::string& value :
           plan.axes[a].values) {  // one at a time, so that the message names only this value
        ScenarioBuilder(builder.scenario()).apply(Document::setting(plan.axes[a].key, value, positions[a]));
      }
    }
  }
  expand(plan, positions);
  plan.data_hash = hash_of_profiles(plan);
  plan.shards = shards != 0 ? shards : kDefaultShards;
  plan.shards = static_cast<std::uint32_t>(std::min<std::size_t>(plan.shards, plan.runs()));
  return plan;
}

std::string to_json(const Plan& plan) {
  nlohmann::ordered_json json = grid_json(plan);
  json["shards"] = plan.shards;
  json["hash"] = plan.hash();
  return json_text(json, 1) + "\n";
}

Plan plan_from_json(const std::string& text, const std::string& name) {
  Plan plan;
  std::string hash;
  try {
    const auto json = with_memory_for(name, [&] { return parse_json(text); });
    if (json.at("offhook_plan") != 2) throw Error(fmt::format("{}: another format; expected offhook_plan 2", name));
    json.at("version").get_to(plan.version);
    json.at("name").get_to(plan.name);
    json.at("base").get_to(plan.base);
    for (const auto& axis : json.at("axes")) {
      plan.axes.push_back({axis.at("key").get<std::string>(), axis.at("values").get<std::vector<std::string>>()});
    }
    json.at("repeats").get_to(plan.repeats);
    json.at("data").get_to(plan.data_hash);
    json.at("shards").get_to(plan.shards);
    json.at("hash").get_to(hash);
    for (const Axis& axis : plan.axes) {
      if (axis.values.empty()) throw Error(fmt::format("{}: axis {} has no values", name, axis.key));
    }
  } catch (const nlohmann::json::exception& e) {
    throw Error(fmt::format("{}: not a plan: {}", name, in_words(e)));
  }
  if (hash != plan.hash() || plan.repeats == 0 || plan.shards == 0) {
    throw Error(fmt::format("{}: damaged: its contents do not match its hash", name));
  }
  if (plan.version != OFFHOOK_VERSION) {
    throw Error(fmt::format("{}: written by offhook {}; this is {}", name, plan.version, OFFHOOK_VERSION));
  }
  std::vector<std::string> positions;
  for (const Axis& axis : plan.axes) positions.push_back(fmt::format("{}: axis {}", name, axis.key));
  expand(plan, positions);
  if (plan.shards > plan.runs()) {
    throw Error(fmt::format("{}: damaged: {} shards for {} runs", name, plan.shards, plan.runs()));
  }
  if (hash_of_profiles(plan) != plan.data_hash) {
    throw Error(fmt::format("{}: made with other cost profiles than those in {}", name, config::data_dir().string()));
  }
  return plan;
}

}  // namespace offhook::sweep
