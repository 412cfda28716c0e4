// SPDX-License-Identifier: MIT
//
// Other load of the machine: the competitors of the paper's experiments.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "hostsim/cpu/cpu.h"
#include "offhook/event_log.h"

namespace offhook::hostsim {

/// A thread that never blocks.
class Spinner final : public Program {
 public:
  Ns next(Ns) override { return Ns{1} << 60; }
};

/// A thread that works for `work` in every period `every`, counted from start(). After late work, the next one starts
/// immediately; only one missed release is kept.
class PeriodicThread final : public Event, public Program {
 public:
  PeriodicThread(Engine& engine, Cpu& cpu, Ns every, Ns work)
      : engine_(engine), cpu_(cpu), every_(every), work_(work) {}
  void start(EntityId thread) {
    thread_ = thread;
    engine_.at(engine_.now(), *this);
  }
  void fire(Ns now) override {
    if (cpu_.unfinished_jobs(thread_) < 2) cpu_.release(thread_);
    engine_.at(now + every_, *this);
  }
  Ns next(Ns) override {
    entered_ = !entered_;
    return entered_ ? work_ : 0;
  }

 private:
  Engine& engine_;
  Cpu& cpu_;
  Ns every_, work_;
  EntityId thread_ = kNoEntity;
  bool entered_ = false;
};

/// The clock interrupt: tick n comes floor(n * 1e9 / hz) ns after the first, so that ticks never drift.
class ClockInterrupt final : public Event, public Program, private RepeatedChain, private SteadyClock {
 public:
  /// @param cost of one interrupt  @param on the CPU that is interrupted
  ClockInterrupt(Engine& engine, Cpu& cpu, int hz, int level, Ns cost, int on = 0, std::string name = "clock");
  /// Called at every tick, in the clock's interrupt; may be null.
  class Listener {
   public:
    virtual ~Listener() = default;
    virtual void tick(Ns now) = 0;
    /// Jobs that tick() will release at this time, in order. @param jobs receives them @return false if unknown
    virtual bool plan(Ns now, std::vector<PlannedJob>& jobs) const { return (void)now, (void)jobs, false; }
    /// Whether plan() is known for this time, even if empty, and passed() can replace tick() and these jobs.
    virtual bool repeats(Ns now, bool releases) const { return (void)now, (void)releases, false; }
    /// The jobs of plan() at this time were all run, in order. @pre repeats()
    virtual void passed(Ns now) { (void)now; }
  };
  void set_listener(Listener* listener) { listener_ = listener; }
  /// Additional work of a scheduler at this tick: the next interrupt takes longer by this time.
  void prolong(Ns by) {
    extra_ += by;
    cpu_.resume_clock();
  }
  /// @param first time of tick 0
  void start(Ns first = 0);
  void fire(Ns now) override;
  Ns next(Ns now) override;

 private:
  bool is_planned(Ns now);
  bool costs(Ns at, std::span<Ns> costs) override;
  Ns passed(Ns at) override;
  void resume(const TickTimes& times) override;

  Engine& engine_;
  Cpu& cpu_;
  TickTimes times_;
  int on_;
  Ns cost_;
  Ns extra_ = 0;
  EntityId entity_;
  Listener* listener_ = nullptr;
  bool entered_ = false;
  std::vector<PlannedJob> planned_;
};

/// A multimedia timer set to 1 ms and its callback at priority 31 (paper, 6.3): it expires at the first clock interrupt
/// at or after its time, runs through the timer DPC, and logs the time since its last run.
class TimerCallback final : public ClockInterrupt::Listener {
 public:
  /// @param on CPU to which the callback is pinned; the DPC is on CPU 0
  /// @param dpc_cost negative: no DPC, the interrupt wakes the thread, like Linux's high-resolution timers
  TimerCallback(Cpu& cpu, oh_event_log* log, Ns period, Ns callback_cost, Ns dpc_cost, int on = kAnyCpu);
  void tick(Ns now) override;
  bool plan(Ns now, std::vector<PlannedJob>& jobs) const override;
  bool repeats(Ns now, bool releases) const override;
  void passed(Ns now) override;

 private:
  void expire(Ns now);
  struct Callback final : Program {
    Ns next(Ns now) override;
    TimerCallback* timer = nullptr;
    bool entered = false;
  } callback_;
  struct TimerDpc final : Program {
    Ns next(Ns now) override;
    TimerCallback* timer = nullptr;
    bool entered = false;
  } dpc_;
  void wake();
  Ns callback_cost() const { return callback_cost_ > 0 ? callback_cost_ : 1; }
  Cpu& cpu_;
  oh_event_log* log_;
  Ns period_;
  Ns callback_cost_;
  Ns dpc_cost_;
  Ns due_;
  Ns last_ = -1;
  EntityId thread_;
  EntityId dpc_entity_ = kNoEntity;
};

}  // namespace offhook::hostsim
