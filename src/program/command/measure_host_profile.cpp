// SPDX-License-Identifier: MIT
//
// `offhook measure host-profile`: this machine as a host that `advise`, `mttf` and scenarios take.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <memory>

#include "driver/base/output.h"
#include "driver/base/terminal.h"
#include "src/measure/host_description.h"
#include "src/measure/host_profile.h"
#include "src/program/command/measure.h"

namespace offhook::command {
namespace {

int run(const MeasureOptions& options, const std::string& out) {
  if (list_loads(options)) return kOk;
  expect_writable(out);
  measure::HostProfile profile;
  profile.interval_us = options.interval_us;
  profile.context = options.context;
  const auto host = measure::host_description();  // before the loads are there
  catch_interrupts();
  for (const measure::LoadKind* kind : chosen_loads(options)) {
    const UnderLoad under = measure_under(options, *kind, nullptr);
    if (profile.seconds == 0) {
      say_without(under.result.without);
      if (!under.result.without.empty())
        profile.context += fmt::format(" (without: {})", fmt::join(under.result.without, "; "));
    }
    if (interrupted()) return interrupt_status();
    profile.seconds += options.seconds;
    profile.thread.add(under.result.latency);
    if (kind->make != nullptr) profile.loads.emplace_back(kind->name);
    if (const measure::StageHistograms* stages = under.stages()) {
      profile.interrupt.add(stages->interrupt);
      profile.softirq.add(stages->softirq);
    }
    print_quantiles(kind->name.data(), under.result.latency);
  }
  if (profile.thread.count() == 0) throw std::runtime_error("no wake-up was measured: --seconds is too short");
  write_file(out, measure::to_host_file(profile, host));
  say("{}: a host from {} wake-ups; offhook advise DEVICE {}\n", out, profile.thread.count(), out);
  return kOk;
}

}  // namespace

void add_measure_host_profile(App& measure, Action& action, const std::shared_ptr<MeasureOptions>& options) {
  App* profile = measure.add_subcommand(
      "host-profile", "Measure this machine and write HOST.toml, a host for advise, mttf and scenarios");
  auto out = std::make_shared<std::string>();
  profile->add_option("-o,--out", *out, "File for the host")->required()->type_name("HOST.toml");
  profile->add_option("--context", options->context, "Context of the waiting thread: \"FIFO 80\", \"RR 10\"")
      ->type_name("CONTEXT");
  profile->add_option("--cpu", options->cpu, "Pin the thread to this CPU")->type_name("N");
  profile->add_option("--seconds", options->seconds, "Duration of the measurement under each load, in seconds")
      ->type_name("S")
      ->check(in_range(0.01, 1e7));
  profile->add_option("--interval-us", options->interval_us, "Time between two wake-ups")
      ->type_name("US")
      ->check(in_range(10.0, 1e6));
  add_load(profile, *options, ", 'all' selects those available here; several are measured one after another");
  profile->add_flag("--stages", options->stages,
                    "Measure interrupts and softirqs too, from the kernel's trace (root; adds overhead)");
  profile->add_flag("--best-effort", options->best_effort, "Continue without missing privileges");
  profile->footer(R"(Examples:
  sudo offhook measure host-profile --seconds 600 --load all --out mine.toml
  sudo offhook measure host-profile --stages --load cpu --load network --out mine.toml   # needs stress-ng
  offhook advise rt-audio mine.toml

The file cannot contain latencies rarer than once in the whole measurement; advice states how far it carries. Measure
under the load that will compete with the device.)");
  profile->final_callback([&action, options, out] { action = [options, out] { return run(*options, *out); }; });
}

}  // namespace offhook::command
