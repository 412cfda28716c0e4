// SPDX-License-Identifier: MIT
//
// The fair class of Linux 7.0 under a sched_ext scheduler: scx_simple, the example in tools/sched_ext, and the
// deadline server of the ext class.
//   - All CPUs have one queue, ordered by virtual time: CPU time times 1024 / weight. A thread that enters it gets a
//     virtual time of at least that of the last running thread minus one slice. Sleep is therefore worth at most one
//     slice.
//   - No thread preempts. A thread runs until it sleeps, or for a slice of 20 ms, whose end the clock's interrupt
//     detects. After a real-time thread it continues with the rest of its slice. It then enters the queue again.
//   - The ext server is the fair server of Linux 6.12 for another class (fair_server.h): 50 ms of every 1 s.
// Source: Documentation/scheduler/sched-ext.rst and the comments of tools/sched_ext/scx_simple.bpf.c; the commit
// "sched_ext: Add a DL server for sched_ext tasks" (cd959a356205, 2026). Not compared with measurements: Debian's
// kernels have it off.
#pragma once

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "hostsim/sched/clock_ticks.h"
#include "hostsim/sched/fair_server.h"
#include "hostsim/sched/thread_policy.h"

namespace offhook::hostsim {

class ScxSimpleThread;

/// State shared by all fair threads of a host.
class ScxSimpleGroup {
 public:
  static constexpr Ns kSlice = 20'000'000;  // SCX_SLICE_DFL

  ScxSimpleGroup(int tick_hz, int cpus) : tick_hz_(tick_hz), cpus_(static_cast<std::size_t>(cpus)) {}

 private:
  friend ScxSimpleThread;
  struct PerCpu {
    std::vector<const ScxSimpleThread*> ready;
    FairServer server{FairServerBudget{}};
  };
  int tick_hz_;
  std::vector<PerCpu> cpus_;
  Ns virtual_ = 0;  // of the last thread that began to run; never decreases
};

class ScxSimpleThread final : public ThreadPolicy {
 public:
  /// @param weight 1024 for nice 0
  ScxSimpleThread(std::shared_ptr<ScxSimpleGroup> group, std::int64_t weight)
      : group_(std::move(group)), weight_(weight), clock_(group_->tick_hz_), virtual_(group_->virtual_) {}
  ~ScxSimpleThread() override { forget(); }

  void begin_job(Ns now, const CurrentJob&, bool woken) override {
    now_ = now;
    if (!woken) return;
    clock_.stopped();
    enter();
    queue();
  }
  void sleep(Ns) override {
    end_slice();
    forget();
  }
  void moved(int cpu) override {
    const bool ready = forget();
    cpu_ = static_cast<std::size_t>(cpu);
    if (ready) enter();
  }
  void charge(Ns ran) override {
    clock_.ran();
    if (!std::exchange(in_slice_, true)) group_->virtual_ = std::max(group_->virtual_, virtual_);
    stolen(ran);
  }
  void stolen(Ns time) override {
    used_ += time;
    here().server.charge(time);
  }
  void stopped() override { clock_.stopped(); }
  Change update(Ns now) override {
    now_ = now;
    const TickWatch::Seen seen = clock_.look(now);
    const bool ticked = seen.tick && seen.on_cpu;
    here().server.look(now, ticked);
    if (!ticked || used_ < ScxSimpleGroup::kSlice) return {};
    end_slice();
    queue();
    return {.requeue = true};
  }
  bool shares() const override { return true; }
  // After all real-time priorities, whose keys are negative, unless the server runs.
  Standing standing(Ns) const override {
    if (here().server.runs() && first() == this) return {Band::kDeadline, here().server.deadline()};
    return {Band::kPriority, in_slice_ ? 0 : 1 + virtual_};
  }
  Ns next_change(Ns now) const override {
    return std::min(clock_.ticks.after(now), std::max(here().server.next(), now + 1));
  }

 private:
  ScxSimpleGroup::PerCpu& here() const { return group_->cpus_[cpu_]; }
  // On this CPU: the thread within its slice, then the earliest one.
  const ScxSimpleThread* first() const {
    const auto before = [](const ScxSimpleThread* a, const ScxSimpleThread* b) {
      return std::pair(!a->in_slice_, a->virtual_) < std::pair(!b->in_slice_, b->virtual_);
    };
    return *std::min_element(here().ready.begin(), here().ready.end(), before);
  }
  void enter() {
    if (here().ready.empty()) here().server.start(now_);
    here().ready.push_back(this);
  }
  bool forget() {
    const bool was_ready = std::erase(here().ready, this) > 0;
    if (was_ready && here().ready.empty()) here().server.stop();
    return was_ready;
  }
  void queue() { virtual_ = std::max(virtual_, group_->virtual_ - ScxSimpleGroup::kSlice); }
  void end_slice() {
    virtual_ += std::exchange(used_, 0) * 1024 / weight_;
    in_slice_ = false;
  }

  std::shared_ptr<ScxSimpleGroup> group_;
  std::int64_t weight_;
  TickWatch clock_;
  Ns virtual_;
  Ns used_ = 0;  // of the slice
  bool in_slice_ = false;
  std::size_t cpu_ = 0;
  Ns now_ = 0;  // time of the last call
};

}  // namespace offhook::hostsim
