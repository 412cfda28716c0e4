// SPDX-License-Identifier: MIT
//
// SCHED_FIFO and SCHED_RR of Linux with the throttle of real-time threads (kernel/sched/rt.c). All of them together
// may run for `runtime` in every `period` (950 ms of 1 s), so that a thread that never blocks does not lock out the
// user. The clock's interrupt detects the limit; the threads return at the end of the period. The excess counts in
// the next period.
#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include "hostsim/sched/clock_ticks.h"
#include "hostsim/sched/thread_policy.h"

namespace offhook::hostsim {

/// State shared by all real-time threads of a host: one account per CPU (RT_RUNTIME_SHARE is off since 5.10).
class LinuxRealTimeGroup {
 public:
  explicit LinuxRealTimeGroup(int tick_hz, int cpus = 1, Ns runtime = 950'000'000, Ns period = 1'000'000'000)
      : tick_hz_(tick_hz), runtime_(runtime), period_(period), cpus_(static_cast<std::size_t>(cpus), {period}) {}

  class Account {
   public:
    Account(Ns end) : end_(end) {}
    /// The account of a CPU without real-time threads is not checked, because it may be outdated.
    bool throttled(Ns now) const { return throttled_ && now < end_; }

   private:
    friend LinuxRealTimeGroup;
    Ns used_ = 0;
    Ns end_;
    bool throttled_ = false;
  };
  int tick_hz() const { return tick_hz_; }
  Ns end_of_period(Ns now) const { return (now / period_ + 1) * period_; }
  const Account& of(std::size_t cpu) const { return cpus_[cpu]; }
  void charge(std::size_t cpu, Ns ran) { cpus_[cpu].used_ += ran; }
  /// Sets the time. Called before every other function. @param tick  there is a clock interrupt now
  void look(std::size_t cpu, Ns now, bool tick) {
    Account& a = cpus_[cpu];
    while (now >= a.end_) {
      a.used_ -= std::min(a.used_, runtime_);
      a.end_ += period_;
      if (a.used_ < runtime_) a.throttled_ = false;
    }
    if (tick && a.used_ > runtime_) a.throttled_ = true;
  }

 private:
  int tick_hz_;
  Ns runtime_, period_;
  std::vector<Account> cpus_;
};

struct LinuxRealTime {
  int priority = 50;  ///< 1 to 99, high wins
  Ns slice = 0;       ///< SCHED_RR: 100 ms; 0: SCHED_FIFO
};

class LinuxRealTimeThread final : public ThreadPolicy {
 public:
  LinuxRealTimeThread(const LinuxRealTime& p, std::shared_ptr<LinuxRealTimeGroup> group)
      : p_(p), group_(std::move(group)), clock_(group_->tick_hz()), left_(p.slice) {}

  void begin_job(Ns now, const CurrentJob&, bool woken) override {
    if (woken) {
      left_ = p_.slice;
      clock_.stopped();
    }
    now_ = now;
    group_->look(cpu_, now, false);
    was_throttled_ = throttled(now);
  }
  void charge(Ns ran) override {
    clock_.ran();
    stolen(ran);
  }
  void stolen(Ns time) override {
    group_->charge(cpu_, time);
    left_ -= time;
  }
  void stopped() override { clock_.stopped(); }
  void moved(int cpu) override { cpu_ = static_cast<std::size_t>(cpu); }
  Change update(Ns now) override {
    now_ = now;
    const TickWatch::Seen seen = clock_.look(now);
    group_->look(cpu_, now, seen.tick && seen.on_cpu);
    Change change{.replenished = was_throttled_ && !throttled(now)};
    was_throttled_ = throttled(now);
    if (p_.slice > 0 && seen.tick && left_ <= 0) {
      left_ = p_.slice;
      change.requeue = true;
    }
    return change;
  }
  Migration migration() const override { return Migration::kPush; }
  Standing standing(Ns now) const override {
    return throttled(now) ? Standing{Band::kCannotRun, 0} : Standing{Band::kPriority, -p_.priority};
  }
  Ns next_change(Ns now) const override { return std::min(clock_.ticks.after(now), group_->end_of_period(now)); }
  bool exhausted() const override { return throttled(now_); }

 private:
  bool throttled(Ns now) const { return group_->of(cpu_).throttled(now); }

  LinuxRealTime p_;
  std::shared_ptr<LinuxRealTimeGroup> group_;
  TickWatch clock_;
  Ns left_;  // of the slice
  std::size_t cpu_ = 0;
  bool was_throttled_ = false;
  Ns now_ = 0;  // time of the last call
};

}  // namespace offhook::hostsim
