// SPDX-License-Identifier: MIT
#include "src/program/command/call_run.h"

#include <gtest/gtest.h>

#include "src/lab/advice/advice.h"
#include "src/lab/analysis/figures.h"
#include "traces/scenario/device.h"
#include "traces/scenario/scenario.h"

namespace offhook::command {
namespace {

advice::Lost by_figures(const hostsim::Scenario& scenario) {
  Analyzer analyzer;
  CallSinks sinks;
  sinks.events = [&](std::span<const oh_event> events, std::uint64_t) {
    for (const oh_event& event : events) analyzer.add(event);
  };
  (void)run_call(scenario, {}, sinks);
  return advice::measure(analyzer.finish(), scenario);
}

TEST(CallRun, LossesCountedAloneAreThoseOfAllFigures) {
  for (const char* context : {"DPC", "THR 24", "THR 8", "RES 1/8 strict"}) {
    config::ScenarioBuilder builder;
    builder.set("host.name=nt2000-p2-450");
    builder.set("load.spinner=true");
    builder.set("load.timer_callback=true");
    builder.set(std::string("context=") + context);
    hostsim::Scenario s = builder.finish();
    s.pump = hostsim::PumpKind::kDevice;
    s.device = config::load_device("vendor-modem");
    s.device_s = 20;
    const LossCount count = count_losses(s);
    const advice::Lost alone(count.service, count.simulated_s), all = by_figures(s);
    EXPECT_EQ(alone.blocks, all.blocks) << context;
    EXPECT_EQ(alone.blocks_late, all.blocks_late) << context;
    EXPECT_EQ(alone.samples_lost, all.samples_lost) << context;
    EXPECT_NEAR(alone.seconds, all.seconds, 0.1) << context;
    EXPECT_EQ(alone.losses() > 0, std::string(context) == "THR 8" || std::string(context) == "RES 1/8 strict")
        << context;
  }
}

}  // namespace
}  // namespace offhook::command
