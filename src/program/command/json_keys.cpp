// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>

#include "src/decode/presentation/json.h"
#include "src/lab/schedule/schedule.h"
#include "src/lab/sweep/result.h"
#include "src/measure/trunk.h"
#include "src/program/command/modem_summary.h"
#include "src/program/command/results.h"
#include "src/program/command/text_keys.h"
#include "src/program/command/times.h"
#include "src/report/advice_report.h"
#include "src/report/run_summary.h"

namespace offhook::command {
namespace {

constexpr const char* kCalls = R"(
line: offhook line --json
  seconds (s): time that the line ran
  calls: calls that connected
  bursts_late: bursts of 1 ms that were more than 1 ms late
  host.*: description of this machine

card: offhook line card, one line per call
  interrupts: interrupts raised
  {overrun,underrun} (sample periods): received samples that were lost; samples missing when due
  near_received? (bytes): bytes received by the modem at the card, with --in-process
  seconds (s): line time
  hashed_seconds (s): hashed part of the line time, --hash
  {hash,hash_played}: hash (FNV-1a, hexadecimal) of the samples at the codec: of both directions, and of the played samples alone
  far_received? (bytes): bytes received by the far modem
  far_retrains?: retrains of the far modem
  {far_overrun,far_underrun}? (samples): overruns and underruns of the second card, --far-card
  far_end?: why the external program stopped sending, --far-end

export: offhook report export --json
  out: output file
  events: exported events
  kernel: kernel trace that was added; empty: none
  kernel_events: events of the kernel trace
  kernel_offset_ns (ns): offset added to kernel timestamps
  lost: events that did not fit into the log
  complete: whether the log has its end record
  truncated: whether it ends early but is otherwise intact
  message: fault of the log

report: offhook report --json
  report: path of the page

compare: offhook compare --json
  offhook_compare: version of this document
  kind: run, sweep, decoded call, decoded calls or latency
  {a,b}: names of the two results
  headline: most important difference, in a sentence
  reasons[]: further sentences
  rows[].item: cell of a sweep, load of a measurement, direction of a call; empty: the whole result
  rows[].quantity: key of the value
  rows[].unit: its unit; empty: none, or a count
  rows[].{a,b}: value in each result; null: it has none
  rows[].difference?: b - a of two numbers
  rows[].ratio?: b / a of two numbers, if a is not 0
)";

constexpr const char* kLab = R"(
sweep-printed: offhook sweep --json and offhook sweep merge --json
  {results,report}: output files
  runs: total number of runs
  left_out: combinations whose reservation cannot be admitted
  cells[].{name,verdict,complete,runs}: as in results.json

sweep-plan: offhook sweep plan --json
  plan: hash of the plan
  folder: folder of the plan
  slurm: script of the Slurm job array
  {shards,cells,runs,left_out}: numbers of shards, cells, runs and skipped combinations

sweep-run: offhook sweep run --json
  {shard,of}: I and N of I/N
  file: output file of the shard
  was_done: whether an earlier run had already made it

demo: offhook demo --json and summary.json
  offhook_demo: version of this document
  report: path of the page
  {contexts,table3}[].{name,verdict,published,provenance}: simulated and published verdict, and the kind of evidence that an agreement gives
  {contexts,table3}[].{runs,complete,blocks_late}: counters
  {contexts,table3}[].{mean_s,published_mean_s} (s): transfer time
  {contexts,table3}[].pending_max_samples (samples): greatest number of samples that waited for service
  {contexts,table3}[].decides: deciding quantity, in words
  counts.*.{rows,agreeing}: number of rows of each provenance, and of rows that agree
  sentence: summary in one sentence

advise: offhook advise --json and advice.json
)";

constexpr const char* kLabAfterAdvice =
    R"(  verified?.{seconds,blocks,losses,low_s,advice_is_safer}: results of --verify; absent if no context was chosen

reproduce: offhook reproduce --json and results.json
  offhook_reproduce: version of this document
  seed: first random seed
  repetitions: number of runs where the paper repeated an experiment
  sentence: summary in one sentence
  counts.{independent,calibrated,derived,input}.{rows,agree,hard,hard_agree}?: numbers of values, and of those within tolerance
  counts.can_fail.{rows,agree}: values whose agreement would change if the published value were 20 % off, and those within tolerance
  counts.inconsistent_in_the_paper: values that contradict others in their paper
  falls_short[]?: mandatory (hard) claims that were not reproduced
  claims[].{id,title,seed,at,grade,standing,summary}: claim, place in the paper, and result
  claims[].rows[]?.*: columns of results.csv (offhook help keys csv reproduce)
  claims[].figures[]?.**: data of the page's figures
  perturbed?: changed constants, --perturb
  perturbation?.{values,changed}: values of these claims, and those that --perturb changed
  perturbation?.unchanged[]?: claims without a changed value
  perturbation?.decided[]?: values whose agreement it changed
  held_out?.**: results of --held-out
  sensitivity?.**: results of --sensitivity
)";

/// A document and the table of its keys.
struct Document {
  const char* heading;
  const record::Table& table;
  const char* path = "";  ///< of a list: "[]."
};
const Document kDocuments[] = {
    {"sweep: results.json of offhook sweep", sweep::kSweepResults},
    {"law: offhook advise law --json and law.json", kLaw},
    {"law-check: offhook advise law --check --json", kLawCheck},
    {"admit: offhook advise admit --json", kAdmission},
    {"hosts: offhook hosts --json", kHost, "[]."},
    {"schedule: offhook schedule --json", schedule::kSummary},
    {"trace: offhook trace --json", kTrace},
    {"devices: offhook devices --json", kCardDevice, "[]."},
    {"modem: offhook modem --json and summary.json; for a bank, a list of them", kModemSummary},
    {"kernel: offhook modem kernel, always", kKernelCall},
    {"mttf: offhook mttf --json", kMttf},
    {"tasks: offhook mttf --tasks --json", kMttfTasks},
    {"measure-latency: offhook measure latency --json; with several loads, the keys from load on are in loads[]",
     kMeasureLatency},
    {"measure-stolen: offhook measure stolen --json", kMeasureStolen},
    {"measure-kernel: offhook measure kernel --json", kMeasureKernel},
    {"measure-cost: offhook measure cost --json", kMeasureCost},
    {"measure-cost-device: offhook measure cost --device SCENARIO.toml --json", kMeasureDeviceCost},
    {"measure-host: offhook measure host --json", kMeasureHost},
    {"measure-bank: offhook measure bank --json", kMeasureBank},
    {"measure-batch: offhook measure batch --json", kMeasureBatch},
    {"measure-cause: offhook measure cause --json", kMeasureCause},
    {"measure-device: offhook measure device --json", kMeasureDevice},
    {"decode: offhook decode --json; for several calls, a list of them", decode::kDocument},
    {"trunk-test: offhook trunk-test --json", measure::kTrunkResult},
    {"host-description: parts of several documents: a machine", measure::kHostDescription},
    {"times: parts of several documents: a distribution of times", kTimes},
    {"quantiles: parts of several documents: a distribution of times, in short", kQuantiles},
};

}  // namespace

std::string json_keys_text() {
  std::string out = "run: offhook run --json and summary.json\n" + record::describe(kRunSummary) + kCalls + kLab +
                    record::describe(kAdvice) + kLabAfterAdvice;
  for (const auto& [heading, table, path] : kDocuments)
    out += fmt::format("\n{}\n{}", heading, record::describe(table, path));
  return out;
}

namespace {

/// The documents whose name, the heading's text before the colon, fulfils a condition.
template <typename Wanted>
std::string documents_where(std::string_view text, const Wanted& wanted) {
  std::string out;
  bool in = false;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    if (!line.empty() && line.front() != ' ') in = wanted(line.substr(0, line.find(':')));
    if (in) out.append(line).append("\n");
  }
  while (out.ends_with("\n\n")) out.pop_back();
  return out;
}

}  // namespace

// With the parts that they name.
std::string documents_with(std::string_view text, std::string_view part) {
  constexpr std::string_view kKeys = "(keys: ";
  std::string out = documents_where(text, [&](std::string_view name) { return name.find(part) != name.npos; });
  for (std::size_t at = out.find(kKeys); at != out.npos; at = out.find(kKeys, at + 1)) {
    const std::size_t from = at + kKeys.size();
    const std::string named = out.substr(from, out.find(')', from) - from);
    if (out.find("\n" + named + ":") == out.npos && !out.starts_with(named + ":"))
      out += "\n" + documents_where(text, [&](std::string_view name) { return name == named; });
  }
  return out;
}

}  // namespace offhook::command
