// SPDX-License-Identifier: MIT
//
// `offhook measure bank`: how many modems a CPU carries.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "driver/base/terminal.h"
#include "driver/user_modem/modulations.h"
#include "src/measure/bank.h"
#include "src/program/command/measure.h"
#include "src/program/command/results.h"
#include "src/program/command/times.h"

namespace offhook::command {
namespace {

struct BankOptions {
  std::shared_ptr<MeasureOptions> measure;
  int channels = 64;
  bool together = false, one_thread = false;
};

struct Bank {
  Measured measured{"bank"};
  std::string pump, context;
  bool one_thread = false;
  measure::BankResult result{};
};

using St = record::Written<measure::BankStall>;
constexpr record::Row kStallRows[] = {
    St::of<&measure::BankStall::at_s>("at_s", "s", "time of a stall of the hardware's thread, from the first sample"),
    St::of<&measure::BankStall::ms>("ms", "ms", "length of the stall"),
    St::of<&measure::BankStall::blocks_late>("blocks_late", "", "late blocks during the stall and the 100 ms after it"),
};
constexpr record::Table kStall{kStallRows};
using BankKeys = record::Written<Bank>;
using measure::BankResult;
constexpr record::Row kBankRows[] = {
    BankKeys::part<&Bank::measured>("", kMeasured),
    BankKeys::of<&Bank::pump>("pump", "", "name of the pump"),
    BankKeys::of<&Bank::context>("context", "", "context of every modem, or of the single thread"),
    BankKeys::of<&Bank::result, &BankResult::channels>("channels", "", "number of modems"),
    BankKeys::of<&Bank::one_thread>("one_thread", "", "whether one thread serves all pumps, without V.42"),
    BankKeys::of<&Bank::result, &BankResult::connected>("connected", "", "modems in data mode"),
    BankKeys::of<&Bank::result, &BankResult::seconds>("seconds", "s", "line time, including the time to connect"),
    BankKeys::of<&Bank::result, &BankResult::blocks>("blocks", "", "blocks served"),
    BankKeys::of<&Bank::result, &BankResult::blocks_late>("blocks_late", "",
                                                          "blocks served after their samples were due"),
    BankKeys::of<&Bank::result, &BankResult::blocks_late_in_stalls>(
        "blocks_late_in_stalls", "", "late blocks within 100 ms after a stall of the machine"),
    BankKeys::of<&Bank::result, &BankResult::blocks_late_connecting>("blocks_late_connecting", "",
                                                                     "late blocks before all modems were connected"),
    BankKeys::of<&Bank::result, &BankResult::samples_late>("samples_late", "samples", "samples that were late"),
    BankKeys::of<&Bank::result, &BankResult::samples_filled_in>("samples_filled_in", "samples",
                                                                "samples replaced by silence"),
    BankKeys::of<&Bank::result, &BankResult::underrun_samples>("underrun_samples", "samples",
                                                               "samples missing when due for sending"),
    BankKeys::of<&Bank::result, &BankResult::pending_max_samples>("pending_max_samples", "samples",
                                                                  "greatest number of samples that waited for service"),
    BankKeys::of<&Bank::result, &BankResult::bytes>("bytes", "bytes", "bytes that arrived at all modems"),
    BankKeys::of<&Bank::result, &BankResult::bytes_wrong>("bytes_wrong", "bytes", "bytes that arrived wrong"),
    BankKeys::of<&Bank::result, &BankResult::modems_share>("cpu_share_percent", "%",
                                                           "share of a CPU in data mode: modems")
        .scale(100),
    BankKeys::of<&Bank::result, &BankResult::hardware_share>("hardware_share_percent", "%",
                                                             "share of a CPU in data mode: the played hardware")
        .scale(100),
    BankKeys::of<&Bank::result, &BankResult::owner_share>(
        "owner_share_percent", "%", "share of a CPU in data mode: the thread that writes and reads the bytes")
        .scale(100),
    BankKeys::part("service_time", kQuantiles,
                   [](const Bank& b) -> const LogLinearHistogram& { return b.result.service; })
        .described_apart("time of the service"),
    BankKeys::part("dispatch_latency", kQuantiles,
                   [](const Bank& b) -> const LogLinearHistogram& { return b.result.dispatch; })
        .described_apart("time from request to service"),
    BankKeys::of<&Bank::result, &BankResult::stolen_ms>("stolen_ms", "ms", "time of this CPU that the hypervisor took"),
    BankKeys::part(
        "stalls", kStall, [](const Bank& b) -> const auto& { return b.result.stalls; })
        .absent("there was none"),
    BankKeys::of<&Bank::result, &BankResult::without>("without", "", "missing privileges").absent("there is none"),
};

void print(const measure::BankConfig& config, const measure::BankResult& r) {
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
  add_times(table, r.service, r.dispatch);
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
  Bank bank{.pump = config.modem.name, .context = config.context.str(), .one_thread = config.one_thread};
  measure::BankResult& r = bank.result;
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
  if (!options.measure->json.alone()) print(config, r);
  const int status = finish_measure(*options.measure, kMeasureBank, &bank);
  const bool good = r.connected == r.channels && r.blocks_late == r.blocks_late_in_stalls && r.bytes_wrong == 0;
  return status == kOk && !good ? kInsufficient : status;
}

}  // namespace

constexpr record::Table kMeasureBank{kBankRows};

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
    if (takes(*modem.type(), kLinear8000)) names.emplace_back(modem.name);  // the two ends of V.90 differ
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
