// SPDX-License-Identifier: MIT
//
// When the clock interrupts: tick n comes at floor(n * 1e9 / hz) ns, so that ticks never drift.
#pragma once

#include <utility>

#include "hostsim/engine/engine.h"
#include "hostsim/engine/wide.h"

namespace offhook::hostsim {

class ClockTicks {
 public:
  explicit ClockTicks(int hz) : hz_(hz) {}
  Ns at(std::int64_t n) const { return static_cast<Ns>(static_cast<Wide>(n) * 1'000'000'000 / hz_); }
  /// Number of the last tick so far.
  std::int64_t count(Ns now) const {
    const auto n = static_cast<std::int64_t>(static_cast<Wide>(now) * hz_ / 1'000'000'000);
    return at(n + 1) <= now ? n + 1 : n;
  }
  Ns after(Ns now) const { return at(count(now) + 1); }
  bool is_one(Ns now) const { return at(count(now)) == now; }
  int hz() const { return hz_; }

 private:
  int hz_;
};

/// Whether a thread was on the CPU at a clock interrupt,
/// since it last stopped. Each tick is reported once.
class TickWatch {
 public:
  explicit TickWatch(int hz) : ticks(hz) {}
  void ran() { on_cpu_ = true; }
  void stopped() { on_cpu_ = false; }
  struct Seen {
    bool tick;    ///< a tick has occurred that was not reported
    bool on_cpu;  ///< and the thread was running then
  };
  Seen look(Ns now) {
    const bool on_cpu = std::exchange(on_cpu_, false);
    if (!ticks.is_one(now) || told_ == now) return {false, on_cpu};
    told_ = now;
    return {true, on_cpu};
  }
  ClockTicks ticks;

 private:
  Ns told_ = -1;
  bool on_cpu_ = false;
};

}  // namespace offhook::hostsim
