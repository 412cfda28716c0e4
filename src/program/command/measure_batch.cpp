// SPDX-License-Identifier: MIT
//
// `offhook measure batch`: pumps that one thread advances in one call.
#include <fmt/format.h>

#include "driver/base/terminal.h"
#include "offhook/modem_card.h"
#include "src/measure/batch.h"
#include "src/measure/host_description.h"
#include "src/program/command/measure.h"

namespace offhook::command {
namespace {

struct BatchOptions {
  std::shared_ptr<MeasureOptions> measure;
  int calls = 32, block = 96;
};

double pumps_a_core(double ns_a_period) {
  constexpr double kRateHz = OH_MODEM_RATE_HZ;
  return 1e9 / (ns_a_period * kRateHz);
}

Json to_json(const measure::BatchConfig& config, const measure::BatchResult& r) {
  Json json{{"measure", "batch"},
            {"host", measure::host_description()},
            {"pump", config.modem.name},
            {"calls", r.calls},
            {"connected", r.connected},
            {"connected_after_s", r.connected_after_s},
            {"bits", r.bits},
            {"bits_wrong", r.bits_wrong},
            {"calls_alone", r.calls_alone},
            {"calls_same", r.calls_same},
            {"groups", Json::array()}};
  for (const measure::BatchGroup& g : r.groups) {
    json["groups"].push_back({{"name", g.name},
                              {"pumps", g.pumps},
                              {"state_bytes", g.state_bytes},
                              {"together_ns_per_sample", g.together_ns},
                              {"one_by_one_ns_per_sample", g.one_by_one_ns},
                              {"alone_ns_per_sample", g.alone_ns},
                              {"pumps_per_core", pumps_a_core(g.together_ns)}});
  }
  return json;
}

void print(const measure::BatchResult& r) {
  Table table;
  table.column("pumps", Table::Align::kLeft);
  for (const char* title : {"number", "bytes each", "ns per sample, together", "one by one", "alone", "pumps a core"})
    table.column(title);
  for (const measure::BatchGroup& g : r.groups)
    table.row({g.name, fmt::format("{}", g.pumps), fmt::format("{}", g.state_bytes),
               fmt::format("{:.0f}", g.together_ns), fmt::format("{:.0f}", g.one_by_one_ns),
               fmt::format("{:.0f}", g.alone_ns), fmt::format("{:.0f}", pumps_a_core(g.together_ns))});
  say("{}", table.lines());
  say("{} of {} calls connected, after {:.1f} s; {} bits compared, {} wrong\n", r.connected, r.calls,
      r.connected_after_s, r.bits, r.bits_wrong);
  say("{} of {} calls gave identical samples when run alone\n", r.calls_same, r.calls_alone);
}

int run_batch(const BatchOptions& options) {
  measure::BatchConfig config;
  for (const Modulation& modem : kModulations) {
    if (options.measure->pump == modem.name) config.modem = modem;
  }
  config.calls = options.calls;
  config.block = static_cast<std::uint32_t>(options.block);
  config.data_s = options.measure->seconds;
  catch_interrupts();
  measure::BatchResult r;
  {
    Progress progress("batch", options.measure->json.alone() ? Progress::Style::kQuiet : Progress::Style::kAuto);
    r = measure::measure_batch(config, [&](double share) {
      if (progress.due()) progress.update(share, "");
      return !interrupted();
    });
  }
  if (interrupted()) return interrupt_status();
  if (r.connected == 0) throw std::runtime_error("no pumps connected over a clean line");
  if (!options.measure->json.alone()) print(r);
  const int status = finish_measure(*options.measure, to_json(config, r));
  const bool good = r.connected == r.calls && r.bits_wrong == 0 && r.calls_same == r.calls;
  return status == kOk && !good ? kInsufficient : status;
}

}  // namespace

void add_measure_batch(App& measure, Action& action, const std::shared_ptr<MeasureOptions>& shared) {
  App* batch = measure.add_subcommand(
      "batch", "Measure how many pumps one thread can run when it advances all of them in one call");
  auto options = std::make_shared<BatchOptions>();
  options->measure = shared;
  batch->add_option("--calls", options->calls, "Number of calls, each between two pumps")
      ->type_name("N")
      ->check(in_range(1, 1024));
  std::vector<std::string> names;
  for (const Modulation& modem : kModulations) names.emplace_back(modem.name);
  batch->add_option("--pump", shared->pump, "The pump")->type_name("NAME")->check(one_of(names));
  batch->add_option("--block", options->block, "Samples per call of the pumps")
      ->type_name("N")
      ->check(in_range(8, 256));
  add_seconds(batch, *shared);
  add_common(batch, *shared);
  batch->footer(R"(Examples:
  offhook measure batch --pump v34 --calls 64 --seconds 5
  offhook measure batch --pump v90 --json

There is no card, context or echo: samples go directly from pump to pump. V.90 uses a clean digital trunk, whose cost is
not counted. In data mode, every second block is advanced in one call for all pumps, the others pump by pump ("one by
one"). Each call is repeated alone and must give identical samples. --seconds is line time in data mode.

Exit status: 0 done, 1 error, 2 a call did not connect, a bit was wrong, or samples differed from those of the call
alone, 130 interrupted.)");
  batch->final_callback([&action, options] { action = [options] { return run_batch(*options); }; });
}

}  // namespace offhook::command
