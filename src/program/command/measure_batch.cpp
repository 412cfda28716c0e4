// SPDX-License-Identifier: MIT
//
// `offhook measure batch`: pumps that one thread advances in one call.
#include <fmt/format.h>

#include "driver/base/terminal.h"
#include "offhook/modem_card.h"
#include "src/measure/batch.h"
#include "src/program/command/measure.h"
#include "src/program/command/results.h"

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

struct Batch {
  Measured measured{"batch"};
  std::string pump;
  measure::BatchResult result{};
};

using BatchGroupKeys = record::Written<measure::BatchGroup>;
constexpr record::Row kGroupRows[] = {
    BatchGroupKeys::of<&measure::BatchGroup::name>("name", "",
                                                   "name of a group of pumps that are advanced in one call"),
    BatchGroupKeys::of<&measure::BatchGroup::pumps>("pumps", "", "number of pumps"),
    BatchGroupKeys::of<&measure::BatchGroup::state_bytes>("state_bytes", "bytes", "state of one pump"),
    BatchGroupKeys::of<&measure::BatchGroup::together_ns>("together_ns_per_sample", "ns",
                                                          "cost of one pump when all run in one call"),
    BatchGroupKeys::of<&measure::BatchGroup::one_by_one_ns>("one_by_one_ns_per_sample", "ns",
                                                            "cost of one pump when all run, pump by pump"),
    BatchGroupKeys::of<&measure::BatchGroup::alone_ns>("alone_ns_per_sample", "ns",
                                                       "cost of one pump when only its call runs, pump by pump"),
    BatchGroupKeys::of("pumps_per_core", "", "number of pumps that one CPU can run in real time",
                       [](const measure::BatchGroup& g) { return pumps_a_core(g.together_ns); }),
};
constexpr record::Table kGroup{kGroupRows};
using BatchKeys = record::Written<Batch>;
using measure::BatchResult;
constexpr record::Row kBatchRows[] = {
    BatchKeys::part<&Batch::measured>("", kMeasured),
    BatchKeys::of<&Batch::pump>("pump", "", "name of the pump"),
    BatchKeys::of<&Batch::result, &BatchResult::calls>("calls", "", "number of calls, two pumps each"),
    BatchKeys::of<&Batch::result, &BatchResult::connected>("connected", "", "calls in data mode"),
    BatchKeys::of<&Batch::result, &BatchResult::connected_after_s>("connected_after_s", "s",
                                                                   "line time until the last call connected"),
    BatchKeys::of<&Batch::result, &BatchResult::bits>("bits", "", "compared bits"),
    BatchKeys::of<&Batch::result, &BatchResult::bits_wrong>("bits_wrong", "", "wrong bits"),
    BatchKeys::of<&Batch::result, &BatchResult::calls_alone>("calls_alone", "", "calls repeated alone"),
    BatchKeys::of<&Batch::result, &BatchResult::calls_same>("calls_same", "",
                                                            "calls with identical samples when run alone"),
    BatchKeys::part(
        "groups", kGroup, [](const Batch& b) -> const auto& { return b.result.groups; }),
};

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
  Batch batch{.pump = config.modem.name};
  measure::BatchResult& r = batch.result;
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
  const int status = finish_measure(*options.measure, kMeasureBatch, &batch);
  const bool good = r.connected == r.calls && r.bits_wrong == 0 && r.calls_same == r.calls;
  return status == kOk && !good ? kInsufficient : status;
}

}  // namespace

constexpr record::Table kMeasureBatch{kBatchRows};

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
