// SPDX-License-Identifier: MIT
//
// The fair class of Linux before 6.6, CFS (kernel/sched/fair.c). The thread with the least virtual runtime
// runs next: its CPU time times 1024 / weight, where the weight follows its nice value.
//   - A thread runs for its share of 6 ms, at least 0.75 ms; the clock's interrupt ends its turn.
//   - A waking thread starts at least 3 ms before the least virtual runtime of the others, and preempts if it is
//     more than 1 ms behind the running thread.
#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include "hostsim/sched/clock_ticks.h"
#include "hostsim/sched/thread_policy.h"

namespace offhook::hostsim {

class LinuxFairThread;

/// State shared by all fair threads of a host: one run queue per CPU.
struct LinuxFairGroup {
  explicit LinuxFairGroup(int hz, int cpus = 1) : tick_hz(hz), queues(static_cast<std::size_t>(cpus)) {}
  struct Queue {
    std::vector<const LinuxFairThread*> awake;
    Ns least = 0;  ///< virtual runtime; never decreases
  };
  int tick_hz;
  std::vector<Queue> queues;
};

class LinuxFairThread final : public ThreadPolicy {
 public:
  /// @param weight 1024 for nice 0, 1.25 times as much for each lower nice value
  explicit LinuxFairThread(std::shared_ptr<LinuxFairGroup> group, std::int64_t weight = 1024)
      : group_(std::move(group)), clock_(group_->tick_hz), weight_(weight) {}
  ~LinuxFairThread() override { std::erase(queue().awake, this); }

  void begin_job(Ns, const CurrentJob&, bool woken) override {
    if (!woken) return;
    virtual_ = std::max(virtual_, queue().least - kSleeperCredit);
    queue().awake.push_back(this);
    running_ = false;
    clock_.stopped();
  }
  void sleep(Ns) override { std::erase(queue().awake, this); }
  // It keeps its distance from the others, because each queue has its own virtual time.
  void moved(int cpu) override {
    virtual_ -= queue().least;
    const bool awake = std::erase(queue().awake, this) > 0;
    cpu_ = static_cast<std::size_t>(cpu);
    virtual_ += queue().least;
    if (awake) queue().awake.push_back(this);
    running_ = false;
  }
  void charge(Ns ran) override {
    clock_.ran();
    running_ = true;
    stolen(ran);
  }
  void stolen(Ns time) override {
    turn_ += time;
    virtual_ += time * 1024 / weight_;
    Ns least = virtual_;
    for (const LinuxFairThread* t : queue().awake) least = std::min(least, t->virtual_);
    queue().least = std::max(queue().least, least);
  }
  void stopped() override { clock_.stopped(); }
  bool replaced() override { return std::exchange(running_, false); }
  Change update(Ns now) override {
    const TickWatch::Seen seen = clock_.look(now);
    if (!seen.tick || !seen.on_cpu || turn_ < share()) return {};
    turn_ = 0;
    running_ = false;
    return {.requeue = true};
  }
  // After all real-time priorities, whose keys are negative. During its turn, others must be 1 ms behind.
  Migration migration() const override { return Migration::kBalance; }
  Standing standing(Ns) const override {
    return {Band::kPriority, std::max<Ns>(0, kOffset + virtual_ - (running_ ? kWakeupGranularity : 0))};
  }
  Ns next_change(Ns now) const override { return clock_.ticks.after(now); }

 private:
  static constexpr Ns kLatency = 6'000'000, kLeast = 750'000, kSleeperCredit = 3'000'000,
                      kWakeupGranularity = 1'000'000;
  static constexpr Ns kOffset = 10'000'000;  // keeps every key non-negative

  LinuxFairGroup::Queue& queue() const { return group_->queues[cpu_]; }
  Ns share() const {
    std::int64_t all = 0;
    for (const LinuxFairThread* t : queue().awake) all += t->weight_;
    return std::max(kLeast, kLatency * weight_ / std::max(all, weight_));
  }

  std::shared_ptr<LinuxFairGroup> group_;
  TickWatch clock_;
  std::int64_t weight_;
  std::size_t cpu_ = 0;
  Ns virtual_ = 0;
  Ns turn_ = 0;           // CPU time in its turn
  bool running_ = false;  // has its turn
};

}  // namespace offhook::hostsim
