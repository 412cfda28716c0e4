// SPDX-License-Identifier: MIT
#include "src/lab/reproduce/regehr_machine.h"

#include <algorithm>
#include <cmath>

#include "hostsim/host/load.h"
#include "src/lab/reproduce/nt.h"

namespace offhook::reproduce {

using hostsim::CpuObserver;
using hostsim::EntityId;
using hostsim::Ns;

namespace {

struct Both final : CpuObserver {
  void on_event(Ns time, EntityId entity, Kind kind) override {
    one->on_event(time, entity, kind);
    two->on_event(time, entity, kind);
  }
  CpuObserver *one = nullptr, *two = nullptr;
};

struct Starter final : hostsim::Event {
  void fire(Ns) override { cpu->release(entity); }
  hostsim::Cpu* cpu = nullptr;
  EntityId entity = hostsim::kNoEntity;
};

/// The background, the devices, and the network while it receives.
std::vector<std::unique_ptr<hostsim::DeviceLoad>> make_loads(hostsim::Engine& engine, hostsim::Cpu& cpu,
                                                             const RegehrMachine& machine, const RegehrRun& run) {
  std::vector<hostsim::LoadDevice> devices = {machine.background};
  devices.insert(devices.end(), run.devices.begin(), run.devices.end());
  if (run.network) {
    devices.push_back(machine.network);
    devices.back().begin_ns = static_cast<Ns>(run.network->first * 1e9);
    devices.back().end_ns = static_cast<Ns>(run.network->second * 1e9);
  }
  std::vector<std::unique_ptr<hostsim::DeviceLoad>> loads;
  for (const hostsim::LoadDevice& device : devices)
    loads.push_back(hostsim::make_device_load(engine, cpu, device, run.seed, (run.repetition + 1) * 16 + loads.size()));
  return loads;
}

/// The time that the thread received, and the share stolen, over the periods that probe and scheduler both recorded.
void add_shares(RegehrResult& result) {
  const std::size_t n = std::min(result.periods.size(), result.scheduler.size());
  double received = 0, scheduled = 0;
  for (std::size_t i = 0; i < n; ++i) {
    received += static_cast<double>(result.periods[i].received);
    scheduled += static_cast<double>(result.scheduler[i].received + result.scheduler[i].stolen);
  }
  if (n > 0) result.received = received / static_cast<double>(n);
  if (scheduled > 0) result.stolen = 1 - received / scheduled;
}

}  // namespace

RegehrResult run_regehr(const RegehrMachine& machine, const RegehrRun& run) {
  const hostsim::Random random(run.seed, 0x72656700 + run.repetition);

  hostsim::Engine engine;
  hostsim::Cpu cpu(engine);
  hostsim::RezScheduler scheduler(
      run.form, run.enforcement_hz, [&] { return cpu.dpc_time(); }, run.gain, run.whole_ticks);
  hostsim::ClockInterrupt clock(engine, cpu, machine.tick_hz, kClockLevel, machine.clock_isr + run.overhead_tick);

  hostsim::StolenTimeProbe::Config config;
  config.needed = run.needed;
  config.period = run.period;
  config.keep_intervals = run.keep_intervals;
  hostsim::StolenTimeProbe probe(config), spinner_probe(config);

  RegehrResult result;
  const auto amount = static_cast<Ns>(std::llround(static_cast<double>(run.needed) * (1 + run.over_reservation)));
  const EntityId thread =
      cpu.add_thread("Thread 2", hostsim::OwnPolicy([&] {
                       return scheduler.reserve(amount, run.period, [&](const hostsim::RezPeriod& p) {
                         result.scheduler.push_back(p);
                         clock.prolong(run.overhead_period);
                       });
                     }),
                     probe);
  const EntityId spinner = cpu.add_thread("Thread 1", hostsim::FixedPriority{8, 0}, spinner_probe);
  probe.watch(thread);
  spinner_probe.watch(spinner);
  Both both;
  both.one = &probe;
  both.two = &spinner_probe;
  if (run.keep_intervals) {
    cpu.set_observer(&both);
  } else {
    cpu.set_observer(&probe);
  }

  const auto loads = make_loads(engine, cpu, machine, run);

  // A tick comes at 0, so that the scheduler's ticks are those of the clock. The thread begins at any later time.
  clock.start(0);
  const auto first = static_cast<Ns>(random.uniform(0) * static_cast<double>(run.period));
  Starter start_thread, start_spinner;
  start_thread.cpu = start_spinner.cpu = &cpu;
  start_thread.entity = thread;
  start_spinner.entity = spinner;
  engine.at(0, start_spinner);
  engine.at(first, start_thread);
  for (const auto& load : loads) load->start();
  engine.run_until(first + static_cast<Ns>(run.seconds * 1e9));

  result.missed = probe.missed_share();
  result.periods = probe.periods();
  add_shares(result);
  result.reserved = probe.intervals();
  result.spinner = spinner_probe.intervals();
  return result;
}

}  // namespace offhook::reproduce
