// SPDX-License-Identifier: MIT
//
// SCHED_DEADLINE as Linux enforces it without HRTICK (kernel/sched/deadline.c). It is the server of
// constant_bandwidth.h, but the budget is checked only when the clock interrupts. A thread runs on until the next
// tick and owes the excess. It is released after as many replenishments as pay the debt, each of which moves its
// deadline by a period. At 250 Hz, 2 ms of every 8 ms become 4 ms of every 16 ms.
//
// With HRTICK (the scheduler's feature HRTICK_DL, off by default), a timer is set to the remaining budget whenever
// the thread gets the CPU, and ends it there. The timer is never shorter than 10 us (kernel/sched/core.c,
// hrtick_start). Its interrupt costs nothing here.
#pragma once

#include <algorithm>

#include "hostsim/engine/wide.h"
#include "hostsim/sched/clock_ticks.h"
#include "hostsim/sched/thread_policy.h"

namespace offhook::hostsim {

struct LinuxDeadline {
  Ns budget = 0;  ///< Q
  Ns period = 0;  ///< P
  int tick_hz = 250;
  bool hrtick = false;
  bool operator==(const LinuxDeadline&) const = default;
};

class LinuxDeadlineThread : public ThreadPolicy {
 public:
  explicit LinuxDeadlineThread(const LinuxDeadline& p) : p_(p), clock_(p.tick_hz) {}

  void begin_job(Ns now, const CurrentJob&, bool woken) override {
    if (!woken) return;
    stopped();
    if (throttled_) return;
    if (deadline_ <= now || static_cast<Wide>(left_) * p_.period >= static_cast<Wide>(deadline_ - now) * p_.budget) {
      deadline_ = now + p_.period;
      left_ = p_.budget;
    }
  }
  void charge(Ns ran) override {
    clock_.ran();
    if (p_.hrtick) timer_ = allowance() - ran;
    left_ -= ran;
  }
  void stolen(Ns time) override { left_ -= time; }
  void stopped() override {
    clock_.stopped();
    timer_ = kUnset;
  }
  void sleep(Ns) override { timer_ = kUnset; }
  Ns allowance() const override {
    return !p_.hrtick ? kNever : timer_ != kUnset ? timer_ : std::max(left_, kLeastTimer);
  }
  Change update(Ns now) override {
    const TickWatch::Seen seen = clock_.look(now);
    if (!throttled_) {
      throttled_ = left_ <= 0 && (seen.tick ? seen.on_cpu : timer_ == 0);
      if (throttled_ || timer_ == 0) timer_ = kUnset;
      return {};
    }
    if (now < deadline_) return {};
    while (left_ <= 0) {
      left_ += p_.budget;
      deadline_ += p_.period;
    }
    if (deadline_ < now) {  // the clock interrupts were held off for long
      left_ = p_.budget;
      deadline_ = now + p_.period;
    }
    throttled_ = false;
    return {.requeue = true, .replenished = true};
  }
  Migration migration() const override { return Migration::kPush; }
  Standing standing(Ns) const override {
    return throttled_ ? Standing{Band::kCannotRun, 0} : Standing{Band::kDeadline, deadline_};
  }
  Ns next_change(Ns now) const override { return throttled_ ? deadline_ : clock_.ticks.after(now); }
  bool exhausted() const override { return throttled_; }

 protected:
  const LinuxDeadline p_;
  Ns left_ = 0;  // remaining budget; negative: owed
  Ns deadline_ = 0;

 private:
  static constexpr Ns kLeastTimer = 10'000, kUnset = kNever;
  TickWatch clock_;
  Ns timer_ = kUnset;  // with HRTICK: time until it expires while the thread runs without interruption
  bool throttled_ = false;
};

}  // namespace offhook::hostsim
