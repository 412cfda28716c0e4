// SPDX-License-Identifier: MIT
//
// How fast the simulation engine is: ten periodic EDF tasks (periods 4 to 100 ms, U = 0.75), bare and with interrupts,
// DPCs and a spinner. Benchmark targets, simulated seconds per wall second of the same task set on a 2 GHz core: SimSo
// 4-7, RTSim 560-830, a hand-written event loop 10,000-13,000.
#include <benchmark/benchmark.h>

#include <cmath>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "hostsim/cpu/cpu.h"

namespace {

using namespace offhook::hostsim;

class Job final : public Program {
 public:
  explicit Job(Ns cost) : cost_(cost) {}
  Ns next(Ns) override { return (in_job_ = !in_job_) ? cost_ : 0; }

 private:
  Ns cost_;
  bool in_job_ = false;
};

class Release final : public Event {
 public:
  /// @param planned  of an interrupt: its cost and its DPC's; empty: unknown
  Release(Engine& engine, Cpu& cpu, EntityId id, Ns period, std::vector<PlannedJob> planned)
      : engine_(engine), cpu_(cpu), id_(id), period_(period), planned_(std::move(planned)) {}
  void fire(Ns now) override {
    if (planned_.empty() || !cpu_.run_unbroken(planned_)) cpu_.release(id_);
    engine_.at(now + period_, *this);
  }

 private:
  Engine& engine_;
  Cpu& cpu_;
  EntityId id_;
  Ns period_;
  std::vector<PlannedJob> planned_;
};

class Counter final : public CpuObserver {
 public:
  void on_event(Ns, EntityId, Kind kind) override {
    events++;
    misses += kind == Kind::kMiss;
  }
  std::uint64_t events = 0, misses = 0;
};

struct Host {
  Engine engine;
  Cpu cpu{engine};
  std::vector<std::unique_ptr<Job>> jobs;
  std::vector<std::unique_ptr<Release>> releases;

  Job& job(Ns cost) { return *jobs.emplace_back(std::make_unique<Job>(cost)); }
  void every(EntityId id, Ns period, std::vector<PlannedJob> planned = {}) {
    engine.at(0, *releases.emplace_back(std::make_unique<Release>(engine, cpu, id, period, std::move(planned))));
  }
  /// An interrupt and its DPC with these costs; 0: none.
  void interrupt_every(Ns period, const char* name, int level, Ns cost, Ns dpc_cost) {
    EntityId dpc = kNoEntity;
    if (dpc_cost > 0) dpc = cpu.add_dpc({std::string(name) + " dpc"}, job(dpc_cost));
    const EntityId id = cpu.add_interrupt({name, level, dpc}, job(cost));
    std::vector<PlannedJob> planned = {{id, cost}};
    if (dpc_cost > 0) planned.push_back({dpc, dpc_cost});
    every(id, period, std::move(planned));
  }
  // Log-spaced periods with equal shares: U = 0.75 in total.
  void add_edf_tasks() {
    for (int i = 0; i < 10; i++) {
      const Ns period = static_cast<Ns>(4e6 * std::pow(25.0, i / 9.0));
      every(cpu.add_thread("task", EarliestDeadline{}, job(period * 75 / 1000), period), period);
    }
  }
};

void run(benchmark::State& state, Host& host) {
  constexpr Ns kStep = 10'000'000'000;
  Counter counter;
  host.cpu.set_observer(&counter);
  host.engine.run_until(kStep);
  const auto before = counter.events;
  Ns horizon = kStep;
  for (auto _ : state) host.engine.run_until(horizon += kStep);
  const double simulated = 1e-9 * static_cast<double>(horizon - kStep);
  state.counters["simulated_s_per_s"] = benchmark::Counter(simulated, benchmark::Counter::kIsRate);
  state.counters["events_per_s"] =
      benchmark::Counter(static_cast<double>(counter.events - before), benchmark::Counter::kIsRate);
  state.counters["misses"] = static_cast<double>(counter.misses);
  host.cpu.set_observer(nullptr);
}

void BareCoreTenEdfTasks(benchmark::State& state) {
  Host host;
  host.add_edf_tasks();
  run(state, host);
  state.SetLabel("goal 10000x, 20 M events/s; SimSo 4-7x, RTSim 560-830x, bare loop 10000-13000x");
}
BENCHMARK(BareCoreTenEdfTasks)->Unit(benchmark::kMillisecond);

void FullHostInterruptsDpcsStolenTime(benchmark::State& state) {
  Host host;
  // A clock of 1024 Hz, a network card with 1000 interrupts a second and a disk with 250, both with DPCs: 6 %.
  host.interrupt_every(976'562, "clock", 5, 10'000, 0);
  host.interrupt_every(1'000'000, "net", 3, 5'000, 25'000);
  host.interrupt_every(4'000'000, "disk", 2, 8'000, 60'000);
  host.add_edf_tasks();
  host.every(host.cpu.add_thread("spinner", FixedPriority{8, 20'000'000}, host.job(5'000'000)), 1'000'000'000);
  run(state, host);
  state.SetLabel("goal 2000x, 5 M events/s; RTSim 560-830x without them");
}
BENCHMARK(FullHostInterruptsDpcsStolenTime)->Unit(benchmark::kMillisecond);

}  // namespace

BENCHMARK_MAIN();
