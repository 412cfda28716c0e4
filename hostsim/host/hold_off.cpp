// SPDX-License-Identifier: MIT
#include "hostsim/host/hold_off.h"

#include <algorithm>

namespace offhook::hostsim {
namespace {

constexpr int kHighLevel = 31;               // above the clock and every device
constexpr int kAboveAllThreads = 1'000'000;  // the dispatcher itself

}  // namespace

HoldOff::HoldOff(Cpu& cpu, const HostLatencies& latencies, ThreadKind kind, int priority, std::uint64_t seed,
                 std::uint64_t stream)
    : cpu_(cpu), latencies_(latencies), thread_(latencies.to_thread(kind, priority)), random_(seed, stream) {
  dispatch_disabled_.entity =
      cpu.add_thread("dispatch disabled", FixedPriority{kAboveAllThreads, 0}, dispatch_disabled_, kNever, 0);
  other_dpcs_.entity = cpu.add_dpc({"other DPCs"}, other_dpcs_);
  interrupts_off_.entity = cpu.add_interrupt({"interrupts off", kHighLevel, kNoEntity}, interrupts_off_);
  interrupts_off_.then = &other_dpcs_;
  other_dpcs_.then = &dispatch_disabled_;
  for (Stage* stage : {&interrupts_off_, &other_dpcs_, &dispatch_disabled_}) stage->cpu = &cpu;
}

void HoldOff::interrupt(EntityId server) {
  for (const EntityId id : {server, interrupts_off_.entity, other_dpcs_.entity, dispatch_disabled_.entity})
    if (cpu_.unfinished_jobs(id) > 0) return;
  const double u = random_.uniform(draws_++);
  const auto ns = [u](const LatencyDistribution& d) { return static_cast<Ns>(d.latency_ms(u) * kNsPerMs); };
  const Ns to_isr = ns(latencies_.interrupt);
  const Ns to_dpc = latencies_.dpc ? std::max(ns(*latencies_.dpc), to_isr) : to_isr;
  interrupts_off_.lasts = to_isr;
  other_dpcs_.lasts = to_dpc - to_isr;
  dispatch_disabled_.lasts = std::max(ns(thread_) - to_dpc, Ns{0});
  cpu_.release(interrupts_off_.entity);
}

Ns HoldOff::Stage::next(Ns) {
  entered = !entered;
  if (entered && lasts > 0) return lasts;
  entered = false;
  if (then != nullptr) cpu->release(then->entity);
  return 0;
}

}  // namespace offhook::hostsim
