// SPDX-License-Identifier: MIT
//
// A device that steals time in bottom halves (Regehr and Stankovic 2001, section 5): transfers of so many bytes at the
// rate of the device, each with an interrupt and a DPC. Programmed I/O copies the bytes in the handler. Disks, USB, a
// controller that holds interrupts off, and a soft modem's blocks are all of this kind; they differ in these numbers.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include "hostsim/cpu/cpu.h"
#include "hostsim/random/random.h"

namespace offhook::hostsim {

struct TimeThief {
  std::string name = "device";
  Ns every = 1'000'000;  ///< from transfer to transfer
  double jitter = 0;     ///< up to this share of `every` later, uniformly; the mean stays
  Ns isr_ns = 0;         ///< at interrupt level, copying by programmed I/O included
  Ns dpc_ns = 0;         ///< 0: no DPC
  int level = 1;         ///< of the interrupt; above all others: it holds interrupts off

  /// Mean share of the CPU that it takes.
  double share() const { return static_cast<double>(isr_ns + dpc_ns) / static_cast<double>(every); }
};

class ThiefLoad final : public Event {
 public:
  /// Declares an interrupt and, if it has one, a DPC.
  ThiefLoad(Engine& engine, Cpu& cpu, const TimeThief& spec, std::uint64_t seed, std::uint64_t stream)
      : engine_(engine), cpu_(cpu), spec_(spec), random_(seed, stream) {
    isr_.lasts = spec.isr_ns;
    dpc_.lasts = spec.dpc_ns;
    const EntityId dpc = spec.dpc_ns > 0 ? cpu.add_dpc({spec.name + " DPC"}, dpc_) : kNoEntity;
    id_ = cpu.add_interrupt({spec.name, spec.level, dpc}, isr_);
  }
  void start(Ns first) {
    first_ = first;
    schedule();
  }
  void fire(Ns) override {
    cpu_.release(id_);
    count_++;
    schedule();
  }

 private:
  struct Work final : Program {
    Ns next(Ns) override {
      entered = !entered;
      return entered ? std::max<Ns>(lasts, 1) : 0;
    }
    Ns lasts = 0;
    bool entered = false;
  } isr_, dpc_;

  void schedule() {
    const double later = spec_.jitter * random_.uniform(count_) * static_cast<double>(spec_.every);
    engine_.at(first_ + static_cast<Ns>(count_) * spec_.every + static_cast<Ns>(later), *this);
  }

  Engine& engine_;
  Cpu& cpu_;
  TimeThief spec_;
  Random random_;
  EntityId id_ = kNoEntity;
  Ns first_ = 0;
  std::uint64_t count_ = 0;
};

}  // namespace offhook::hostsim
