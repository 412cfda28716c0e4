// SPDX-License-Identifier: MIT
//
// Reception of a TCP stream at the speed of the wire (Netperf). Every segment raises an interrupt, which queues a DPC
// for the protocol work; a thread reads the data. Unread data are limited by the window: while the reader does not get
// the CPU, the sender falls silent (Regehr and Stankovic 2001, 5.1).
//
// With napi_budget it is Linux's NAPI (net/core/dev.c): the first segment's interrupt turns further ones off, and a
// softirq polls until nothing is left. When a poll has used up its budget, the round ends if it took 300 segments
// (netdev_budget) or 2 ms (netdev_budget_usecs). The softirq is then raised again, and the rest follows in its next
// pass, or in ksoftirqd (see SoftirqLimit). In the thread of a threaded interrupt there are no rounds.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "hostsim/cpu/chain.h"
#include "hostsim/host/device_load.h"

namespace offhook::hostsim {

class NetworkLoad final : public DeviceLoad, private RepeatedChain {
 public:
  /// Declares three entities on the CPU.
  NetworkLoad(Engine& engine, Cpu& cpu, const LoadDevice& spec, std::uint64_t seed, std::uint64_t stream,
              const DeviceHost& host);
  void start() override;
  void fire(Ns now) override;
  std::uint64_t transfers() const override { return segments_; }

 private:
  struct Isr final : Program {
    Ns next(Ns now) override;
    NetworkLoad* net = nullptr;
    DrawnCosts costs;
    bool entered = false;
  } isr_;
  struct Dpc final : Program {
    Ns next(Ns now) override;
    NetworkLoad* net = nullptr;
    DrawnCosts costs;
    bool entered = false;
    Ns began = 0;  // NAPI: this round
    int took = 0;  // segments, in it
  } dpc_;
  struct Reader final : Program {
    Ns next(Ns now) override;
    NetworkLoad* net = nullptr;
    bool reading = false;
  } reader_;

  void send(Ns now, Ns delay);
  Ns read_cost() const { return spec_.read_ns > 0 ? spec_.read_ns : 1; }
  bool plans();
  bool costs(Ns at, std::span<Ns> costs) override;
  Ns passed(Ns at) override;

  Engine& engine_;
  Cpu& cpu_;
  LoadDevice spec_;
  Random random_;
  Chain handler_{isr_, dpc_};
  EntityId isr_id_, dpc_id_, reader_id_;
  std::uint64_t segments_ = 0;
  int unread_ = 0;        // arrived and not read: counted by the window
  int processed_ = 0;     // of these, segments that the DPC has processed
  bool polling_ = false;  // NAPI: whether the device's interrupt is off
  bool sending_ = false;  // whether a segment is on the wire
  std::array<PlannedJob, 3> planned_{};
  std::size_t jobs_ = 0;  // jobs of a segment among them
};

}  // namespace offhook::hostsim
