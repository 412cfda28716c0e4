// SPDX-License-Identifier: MIT
//
// The machinery with a run that is arithmetic, so that what is tested is the cutting, resuming and putting together.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <fstream>
#include <nlohmann/json.hpp>

#include "driver/base/file.h"
#include "src/lab/sweep/plan.h"
#include "src/lab/sweep/result.h"
#include "src/lab/sweep/shard.h"
#include "tests/unit/traces/scenario/data_folder.h"
#include "traces/scenario/scenario.h"

namespace offhook::sweep {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

RunRow run_of(const hostsim::Scenario& s) {
  RunRow row;
  row.complete = s.context.kind != OH_CONTEXT_RESERVATION || 7 * s.context.x_ticks > s.context.y_ticks;
  row.transfer_s = 36.0 + static_cast<double>(s.seed) / 1000;
  row.pending_max_samples = s.context.y_ticks;
  return row;
}

class Sweep : public testing::Test {
 protected:
  fs::path write(const std::string& name, const std::string& text) {
    const fs::path file = data_.path() / name;
    std::ofstream(file) << text;
    return file;
  }
  Plan plan(std::uint32_t shards) {
    return read_grid(write("grid.toml", R"(
repeats = 3
[scenario]
context = "RES 1/8 strict"
seed = 10
pump.kind = "cost-profile"
[axes]
context.x_ticks = [1, 2, 3]
context.y_ticks = { from = 2, to = 20, step = 3 }
)"),
                     shards);
  }
  fs::path folder(const std::string& name) { return data_.path() / name; }
  static std::vector<std::uint32_t> all(const Plan& p) {
    std::vector<std::uint32_t> out;
    for (std::uint32_t s = 1; s <= p.shards; ++s) out.push_back(s);
    return out;
  }
  std::string complaint(const std::string& grid) {
    try {
      read_grid(write("bad.toml", grid), 1);
    } catch (const config::Error& e) {
      return e.what();
    }
    return "no error";
  }
  static std::string merge_complaint(const fs::path& dir, const Plan& p) {
    try {
      read_rows(dir, p);
    } catch (const config::Error& e) {
      return e.what();
    }
    return "no error";
  }

  config::DataFolder data_;
};

TEST_F(Sweep, IntAndADeviceHaveNoReference) {
  const Plan p = read_grid(
      write("int.toml", "[scenario]\npump.kind = \"cost-profile\"\n[axes]\ncontext = [\"INT\", \"THR 24\"]\n"), 1);
  ASSERT_EQ(p.cells.size(), 2u);
  EXPECT_FALSE(p.cells[0].reference);
  EXPECT_TRUE(p.cells[1].reference);
  EXPECT_EQ(p.runs(), 3u);
  hostsim::Scenario device = p.cells[1].scenario;
  device.pump = hostsim::PumpKind::kDevice;
  EXPECT_FALSE(reference_of(device));
}

TEST_F(Sweep, EveryAdmissibleCombinationIsACell) {
  const Plan p = plan(1);
  EXPECT_EQ(p.cells.size(), 20u);  // 3 x 7 but 3/2
  EXPECT_EQ(p.left_out, 1u);
  EXPECT_EQ(p.references.size(), 1u);
  EXPECT_EQ(p.runs(), 61u);
  EXPECT_EQ(p.scenario(0).seed, 10u);
  EXPECT_EQ(p.scenario(2).seed, 12u);
  EXPECT_EQ(p.scenario(3).context.y_ticks, 5);
  EXPECT_EQ(p.scenario(60).context.kind, OH_CONTEXT_INTERRUPT);
}

TEST_F(Sweep, APlanReadsBackTheSame) {
  const Plan p = plan(7);
  const std::string text = to_json(p);
  const Plan again = plan_from_json(text, "plan.json");
  EXPECT_EQ(to_json(again), text);
  EXPECT_EQ(again.runs(), p.runs());
  std::string damaged = text;
  damaged.replace(damaged.find("\"repeats\": 3"), 12, "\"repeats\": 4");
  EXPECT_THROW(plan_from_json(damaged, "plan.json"), config::Error);
  EXPECT_THROW(plan_from_json("[]", "plan.json"), config::Error);
}

TEST_F(Sweep, ResultIsTheSameForAnyNumberOfThreadsAndShards) {
  std::string csv, json;
  for (const auto& [shards, threads] : {std::pair(1u, 1u), {7u, 1u}, {61u, 4u}, {1000u, 2u}}) {
    const Plan p = plan(shards);
    const fs::path dir = folder(fmt::format("out-{}-{}", shards, threads));
    ASSERT_TRUE(run_shards(OutputFolder(dir), p, all(p), run_of, {threads, {}, {}}));
    const auto rows = read_rows(dir, p);
    ASSERT_EQ(rows.size(), 61u);
    if (csv.empty()) {
      csv = results_csv(p, rows);
      json = results_json(p, rows);
    }
    EXPECT_EQ(results_csv(p, rows), csv);
    EXPECT_EQ(results_json(p, rows), json);
  }
  EXPECT_THAT(csv,
              testing::StartsWith(
                  "context.x_ticks,context.y_ticks,context,repeat,seed,complete,transfer_s,simulated_s,bytes_delivered,"
                  "blocks,blocks_late,samples_late,pending_max_samples,overrun_samples,underrun_samples,"
                  "frames_retransmitted,timeouts,retrains,pump_share,ending,verdict\n"
                  "1,2,RES 1/2 strict,0,10,true,36.01,0.0,0,0,0,0,2,0,0,0,0,0,0.0,,sufficient\n"));
}

TEST_F(Sweep, AFieldOfWhatDidNotHappenIsEmptyAndRunsOfOtherKeysKeepTheirColumns) {
  const Plan p = plan(1);
  std::vector<RunRow> rows(p.runs());
  rows[0].transfer_s = 120;
  rows[0].dmt.emplace().down.pump.lost_words = 5;
  rows[1].complete = true;
  rows[1].transfer_s = 5;
  rows[1].radio.emplace().sent = {.due = 7, .missed = 1, .broken = 2};
  rows[2].dmt.emplace().trained_s = 1.5;
  rows[2].late_by_device = {{"sound", 3}};
  const std::string csv = results_csv(p, rows);
  EXPECT_THAT(csv, HasSubstr(",ending,trained_s,gross_down_bps,"));
  EXPECT_THAT(csv, HasSubstr(",bursts_late_sent,blocks_late: sound,verdict\n"));
  EXPECT_THAT(
      csv, HasSubstr("0,10,false,,0.0,0,0,0,0,0,0,0,0,0,0,0.0,,,0,0,0,0,0,0,5,0,0,0,0,0,0,0,0,0,,,,,,,,,,,marginal\n"));
  EXPECT_THAT(csv,
              HasSubstr("1,11,true,5.0,0.0,0,0,0,0,0,0,0,0,0,0,0.0,,,,,,,,,,,,,,,,,,,,0,0,0,0,0,7,3,0,,marginal\n"));
  EXPECT_THAT(csv, HasSubstr(",1.5,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,,,,,,,,,,3,marginal\n"));
}

TEST_F(Sweep, ARowIsReadAsItWasWritten) {
  RunRow row;
  row.transfer_s = 1.0 / 3;
  row.ending = "the line \"was\" lost";
  row.late_by_device = {{"sound", 3}, {"a: b", 4}};
  row.dmt.emplace().up.cells = hostsim::CellCounts{.received = 9, .hec_errors = 1};
  row.radio.emplace().received = {.due = 7, .missed = 1, .broken = 2};
  const RunRow back = row_of(to_text(row));
  EXPECT_EQ(to_text(back), to_text(row));
  EXPECT_EQ(back.transfer_s, row.transfer_s);
  EXPECT_EQ(back.late_by_device, row.late_by_device);
  EXPECT_EQ(back.radio->received.lost(), 3u);
  EXPECT_FALSE(row_of(to_text(RunRow{})).dmt);
}

TEST_F(Sweep, VerdictsAreOfAllRepeatsOfACell) {
  const Plan p = plan(3);
  run_shards(OutputFolder(folder("o")), p, all(p), run_of, {});
  const auto cells = cell_results(p, read_rows(folder("o"), p));
  ASSERT_EQ(cells.size(), 20u);
  EXPECT_EQ(cells[0].name, "RES 1/2 strict");
  EXPECT_EQ(cells[0].result.verdict, Verdict::kSufficient);
  EXPECT_EQ(cells[0].result.runs, 3u);
  EXPECT_EQ(cells[2].name, "RES 1/8 strict");
  EXPECT_EQ(cells[2].result.verdict, Verdict::kInsufficient);
}

TEST_F(Sweep, RunningAShardTwiceRunsNothingAndChangesNothing) {
  const Plan p = plan(5);
  std::atomic<int> calls{0};
  const sweep::Run counted = [&](const hostsim::Scenario& s) {
    ++calls;
    return run_of(s);
  };
  run_shards(OutputFolder(folder("o")), p, {2}, counted, {});
  const int first = calls;
  const std::string bytes = read_file(shard_path(folder("o"), 2));
  run_shards(OutputFolder(folder("o")), p, {2}, counted, {});
  EXPECT_EQ(calls, first);
  EXPECT_EQ(read_file(shard_path(folder("o"), 2)), bytes);
}

TEST_F(Sweep, AStoppedSweepGoesOnWhereItWas) {
  const Plan p = plan(10);
  int calls = 0;
  const sweep::Run counted = [&](const hostsim::Scenario& s) {
    ++calls;
    return run_of(s);
  };
  EXPECT_FALSE(run_shards(OutputFolder(folder("o")), p, all(p), counted, {1, [&] { return calls >= 20; }, {}}));
  EXPECT_THAT(merge_complaint(folder("o"), p), HasSubstr("shards are missing"));
  EXPECT_TRUE(run_shards(OutputFolder(folder("o")), p, all(p), counted, {}));
  EXPECT_LT(calls, 20 + 61);
  run_shards(OutputFolder(folder("whole")), p, all(p), run_of, {});
  EXPECT_EQ(results_csv(p, read_rows(folder("o"), p)), results_csv(p, read_rows(folder("whole"), p)));
}

TEST_F(Sweep, MergeNamesMissingShards) {
  const Plan p = plan(5);
  run_shards(OutputFolder(folder("o")), p, {1, 2, 4}, run_of, {});
  EXPECT_THAT(merge_complaint(folder("o"), p),
              HasSubstr("2 of 5 shards are missing: 3, 5; run them with: offhook sweep run"));
}

TEST_F(Sweep, MergeRefusesADamagedShard) {
  const Plan p = plan(5);
  run_shards(OutputFolder(folder("o")), p, all(p), run_of, {});
  std::string bytes = read_file(shard_path(folder("o"), 3));
  bytes[bytes.find("36.0") + 3] = '7';
  std::ofstream(shard_path(folder("o"), 3)) << bytes;
  EXPECT_THAT(merge_complaint(folder("o"), p), HasSubstr("shard 3 of 5 is damaged"));
  std::ofstream(shard_path(folder("o"), 3)) << bytes.substr(0, 40);
  EXPECT_THAT(merge_complaint(folder("o"), p), HasSubstr("shard 3 of 5 is damaged"));
  // A second run repairs it.
  run_shards(OutputFolder(folder("o")), p, {3}, run_of, {});
  EXPECT_EQ(merge_complaint(folder("o"), p), "no error");
}

// A shard can be of any origin: its checksum shows that it is whole, not that it is right.
TEST_F(Sweep, MergeRefusesAShardWithTheWrongRowsAndARightChecksum) {
  const Plan p = plan(5);
  run_shards(OutputFolder(folder("o")), p, all(p), run_of, {});
  const fs::path file = shard_path(folder("o"), 3);
  const std::string whole = read_file(file);
  const std::string body = whole.substr(0, whole.rfind('{'));
  const auto replace = [&](const std::string& text) {
    std::ofstream(file) << text << fmt::format("{{\"checksum\":\"{}\"}}\n", fnv1a_hex(text));
  };
  const std::size_t runs = p.last_run(3) - p.first_run(3);
  const std::size_t last = body.rfind('\n', body.size() - 2) + 1;
  replace(body);
  EXPECT_EQ(merge_complaint(folder("o"), p), "no error");
  replace(body.substr(0, last));
  EXPECT_THAT(merge_complaint(folder("o"), p), HasSubstr(fmt::format("holds {} runs; expected {}", runs - 1, runs)));
  replace(body + body.substr(last));
  EXPECT_THAT(merge_complaint(folder("o"), p), HasSubstr(fmt::format("holds {} runs; expected {}", runs + 1, runs)));
  replace(body.substr(0, body.size() - 1));  // its last line is not ended: later lines are no part of it
  EXPECT_EQ(merge_complaint(folder("o"), p), "no error");
  for (const char* row : {"[]", "7", "{}", R"({"complete": 1, "transfer_s": 2})", "[[[[", "",
                          R"({"complete": true, "transfer_s": 2, "blocks_late": -1})"}) {
    replace(body.substr(0, last) + row + "\n");
    const auto merge = [&] { (void)cell_results(p, read_rows(folder("o"), p)); };
    EXPECT_THROW(merge(), config::Error) << row;
  }
}

// The hash is correct, because anyone can compute it. A list of that many shards would take all memory.
TEST_F(Sweep, APlanOfMoreShardsThanRunsIsRefused) {
  Plan p = plan(5);
  p.shards = 4'000'000'000;
  try {
    plan_from_json(to_json(p), "plan.json");
    FAIL() << "no error";
  } catch (const config::Error& e) {
    EXPECT_THAT(e.what(), HasSubstr("plan.json: damaged: 4000000000 shards for"));
  }
}

// 10^8 cells, and more than any counter holds: refused before anything is allocated.
TEST_F(Sweep, AGridOfTooManyCellsIsRefusedAtOnce) {
  std::string axes = "[axes]\n";
  for (const char* key : {"context.x_ticks", "context.y_ticks", "host.tick_hz", "line.loss_db"})
    axes += fmt::format("{} = {{ from = 1, to = 1000 }}\n", key);
  EXPECT_THAT(complaint(axes), HasSubstr(":3:9: axis context.y_ticks: the grid has over 100000 cells"));
  EXPECT_THAT(complaint("repeats = 1000000\n" + axes), HasSubstr("the grid has over 100000000 runs"));
}

TEST_F(Sweep, MergeRefusesAForeignShard) {
  const Plan p = plan(5), other = plan(6);
  run_shards(OutputFolder(folder("o")), p, all(p), run_of, {});
  run_shards(OutputFolder(folder("other")), other, all(other), run_of, {});
  fs::copy_file(shard_path(folder("other"), 3), shard_path(folder("o"), 3), fs::copy_options::overwrite_existing);
  EXPECT_THAT(merge_complaint(folder("o"), p), HasSubstr("shard 3 of 5 is foreign"));
  fs::copy_file(shard_path(folder("o"), 2), shard_path(folder("o"), 3), fs::copy_options::overwrite_existing);
  EXPECT_THAT(merge_complaint(folder("o"), p), HasSubstr("shard 3 of 5 is foreign"));
}

TEST_F(Sweep, AFailedRunEndsTheSweepWithItsMessage) {
  const Plan p = plan(5);
  EXPECT_THROW(run_shards(OutputFolder(folder("o")), p, all(p),
                          [](const hostsim::Scenario&) -> RunRow { throw config::Error("no"); }, {2, {}, {}}),
               config::Error);
}

TEST_F(Sweep, BadGridsAreRefusedWithPosition) {
  const std::string bad = (data_.path() / "bad.toml").string();
  EXPECT_EQ(complaint("repeat = 3\n"), bad + ":1:1: unknown key \"repeat\"; the nearest known key is \"repeats\"");
  EXPECT_EQ(complaint("repeats = 0\n"), bad + ":1:11: repeats is 0; expected a whole number, 1 to 1000000");
  EXPECT_EQ(
      complaint("[axes]\ncontext.x_tick = [1]\n"),
      bad + ":2:9: axis context.x_tick: unknown key \"context.x_tick\"; the nearest known key is \"context.x_ticks\"");
  EXPECT_EQ(complaint("[axes]\ncontext.x_ticks = [1, 0]\n"),
            bad + ":2:9: axis context.x_ticks: context.x_ticks is 0; expected a whole number, 1 to 1024");
  EXPECT_THAT(complaint("[axes]\ncontext.x_ticks = 3\n"), HasSubstr("expected a list of values or { from = A"));
  EXPECT_THAT(complaint("[axes]\ncontext = [\"RES 4/3\"]\n"), HasSubstr("no cell of the grid can run"));
  EXPECT_THAT(complaint("base = \"nowhere.toml\"\n"), HasSubstr(":1:1: base: "));
}

}  // namespace
}  // namespace offhook::sweep
