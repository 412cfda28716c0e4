// SPDX-License-Identifier: MIT
//
// How fast whole calls are simulated: simulated seconds per wall second, and logged events per second, beside how many
// of them a simulated second has. What a busy host costs is what its events cost: see docs/speed.md.
#include <benchmark/benchmark.h>

#include <cstdio>

#include "tests/sim/calls.h"
#include "traces/scenario/load_device.h"

namespace {

using namespace offhook;

void report(benchmark::State& state, double simulated_s, double events) {
  state.counters["sim_s_per_s"] = benchmark::Counter(simulated_s, benchmark::Counter::kIsRate);
  state.counters["events_per_s"] = benchmark::Counter(events, benchmark::Counter::kIsRate);
  state.counters["events_per_sim_s"] = events / simulated_s;
}

// Interrupts, DPCs, a thread, a spinner and the clock: the whole host, logging every event.
void cost_profile(benchmark::State& state, const char* context, const char* devices = "") {
  hostsim::Scenario s = test::scenario(context);
  for (const char* kind : {"network", "ide-dma", "usb"})
    if (std::string_view(devices).find(kind) != std::string_view::npos)
      s.load.devices.push_back(config::load_preset(kind));
  s.pump = hostsim::PumpKind::kCostProfile;
  s.bytes = 2'000'000;
  const hostsim::CostProfile profile = config::load_profile(s.cost_profile);
  std::vector<oh_event> ring(1 << 16), out(1 << 16);
  double simulated = 0, events = 0;
  for (auto _ : state) {
    oh_event_log log{};
    oh_event_log_init(&log, ring.data(), ring.size(), 0);
    hostsim::Call call(s, profile, hostsim::make_link_model_connection(s, profile, &log), &log);
    for (hostsim::Ns horizon = 0; call.advance(horizon += 1'000'000'000);) {
      events += static_cast<double>(oh_event_log_read(&log, out.data(), out.size()));
    }
    simulated += call.result().simulated_s;
  }
  report(state, simulated, events);
}
BENCHMARK_CAPTURE(cost_profile, INT, "INT")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(cost_profile, THR_24, "THR 24")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(cost_profile, RES_2_8, "RES 2/8")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(cost_profile, RES_4_16_strict, "RES 4/16 strict")->Unit(benchmark::kMillisecond);

// Additional devices: 8100 segments, 36 disk transfers and 1000 USB frames per second.
BENCHMARK_CAPTURE(cost_profile, THR_24_network, "THR 24", "network")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(cost_profile, RES_2_8_all_devices, "RES 2/8", "network ide-dma usb")->Unit(benchmark::kMillisecond);

void real_pump(benchmark::State& state, const char* context) {
  const auto file = test::random_file(5000);
  double simulated = 0, events = 0;
  for (auto _ : state) {
    const test::Recorded r = test::run(test::scenario(context), file);
    simulated += r.result.simulated_s;
    events += static_cast<double>(r.events.size());
  }
  report(state, simulated, events);
}
BENCHMARK_CAPTURE(real_pump, THR_24, "THR 24")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(real_pump, RES_2_8, "RES 2/8")->Unit(benchmark::kMillisecond);

}  // namespace

int main(int argc, char** argv) {
  std::puts(
      "benchmark targets, simulated seconds per second (ten periodic EDF tasks, 2 GHz core): SimSo 4-7, RTSim "
      "560-830;\n"
      "goals: 2000 and 5 M events/s with the cost profile, 100 with the real pump. events: those of the event log.");
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
}
