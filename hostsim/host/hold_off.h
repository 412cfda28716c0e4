// SPDX-License-Identifier: MIT
//
// A host drawn from its latencies (distribution.h), as events on a CPU. Each interrupt of a device meets three delays:
// interrupts are off, other DPCs precede its own, and then the dispatcher is disabled. The device's code thus waits as
// long as in the measurement, and so do all other entities of the machine.
//
//     device interrupt  |<- interrupts off ->| ISR |<- other DPCs ->| DPC |<- dispatch disabled ->| thread
//
// An interrupt during this wait, or while the device's code runs, belongs to the wait: nothing is drawn for it.
#pragma once

#include "hostsim/cpu/cpu.h"
#include "hostsim/engine/random.h"
#include "hostsim/host/distribution.h"

namespace offhook::hostsim {

class HoldOff {
 public:
  /// Declares three entities on the CPU. @param kind, priority of the device's thread; they select the latency of
  /// threads  @param latencies must outlive this
  HoldOff(Cpu& cpu, const HostLatencies& latencies, ThreadKind kind, int priority, std::uint64_t seed,
          std::uint64_t stream);
  /// For a real-time thread.
  HoldOff(Cpu& cpu, const HostLatencies& latencies, int priority, std::uint64_t seed, std::uint64_t stream)
      : HoldOff(cpu, latencies, ThreadKind::kRealTime, priority, seed, stream) {}
  /// Call before the device's interrupt is released. @param server entity that runs the device's code
  void interrupt(EntityId server);

 private:
  struct Stage final : Program {
    Ns next(Ns now) override;
    Cpu* cpu = nullptr;
    EntityId entity = kNoEntity;
    Stage* then = nullptr;
    Ns lasts = 0;
    bool entered = false;
  };
  Cpu& cpu_;
  const HostLatencies& latencies_;
  const LatencyDistribution& thread_;
  Random random_;
  std::uint64_t draws_ = 0;
  Stage interrupts_off_, other_dpcs_, dispatch_disabled_;
};

}  // namespace offhook::hostsim
