// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include "driver/base/record.h"
#include "driver/base/terminal.h"
#include "src/program/command/figures.h"
#include "src/program/command/folder.h"
#include "src/program/command/program.h"
#include "src/program/command/results.h"
#include "src/program/command/run_folder.h"
#include "src/program/command/sweep_folder.h"

namespace offhook::command {
namespace {

struct ReportOptions {
  std::string in, html, figures;
  TextOutput json;
};

struct MadePage {
  std::string page;
};

constexpr record::Row kReportRows[] = {
    record::Written<MadePage>::of<&MadePage::page>("report", "", "path of the page")};

int report(const ReportOptions& options) {
  const std::filesystem::path in = options.in;
  const MadePage made{is_sweep_folder(in) ? report_sweep(in, options.html) : report_run(in, options.html)};
  write_figures(made.page, options.figures);
  options.json.write(record::json_text(kReport, &made));
  if (!options.json.alone()) say("{}\n", made.page);
  return kOk;
}

}  // namespace

constexpr record::Table kReport{kReportRows};

void add_report(App& app, Action& action) {
  App* sub = app.add_subcommand("report", "Regenerate the report of a run, a sweep or an event log");
  auto options = std::make_shared<ReportOptions>();
  sub->add_option("input", options->in, "Output folder of a run or a sweep, or an event log")
      ->required()
      ->type_name("DIR_OR_LOG");
  sub->add_option("--html", options->html, "File for the page (default: report.html in the folder)")->type_name("FILE");
  add_figures(*sub, options->figures);
  add_text_output(*sub, kJsonOption, options->json, "Path of the report as JSON");
  sub->footer(
      "Examples:\n  offhook report out/res-2-8\n  offhook report out/res-2-8/events.ohlog --html page.html\n"
      "  offhook report out/res-2-8 --figures out/figures");
  sub->require_subcommand(0, 1);
  add_export(*sub, action);
  sub->final_callback([&action, options] { action = [options] { return report(*options); }; });
}

}  // namespace offhook::command
