// SPDX-License-Identifier: MIT
//
// What the engine needs of a processor: the three steps of an instant.
#pragma once

#include "hostsim/engine/engine.h"

namespace offhook::hostsim {

class Processor {
 public:
  virtual ~Processor() = default;
  /// Earliest time at which something happens on this processor by itself; kNever when it idles.
  virtual Ns next_instant() const = 0;
  /// S8 steps 1 to 4: charge what ran, finish what is done, exhaust and refill budgets.
  virtual void settle(Ns now) = 0;
  /// S8 steps 6 to 8: misses, throttling, one dispatch decision.
  virtual void dispatch(Ns now) = 0;
};

}  // namespace offhook::hostsim
