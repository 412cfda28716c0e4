// SPDX-License-Identifier: MIT
//
// Receiving a TCP stream as fast as the wire goes (Netperf): every segment is an interrupt, which queues a DPC that
// does the protocol work, and a thread reads what arrived. The sender may have no more under way than the window; while
// the reader does not get the CPU nothing is read and it falls silent (Regehr and Stankovic 2001, 5.1).
#pragma once

#include <cstdint>

#include "hostsim/cpu/cpu.h"
#include "hostsim/random/random.h"

namespace offhook::hostsim {

struct NetworkReceive {
  Ns segment_ns = 123'000;  ///< on the wire
  int window = 24;          ///< segments
  Ns isr_ns = 0;
  Ns dpc_ns = 0;            ///< mean of the protocol work for one segment
  double dpc_spread = 0.5;  ///< it lies within this share above and below, uniformly
  Ns read_ns = 0;           ///< the reader's work for one segment
  Ns round_trip_ns = 0;     ///< from reading until what that allowed arrives
  int level = 1;            ///< of the interrupt
  int reader_priority = 9;
};

class NetworkLoad final : public Event {
 public:
  /// Declares three entities on the CPU.
  NetworkLoad(Engine& engine, Cpu& cpu, const NetworkReceive& spec, std::uint64_t seed, std::uint64_t stream);
  /// The sender sends in [begin, end).
  void start(Ns begin, Ns end = kNever);
  void fire(Ns now) override;
  std::uint64_t segments() const { return segments_; }

 private:
  struct Isr final : Program {
    Ns next(Ns now) override;
    NetworkLoad* net = nullptr;
    bool entered = false;
  } isr_;
  struct Dpc final : Program {
    Ns next(Ns now) override;
    NetworkLoad* net = nullptr;
    bool entered = false;
  } dpc_;
  struct Reader final : Program {
    Ns next(Ns now) override;
    NetworkLoad* net = nullptr;
    bool reading = false;
  } reader_;

  void send(Ns now, Ns delay);

  Engine& engine_;
  Cpu& cpu_;
  NetworkReceive spec_;
  Random random_;
  EntityId isr_id_, dpc_id_, reader_id_;
  std::uint64_t segments_ = 0;
  Ns end_ = kNever;
  int unread_ = 0;        // arrived, not yet read: what the window counts
  int processed_ = 0;     // of these, those that the DPC is done with
  bool sending_ = false;  // a segment is on the wire
};

}  // namespace offhook::hostsim
