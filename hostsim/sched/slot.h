// SPDX-License-Identifier: MIT
//
// Rialto/NT (Jones and Regehr 1999): X of every Y, in a precomputed slot and, in the modified form (strict), nowhere
// else; in the standard form the thread also competes at its priority outside its slots (section 7). Several
// reservations get slots that do not overlap from sched/slot_plan.h.
#pragma once

#include <cstdint>

#include "hostsim/engine/wide.h"
#include "hostsim/sched/thread_policy.h"

namespace offhook::hostsim {

/// `length` of every `period` from `offset` on. If tick_hz is 0, length and period are in ns. Otherwise they count
/// ticks of 1/tick_hz s, and tick n begins at offset + floor(n * 1e9 / tick_hz) ns, so that slots never drift: at 1024
/// Hz, 16 ticks are always 125 samples at 8 kHz. Inside its slot the thread precedes all others (section 2). With
/// slot_priority > 0, it has that fixed priority there, as with Rialto/NT on Windows NT.
struct Slot {
  Ns offset = 0;
  std::int64_t length = 0;
  std::int64_t period = 0;
  bool strict = true;
  int priority = 8;
  std::int64_t tick_hz = 0;
  int slot_priority = 0;
};

class SlotThread final : public ThreadPolicy {
 public:
  explicit SlotThread(const Slot& p) : p_(p) {}

  void begin_job(Ns now, const CurrentJob&, bool) override { locate(now); }
  Change update(Ns now) override {
    locate(now);
    return {};
  }
  Migration migration() const override { return Migration::kPinned; }
  Standing standing(Ns now) const override {
    if (now >= start_ && now < end_) {
      return p_.slot_priority > 0 ? Standing{Band::kPriority, -p_.slot_priority} : Standing{Band::kSlot, start_};
    }
    return p_.strict ? Standing{Band::kCannotRun, 0} : Standing{Band::kPriority, -p_.priority};
  }
  Ns next_change(Ns now) const override { return now < start_ ? start_ : now < end_ ? end_ : next_; }

 private:
  Ns edge(std::int64_t ticks) const {
    if (p_.tick_hz == 0) return p_.offset + ticks;
    if (ticks >= 0 && ticks < kNever / 1'000'000'000) return p_.offset + ticks * 1'000'000'000 / p_.tick_hz;
    return p_.offset + static_cast<Ns>(static_cast<Wide>(ticks) * 1'000'000'000 / p_.tick_hz);
  }
  // In 64 bits if the product fits, because that is four times as fast.
  std::int64_t ticks_in(Ns span) const {
    if (p_.tick_hz == 0) return span;
    if (span < kNever / p_.tick_hz) return span * p_.tick_hz / 1'000'000'000;
    return static_cast<std::int64_t>(static_cast<Wide>(span) * p_.tick_hz / 1'000'000'000);
  }
  // The last slot that began by `now`; before the first one, the first.
  void locate(Ns now) {
    if (now >= start_ && now < next_) return;
    std::int64_t k = 0;
    if (now > p_.offset) {
      k = ticks_in(now - p_.offset) / p_.period;
      if (edge((k + 1) * p_.period) <= now) k++;  // a tick begins at the rounded-down ns
    }
    start_ = edge(k * p_.period);
    end_ = edge(k * p_.period + p_.length);
    next_ = edge((k + 1) * p_.period);
  }

  Slot p_;
  Ns start_ = 0, end_ = 0, next_ = 0;
};

}  // namespace offhook::hostsim
