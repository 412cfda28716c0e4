// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>

#include "src/decode/presentation/json.h"
#include "src/lab/reproduce/results.h"
#include "src/lab/schedule/schedule.h"
#include "src/lab/sweep/result.h"
#include "src/measure/trunk.h"
#include "src/program/command/modem_summary.h"
#include "src/program/command/results.h"
#include "src/program/command/text_keys.h"
#include "src/program/command/times.h"
#include "src/report/comparison.h"
#include "src/report/run_summary.h"

namespace offhook::command {
namespace {

/// A document and the table of its keys.
struct Document {
  const char* heading;
  const record::Table& table;
  const char* path = "";  ///< of a list: "[]."
};
const Document kDocuments[] = {
    {"run: offhook run --json and summary.json", kRunSummary},
    {"line: offhook line --json", kLine},
    {"card: offhook line card, one line per call", kCardCall},
    {"export: offhook report export --json", kExport},
    {"report: offhook report --json", kReport},
    {"compare: offhook compare --json", comparison::kComparison},
    {"sweep-printed: offhook sweep --json and offhook sweep merge --json", kSweepPrinted},
    {"sweep-plan: offhook sweep plan --json", kSweepPlanned},
    {"sweep-run: offhook sweep run --json", kSweepShard},
    {"demo: offhook demo --json and summary.json", kDemo},
    {"advise: offhook advise --json and advice.json", kAdvised},
    {"reproduce: offhook reproduce --json and results.json", reproduce::kResults},
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
    {"figure: parts of several documents: a figure of a page", reproduce::kFigure},
    {"times: parts of several documents: a distribution of times", kTimes},
    {"quantiles: parts of several documents: a distribution of times, in short", kQuantiles},
};

}  // namespace

std::string json_keys_text() {
  std::string out;
  for (const auto& [heading, table, path] : kDocuments)
    out += fmt::format("{}{}\n{}", out.empty() ? "" : "\n", heading, record::describe(table, path));
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

// Including the parts that they name.
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
