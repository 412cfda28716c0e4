// SPDX-License-Identifier: MIT
//
// `offhook measure host-profile`: this machine as a host that `advise`, `mttf` and scenarios take.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sched.h>

#include <memory>

#include "driver/base/output.h"
#include "driver/base/terminal.h"
#include "src/measure/host_description.h"
#include "src/measure/host_profile.h"
#include "src/program/command/measure.h"

namespace offhook::command {
namespace {

/// One context under one load, added to the profile. @return false if interrupted
bool measure_into(const MeasureOptions& options, const measure::LoadKind& kind, measure::HostProfile& profile,
                  measure::MeasuredContext& into) {
  const UnderLoad under = measure_under(options, kind, nullptr);
  if (into.thread.count() == 0) {
    const std::vector<std::string>& without = under.result.without;
    say_without(without);
    if (!without.empty()) into.remark = fmt::format("without: {}", fmt::join(without, "; "));
    if (under.result.policy == SCHED_OTHER) into.context = ContextSpec::parse("OTHER");
  }
  if (interrupted()) return false;
  into.thread.add(under.result.latency);
  if (const measure::StageHistograms* stages = under.stages()) {
    profile.interrupt.add(stages->interrupt);
    profile.softirq.add(stages->softirq);
  }
  print_quantiles(fmt::format("{}, {}", options.context, kind.name).c_str(), under.result.latency);
  return true;
}

int run(MeasureOptions options, const std::vector<std::string>& contexts, const std::string& out) {
  if (list_loads(options)) return kOk;
  expect_writable(out);
  measure::HostProfile profile;
  profile.interval_us = options.interval_us;
  for (const std::string& context : contexts) {
    options.context = context;
    profile.threads.push_back({options.context_spec()});
  }
  if (contexts.empty()) {
    for (const ContextSpec& context : measure::profile_contexts(options.interval_us))
      profile.threads.push_back({context});
  }
  const std::vector<measure::MeasuredContext> wanted = profile.threads;
  const measure::HostDescription host = measure::describe_host();  // before the loads exist
  catch_interrupts();
  for (const measure::LoadKind* kind : chosen_loads(options)) {
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      options.context = wanted[i].context.str();
      if (!measure_into(options, *kind, profile, profile.threads[i])) return interrupt_status();
    }
    profile.seconds += options.seconds;
    if (kind->make != nullptr) profile.loads.emplace_back(kind->name);
  }
  std::uint64_t wake_ups = 0;
  for (const measure::MeasuredContext& m : profile.threads) {
    if (m.thread.count() == 0)
      throw std::runtime_error(fmt::format("no wake-up of {} was measured: --seconds is too short", m.str()));
    wake_ups += m.thread.count();
  }
  write_file(out, measure::to_host_file(profile, host));
  say("{}: a host from {} wake-ups; offhook advise DEVICE {}\n", out, wake_ups, out);
  return kOk;
}

}  // namespace

void add_measure_host_profile(App& measure, Action& action, const std::shared_ptr<MeasureOptions>& options) {
  App* profile = measure.add_subcommand(
      "host-profile", "Measure this machine and write HOST.toml, a host for advise, mttf and scenarios");
  auto out = std::make_shared<std::string>();
  auto contexts = std::make_shared<std::vector<std::string>>();
  profile->add_option("-o,--out", *out, "File for the host")->required()->type_name("HOST.toml");
  profile
      ->add_option("--context", *contexts,
                   "Context of the waiting thread: \"FIFO 80\", \"RES 0.1ms/1ms\"; several are measured one after "
                   "another (default: FIFO 25, 49, 51 and 80, SCHED_DEADLINE and OTHER)")
      ->type_name("CONTEXT")
      ->allow_extra_args(false);
  profile->add_option("--cpu", options->cpu, "Pin the thread to this CPU")->type_name("N");
  profile
      ->add_option("--seconds", options->seconds,
                   "Duration of the measurement of each context under each load, in seconds")
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
  sudo offhook measure host-profile --seconds 100 --load all --out mine.toml
  sudo offhook measure host-profile --context "FIFO 80" --seconds 600 --load spin --out mine.toml
  sudo offhook measure host-profile --stages --load cpu --load network --out mine.toml   # needs stress-ng
  offhook advise rt-audio mine.toml

The file has no latencies that are rarer than one in the whole measurement; advice names the time that it supports.
Measure under the load that will compete with the device.)");
  profile->final_callback([&action, options, contexts, out] {
    action = [options, contexts, out] { return run(*options, *contexts, *out); };
  });
}

}  // namespace offhook::command
