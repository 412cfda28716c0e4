// SPDX-License-Identifier: MIT
#include "src/lab/reproduce/results.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <mutex>
#include <nlohmann/json.hpp>

#include "driver/path/output.h"
#include "src/lab/sweep/parallel.h"
#include "traces/document/data.h"
#include "traces/file/file.h"
#include "traces/text/csv.h"
#include "traces/text/json.h"

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
  return fmt::format("{}, seed {}, {} repetitions", program_and_data(), settings.seed, settings.repetitions);
}

Json run_claim(const Claim& claim, const Settings& settings, const ClaimProgress& progress) {
  const Published& p = claim.published;
  Json out{{"id", p.id()},
           {"title", claim.experiment != nullptr ? claim.experiment->title : p.id()},
           {"seed", p.seed()},
           {"at", p.at()},
           {"grade", std::string(to_string(p.grade()))}};
  if (claim.experiment == nullptr) {
    out.update({{"standing", "no experiment"}, {"summary", "No experiment makes this claim again yet."}});
    out.update({{"rows", Json::array()}, {"figures", Json::array()}});
    return out;
  }
  std::mutex mutex;
  const auto parallel = [&](std::size_t n, const std::function<void(std::size_t)>& job) {
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
  const Outcome outcome = claim.experiment->run({p, settings.seed, settings.repetitions, parallel});
  if (const auto unread = p.unread(); !unread.empty()) {
    throw config::Error(fmt::format("{}: the experiment looks at nothing of: {}", p.id(), fmt::join(unread, ", ")));
  }
  Json made = to_json(outcome);
  out["standing"] = standing(made.at("rows"));
  out.update(made);
  return out;
}

Json read_claim(const fs::path& folder, const Claim& claim, const std::string& identity) {
  const fs::path path = folder / claim_name(claim.published.id());
  std::error_code error;
  if (claim.experiment == nullptr || !fs::exists(path, error)) return nullptr;
  try {
    const Json file = parse_json<Json>(read_file(path));
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
      const std::string grade = row.at("grade").get<std::string>();
      const std::size_t agrees = row.at("agrees").get<bool>() ? 1 : 0;
      if (grade == "hard") ++t.hard, t.hard_agree += agrees;
      if (grade == "soft") ++t.soft, t.soft_agree += agrees;
      if (grade == "input") ++t.inputs, t.inputs_agree += agrees;
      if (grade == "paper") ++t.paper;
    }
  }
  return t;
}

std::string sentence(const Totals& t) {
  std::string out = fmt::format("{} claims: {} of {} hard values within tolerance, {} of {} soft ones; {} inputs",
                                t.claims, t.hard_agree, t.hard, t.soft_agree, t.soft, t.inputs);
  if (t.inputs_agree != t.inputs) out += fmt::format(" ({} used otherwise than published)", t.inputs - t.inputs_agree);
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
  std::string out = "claim,what,unit,published,simulated,tolerance,grade,agrees,note\n";
  const auto exact = [](const Json& v) { return v.is_null() ? "" : v.is_string() ? v.get<std::string>() : v.dump(); };
  for (const Json& claim : claims) {
    for (const Json& row : claim.at("rows")) {
      std::vector<std::string> fields = {claim.at("id").get<std::string>()};
      for (const char* key : {"what", "unit", "published", "simulated", "tolerance", "grade"})
        fields.push_back(csv_field(exact(row.at(key))));
      fields.push_back(row.at("agrees").get<bool>() ? "yes" : "no");
      fields.push_back(csv_field(row.at("note").get<std::string>()));
      out += fmt::format("{}\n", fmt::join(fields, ","));
    }
  }
  return out;
}

}  // namespace offhook::reproduce
