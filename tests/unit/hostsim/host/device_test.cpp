// SPDX-License-Identifier: MIT
//
// Devices that steal time, and the application that sees it stolen.
#include <gtest/gtest.h>

#include "hostsim/host/device_load.h"
#include "hostsim/host/load.h"
#include "hostsim/host/stolen_time_probe.h"
#include "hostsim/sched/softirq.h"
#include "tests/unit/hostsim/cpu/recorder.h"

namespace offhook::hostsim {
namespace {

constexpr Ns kUs = 1000, kMs = 1'000'000, kSecond = 1'000'000'000;

TEST(DeviceLoad, TakesExactlyItsShare) {
  Engine engine;
  Cpu cpu(engine);
  const LoadDevice spec{.name = "disk", .every_ns = kMs, .isr_ns = 10 * kUs, .dpc_ns = 25 * kUs};
  const auto disk = make_device_load(engine, cpu, spec, 1, 0);
  Spinner spinner;
  const EntityId spin = cpu.add_thread("spinner", FixedPriority{8, 0}, spinner);
  cpu.release(spin);
  disk->start();
  engine.run_until(kSecond);
  EXPECT_EQ(cpu.cpu_time(spin), kSecond - 1000 * 35 * kUs);
  EXPECT_EQ(cpu.dpc_time(), 1000 * 25 * kUs);
  EXPECT_DOUBLE_EQ(spec.share(), 0.035);
}

TEST(DeviceLoad, JitterMovesTransfersButNotTheirMean) {
  Engine engine;
  Cpu cpu(engine);
  const auto disk = make_device_load(engine, cpu, {.every_ns = kMs, .jitter = 0.5, .isr_ns = 10 * kUs}, 1, 0);
  Recorder recorder(cpu);
  disk->start();
  engine.run_until(kSecond);
  Ns starts = 0, first = 0, earliest = kNever, latest = 0;
  for (const std::string& e : recorder.events) {
    if (e.find("start") == std::string::npos) continue;
    const Ns at = std::stoll(e);
    if (starts++ == 0) first = at;
    earliest = std::min(earliest, at - (starts - 1) * kMs);
    latest = std::max(latest, at - (starts - 1) * kMs);
  }
  EXPECT_GE(starts, 999);
  EXPECT_LE(latest - earliest, kMs / 2);
  EXPECT_GT(latest - earliest, kMs * 48 / 100);
  EXPECT_GE(first, earliest);
}

TEST(DeviceLoad, AboveTheClockItHoldsEveryInterruptOff) {
  Engine engine;
  Cpu cpu(engine);
  // One transfer, at 10.002 ms: the handler of the tick at 10 ms ended at 10.001.
  const Ns at = 10 * kMs + 2 * kUs;
  const auto controller = make_device_load(
      engine, cpu, {.every_ns = 1, .isr_ns = 40 * kMs, .level = 31, .begin_ns = at, .end_ns = at + 1}, 1, 0);
  struct Longest final : ClockInterrupt::Listener {
    Ns last = 0, longest = 0;
    void tick(Ns now) override {
      longest = std::max(longest, now - last);
      last = now;
    }
  } ticks;
  ClockInterrupt clock(engine, cpu, 1000, 28, kUs);
  clock.set_listener(&ticks);
  clock.start();
  controller->start();
  engine.run_until(kSecond);
  EXPECT_EQ(ticks.longest, 40 * kMs + 2 * kUs);
}

LoadDevice segments() {
  return {
      .name = "network", .every_ns = 100, .isr_ns = 5, .dpc_ns = 20, .window = 3, .read_ns = 10, .round_trip_ns = 400};
}

TEST(NetworkLoad, ASenderWithAWindowOfOneWaitsForTheReaderEachTime) {
  Engine engine;
  Cpu cpu(engine);
  LoadDevice spec = segments();
  spec.window = 1;
  const auto net = make_device_load(engine, cpu, spec, 1, 0);
  Recorder recorder(cpu);
  net->start();
  engine.run_until(540);
  ASSERT_FALSE(recorder.events.empty());
  const Ns t = std::stoll(recorder.events.front());
  EXPECT_LT(t, 100);
  const auto at = [t](Ns after, const char* what) { return std::to_string(t + after) + " network" + what; };
  // Interrupt until 5, DPC until 25, read by 35; the data that this permits arrive a round trip later.
  const std::vector<std::string> expected = {at(0, " start"),       at(5, " finish"),        at(5, " DPC start"),
                                             at(25, " DPC finish"), at(25, " reader start"), at(35, " reader finish"),
                                             at(435, " start"),     at(440, " finish")};
  recorder.events.resize(expected.size());
  EXPECT_EQ(recorder.events, expected);
}

TEST(NetworkLoad, TheSenderFallsSilentWhileNobodyReads) {
  Engine engine;
  Cpu cpu(engine);
  const auto net = make_device_load(engine, cpu, segments(), 1, 0);
  Segments busy({50'000});
  const EntityId thread = cpu.add_thread("busy", FixedPriority{10, 0}, busy);
  cpu.release(thread);
  net->start();
  engine.run_until(50'000);
  EXPECT_EQ(net->transfers(), 3u);
  EXPECT_EQ(cpu.cpu_time(thread), 50'000 - 3 * 25);  // and stole no more time than that
  engine.run_until(60'000);
  EXPECT_GT(net->transfers(), 20u);
}

TEST(NetworkLoad, SendsAsFastAsTheWireWhenAllIsRead) {
  Engine engine;
  Cpu cpu(engine);
  LoadDevice spec = segments();
  spec.window = 24;
  spec.end_ns = 100'000;
  const auto net = make_device_load(engine, cpu, spec, 1, 0);
  net->start();
  engine.run_until(200'000);
  EXPECT_EQ(net->transfers(), 1000u);
}

TEST(DeviceLoad, CostsLieWithinTheirSpreadAndAverageToTheMean) {
  for (const int window : {0, 1000}) {
    Engine engine;
    Cpu cpu(engine);
    LoadDevice spec{.every_ns = 10'000, .isr_ns = 100, .isr_spread = 0.2, .dpc_ns = 1000, .dpc_spread = 0.5};
    spec.window = window;
    const auto load = make_device_load(engine, cpu, spec, 1, 0);
    struct Costs final : CpuObserver {
      void on_event(Ns now, EntityId id, Kind kind) override {
        if (cpu->name(id) != "device DPC") return;
        if (kind == Kind::kStart) begin = now;
        if (kind != Kind::kFinish) return;
        least = std::min(least, now - begin);
        most = std::max(most, now - begin);
        sum += now - begin;
        n++;
      }
      Cpu* cpu = nullptr;
      Ns begin = 0, least = kNever, most = 0, sum = 0, n = 0;
    } costs;
    costs.cpu = &cpu;
    cpu.set_observer(&costs);
    load->start();
    engine.run_until(100'000'000);
    EXPECT_GE(costs.least, 500);
    EXPECT_LE(costs.most, 1500);
    EXPECT_NEAR(static_cast<double>(costs.sum) / static_cast<double>(costs.n), 1000, 15);
  }
}

/// A thread that polls; an interrupt of `cost` at each of `at`.
struct Polling {
  Engine engine;
  Cpu cpu{engine};
  StolenTimeProbe probe;
  Segments isr_job;
  EntityId isr;
  Once steal{[this](Ns) { cpu.release(isr); }};

  Polling(Ns cost, std::initializer_list<Ns> at)
      : probe([] {
          StolenTimeProbe::Config config;
          config.needed = 900 * kUs;
          config.period = kMs;
          config.keep_intervals = true;
          return config;
        }()),
        isr_job({cost}) {
    isr = cpu.add_interrupt({"isr", 1, kNoEntity}, isr_job);
    const EntityId thread = cpu.add_thread("probe", FixedPriority{8, 0}, probe);
    probe.watch(thread);
    cpu.set_observer(&probe);
    cpu.release(thread);
    for (const Ns t : at) engine.at(t, steal);
  }
};

TEST(StolenTimeProbe, SeesGapsLongerThan2200nsBetweenReads550nsApart) {
  Polling shorter(1650, {100 * kUs, 300 * kUs});  // 1650 + 550 = 2200
  shorter.engine.run_until(kMs);
  EXPECT_TRUE(shorter.probe.intervals().empty());
  Polling longer(1651, {100 * kUs, 300 * kUs});
  longer.engine.run_until(kMs);
  ASSERT_EQ(longer.probe.intervals().size(), 2u);
  EXPECT_EQ(longer.probe.intervals()[0].end, 100 * kUs);
  EXPECT_EQ(longer.probe.intervals()[1].begin, 100 * kUs + 1651);
  EXPECT_EQ(longer.probe.intervals()[1].end, 300 * kUs);
}

TEST(StolenTimeProbe, CountsHitsAndMissesPerPeriodAcrossTheirEnds) {
  // 120 us of the first period; 60 us before and after the end of the second; none of the fourth, but one more at its
  // end, because it reads the time only when it is interrupted.
  Polling p(120 * kUs, {500 * kUs, 1940 * kUs, 4 * kMs});
  p.engine.run_until(4200 * kUs);
  const auto& periods = p.probe.periods();
  ASSERT_EQ(periods.size(), 4u);
  EXPECT_EQ(periods[0].received, 880 * kUs);
  EXPECT_EQ(periods[1].received, 940 * kUs);
  EXPECT_EQ(periods[2].received, 940 * kUs);
  EXPECT_EQ(periods[3].received, kMs);
  EXPECT_FALSE(periods[0].hit);
  EXPECT_TRUE(periods[1].hit);
  EXPECT_DOUBLE_EQ(p.probe.missed_share(), 0.25);
}

// Segments come every 5 us and take 10 us each, so the poll never runs dry. A round ends with the first poll that is
// used up after 300 segments or 2 ms; the softirq has then also had its 2 ms, and a thread runs before ksoftirqd.
TEST(Napi, TheBudgetSaysHowLongARoundLasts) {
  for (const auto& [budget, segments] : {std::pair{64, 256}, {16, 208}, {128, 256}, {300, 300}}) {
    Engine engine;
    Cpu cpu(engine);
    cpu.set_deferred_work([](int) {
      return std::make_unique<Softirq>(SoftirqLimit{}, make_thread_policy(FixedPriority{5, 0}));
    });
    LoadDevice spec{.name = "net", .every_ns = 5 * kUs, .isr_ns = 2 * kUs, .dpc_ns = 10 * kUs};
    spec.window = 60'000;
    spec.napi_budget = budget;
    spec.reader_priority = 1;
    const auto net = make_device_load(engine, cpu, spec, 1, 0);
    Spinner spinner;
    Recorder recorder(cpu);
    cpu.release(cpu.add_thread("spinner", FixedPriority{8, 0}, spinner));
    net->start();
    engine.run_until(10 * kMs);
    std::vector<Ns> resumes;
    std::int64_t interrupts = 0, began = 0;
    for (const std::string& e : recorder.events) {
      if (e.ends_with("spinner resume")) resumes.push_back(std::stoll(e));
      if (!e.ends_with(" net start")) continue;
      interrupts++;
      began = std::stoll(e);
    }
    EXPECT_EQ(interrupts, 1);  // it is never enabled again
    ASSERT_EQ(resumes.size(), 1U);
    EXPECT_EQ(resumes[0] - began, 2 * kUs + segments * 10 * kUs) << "budget " << budget;
  }
}

TEST(Napi, APollThatRunsDryTurnsTheInterruptOnAgain) {
  Engine engine;
  Cpu cpu(engine);
  LoadDevice spec{.name = "net", .every_ns = 100 * kUs, .isr_ns = 2 * kUs, .dpc_ns = 10 * kUs};
  spec.window = 100;
  spec.napi_budget = 64;
  const auto net = make_device_load(engine, cpu, spec, 1, 0);
  Recorder recorder(cpu);
  net->start();
  engine.run_until(10 * kMs);
  const auto interrupts = std::count_if(recorder.events.begin(), recorder.events.end(),
                                        [](const std::string& e) { return e.ends_with(" net start"); });
  EXPECT_EQ(interrupts, 100);
  EXPECT_EQ(net->transfers(), 100U);
}

TEST(ThreadedDevice, HoldsUpAThreadAboveItsHandlerForTheStubOnly) {
  for (const int window : {0, 10}) {
    Engine engine;
    Cpu cpu(engine);
    LoadDevice spec{.name = "disk", .every_ns = kMs, .isr_ns = 50 * kUs, .dpc_ns = 100 * kUs};
    spec.window = window;
    spec.reader_priority = 1;
    DeviceHost host;
    host.handler = [] { return FixedPriority{50, 0}; };
    host.hard_irq_ns = 3 * kUs;
    const auto device = make_device_load(engine, cpu, spec, 1, 0, host);
    Spinner spinner[2];
    const EntityId above = cpu.add_thread("above", FixedPriority{51, 0}, spinner[0]);
    cpu.release(above);
    device->start();
    engine.run_until(10 * kMs);
    const Ns transfers = static_cast<Ns>(device->transfers());
    EXPECT_GE(transfers, 10);
    EXPECT_NEAR(static_cast<double>(cpu.cpu_time(above)), static_cast<double>(10 * kMs - transfers * 3 * kUs), 3e3);
  }
}

}  // namespace
}  // namespace offhook::hostsim
