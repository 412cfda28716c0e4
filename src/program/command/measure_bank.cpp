// SPDX-License-Identifier: MIT
//
// `offhook measure bank`: how many modems a CPU carries.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "driver/base/terminal.h"
#include "driver/user_modem/modulations.h"
#include "src/measure/bank.h"
#include "src/measure/host_description.h"
#include "src/program/command/measure.h"
#include "src/program/command/times.h"

namespace offhook::command {
namespace {

struct BankOptions {
  std::shared_ptr<MeasureOptions> measure;
  int channels = 64;
  bool together = false, one_thread = false;
};

Json to_json(const measure::BankConfig& config, const measure::BankResult& r) {
  Json json{{"measure", "bank"},
            {"host", measure::host_description()},
            {"pump", config.modem.name},
            {"context", config.context.str()},
            {"channels", r.channels},
            {"one_thread", config.one_thread},
            {"connected", r.connected},
            {"seconds", r.seconds},
            {"blocks", r.blocks},
            {"blocks_late", r.blocks_late},
            {"blocks_late_in_stalls", r.blocks_late_in_stalls},
            {"blocks_late_connecting", r.blocks_late_connecting},
            {"samples_late", r.samples_late},
            {"samples_filled_in", r.samples_filled_in},
            {"underrun_samples", r.underrun_samples},
            {"pending_max_samples", r.pending_max_samples},
            {"bytes", r.bytes},
            {"bytes_wrong", r.bytes_wrong},
            {"cpu_share_percent", 100 * r.modems_share},
            {"hardware_share_percent", 100 * r.hardware_share},
            {"owner_share_percent", 100 * r.owner_share},
            {"service_time", quantiles_us(r.service)},
            {"dispatch_latency", quantiles_us(r.dispatch)},
            {"stolen_ms", r.stolen_ms},
            {"stalls", Json::array()},
            {"without", r.without}};
  for (const measure::BankStall& s : r.stalls)
    json["stalls"].push_back({{"at_s", s.at_s}, {"ms", s.ms}, {"blocks_late", s.blocks_late}});
  return json;
}

void print(const measure::BankConfig& config, const measure::BankResult& r, const Json& json) {
  const measure::BankStall longest = r.stalls.empty()
                                         ? measure::BankStall{}
                                         : *std::max_element(r.stalls.begin(), r.stalls.end(),
                                                             [](const auto& a, const auto& b) { return a.ms < b.ms; });
  Table table;
  table.column(fmt::format("{} {}, {}{}", r.channels, config.modem.name, config.context.str(),
                           config.one_thread ? ", one thread" : ""));
  table.column("");
  table.row({"connected", fmt::format("{}", r.connected)});
  table.row({"seconds", fmt::format("{:.1f}", r.seconds)});
  table.row({"blocks", fmt::format("{}", r.blocks)});
  table.row({"late", fmt::format("{}", r.blocks_late)});
  table.row({"late after a stall of the machine", fmt::format("{}", r.blocks_late_in_stalls)});
  table.row({"late before all were connected", fmt::format("{}", r.blocks_late_connecting)});
  table.row({"samples late, replaced by silence", fmt::format("{}, {}", r.samples_late, r.samples_filled_in)});
  table.row({"pending, max, samples", fmt::format("{}", r.pending_max_samples)});
  table.row({"bytes arrived, bytes wrong", fmt::format("{}, {}", r.bytes, r.bytes_wrong)});
  table.row({"CPU share of the modems", fmt::format("{:.1f} %", 100 * r.modems_share)});
  table.row({"CPU share of the played hardware", fmt::format("{:.1f} %", 100 * r.hardware_share)});
  add_times(table, json);
  say("{}", table.lines());
  say("{} stalls of {} ms or longer, in which even the hardware's thread did not have the CPU; longest {:.1f} ms; the "
      "hypervisor took {:.0f} ms\n",
      r.stalls.size(), measure::StallWatch::kStallMs, longest.ms, r.stolen_ms);
}

int run_bank(const BankOptions& options) {
  measure::BankConfig config;
  config.context = options.measure->context_spec();
  config.channels = options.channels;
  config.seconds = options.measure->seconds;
  config.together = options.together || options.one_thread;
  config.one_thread = options.one_thread;
  for (const Modulation& modem : kModulations) {
    if (options.measure->pump == modem.name) config.modem = modem;
  }
  catch_interrupts();
  measure::BankResult r;
  {
    Progress progress("bank", options.measure->json.alone() ? Progress::Style::kQuiet : Progress::Style::kAuto);
    measure::measure_bank(
        config,
        [&](double share, const std::string& what) {
          if (progress.due()) progress.update(share, what);
          return !interrupted();
        },
        r);
  }
  say_without(r.without);
  const Json json = to_json(config, r);
  if (!options.measure->json.alone()) print(config, r, json);
  const int status = finish_measure(*options.measure, json);
  const bool good = r.connected == r.channels && r.blocks_late == r.blocks_late_in_stalls && r.bytes_wrong == 0;
  return status == kOk && !good ? kInsufficient : status;
}

}  // namespace

void add_measure_bank(App& measure, Action& action, const std::shared_ptr<MeasureOptions>& shared) {
  App* bank =
      measure.add_subcommand("bank", "Measure how many modems one CPU can run: calls between modems of one process");
  auto options = std::make_shared<BankOptions>();
  options->measure = shared;
  bank->add_option("--channels", options->channels, "Number of modems (even)")
      ->type_name("N")
      ->check(in_range(2, 1024));
  std::vector<std::string> names;
  for (const Modulation& modem : kModulations) {
    if (takes(*modem.type(), kLinear8000)) names.emplace_back(modem.name);  // the two ends of V.90 are different
  }
  bank->add_option("--pump", shared->pump, "The pump")->type_name("NAME")->check(one_of(names));
  bank->add_flag("--together", options->together, "End the blocks of all modems at the same time");
  bank->add_flag("--one-thread", options->one_thread,
                 "Serve all pumps in one thread and one call, without V.42; requires --together");
  add_context(bank, *shared);
  add_seconds(bank, *shared);
  add_common(bank, *shared);
  bank->footer(R"(Examples:
  offhook measure bank --cpu 0 --context "FIFO 50" --seconds 60
  offhook measure bank --channels 8 --pump v34 --json
  offhook measure bank --channels 400 --pump v34 --one-thread

Exit status: 0 done, 1 error, 2 blocks were late although the machine had not stalled, or a call did not connect,
130 interrupted.)");
  bank->final_callback([&action, options] { action = [options] { return run_bank(*options); }; });
}

}  // namespace offhook::command
