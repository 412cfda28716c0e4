// SPDX-License-Identifier: MIT
//
// Any text as a sweep's plan, as one whose hash is right, and as a shard whose checksum is right (which a fuzzer would
// never guess): either an Error, or results in all three forms.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "driver/base/file.h"
#include "src/lab/sweep/plan.h"
#include "src/lab/sweep/result.h"
#include "src/lab/sweep/shard.h"
#include "traces/scenario/key.h"

using namespace offhook;

namespace {

template <typename Act>
void attempt(Act act) {
  try {
    act();
  } catch (const config::Error&) {
  }
}

/// Four cells in one shard.
const sweep::Plan& small_plan() {
  static const sweep::Plan plan = [] {
    const auto file = std::filesystem::temp_directory_path() / fmt::format("offhook-plan-fuzz-{}.toml", getpid());
    std::ofstream(file) << "repeats = 2\n[axes]\ncontext.y_ticks = [2, 4]\ncontext.x_ticks = [1, 2]\n";
    sweep::Plan made = sweep::read_grid(file, 1);
    std::filesystem::remove(file);
    return made;
  }();
  return plan;
}

/// The plan that a text describes, with the hash that it should have.
void with_a_right_hash(const std::string& text) {
  const auto json = nlohmann::json::parse(text, nullptr, false);
  if (!json.is_object()) return;
  sweep::Plan plan;
  try {
    plan.name = json.value("name", "");
    plan.version = small_plan().version;
    plan.base = json.value("base", "");
    for (const auto& axis : json.value("axes", nlohmann::json::array()))
      plan.axes.push_back({axis.value("key", ""), axis.value("values", std::vector<std::string>())});
    plan.repeats = json.value("repeats", 1u);
    plan.shards = json.value("shards", 1u);
    plan.data_hash = small_plan().data_hash;
  } catch (const nlohmann::json::exception&) {
    return;
  }
  attempt([&] { (void)sweep::plan_from_json(to_json(plan), "fuzz"); });
}

void as_a_shard(const std::string& rows) {
  const sweep::Plan& plan = small_plan();
  const std::string head = fmt::format("{{\"offhook_shard\":1,\"plan\":\"{}\",\"shard\":1,\"of\":1,\"runs\":{}}}\n",
                                       plan.hash(), plan.runs());
  const std::string body = head + rows;
  const std::string text = body + fmt::format("{{\"checksum\":\"{}\"}}\n", fnv1a_hex(body));
  std::optional<std::string> problem;
  const auto read = sweep::parse_shard(text, plan, 1, problem, "fuzz");
  if (problem) {
    if (problem->starts_with("foreign") || problem->find("checksum") != std::string::npos) std::abort();
    return;
  }
  attempt([&] {
    std::vector<sweep::RunRow> runs;
    std::transform(read.begin(), read.end(), std::back_inserter(runs), sweep::row_of);
    (void)sweep::cell_results(plan, runs);
    (void)sweep::results_json(plan, runs);
    const std::string csv = sweep::results_csv(plan, runs);
    if (std::count(csv.begin(), csv.end(), '\n') != static_cast<std::ptrdiff_t>(1 + plan.cells.size() * plan.repeats))
      std::abort();  // a row is a line
  });
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  attempt([&] { (void)sweep::plan_from_json(text, "fuzz"); });
  with_a_right_hash(text);
  as_a_shard(text);
  std::string all;  // the same row for every run
  for (std::size_t i = 0; i < small_plan().runs(); ++i) all += text.substr(0, text.find('\n')) + "\n";
  as_a_shard(all);
  std::optional<std::string> problem;
  (void)sweep::parse_shard(text, small_plan(), 1, problem, "fuzz");
  return 0;
}
