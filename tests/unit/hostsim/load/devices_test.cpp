// SPDX-License-Identifier: MIT
//
// Devices that steal time, and the application that sees it stolen.
#include <gtest/gtest.h>

#include "hostsim/load/load.h"
#include "hostsim/load/network.h"
#include "hostsim/load/stolen_time_probe.h"
#include "hostsim/load/thief.h"
#include "tests/unit/hostsim/cpu/recorder.h"

namespace offhook::hostsim {
namespace {

constexpr Ns kUs = 1000, kMs = 1'000'000, kSecond = 1'000'000'000;

TEST(ThiefLoad, TakesExactlyItsShare) {
  Engine engine;
  Cpu cpu(engine);
  const TimeThief spec{.name = "disk", .every = kMs, .isr_ns = 10 * kUs, .dpc_ns = 25 * kUs, .level = 5};
  ThiefLoad disk(engine, cpu, spec, 1, 0);
  Spinner spinner;
  const EntityId spin = cpu.add_thread("spinner", FixedPriority{8, 0}, spinner);
  cpu.release(spin);
  disk.start(0);
  engine.run_until(kSecond);
  EXPECT_EQ(cpu.cpu_time(spin), kSecond - 1000 * 35 * kUs);
  EXPECT_EQ(cpu.dpc_time(), 1000 * 25 * kUs);
  EXPECT_DOUBLE_EQ(spec.share(), 0.035);
}

TEST(ThiefLoad, JitterMovesTransfersButNotTheirMean) {
  Engine engine;
  Cpu cpu(engine);
  ThiefLoad disk(engine, cpu, {.every = kMs, .jitter = 0.5, .isr_ns = 10 * kUs}, 1, 0);
  Recorder recorder(cpu);
  disk.start(0);
  engine.run_until(kSecond);
  int starts = 0, late = 0;
  for (const std::string& e : recorder.events) {
    if (e.find("start") == std::string::npos) continue;
    const Ns at = std::stoll(e) - starts * kMs;
    EXPECT_GE(at, 0);
    EXPECT_LE(at, kMs / 2);
    late += at > kMs / 4;
    starts++;
  }
  EXPECT_EQ(starts, 1000);
  EXPECT_NEAR(late, 500, 60);
}

TEST(ThiefLoad, AboveTheClockItHoldsEveryInterruptOff) {
  Engine engine;
  Cpu cpu(engine);
  ThiefLoad controller(engine, cpu, {.every = kSecond, .isr_ns = 40 * kMs, .level = 31}, 1, 0);
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
  controller.start(10 * kMs + 2 * kUs);  // the handler of the tick at 10 ms was over at 10.001
  engine.run_until(kSecond);
  EXPECT_EQ(ticks.longest, 40 * kMs + 2 * kUs);
}

NetworkReceive segments() {
  return {.segment_ns = 100,
          .window = 3,
          .isr_ns = 5,
          .dpc_ns = 20,
          .dpc_spread = 0,
          .read_ns = 10,
          .round_trip_ns = 400,
          .level = 1,
          .reader_priority = 9};
}

TEST(NetworkLoad, ASenderWithAWindowOfOneWaitsForTheReaderEachTime) {
  Engine engine;
  Cpu cpu(engine);
  NetworkReceive spec = segments();
  spec.window = 1;
  NetworkLoad net(engine, cpu, spec, 1, 0);
  Recorder recorder(cpu);
  net.start(1000);
  engine.run_until(1440);
  // Interrupt to 1005, DPC to 1025, read by 1035; what that allows arrives a round trip later.
  const std::vector<std::string> expected = {
      "1000 network start",        "1005 network finish",        "1005 network DPC start", "1025 network DPC finish",
      "1025 network reader start", "1035 network reader finish", "1435 network start"};
  EXPECT_EQ(recorder.events, expected);
}

TEST(NetworkLoad, TheSenderFallsSilentWhileNobodyReads) {
  Engine engine;
  Cpu cpu(engine);
  NetworkLoad net(engine, cpu, segments(), 1, 0);
  Segments busy({50'000});
  const EntityId thread = cpu.add_thread("busy", FixedPriority{10, 0}, busy);
  cpu.release(thread);
  net.start(0);
  engine.run_until(50'000);
  EXPECT_EQ(net.segments(), 3u);
  EXPECT_EQ(cpu.cpu_time(thread), 50'000 - 3 * 25);  // and stole no more than that
  engine.run_until(60'000);
  EXPECT_GT(net.segments(), 20u);
}

TEST(NetworkLoad, SendsAsFastAsTheWireWhenAllIsRead) {
  Engine engine;
  Cpu cpu(engine);
  NetworkReceive spec = segments();
  spec.window = 24;
  NetworkLoad net(engine, cpu, spec, 1, 0);
  net.start(0, 100'000);
  engine.run_until(200'000);
  EXPECT_EQ(net.segments(), 1000u);
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
  // 120 us of the first period; 60 us on either side of the end of the second; none of the fourth, at whose end comes
  // one more, for it looks at the time when it is interrupted only.
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

}  // namespace
}  // namespace offhook::hostsim
