// SPDX-License-Identifier: MIT
//
// A host that is drawn from its latencies (distribution.h), as things that happen on a CPU: each of a device's
// interrupts finds interrupts off for a while, then other DPCs in front of its own, then the dispatcher disabled, so
// that what waits for it waits as long as was measured, and so does everybody else on the machine.
//
//     device interrupt  |<- interrupts off ->| ISR |<- other DPCs ->| DPC |<- dispatch disabled ->| thread
//
// An interrupt that comes while the device's code still waits or works is part of that wait: nothing is drawn for it.
#pragma once

#include "hostsim/cpu/cpu.h"
#include "hostsim/engine/random.h"
#include "hostsim/host/distribution.h"

namespace offhook::hostsim {

class HoldOff {
 public:
  /// Declares three entities on the CPU. @param priority of the device's thread, which says how long threads wait
  /// @param latencies must outlive this
  HoldOff(Cpu& cpu, const HostLatencies& latencies, int priority, std::uint64_t seed, std::uint64_t stream);
  /// Call before the device's interrupt is released. @param server what the device's code runs in
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
  int priority_;
  Random random_;
  std::uint64_t draws_ = 0;
  Stage interrupts_off_, other_dpcs_, dispatch_disabled_;
};

}  // namespace offhook::hostsim
