// SPDX-License-Identifier: MIT
//
// Interface of a processor for the engine: the time of its next call, and the two halves of an instant.
#pragma once

#include "hostsim/engine/engine.h"

namespace offhook::hostsim {

class Processor {
 public:
  virtual ~Processor() = default;
  /// section 8 steps 1 to 4: charge running time, finish completed jobs, exhaust and refill budgets. Called when wake
  /// <= now.
  virtual void settle(Ns now) = 0;
  /// section 8 steps 6 to 8: misses, throttling, one dispatch decision; sets `wake` again. Called when wake <= now.
  virtual void dispatch(Ns now) = 0;

  /// Performs the work of `tick`, which is before `now`. Called before everything else of an instant, if tick < now.
  virtual void catch_up(Ns now) { (void)now; }
  /// Performs the work of `tick`, which is now, after the events of this instant.
  virtual void tick_comes(Ns now) { (void)now; }

  /// Earliest time at which this processor acts by itself; kNever while it is idle. A release sets it to now. A plain
  /// field, because the engine reads it several times per instant.
  Ns wake = kNever;
  /// Earliest time of work that has no effect unless something else happens, and therefore needs no instant of its own.
  Ns tick = kNever;
};

}  // namespace offhook::hostsim
