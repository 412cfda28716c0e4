// SPDX-License-Identifier: MIT
//
// What the engine needs of a processor: when it next wants to be asked, and the two halves of an instant.
#pragma once

#include "hostsim/engine/engine.h"

namespace offhook::hostsim {

class Processor {
 public:
  virtual ~Processor() = default;
  /// section 8 steps 1 to 4: charge what ran, finish what is done, exhaust and refill budgets. Called when wake <= now.
  virtual void settle(Ns now) = 0;
  /// section 8 steps 6 to 8: misses, throttling, one dispatch decision; sets `wake` anew. Called when wake <= now.
  virtual void dispatch(Ns now) = 0;

  /// What is to happen at `tick` and before `now` happens. Called before anything else of an instant, when tick < now.
  virtual void catch_up(Ns now) { (void)now; }
  /// What is to happen at `tick`, which is now, happens after the events of this instant.
  virtual void tick_comes(Ns now) { (void)now; }

  /// Earliest time at which something happens on this processor by itself; kNever when it idles. A release sets it to
  /// now. A plain field, because the engine reads it several times an instant.
  Ns wake = kNever;
  /// Earliest time of what changes nothing unless something else happens, and so has no instant of its own.
  Ns tick = kNever;
};

}  // namespace offhook::hostsim
