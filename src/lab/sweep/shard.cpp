// SPDX-License-Identifier: MIT
#include "src/lab/sweep/shard.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <string_view>

#include "driver/base/file.h"
#include "src/lab/sweep/parallel.h"
#include "traces/scenario/key.h"

namespace offhook::sweep {

namespace fs = std::filesystem;

namespace {

constexpr const char* kShards = "shards";
std::string shard_name(std::uint32_t shard) {
  return fmt::format("shard-{:06}.ndjson", shard);
}

std::string head(const Plan& plan, std::uint32_t shard) {
  return fmt::format("{{\"offhook_shard\":1,\"plan\":\"{}\",\"shard\":{},\"of\":{},\"runs\":{}}}\n", plan.hash(), shard,
                     plan.shards, plan.last_run(shard) - plan.first_run(shard));
}

std::string foot(std::string_view bytes) {
  return fmt::format("{{\"checksum\":\"{}\"}}\n", fnv1a_hex(bytes));
}

/// The rows in a shard's file. @param problem is set if there is one
std::vector<std::string> read_shard(const fs::path& folder, const Plan& plan, std::uint32_t shard,
                                    std::optional<std::string>& problem) {
  const fs::path file = shard_path(folder, shard);
  if (std::error_code error; !fs::exists(file, error)) {
    problem = "missing";
    return {};
  }
  return parse_shard(read_file(file), plan, shard, problem, file.string());
}

}  // namespace

std::vector<std::string> parse_shard(std::string_view text, const Plan& plan, std::uint32_t shard,
                                     std::optional<std::string>& problem, const std::string& name) {
  const std::size_t foot_bytes = foot("").size();
  const std::size_t body = text.size() < foot_bytes ? 0 : text.size() - foot_bytes;
  if (text.substr(body) != foot(text.substr(0, body))) {
    problem = fmt::format("damaged: {} does not match its checksum", name);
    return {};
  }
  const std::string_view first = text.substr(0, text.find('\n') + 1);
  if (first != head(plan, shard)) {
    problem = fmt::format("foreign: {} is not shard {} of {} of plan {}", name, shard, plan.shards, plan.hash());
    return {};
  }
  std::vector<std::string> rows;
  for (std::size_t begin = first.size(); begin < body;) {
    const std::size_t end = std::min(text.find('\n', begin), body);
    rows.emplace_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  if (const std::size_t runs = plan.last_run(shard) - plan.first_run(shard); rows.size() != runs) {
    problem = fmt::format("damaged: {} holds {} runs; expected {}", name, rows.size(), runs);
    return {};
  }
  return rows;
}

fs::path plan_path(const fs::path& folder) {
  return folder / kPlanName;
}

fs::path shard_path(const fs::path& folder, std::uint32_t shard) {
  return folder / kShards / shard_name(shard);
}

std::optional<std::string> shard_problem(const fs::path& folder, const Plan& plan, std::uint32_t shard) {
  std::optional<std::string> problem;
  read_shard(folder, plan, shard, problem);
  return problem;
}

bool run_shards(const OutputFolder& folder, const Plan& plan, const std::vector<std::uint32_t>& shards, const Run& run,
                const RunOptions& options) {
  const OutputFolder shard_folder = folder.sub(kShards);
  std::atomic<bool> stopped{false};
  std::mutex mutex;  // after `done` and its report
  std::size_t done = 0;
  const auto count = [&](std::size_t runs) {
    const std::lock_guard lock(mutex);
    done += runs;
    if (options.done) options.done(done);
  };
  const auto stop = [&] {
    if (options.stop && options.stop()) stopped = true;
    return stopped.load();
  };
  parallel(
      shards.size(), options.threads,
      [&](std::size_t index) {
        const std::uint32_t shard = shards[index];
        const std::size_t first = plan.first_run(shard), last = plan.last_run(shard);
        if (!shard_problem(folder.path(), plan, shard)) return count(last - first);
        std::string text = head(plan, shard);
        for (std::size_t i = first; i < last; ++i) {
          text += to_text(run(plan.scenario(i))) + "\n";
          if (stop()) return;  // the run itself may have been cut off
          count(1);
        }
        shard_folder.write(shard_name(shard), text + foot(text));
      },
      stop);
  return !stopped;
}

std::vector<RunRow> read_rows(const fs::path& folder, const Plan& plan) {
  std::vector<RunRow> rows;
  std::vector<std::uint32_t> missing;
  for (std::uint32_t shard = 1; shard <= plan.shards; ++shard) {
    std::optional<std::string> problem;
    const std::vector<std::string> part = read_shard(folder, plan, shard, problem);
    if (problem == "missing") {
      missing.push_back(shard);
    } else if (problem) {
      throw config::Error(fmt::format("shard {} of {} is {}", shard, plan.shards, *problem));
    }
    std::transform(part.begin(), part.end(), std::back_inserter(rows), row_of);
  }
  if (!missing.empty()) {
    const std::size_t shown = std::min<std::size_t>(missing.size(), 10);
    throw config::Error(fmt::format(
        "{} of {} shards are missing: {}{}; run them with: offhook sweep run {} --shard I/{}", missing.size(),
        plan.shards, fmt::join(missing.begin(), missing.begin() + static_cast<std::ptrdiff_t>(shown), ", "),
        shown < missing.size() ? " ..." : "", folder.string(), plan.shards));
  }
  return rows;
}

}  // namespace offhook::sweep
