// SPDX-License-Identifier: MIT
//
// Windows NT and 2000 (Solomon and Russinovich, Inside Windows 2000, chapter 6): 32 priorities, round robin among
// equals. It adds to fixed_priority.h:
//   - A quantum counts clock intervals: the thread that runs when the clock interrupts pays for a whole interval.
//   - A thread of the dynamic priorities, 1 to 15, is boosted when its wait ends. The source of the wake-up sets the
//     boost (a semaphore 1, a network 2, a sound card 8); the priority never exceeds 15. It falls by one level with
//     each quantum that the thread uses up.
//   - A thread that was ready for 4 s without running is raised to 15 for two quanta, and then falls back at once.
// Priorities 16 to 31 have none of the boosts.
#pragma once

#include <algorithm>

#include "hostsim/sched/clock_ticks.h"
#include "hostsim/sched/thread_policy.h"

namespace offhook::hostsim {

struct WindowsNt {
  int priority = 8;  ///< base priority, 0 to 31
  int boost = 1;     ///< when a wait ends
  int quantum = 6;   ///< clock intervals: 6 for foreground programs of Professional, 12 on Server
  int clock_hz = 64;
};

class WindowsNtThread final : public ThreadPolicy {
 public:
  explicit WindowsNtThread(const WindowsNt& p) : p_(p), clock_(p.clock_hz), current_(p.priority), left_(p.quantum) {}

  void begin_job(Ns now, const CurrentJob&, bool woken) override {
    if (!woken) return;
    if (dynamic()) current_ = std::max(current_, std::min(kHighestDynamic, p_.priority + p_.boost));
    left_ = p_.quantum;
    ran_ = now;
    clock_.stopped();
  }
  void charge(Ns) override { clock_.ran(); }
  void stopped() override { clock_.stopped(); }
  Change update(Ns now) override {
    const TickWatch::Seen seen = clock_.look(now);
    if (seen.on_cpu) ran_ = now;
    if (!seen.tick) return {};
    if (seen.on_cpu) return {.requeue = --left_ == 0 && end_of_quantum()};
    if (!dynamic() || now - ran_ < kStarving || current_ == kHighestDynamic) return {};
    current_ = kHighestDynamic;
    left_ = 2 * p_.quantum;
    starved_ = true;
    return {.requeue = true};
  }
  Migration migration() const override { return Migration::kIdeal; }
  Standing standing(Ns) const override { return {Band::kPriority, -current_}; }
  Ns next_change(Ns now) const override { return clock_.ticks.after(now); }

 private:
  static constexpr int kHighestDynamic = 15;
  static constexpr Ns kStarving = 4'000'000'000;

  bool dynamic() const { return p_.priority <= kHighestDynamic; }
  bool end_of_quantum() {
    current_ = starved_ ? p_.priority : std::max(p_.priority, current_ - 1);
    starved_ = false;
    left_ = p_.quantum;
    return true;
  }

  WindowsNt p_;
  TickWatch clock_;
  int current_;  // priority
  int left_;     // remaining intervals of the quantum
  bool starved_ = false;
  Ns ran_ = 0;  // the last time at which it had the CPU or began to wait for it
};

}  // namespace offhook::hostsim
