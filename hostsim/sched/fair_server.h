// SPDX-License-Identifier: MIT
//
// The deadline server of the fair class in Linux 6.12, which replaces the throttle of real-time threads. The fair
// threads of a CPU get 50 ms of every 1 s, whatever real-time threads do (/sys/kernel/debug/sched/fair_server). The
// server is deferred:
//   - When fair threads become runnable, it has a full budget and waits for period - budget. Time for which they run
//     meanwhile is taken from the budget and delays the server by the same amount. If the budget is used up, a new
//     period begins.
//   - After the wait it runs them as a deadline thread until the budget is spent, which the clock's interrupt
//     detects. A new period then begins.
// Source: the commit "sched/deadline: Deferrable dl server" (a110a81c52a9). By that commit, a server that had to run
// continues without deferring. A trace of 6.12.117 shows 950 ms before every run (tests/live/vm/schedulers.py): the
// thread that the clock interrupts continues for a moment and so has run by itself.
#pragma once

#include "hostsim/engine/engine.h"
#include "hostsim/engine/wide.h"

namespace offhook::hostsim {

struct FairServerBudget {
  Ns budget = 50'000'000;
  Ns period = 1'000'000'000;
};

/// The server of one CPU.
class FairServer {
 public:
  explicit FairServer(const FairServerBudget& b) : b_(b) {}

  bool runs() const { return state_ == State::kRuns; }
  Ns deadline() const { return deadline_; }
  /// Time at which it begins to run, unless fair threads run before.
  Ns next() const { return state_ == State::kDeferred ? deadline_ - left_ : kNever; }

  /// The first fair thread became runnable. The remaining budget is kept unless it exceeds the budget's share of the
  /// time to the deadline.
  void start(Ns now) {
    if (deadline_ <= now || static_cast<Wide>(left_) * b_.period > static_cast<Wide>(deadline_ - now) * b_.budget)
      begin_period(now);
    state_ = State::kDeferred;
  }
  /// No fair thread is runnable now.
  void stop() { state_ = State::kOff; }
  /// Fair threads ran.
  void charge(Ns ran) { left_ -= ran; }
  /// Sets the time. @param tick  a clock interrupt hits a fair thread
  void look(Ns now, bool tick) {
    if (state_ == State::kOff) return;
    if (left_ <= 0 && (tick || state_ == State::kDeferred)) {
      begin_period(now);
      state_ = State::kDeferred;
    } else if (state_ == State::kDeferred && now >= deadline_ - left_) {
      state_ = State::kRuns;
    }
  }

 private:
  enum class State { kOff, kDeferred, kRuns };
  void begin_period(Ns now) {
    deadline_ = now + b_.period;
    left_ = b_.budget;
  }

  FairServerBudget b_;
  State state_ = State::kOff;
  Ns left_ = 0, deadline_ = 0;
};

}  // namespace offhook::hostsim
