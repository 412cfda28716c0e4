// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <vector>

#include "driver/base/file.h"
#include "driver/base/json.h"
#include "driver/base/output.h"
#include "driver/base/terminal.h"
#include "offhook/decode.h"
#include "src/lab/sweep/plan.h"
#include "src/program/command/decode_inputs.h"
#include "src/program/command/figures.h"
#include "src/program/command/program.h"
#include "src/program/command/run_folder.h"
#include "src/report/comparison.h"
#include "traces/scenario/key.h"

namespace offhook::command {
namespace {

namespace fs = std::filesystem;
using comparison::Json;
using comparison::Kind;

struct CompareOptions {
  std::string a, b, html, figures;
  double limit = -1;  ///< percent; negative: none
  TextOutput json, csv;
  bool all = false, quiet = false;

  bool alone() const { return json.alone() || csv.alone(); }
};

/// One result: a document, or the decoded calls of a modem.
struct Compared {
  std::string name;
  std::vector<Json> documents;
  bool several = false;
};

Json parse_document(const fs::path& file, const std::string& text) {
  try {
    return with_memory_for(file, [&] { return parse_json<Json>(text); });
  } catch (const Json::exception& e) {
    throw config::Error(fmt::format("{}: not the JSON of a run, a sweep, offhook decode or offhook measure latency: {}",
                                    file.string(), in_words(e)));
  }
}

/// Returns a JSON document unchanged, and decodes a recording.
Json load(const fs::path& file, Progress& progress) {
  if (file.extension() == ".json") return parse_document(file, read_file(file, kMostTextBytes));
  try {
    const auto call = decode::decode_file(file.string(), {.progress = [&](double share, const std::string&) {
                                            if (progress.due()) progress.update(share, file.filename().string());
                                          }});
    return Json::parse(decode::to_json(*call));
  } catch (const std::runtime_error& e) {
    if (is_named_as_recording(file) || !fs::exists(file)) throw;
    throw config::Error(
        fmt::format("{} Expected the folder of a run or a sweep, a .json file, or a recording.", e.what()));
  }
}

bool is_decoded_or_recording(const fs::path& file) {
  return fs::is_regular_file(file) && (file.extension() == ".json" || is_named_as_recording(file));
}

Compared load_calls(const fs::path& folder, Progress& progress) {
  Compared result{folder.string(), {}, true};
  std::vector<fs::path> files;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder))
    if (is_decoded_or_recording(entry.path())) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  for (const fs::path& file : files) {
    result.documents.push_back(load(file, progress));
    if (comparison::kind_of(result.documents.back()) != Kind::kDecodedCall)
      throw config::Error(fmt::format("{}: expected the JSON of offhook decode", file.string()));
  }
  if (files.empty()) {
    throw config::Error(
        fmt::format("{}: expected {} of a run, {} of a sweep, or recordings and JSON files of offhook decode",
                    folder.string(), kSummaryName, "results.json"));
  }
  return result;
}

Compared load_result(const std::string& given, Progress& progress) {
  const fs::path path = given;
  if (!fs::is_directory(path)) return {given, {load(path, progress)}, false};
  for (const char* name : {kSummaryName, "results.json"})
    if (fs::is_regular_file(path / name)) return {given, {load(path / name, progress)}, false};
  return load_calls(path, progress);
}

comparison::Comparison compared(const CompareOptions& options) {
  Progress progress("compare", options.quiet || options.alone() ? Progress::Style::kQuiet : Progress::Style::kAuto);
  const Compared a = load_result(options.a, progress), b = load_result(options.b, progress);
  const auto kind = comparison::kind_of(a.documents.front()), other = comparison::kind_of(b.documents.front());
  for (const auto& [result, of] : {std::pair(&a, kind), std::pair(&b, other)}) {
    if (!of)
      throw config::Error(result->name +
                          ": expected a run, a sweep, a decoded call or the JSON of offhook measure latency");
  }
  if (*kind != *other) {
    throw config::Error(fmt::format("{} is a {}, {} is a {}; expected two results of one kind", a.name,
                                    to_string(*kind), b.name, to_string(*other)));
  }
  if (a.several || b.several) return comparison::compare_calls(a.name, a.documents, b.name, b.documents);
  return comparison::compare(*kind, a.name, a.documents.front(), b.name, b.documents.front());
}

std::string cell(const Json& value) {
  if (value.is_null()) return "-";
  if (value.is_string()) return value.get<std::string>();
  if (value.is_number_float()) return fmt::format("{:.6g}", value.get<double>());
  if (value.is_boolean()) return value.get<bool>() ? "yes" : "no";
  return value.dump();
}

void print(const comparison::Comparison& c, const CompareOptions& options) {
  say("{}\n", c.headline);
  for (const std::string& reason : c.reasons) say("  {}\n", reason);
  say("  A: {}\n  B: {}\n", c.a, c.b);
  const bool items = std::any_of(c.rows.begin(), c.rows.end(), [](const auto& r) { return !r.item.empty(); });
  Table table;
  if (items) table.column("item", Table::Align::kLeft);
  table.column("quantity", Table::Align::kLeft);
  for (const char* title : {"A", "B", "B - A", "B / A"}) table.column(title);
  table.column("unit", Table::Align::kLeft);
  constexpr std::size_t kWidest = 24;
  std::size_t shown = 0;
  std::string sentences;  // words that would make a column too wide
  for (const comparison::Row& r : c.rows) {
    if (r.equal() && !options.all) continue;
    ++shown;
    if (std::max(cell(r.a).size(), cell(r.b).size()) > kWidest) {
      sentences += fmt::format("{}{}{}\n  A: {}\n  B: {}\n", r.item, r.item.empty() ? "" : ", ", r.quantity, cell(r.a),
                               cell(r.b));
      continue;
    }
    const auto by = r.difference(), times = r.ratio();
    std::vector<std::string> cells;
    if (items) cells.push_back(r.item);
    for (const std::string& text : {r.quantity, cell(r.a), cell(r.b), by ? fmt::format("{:+.6g}", *by) : "",
                                    times ? fmt::format("{:.3f}", *times) : "", r.unit})
      cells.push_back(text);
    table.row(std::move(cells));
  }
  if (shown > 0) say("\n{}{}", table.lines(), Lines(sentences));
  if (const std::size_t equal = c.rows.size() - shown; equal > 0)
    say("{} equal quantities are not shown; --all shows them\n", equal);
}

int run(const CompareOptions& options) {
  expect_one_alone({&options.csv, &options.json});
  comparison::Comparison c;
  try {
    c = compared(options);
  } catch (const comparison::DocumentError& e) {
    throw config::Error(e.what());
  }
  options.csv.write(comparison::to_csv(c), Privacy::kPrivate);
  options.json.write(record::json_text(comparison::kComparison, &c, 1), Privacy::kPrivate);
  write_page(comparison::comparison_page(c), options.html, options.figures, Privacy::kPrivate);
  const auto beyond =
      std::count_if(c.rows.begin(), c.rows.end(), [&](const comparison::Row& r) { return r.beyond(options.limit); });
  const bool exceeded = options.limit >= 0 && beyond > 0;
  if (!options.alone()) {
    print(c, options);
    if (options.limit >= 0) say("{} quantities differ by more than {:g} %\n", beyond, options.limit);
  }
  return exceeded ? kInsufficient : kOk;
}

}  // namespace

void add_compare(App& app, Action& action) {
  App* sub = app.add_subcommand("compare", "Compare two runs, sweeps, decoded calls or latency measurements");
  auto options = std::make_shared<CompareOptions>();
  const char* const what =
      "folder of a run or a sweep, JSON file, recording, or folder of recordings and JSON files of decode";
  sub->add_option("a", options->a, fmt::format("First result: {}", what))->required()->type_name("A");
  sub->add_option("b", options->b, fmt::format("Second result: {}", what))->required()->type_name("B");
  sub->add_flag("--all", options->all, "Also show equal quantities");
  sub->add_option("--limit", options->limit, "Exit with status 2 if a quantity differs by more than PERCENT of A")
      ->type_name("PERCENT")
      ->default_str("")
      ->check(in_range(0.0, 1e9));
  add_text_output(*sub, kCsvOption, options->csv, "Every quantity as CSV");
  add_text_output(*sub, kJsonOption, options->json, "Every quantity as JSON");
  sub->add_option("--html", options->html, "Write a page: both results next to each other, and their ratios")
      ->type_name("FILE");
  add_figures(*sub, options->figures);
  sub->add_flag("-q,--quiet", options->quiet, "No progress");
  sub->footer(R"(Exit status: 0 compared, 1 error, 2 a quantity differs by more than --limit.

Examples:
  offhook compare out/res-2-8 out/int --html compare.html
  offhook compare out/map out/map-after
  offhook compare before.json after.json --limit 10      # two measurements: offhook measure latency --json
  offhook compare examples/call.wav examples/call.wav --all
  offhook compare calls/modem-a calls/modem-b            # two modems: many recordings of each

Two folders of calls are compared by share of connected calls, bit rates, retrains and the reasons for undecoded data.)");
  sub->final_callback([&action, options] { action = [options] { return run(*options); }; });
}

}  // namespace offhook::command
