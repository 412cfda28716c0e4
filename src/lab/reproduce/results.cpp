// SPDX-License-Identifier: MIT
#include "src/lab/reproduce/results.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <mutex>
#include <nlohmann/json.hpp>

#include "driver/base/csv.h"
#include "driver/base/file.h"
#include "driver/base/json.h"
#include "driver/base/output.h"
#include "src/lab/sweep/parallel.h"
#include "traces/scenario/data.h"

namespace offhook::reproduce {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

namespace {

std::string claim_name(const std::string& id) {
  return id + ".json";
}

std::string standing(const Json& rows) {
  const auto any = [&](std::string_view grade, bool agrees) {
    return std::any_of(rows.begin(), rows.end(),
                       [&](const Json& r) { return r.at("grade") == grade && r.at("agrees") == agrees; });
  };
  if (any("hard", false)) return "falls short";
  if (any("soft", false) || any("input", false)) return "differs";
  if (any("hard", true) || any("soft", true)) return "agrees";
  return any("paper", true) ? "inconsistent in the paper" : "input";
}

}  // namespace

std::string program_and_data() {
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(config::data_dir())) {
    if (entry.path().extension() == ".toml") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  std::string data;
  for (const fs::path& file : files) data += fnv1a_hex(read_file(file));
  return fmt::format("program {}, data {}", fnv1a_hex(read_file("/proc/self/exe")), fnv1a_hex(data));
}

std::string identity(const Settings& settings) {
  return fmt::format("{}, seed {}, {} repetitions{}{}", program_and_data(), settings.seed, settings.repetitions,
                     settings.perturbation.empty() ? "" : ", perturbed: ", settings.perturbation.text());
}

Run run_of(const Published& published, const Settings& settings, const ClaimProgress& progress) {
  const auto parallel = [&settings, &progress](std::size_t n, const std::function<void(std::size_t)>& job) {
    std::mutex mutex;
    std::size_t done = 0;
    sweep::parallel(
        n, settings.threads,
        [&](std::size_t i) {
          job(i);
          const std::lock_guard lock(mutex);
          ++done;
          progress(static_cast<double>(done) / static_cast<double>(n), fmt::format("{} of {} runs", done, n));
        },
        settings.stop);
    if (settings.stop()) throw Interrupted{};
  };
  return {published, settings.seed, settings.repetitions, parallel, settings.perturbation};
}

namespace {

/// Every row that differs has an explanation.
void explain(Json& rows, const Perturbation& perturbation) {
  for (Json& row : rows) {
    if (row.at("agrees").get<bool>() || !row.at("note").get<std::string>().empty()) continue;
    row["note"] = perturbation.empty() ? "no known reason" : fmt::format("perturbed: {}", perturbation.text());
  }
}

}  // namespace

Json run_claim(const Claim& claim, const Settings& settings, const ClaimProgress& progress) {
  const Published& p = claim.published;
  Json out{{"id", p.id()},
           {"title", claim.experiment != nullptr ? claim.experiment->title : p.id()},
           {"seed", p.seed()},
           {"at", p.at()},
           {"grade", std::string(to_string(p.grade()))}};
  if (claim.experiment == nullptr) {
    out.update({{"standing", "no experiment"}, {"summary", "No experiment reproduces this claim yet."}});
    out.update({{"rows", Json::array()}, {"figures", Json::array()}});
    return out;
  }
  const Outcome outcome = claim.experiment->run(run_of(p, settings, progress));
  Json made = to_json(outcome, p);
  if (const auto unread = p.unread(); !unread.empty()) {
    throw config::Error(fmt::format("{}: the experiment does not use: {}", p.id(), fmt::join(unread, ", ")));
  }
  explain(made.at("rows"), settings.perturbation);
  out["standing"] = standing(made.at("rows"));
  out.update(made);
  return out;
}

Json read_claim(const fs::path& folder, const Claim& claim, const std::string& identity) {
  const fs::path path = folder / claim_name(claim.published.id());
  std::error_code error;
  if (claim.experiment == nullptr || !fs::exists(path, error)) return nullptr;
  try {
    const Json file = with_memory_for(path, [&] { return parse_json<Json>(read_file(path)); });
    const bool ours = file.at("identity") == identity && file.at("checksum") == fnv1a_hex(file.at("claim").dump());
    return ours ? file.at("claim") : Json(nullptr);
  } catch (const Json::exception&) {  // it is made again
    return nullptr;
  }
}

void write_claim(const OutputFolder& folder, const Json& claim, const std::string& identity) {
  const Json file{{"identity", identity}, {"checksum", fnv1a_hex(claim.dump())}, {"claim", claim}};
  folder.write(claim_name(claim.at("id").get<std::string>()), json_text(file) + "\n");
}

Totals totals(const Json& claims) {
  Totals t;
  for (const Json& claim : claims) {
    const std::string id = claim.at("id").get<std::string>(), standing = claim.at("standing").get<std::string>();
    ++t.claims;
    if (standing == "no experiment") t.missing.push_back(id);
    if (standing == "falls short" || (standing == "no experiment" && claim.at("grade") == "hard"))
      t.short_of.push_back(id);
    for (const Json& row : claim.at("rows")) {
      if (row.at("grade") == "paper") {
        ++t.paper;
        continue;
      }
      Totals::Count& count = t.of(row.at("provenance").get<std::string>());
      const bool agrees = row.at("agrees").get<bool>(), hard = row.at("grade") == "hard";
      ++count.rows;
      if (agrees) ++count.agree;
      if (hard) ++count.hard;
      if (hard && agrees) ++count.hard_agree;
      if (row.at("provenance") == to_string(Provenance::kInput) || !row.at("notices_20_percent").get<bool>()) continue;
      ++t.sharp;
      if (agrees) ++t.sharp_agree;
    }
  }
  return t;
}

Totals::Count& Totals::of(std::string_view provenance) {
  for (auto& [name, count] : counts) {
    if (name == provenance) return count;
  }
  throw std::invalid_argument(fmt::format("no provenance: {}", provenance));
}

Json to_json(const Totals& totals) {
  Json out;
  for (const auto& [name, count] : totals.counts) {
    out[name] = {{"rows", count.rows}, {"agree", count.agree}};
    if (name != to_string(Provenance::kInput))
      out[name].update({{"hard", count.hard}, {"hard_agree", count.hard_agree}});
  }
  out["can_fail"] = {{"rows", totals.sharp}, {"agree", totals.sharp_agree}};
  out["inconsistent_in_the_paper"] = totals.paper;
  return out;
}

std::string sentence(const Totals& t) {
  std::vector<std::string> parts;
  for (const auto& [name, count] : t.counts) {
    if (name == to_string(Provenance::kInput) || count.rows == 0) continue;
    parts.push_back(fmt::format("{}, {} of {} values within tolerance ({} of {} hard)", name, count.agree, count.rows,
                                count.hard_agree, count.hard));
  }
  const Totals::Count& inputs = t.counts.back().second;
  parts.push_back(fmt::format("{} inputs, which are not results", inputs.rows));
  std::string out = fmt::format(
      "{} claims: {} of {} values that can fail (a published value 20 % off would be noticed) are within tolerance. {}",
      t.claims, t.sharp_agree, t.sharp, fmt::join(parts, "; "));
  if (inputs.agree != inputs.rows)
    out += fmt::format(" ({} used with other values than published)", inputs.rows - inputs.agree);
  if (t.paper != 0) out += fmt::format("; {} inconsistent in their paper", t.paper);
  if (!t.missing.empty()) out += fmt::format("; without an experiment: {}", fmt::join(t.missing, ", "));
  return out;
}

std::string shown(const Json& value) {
  if (value.is_null()) return "-";
  if (value.is_string()) return value.get<std::string>();
  const double v = value.get<double>();
  if (v == std::round(v) && std::abs(v) < 1e7) return fmt::format("{:.0f}", v);
  return std::abs(v) >= 1000 ? fmt::format("{:.0f}", v) : fmt::format("{:.4g}", v);
}

std::string to_csv(const Json& claims) {
  Json rows = Json::array();
  for (const Json& claim : claims) {
    for (const Json& row : claim.at("rows")) {
      Json cells{{"claim", claim.at("id")}};
      for (const char* key : {"what", "unit", "published", "simulated", "tolerance", "grade", "provenance"})
        cells[key] = row.at(key);
      cells["notices_20_percent"] = row.at("notices_20_percent").get<bool>() ? "yes" : "no";
      cells["agrees"] = row.at("agrees").get<bool>() ? "yes" : "no";
      for (const char* key : {"hinges", "note", "because"}) cells[key] = row.at(key);
      rows.push_back(std::move(cells));
    }
  }
  return csv_table(rows);
}

}  // namespace offhook::reproduce
