// SPDX-License-Identifier: MIT
//
// The devices of device.h on a CPU.
#pragma once

#include <functional>
#include <memory>
#include <utility>

#include "hostsim/cpu/chain.h"
#include "hostsim/cpu/cpu.h"
#include "hostsim/engine/random.h"
#include "hostsim/host/device.h"

namespace offhook::hostsim {

/// A device on a CPU.
class DeviceLoad : public Event {
 public:
  /// Call once, before the engine runs.
  virtual void start() = 0;
  virtual std::uint64_t transfers() const = 0;
};

/// The costs of successive jobs of one kind, with their spread. The cost of the next one is available in advance. At
/// least 1 ns each.
class DrawnCosts {
 public:
  DrawnCosts() = default;
  /// @param first, step  which of the random numbers are used
  DrawnCosts(const Random& random, std::uint64_t first, std::uint64_t step, Ns mean, double spread)
      : random_(random), index_(first), step_(step), mean_(mean), spread_(spread) {}
  Ns ahead() {
    if (at_ == kAhead) draw();
    return costs_[at_];
  }
  Ns take() {
    const Ns cost = ahead();
    at_++;
    return cost;
  }

 private:
  static constexpr std::size_t kAhead = 16;
  void draw();
  Random random_ = Random(0, 0);
  std::uint64_t index_ = 0, step_ = 0;  ///< index of the first one that is not drawn
  Ns mean_ = 0;
  double spread_ = 0;
  std::size_t at_ = kAhead;
  Ns costs_[kAhead];
};

/// Entities of a device on the host.
struct DeviceHost {
  std::function<Policy(int priority)> reader;  ///< of the thread that reads; empty: fixed priority
  std::function<Policy()> handler;             ///< of a thread that executes its interrupt and DPC; empty: none
  Ns hard_irq_ns = 0;                          ///< remaining cost at interrupt level
};

struct DevicePrograms {
  Program &isr, &dpc;
  Chain& both;  ///< one after the other, if the handler is a thread
};
struct DeviceEntities {
  EntityId interrupt;
  EntityId dpc;           ///< kNoEntity: none, or part of the handler's thread
  bool threaded = false;  ///< its handler is a thread
};
DeviceEntities add_device(Cpu& cpu, const LoadDevice& spec, const DeviceHost& host, const DevicePrograms& work);

/// Declares its entities on the CPU. The first transfer is at a random time within `every_ns` after begin_ns. Draws
/// from (seed, stream) only.
/// @throws std::invalid_argument as Cpu::add_thread()
std::unique_ptr<DeviceLoad> make_device_load(Engine& engine, Cpu& cpu, const LoadDevice& spec, std::uint64_t seed,
                                             std::uint64_t stream, const DeviceHost& host = {});

}  // namespace offhook::hostsim
