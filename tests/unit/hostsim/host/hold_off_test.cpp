// SPDX-License-Identifier: MIT
#include "hostsim/host/hold_off.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/unit/hostsim/cpu/recorder.h"

namespace offhook::hostsim {
namespace {

LatencyDistribution always(double ms) {
  return LatencyDistribution({{1, ms}});
}

/// A device with an ISR of 10 ns, a DPC of 20 and a thread of 30, interrupted at these times, on a host where an ISR
/// waits 1000 ns, a DPC 3000 and a thread 7000 in total.
std::vector<std::string> device(std::initializer_list<Ns> interrupts) {
  const HostLatencies latencies{always(0.001), always(0.003), always(0.009), always(0.007)};
  Engine engine;
  Cpu cpu(engine);
  Segments isr({10}), work({30});
  const EntityId thread = cpu.add_thread("thread", FixedPriority{28, 0}, work);
  Segments dpc({20}, [&](std::size_t segment) {
    if (segment == 1) cpu.release(thread);
  });
  const EntityId dpc_id = cpu.add_dpc({"dpc"}, dpc);
  const EntityId interrupt = cpu.add_interrupt({"isr", 10, dpc_id}, isr);
  HoldOff host(cpu, latencies, 28, 1, 1);
  Recorder recorder(cpu);
  Once fire([&](Ns) {
    host.interrupt(thread);
    cpu.release(interrupt);
  });
  for (const Ns at : interrupts) engine.at(at, fire);
  engine.run_until(100'000);
  return recorder.events;
}

std::vector<std::string> starts(const std::vector<std::string>& events) {
  std::vector<std::string> out;
  for (const std::string& e : events)
    if (e.ends_with(" start")) out.push_back(e.substr(0, e.size() - 6));
  return out;
}

TEST(HoldOff, EachModalityStartsAfterItsLatencyAndWhatRanBeforeIt) {
  EXPECT_EQ(starts(device({500})), (std::vector<std::string>{"500 interrupts off", "1500 isr", "1510 other DPCs",
                                                             "3510 dpc", "3530 dispatch disabled", "7530 thread"}));
}

TEST(HoldOff, AnInterruptDuringTheWaitHasNoWaitOfItsOwn) {
  const auto events = starts(device({500, 4000}));
  EXPECT_EQ(std::count(events.begin(), events.end(), "4000 isr"), 1);
  EXPECT_EQ(events.size(), 9u);  // one more ISR, DPC and thread; nothing is held off again
}

TEST(HoldOff, TheSameSeedDrawsTheSameWaits) {
  const HostLatencies latencies{always(0.001), std::nullopt, LatencyDistribution({{1, 0.002}, {0.01, 5}}), always(1)};
  const auto run = [&](std::uint64_t seed) {
    Engine engine;
    Cpu cpu(engine);
    Segments work({10});
    const EntityId interrupt = cpu.add_interrupt({"isr", 10, kNoEntity}, work);
    HoldOff host(cpu, latencies, 8, seed, 1);
    Recorder recorder(cpu);
    Once fire([&](Ns) {
      host.interrupt(interrupt);
      cpu.release(interrupt);
    });
    for (Ns at = 0; at < 20; at++) engine.at(at * 10'000'000, fire);
    engine.run_until(200'000'000);
    return recorder.events;
  };
  EXPECT_EQ(run(7), run(7));
  EXPECT_NE(run(7), run(8));
}

}  // namespace
}  // namespace offhook::hostsim
