// SPDX-License-Identifier: MIT
#pragma once

#include "hostsim/engine/engine.h"

namespace offhook::hostsim {

/// The times of a clock's interrupts: tick n is floor(n * 1e9 / hz) ns after the first, so that they never drift.
struct TickTimes {
  explicit TickTimes(int rate_hz) : interval(1'000'000'000 / rate_hz), hz(rate_hz), rest(1'000'000'000 % rate_hz) {}
  Ns advance() {
    at += interval;
    fraction += rest;
    if (fraction >= hz) {
      fraction -= hz;
      at++;
    }
    return at;
  }

  Ns interval;  ///< the least one
  int hz, rest;
  Ns at = 0;         ///< time of the next one
  int fraction = 0;  ///< remainder in hz-ths of a ns
};

/// A clock whose interrupts only take CPU time, see Cpu::keep_ticking().
class SteadyClock {
 public:
  virtual ~SteadyClock() = default;
  /// The clock must be an event again. @param times  from the next tick on
  virtual void resume(const TickTimes& times) = 0;
};

}  // namespace offhook::hostsim
