// SPDX-License-Identifier: MIT
//
// Bandwidth limit of a control group of fair threads (cpu.max): a quota of CPU time per period
// (Documentation/scheduler/sched-bwc.rst). It is a limit, not a reservation: below it, the threads compete as others
// do.
//   - A CPU takes its share of the group's quota 5 ms at a time (sched_cfs_bandwidth_slice_us). It keeps the share
//     beyond the end of a period, and returns all but 1 ms of it if no thread of the group can run there.
//   - Unused quota is lost at the end of a period. The clock's interrupt detects that a CPU's share is spent; the
//     excess is subtracted from the next share.
// Each thread has its own weight among all fair threads of the host. In the kernel, the group has one weight.
#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include "hostsim/sched/clock_ticks.h"
#include "hostsim/sched/thread_policy.h"

namespace offhook::hostsim {

struct LinuxCpuMax {
  Ns quota = 0;  ///< of all CPUs together
  Ns period = 0;
  Ns offset = 0;  ///< beginning of the first period
  int tick_hz = 1000;
  bool operator==(const LinuxCpuMax&) const = default;
};

/// State shared by the threads of one group.
class LinuxCpuMaxGroup {
 public:
  explicit LinuxCpuMaxGroup(const LinuxCpuMax& p, int cpus = 1)
      : p_(p), left_(p.quota), refill_(p.offset), cpus_(static_cast<std::size_t>(cpus)) {}

  const LinuxCpuMax& parameters() const { return p_; }
  /// Sets the time. Called before every other function.
  void look(Ns now) {
    if (now < refill_) return;
    left_ = p_.quota;
    refill_ += ((now - refill_) / p_.period + 1) * p_.period;
  }
  Ns refill() const { return refill_; }
  /// A thread became runnable, or runs. @return whether the CPU has a part of the quota
  bool take(std::size_t cpu) {
    Ns& here = cpus_[cpu].left;
    if (here > 0) return true;
    const Ns taken = std::min(left_, kSlice - here);
    left_ -= taken;
    here += taken;
    return here > 0;
  }
  void charge(std::size_t cpu, Ns ran) { cpus_[cpu].left -= ran; }
  void wakes(std::size_t cpu) { cpus_[cpu].runnable++; }
  void sleeps(std::size_t cpu) {
    PerCpu& here = cpus_[cpu];
    if (--here.runnable > 0 || here.left <= kKeeps) return;
    left_ += here.left - kKeeps;
    here.left = kKeeps;
  }

 private:
  static constexpr Ns kSlice = 5'000'000, kKeeps = 1'000'000;
  struct PerCpu {
    Ns left = 0;  // negative: owed
    int runnable = 0;
  };
  LinuxCpuMax p_;
  Ns left_;    // part of the quota that no CPU has taken
  Ns refill_;  // the next time
  std::vector<PerCpu> cpus_;
};

class LinuxCpuMaxThread final : public ThreadPolicy {
 public:
  /// @param fair its policy among the fair threads
  LinuxCpuMaxThread(std::unique_ptr<ThreadPolicy> fair, std::shared_ptr<LinuxCpuMaxGroup> group)
      : fair_(std::move(fair)), group_(std::move(group)), clock_(group_->parameters().tick_hz) {}
  ~LinuxCpuMaxThread() override {
    if (awake_) group_->sleeps(cpu_);
  }

  void begin_job(Ns now, const CurrentJob& job, bool woken) override {
    job_ = job;
    if (!woken) return fair_->begin_job(now, job, false);
    clock_.stopped();
    group_->look(now);
    group_->wakes(cpu_);
    throttled_ = true;
    let_go(now);
  }
  void sleep(Ns now) override {
    if (!throttled_) fair_->sleep(now);
    group_->sleeps(cpu_);
    throttled_ = false;
    awake_ = false;
  }
  void charge(Ns ran) override {
    clock_.ran();
    group_->charge(cpu_, ran);
    fair_->charge(ran);
  }
  void stolen(Ns time) override {
    group_->charge(cpu_, time);
    if (!throttled_) fair_->stolen(time);
  }
  void stopped() override {
    clock_.stopped();
    fair_->stopped();
  }
  void moved(int cpu) override {
    if (awake_) group_->sleeps(cpu_);
    cpu_ = static_cast<std::size_t>(cpu);
    if (awake_) group_->wakes(cpu_);
    fair_->moved(cpu);
  }
  Change update(Ns now) override {
    group_->look(now);
    Change change = throttled_ ? Change{} : fair_->update(now);
    const bool tick = clock_.look(now).tick;
    if (!throttled_ && tick && !group_->take(cpu_)) {
      throttled_ = true;
      fair_->sleep(now);
    } else if (throttled_) {
      change.replenished = let_go(now);
    }
    return change;
  }
  bool shares() const override { return true; }
  Migration migration() const override { return fair_->migration(); }
  Standing standing(Ns now) const override { return throttled_ ? Standing{} : fair_->standing(now); }
  Ns next_change(Ns now) const override {
    return throttled_ ? group_->refill() : std::min(clock_.ticks.after(now), fair_->next_change(now));
  }
  bool exhausted() const override { return throttled_; }

 private:
  bool let_go(Ns now) {
    awake_ = true;
    if (!group_->take(cpu_)) return false;
    throttled_ = false;
    fair_->begin_job(now, job_, true);
    return true;
  }

  std::unique_ptr<ThreadPolicy> fair_;
  std::shared_ptr<LinuxCpuMaxGroup> group_;
  TickWatch clock_;
  CurrentJob job_{};
  std::size_t cpu_ = 0;
  bool awake_ = false, throttled_ = false;
};

}  // namespace offhook::hostsim
