// SPDX-License-Identifier: MIT
//
// The fair class of Linux since 6.6: Earliest Eligible Virtual Deadline First (Stoica and Abdel-Wahab 1995;
// Documentation/scheduler/sched-eevdf.rst). Virtual runtime is CPU time times 1024 / weight. V is the weighted mean
// virtual runtime of all runnable threads; a thread's lag is V minus its own virtual runtime. A thread with a lag of
// at least 0 is eligible. The eligible thread with the earliest virtual deadline runs; the deadline is its virtual
// runtime at the start of its slice, plus the slice.
//   - A running thread is replaced only when its slice is used up or it is no longer eligible (RUN_TO_PARITY). The
//     clock's interrupt or a waking thread detects this; without HRTICK a slice therefore ends at a tick.
//   - A waking thread starts with the lag that it had when it went to sleep, limited to two slices or a tick. The
//     lag is enlarged so that it is the same after the mean has moved. The thread preempts if it is the one to run.
//   - Since 6.12, a thread that goes to sleep while it is not eligible remains in the queue until it is
//     (DELAY_DEQUEUE). Its debt shrinks as the others run, and it gains no positive lag.
// Since 6.12 the class as a whole has a deadline server (fair_server.h).
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "hostsim/engine/wide.h"
#include "hostsim/sched/clock_ticks.h"
#include "hostsim/sched/fair_server.h"
#include "hostsim/sched/thread_policy.h"

namespace offhook::hostsim {

/// Chooses the fair thread that runs on one CPU, by virtual time alone.
class EevdfQueue {
 public:
  struct Member {
    std::int64_t weight = 1024;
    Ns slice = 0;
    Ns virtual_ = 0, deadline = 0;
    Ns lag = 0;             ///< its lag when it left
    bool relative = false;  ///< it left with its deadline, relative to its virtual runtime
    bool queued = false;    ///< counts in V
    bool delayed = false;   ///< sleeps, but counts until it is eligible
    std::uint64_t since = 0;
  };

  /// @param delay DELAY_DEQUEUE  @param tick the smallest limit of a lag
  EevdfQueue(bool delay, Ns tick) : delay_(delay), tick_(tick) {}

  bool empty() const { return members_.empty(); }
  const Member* runs() const { return runs_; }
  /// V minus its virtual runtime, in virtual time, rounded down.
  Ns lag(const Member& m) const { return mean() - m.virtual_; }

  /// @pre it sleeps
  void wake(Member& m) {
    const bool used_up = begin_slice();
    if (!std::exchange(m.delayed, false)) {
      place(m);
    } else if (lag(m) > 0) {
      remove(m);
      m.lag = 0;
      place(m);
    }
    if (used_up || runs_ == nullptr) {
      pick();
    } else if (!kept() && earliest() == &m) {
      run(m);
    }
  }
  void sleep(Member& m) {
    if (runs_ == &m) begin_slice();
    if (delay_ && !eligible(m)) {
      m.delayed = true;
    } else {
      leave(m);
    }
    if (runs_ == &m) runs_ = nullptr;
    if (runs_ == nullptr) pick();
  }
  /// The thread moves to another CPU's queue, which calls arrive().
  void depart(Member& m) {
    if (!m.queued) return;
    leave(m);
    m.deadline -= m.virtual_;
    m.relative = true;
    if (before_ == &m) before_ = nullptr;
    if (runs_ != &m) return;
    runs_ = before_;  // it was chosen but has not run
    slice_ends_ = before_ends_;
    if (runs_ == nullptr || !kept()) pick();
  }
  void arrive(Member& m) {
    place(m);
    if (runs_ == nullptr || (!kept() && earliest() == &m)) pick();
  }
  void charge(Member& m, Ns ran) {
    before_ = nullptr;
    m.virtual_ += ran * 1024 / m.weight;
    advance();
  }
  /// A clock interrupt hits the running thread.
  void tick() {
    if (begin_slice()) pick();
  }

 private:
  // The running thread has used up its slice, so the next one begins. @return whether another thread may run now
  bool begin_slice() {
    if (runs_ == nullptr || runs_->virtual_ < runs_->deadline) return false;
    runs_->deadline = runs_->virtual_ + runs_->slice * 1024 / runs_->weight;
    return members_.size() > 1;
  }
  /// V exactly: least_ + sum / weights().
  Wide sum() const {
    Wide sum = 0;
    for (const Member* j : members_) sum += static_cast<Wide>(j->weight) * (j->virtual_ - least_);
    return sum;
  }
  bool eligible(const Member& m) const { return static_cast<Wide>(m.virtual_ - least_) * weights() <= sum(); }
  Ns mean() const {
    if (members_.empty()) return least_;
    const Wide all = weights(), of = sum();
    return least_ + static_cast<Ns>((of < 0 ? of - (all - 1) : of) / all);
  }
  std::int64_t weights() const {
    std::int64_t all = 0;
    for (const Member* j : members_) all += j->weight;
    return all;
  }
  void advance() {
    if (members_.empty()) return;
    Ns least = members_.front()->virtual_;
    for (const Member* j : members_) least = std::min(least, j->virtual_);
    least_ = std::max(least_, least);
  }

  void place(Member& m) {
    Ns lag = 0;
    if (!members_.empty()) {
      const std::int64_t others = weights();
      lag = static_cast<Ns>(static_cast<Wide>(m.lag) * (others + m.weight) / others);
    }
    m.virtual_ = mean() - lag;
    m.deadline = m.virtual_ + (std::exchange(m.relative, false) ? m.deadline : m.slice * 1024 / m.weight);
    m.queued = true;
    m.since = ++order_;
    members_.push_back(&m);
    advance();
  }
  void leave(Member& m) {
    const Ns most = std::max(2 * m.slice, tick_) * 1024 / m.weight;
    m.lag = std::clamp(lag(m), -most, most);
    remove(m);
  }
  void remove(Member& m) {
    std::erase(members_, &m);
    m.queued = m.delayed = false;
    if (before_ == &m) before_ = nullptr;
    advance();
  }

  // RUN_TO_PARITY
  bool kept() const { return runs_->deadline == slice_ends_ && eligible(*runs_); }
  Member* earliest() const {
    Member* best = nullptr;
    const Wide all = weights(), of = sum();
    for (Member* m : members_) {
      if (static_cast<Wide>(m->virtual_ - least_) * all > of) continue;  // not eligible
      // Among equals, the first in the queue; the running thread is not in it.
      const auto order = [this](const Member* x) { return std::pair(x->deadline, x == runs_ ? UINT64_MAX : x->since); };
      if (best == nullptr || order(m) < order(best)) best = m;
    }
    return best;
  }
  void pick() {
    if (runs_ != nullptr && kept()) return;
    while (Member* best = earliest()) {
      if (!best->delayed) return run(*best);
      remove(*best);  // DELAY_ZERO
      best->lag = 0;
    }
    runs_ = nullptr;
  }
  void run(Member& m) {
    if (runs_ != nullptr && runs_ != &m) {
      runs_->since = ++order_;
      before_ = runs_;
      before_ends_ = slice_ends_;
    }
    runs_ = &m;
    slice_ends_ = m.deadline;
  }

  bool delay_;
  Ns tick_;
  std::vector<Member*> members_;
  Member* runs_ = nullptr;
  Ns slice_ends_ = 0;         // its virtual deadline when it was chosen
  Member* before_ = nullptr;  // the member that ran before, until the chosen one has run
  Ns before_ends_ = 0;
  Ns least_ = 0;  // virtual runtime; never decreases
  std::uint64_t order_ = 0;
};

/// State shared by all fair threads of a host.
class LinuxEevdfGroup {
 public:
  struct Options {
    int tick_hz = 1000;
    int cpus = 1;
    Ns slice = 750'000;  ///< base_slice_ns
    bool delay = true;   ///< DELAY_DEQUEUE
    std::optional<FairServerBudget> server = FairServerBudget{};
  };
  explicit LinuxEevdfGroup(const Options& o)
      : options_(o),
        cpus_(static_cast<std::size_t>(o.cpus),
              {EevdfQueue(o.delay, 1'000'000'000 / o.tick_hz), FairServer(o.server.value_or(FairServerBudget{}))}) {}
  /// The kernel's scaling of the base slice: times 1 + log2 of the number of CPUs, where at most 8 count.
  static Ns slice_of(Ns base_slice, int cpus) {
    Ns factor = 1;
    for (int n = std::min(cpus, 8); n > 1; n /= 2) factor++;
    return base_slice * factor;
  }

 private:
  friend class LinuxEevdfThread;
  struct PerCpu {
    EevdfQueue queue;
    FairServer server;
  };
  Options options_;
  std::vector<PerCpu> cpus_;
};

class LinuxEevdfThread final : public ThreadPolicy {
 public:
  /// @param weight 1024 for nice 0, 1.25 times as much for each lower nice value
  explicit LinuxEevdfThread(std::shared_ptr<LinuxEevdfGroup> group, std::int64_t weight = 1024)
      : group_(std::move(group)), clock_(group_->options_.tick_hz) {
    member_.weight = weight;
    member_.slice = group_->options_.slice;
  }
  ~LinuxEevdfThread() override { queue().depart(member_); }

  void begin_job(Ns now, const CurrentJob&, bool woken) override {
    now_ = now;
    if (!woken) return;
    clock_.stopped();
    if (queue().empty()) server().start(now);
    queue().wake(member_);
  }
  void sleep(Ns) override {
    queue().sleep(member_);
    if (queue().empty()) server().stop();
  }
  void moved(int cpu) override {
    const bool there = member_.queued && !member_.delayed;
    queue().depart(member_);
    if (queue().empty()) server().stop();
    cpu_ = static_cast<std::size_t>(cpu);
    if (!there) return;
    if (queue().empty()) server().start(now_);
    queue().arrive(member_);
  }
  void charge(Ns ran) override {
    clock_.ran();
    stolen(ran);
  }
  void stolen(Ns time) override {
    queue().charge(member_, time);
    server().charge(time);
  }
  void stopped() override { clock_.stopped(); }
  Change update(Ns now) override {
    now_ = now;
    const TickWatch::Seen seen = clock_.look(now);
    const bool ticked = seen.tick && seen.on_cpu;
    if (ticked) queue().tick();
    if (group_->options_.server) server().look(now, ticked);
    return {};
  }
  bool shares() const override { return true; }
  Migration migration() const override { return Migration::kBalance; }
  // After all real-time priorities, whose keys are negative, unless the server runs.
  Standing standing(Ns) const override {
    if (queue().runs() != &member_) return {Band::kPriority, 1};
    return server().runs() ? Standing{Band::kDeadline, server().deadline()} : Standing{Band::kPriority, 0};
  }
  Ns next_change(Ns now) const override {
    const Ns ticks = clock_.ticks.after(now);
    return group_->options_.server ? std::min(ticks, std::max(server().next(), now + 1)) : ticks;
  }
  const EevdfQueue::Member& member() const { return member_; }
  /// Its lag in CPU time, while it is runnable.
  Ns lag() const { return queue().lag(member_) * member_.weight / 1024; }

 private:
  EevdfQueue& queue() const { return group_->cpus_[cpu_].queue; }
  FairServer& server() const { return group_->cpus_[cpu_].server; }

  std::shared_ptr<LinuxEevdfGroup> group_;
  TickWatch clock_;
  EevdfQueue::Member member_;
  std::size_t cpu_ = 0;
  Ns now_ = 0;  // time of the last call
};

}  // namespace offhook::hostsim
