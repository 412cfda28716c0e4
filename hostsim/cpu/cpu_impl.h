// SPDX-License-Identifier: MIT
//
// The steps of one instant on all CPUs of a host (section 8): settle() and dispatch(). Code for several CPUs is in
// cpu_migration.cpp, code for jobs that run without separate instants in cpu_unbroken.cpp.
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "driver/core/event_log_one_writer.h"
#include "hostsim/cpu/entity.h"
#include "hostsim/cpu/rows.h"
#include "hostsim/cpu/timer_tree.h"
#include "hostsim/engine/processor.h"
#include "hostsim/sched/migration.h"

namespace offhook::hostsim {

bool policy_takes_no_notice(const Policy& policy);

inline Ns later(Ns now, Ns span) {
  return span > kNever - now ? kNever : now + span;
}

struct Cpu::Impl final : Processor {
  Impl(Engine& e, Admission a, int cpus) : engine(e), admission(a), cores(static_cast<std::size_t>(cpus)) {
    engine.attach(*this);
  }

  void catch_up(Ns now) override;
  void tick_comes(Ns now) override {
    tick = steady->times.advance();
    release(steady->interrupt, now);
  }
  void settle(Ns now) override { several ? settle_on<true>(now) : settle_on<false>(now); }
  void dispatch(Ns now) override { several ? dispatch_on<true>(now) : dispatch_on<false>(now); }

  // The CPUs. Hosts with one CPU, the most frequent case, are a separate case at compile time.
  template <bool kSeveral>
  std::span<Core> all() {
    return {cores.data(), kSeveral ? cores.size() : 1};
  }

  template <bool kSeveral>
  void settle_on(Ns now) {
    bool goes_on = false;  // the entity on the CPU continues its job, and no policy needs its standing
    bool ended = false;    // or its last job is done
    for (Core& core : all<kSeveral>()) {
      charge(core, now);  // step 1
      if (core.current == kNoEntity) continue;
      enter(core);
      const Entity& e = at(core.current);
      const bool finished = e.started && e.remaining == 0 && advance(core.current, now);  // step 2
      goes_on = !kSeveral && !finished && e.quiet && e.started && !some_share;
      ended = finished && !e.ready();
      if (!goes_on && !(ended && e.policy) && (!finished || !stands_alone(e))) update(core.current, now);  // step 3
    }
    leave();
    while (timers.first() <= now) {  // step 4
      const EntityId id = timers.first_id();
      timers.set(id, kNever);
      update(id, now);
    }
    Core& core = cores.front();
    if (!kSeveral && ended && passes_on(core, now)) return;
    if (goes_on && touched.empty() && rows.empty() && first(core) == core.current) {  // there is nothing to dispatch
      wake = std::min(end_of_run(core, now), timers.first());
    } else {
      wake = std::min(wake, now);
    }
  }

  // The dispatch() for an instant whose only event is that the entity on the CPU has finished its last job.
  bool passes_on(Core& core, Ns now) {
    Entity& e = at(core.current);
    const bool thread = e.kind == EntityKind::kThread;
    if (thread ? touched.size() != 1 || touched.front() != core.current : !touched.empty()) return false;
    if (core.deferred->thread() != nullptr || (core.deferred->jobs() > 0 && !core.deferred->runs())) return false;
    if (charges_stolen || some_share || tick <= now || undisturbed_until() <= now) return false;
    if (thread) {
      touched.clear();
      e.touched = e.exhausted = false;
      place(core.current, now);
    }
    e.waiting_since = now;
    wake = kNever;
    switch_to(core, first(core), now);
    tell(now);
    wake = std::min({wake, end_of_run(core, now), timers.first()});
    return true;
  }

  template <bool kSeveral>
  void dispatch_on(Ns now) {
    wake = kNever;
    for (Core& core : all<kSeveral>()) charge(core, now);
    if (some_share) touch_shared();
    for (const EntityId id : touched) {
      miss_and_throttle(id, now);  // steps 6 and 7
      if (!kSeveral || !wakes(id)) place(id, now);
    }
    if (kSeveral) migrate(now);
    touched.clear();
    for (Core& core : all<kSeveral>()) {  // step 8
      if (core.ready.empty() && core.deferred->idle()) {
        for (EntityId id = 0; id < entities.size(); id++)
          if (is_dpc_of(core, id)) place(id, now);
      }
      if (core.current != kNoEntity && first(core) != core.current) take_off(core, now);
    }
    Ns next = timers.first();
    for (Core& core : all<kSeveral>()) {
      enter(core);
      const EntityId best = first(core);
      if (best != core.current) {
        switch_to(core, best, now);
      } else if (best != kNoEntity && !at(best).started) {
        begin(best, now);
      }
      next = std::min(next, end_of_run(core, now));
    }
    leave();
    tell(now);
    wake = std::min({wake, next, timers.first()});
  }

  static EntityId first(const Core& core) { return core.ready.empty() ? kNoEntity : core.ready.best(); }
  Core& core_of(const Entity& e) { return cores[static_cast<std::size_t>(e.cpu)]; }
  // From here on, all actions and log entries belong to this CPU.
  void enter(const Core& core) {
    if (!several) return;
    executing = &core;
    if (log != nullptr) log->cpu = static_cast<std::uint8_t>(&core - cores.data());
  }
  void leave() {
    executing = nullptr;
    if (several && log != nullptr) log->cpu = 0;
  }

  Entity& at(EntityId id) { return entities[id]; }
  const Entity& at(EntityId id) const { return entities[id]; }

  void touch(EntityId id) {
    if (std::exchange(at(id).touched, true)) return;
    touched.push_back(id);
  }

  // Interrupts, and DPCs that precede all threads: their position does not depend on later events of this instant. With
  // several CPUs, each CPU checks its queue once per round, even if another CPU has added to it.
  bool stands_alone(const Entity& e) {
    if (several || e.kind == EntityKind::kThread) return false;
    return e.kind == EntityKind::kInterrupt || (!some_share && core_of(e).deferred->thread() == nullptr);
  }
  // An event concerned this entity. It gets its new position now, or when this instant is settled.
  void changed(EntityId id, Ns now) { stands_alone(at(id)) ? place(id, now) : touch(id); }

  // Updates the entities whose position can depend on events of others (ThreadPolicy::shares), if there were any.
  void touch_shared() {
    const auto concerns = [this](EntityId id) { return at(id).shares || at(id).kind == EntityKind::kDpc; };
    if (std::none_of(touched.begin(), touched.end(), concerns)) return;
    for (EntityId id = 0; id < entities.size(); id++)
      if (concerns(id) && at(id).ready()) touch(id);
  }

  void charge(Core& core, Ns now) {
    if (tick < now) pass_ticks(now);
    const Ns ran = now - std::exchange(core.charged, now) - std::exchange(ticked, 0);
    if (core.current == kNoEntity || ran == 0) return;
    Entity& e = at(core.current);
    e.remaining -= ran;
    e.cpu_time += ran;
    if (e.kind == EntityKind::kDpc) {
      core.dpc_time += ran;
      if (ThreadPolicy* thread = core.deferred->thread()) thread->charge(ran);
    }
    if (e.policy && !e.plain) e.policy->charge(ran);
    if (core.robbed != kNoEntity && !is_thread(core, core.current)) {
      at(core.robbed).policy->stolen(ran);
      touch(core.robbed);
    }
  }

  // The time that charge() would charge now.
  Ns uncharged(const Core& core) {
    const Ns now = engine.now();
    if (tick < now) pass_ticks(now);
    return now - core.charged - ticked;
  }

  // The running job's segment is over: gets the next, or finishes the job. @return whether the job is finished
  bool advance(EntityId id, Ns now) {
    const Ns cost = at(id).program->next(now);
    Entity& e = at(id);
    if (cost > 0) {
      e.remaining = cost + std::exchange(e.switching, 0);
      return false;
    }
    const Ns released = e.jobs.front();
    e.jobs.pop();
    if (e.missed > 0) e.missed--;
    e.started = false;
    changed(id, now);
    rows.note(id, CpuObserver::Kind::kFinish);
    oh_event_log_write_alone(log, static_cast<std::uint64_t>(now), OH_EV_FINISH, id,
                             static_cast<std::uint32_t>(std::min<Ns>((now - released) / 1000, UINT32_MAX)));
    if (e.dpc != kNoEntity) release(e.dpc, now);
    if (e.kind == EntityKind::kDpc && core_of(e).deferred->done(now)) touch_dpcs(core_of(e));
    if (e.ready()) {
      make_current(e, now, false);
    } else if (e.policy && !e.plain) {
      e.policy->sleep(now);
    }
    return true;
  }

  bool is_dpc_of(const Core& core, EntityId id) {
    return at(id).kind == EntityKind::kDpc && at(id).ready() && &core_of(at(id)) == &core;
  }
  void touch_dpcs(const Core& core) {
    for (EntityId id = 0; id < entities.size(); id++)
      if (is_dpc_of(core, id)) touch(id);
  }

  static void make_current(Entity& e, Ns now, bool woken) {
    e.queued = now;
    e.turn_ended_on = -1;
    if (woken) e.waiting_since = now;
    if (e.policy) e.policy->begin_job(now, e.current_job(), woken);
  }

  void release(EntityId id, Ns now) {
    if (in_unbroken) return release_unbroken(id);
    if (some_share) {  // after this, observers of the others see their time up to now
      for (Core& core : cores) charge(core, now);
    }
    Entity& e = at(id);
    e.jobs.push(now);
    if (e.kind == EntityKind::kDpc) {
      Core& core = core_of(e);
      const bool elsewhere = executing != nullptr && executing != &core;
      if (core.deferred->queue(now, e.importance, !elsewhere)) {
        touch_dpcs(core);  // those that waited
        wake = std::min(wake, now);
      }
    }
    if (e.jobs.size() == 1) {
      make_current(e, now, true);
    } else if (e.deadline == kNever || e.missed + 1 != e.jobs.size()) {
      return;  // it waits, and has no deadline to miss next
    }
    changed(id, now);
    wake = std::min(wake, now);
  }

  void update(EntityId id, Ns now) {
    Entity& e = at(id);
    changed(id, now);
    if (ThreadPolicy* thread = e.kind == EntityKind::kDpc ? core_of(e).deferred->thread() : nullptr) {
      (void)thread->update(now);
      touch_dpcs(core_of(e));
    }
    if (!e.policy || e.plain || !e.ready()) return;
    const Change change = e.policy->update(now);
    if (change.requeue) {
      e.queued = now;
      e.turn_ended_on = e.cpu;
    }
    if (change.replenished) rows.note(id, CpuObserver::Kind::kReplenish);
  }

  void miss_and_throttle(EntityId id, Ns now) {
    Entity& e = at(id);
    e.touched = false;
    if (!e.policy) return;
    while (e.next_miss() <= now) {
      e.missed++;
      rows.note(id, CpuObserver::Kind::kMiss);
    }
    if (e.plain) return;
    const bool exhausted = e.ready() && e.policy->exhausted();
    if (exhausted && !e.exhausted) rows.note(id, CpuObserver::Kind::kThrottle);
    e.exhausted = exhausted;
  }

  // Its position in the ready list.
  Rank rank_of(EntityId id, Ns now) {
    const Entity& e = at(id);
    if (!e.ready()) return {static_cast<int>(Band::kCannotRun), 0, 0, id};
    if (e.kind == EntityKind::kInterrupt) return {1, -e.level, e.jobs.front(), id};
    const DeferredWork& deferred = *core_of(e).deferred;
    if (const ThreadPolicy* thread = e.policy ? e.policy.get() : deferred.thread()) {
      const Standing standing = thread->standing(now);
      Ns queued = !e.policy ? e.jobs.front() : e.shares ? e.policy->queued(e.queued) : e.queued;
      // Among the threads of all CPUs: threads whose turns end at the same instant queue in the order of their CPUs.
      if (several) queued = queued * (2 * kMaxCpus) + (e.policy && !e.stays() ? e.turn_ended_on + 1 : 0);
      return {static_cast<int>(standing.band), standing.key, queued, id};
    }
    if (!deferred.runs()) return {static_cast<int>(Band::kCannotRun), 0, 0, id};
    constexpr Ns kHead = kNever / 2;
    const bool high = e.importance == DpcImportance::kHigh;
    return {2, e.started ? -kNever : high ? e.jobs.front() - kHead : e.jobs.front(), 0, id};
  }

  // Its position in the queue of its CPU, and the time of its next own event.
  void place(EntityId id, Ns now) {
    Entity& e = at(id);
    if (!e.ready()) {
      if (e.policy || e.kind == EntityKind::kDpc) timers.set(id, kNever);
      return unlist(e, id);
    }
    const Rank rank = rank_of(id, now);
    if (e.policy) {
      timers.set(id, e.plain ? e.next_miss() : std::min(e.next_miss(), e.policy->next_change(now)));
    } else if (e.kind == EntityKind::kDpc) {
      const ThreadPolicy* thread = core_of(e).deferred->thread();
      timers.set(id, thread != nullptr ? thread->next_change(now) : kNever);
    }
    if (e.listed && rank == e.rank) return;
    unlist(e, id);
    if (rank.band == static_cast<int>(Band::kCannotRun)) return;
    e.listed = true;
    e.rank.set(rank);
    core_of(e).ready.insert(rank);
  }
  void unlist(Entity& e, EntityId id) {
    if (std::exchange(e.listed, false)) core_of(e).ready.remove(id);
  }

  // A thread that becomes ready searches for a CPU first.
  bool wakes(EntityId id) const {
    const Entity& e = at(id);
    return !e.listed && e.ready() && e.policy && !e.stays();
  }
  void move(EntityId id, int cpu, Ns now);
  Waiter waiter(EntityId id, Ns now);
  void look_at_lines(Ns now);
  void migrate(Ns now);

  void take_off(const Core& core, Ns now) {
    Entity& e = at(core.current);
    e.waiting_since = now;
    if (!e.ready() || !e.started) return;
    rows.note(core.current, CpuObserver::Kind::kPreempt);
    if (e.policy && !e.plain) e.policy->stopped();
  }

  // Notes the entity charged for the next one unless that is a thread: the preempted entity, or the one charged for
  // that entity.
  void note_robbed(Core& core, EntityId next) {
    if (next == kNoEntity || core.current == kNoEntity || is_thread(core, next)) {
      core.robbed = kNoEntity;
    } else if (is_thread(core, core.current)) {
      core.robbed = at(core.current).policy && at(core.current).ready() ? core.current : kNoEntity;
    }
  }
  // Or deferred work that a thread executes now.
  bool is_thread(const Core& core, EntityId id) const {
    return at(id).policy || (at(id).kind == EntityKind::kDpc && core.deferred->thread() != nullptr);
  }

  void switch_to(Core& core, EntityId next, Ns now) {
    if (charges_stolen) note_robbed(core, next);
    core.current = next;
    if (next == kNoEntity) {
      oh_event_log_write_alone(log, static_cast<std::uint64_t>(now), OH_EV_IDLE, 0, 0);
      return;
    }
    if (at(next).kind == EntityKind::kThread) change_threads(core, next, now);
    at(next).last = at(next).cpu;
    if (at(next).started) {
      rows.note(next, CpuObserver::Kind::kResume);
      oh_event_log_write_alone(log, static_cast<std::uint64_t>(now), OH_EV_RUN, next, 0);
    } else {
      begin(next, now);
    }
  }

  void change_threads(Core& core, EntityId next, Ns now) {
    const EntityId before = std::exchange(core.warm, next);
    if (before != next && before != kNoEntity && at(before).listed && at(before).policy->replaced()) place(before, now);
    Entity& e = at(next);
    const Ns cost =
        (before != next ? switch_costs.another : 0) + (e.cpu_time > 0 && e.last != e.cpu ? switch_costs.migration : 0);
    (e.started ? e.remaining : e.switching) += cost;
  }

  // A job that starts runs its program now. Jobs that it releases, and a program that ends immediately, require another
  // round of this instant.
  void begin(EntityId id, Ns now) {
    rows.note(id, CpuObserver::Kind::kStart);
    oh_event_log_write_alone(log, static_cast<std::uint64_t>(now), OH_EV_RUN, id, 1);
    at(id).started = true;
    if (at(id).kind == EntityKind::kDpc) {
      core_of(at(id)).deferred->begins(now);
      if (high_dpcs) place(id, now);  // from now on, nothing in the queue precedes it
    }
    if (advance(id, now)) wake = now;
  }

  Ns end_of_run(const Core& core, Ns now) const {
    if (core.current == kNoEntity || !at(core.current).started) return kNever;
    const Entity& e = at(core.current);
    const Ns span = e.policy && !e.plain ? std::min(e.remaining, e.policy->allowance()) : e.remaining;
    return tick == kNever ? later(now, span) : end_among_ticks(now, span);
  }

  bool goes_unbroken() const;
  bool goes_unbroken(const PlannedJob& job) const;
  std::size_t unbroken_part(std::span<const PlannedJob> jobs, Ns limit) const;
  Ns undisturbed_until() const { return std::min(engine.undisturbed_until(), timers.first()); }

  // A clock that has no events (cpu_clock.cpp).
  struct Steady {
    EntityId interrupt;
    Ns cost;
    TickTimes times;  // times.at is `tick`
    SteadyClock& clock;
  };
  bool keep_ticking(EntityId interrupt, Ns cost, const TickTimes& times, SteadyClock& clock);
  void resume_clock();
  void pass_ticks(Ns now);
  Ns end_among_ticks(Ns now, Ns span) const;
  bool run_unbroken(std::span<const PlannedJob> jobs);
  void release_unbroken(EntityId id);
  void pass(Core& core, const PlannedJob& job, Ns now, Ns cost);
  void step_aside(const Core& core, Ns now);
  void go_on(Core& core, Ns now);
  // Reports the recorded events, which belong to this time.
  void tell(Ns now) {
    if (!rows.empty()) rows.emit(now, [this](EntityId id) { return !at(id).listed; });
  }
  Ns repeat_unbroken(std::span<const PlannedJob> jobs, RepeatedChain& chain);

  EntityId add(Entity e) {
    if (entities.size() >= kNoEntity) throw std::length_error("too many entities on one host");
    if (e.cpu < 0 || e.cpu >= static_cast<int>(cores.size()))
      throw std::invalid_argument("'" + e.name + "' is on CPU " + std::to_string(e.cpu) + ", but there are only " +
                                  std::to_string(cores.size()));
    entities.push_back(std::move(e));
    timers.add();
    return static_cast<EntityId>(entities.size() - 1);
  }

  // Checks that each reservation fits, that those pinned to its CPU fit together, and that all fit together.
  void admit(const std::string& name, EntityId replacing, const Policy& policy, int on) const {
    const double own = reserved_share(name, policy);
    if (admission == Admission::kNone) return;
    double here = own, all = own;
    for (EntityId id = 0; id < entities.size(); id++) {
      if (id == replacing || at(id).kind != EntityKind::kThread) continue;
      const double share = reserved_share(at(id).name, at(id).reservation);
      all += share;
      if (at(id).stays() && at(id).cpu == on) here += share;
    }
    const auto cpus = static_cast<double>(cores.size());
    if (here > 1 + 1e-12 || all > cpus + 1e-12) {
      throw std::invalid_argument("reservation of '" + name +
                                  "' cannot be admitted: all reservations together would take " +
                                  std::to_string(here > 1 + 1e-12 ? here * 100 : all / cpus * 100) + " % of the CPU");
    }
  }

  Engine& engine;
  Admission admission;
  std::vector<Core> cores;
  const bool several = cores.size() > 1;
  SwitchCosts switch_costs;
  std::vector<Entity> entities;
  TimerTree timers;                      // deadlines that will be missed, refills, slot edges
  std::vector<EntityId> touched;         // in this instant
  const Core* executing = nullptr;       // on several CPUs: the CPU whose program is running
  std::span<const PlannedJob> unbroken;  // jobs still to be released, while run_unbroken() runs
  Ns unbroken_now = 0;
  bool in_unbroken = false;
  std::optional<Steady> steady;
  Ns ticked = 0;  // time that ticks took since `charged`
  std::vector<std::unique_ptr<Stub>> stubs;
  std::vector<CpuLine> lines = std::vector<CpuLine>(cores.size());
  std::vector<Waiter> waiters;
  int threads = 0;
  bool high_dpcs = false;   // there are some
  bool some_share = false;  // ThreadPolicy::shares()
  bool charges_stolen = false;
  oh_event_log* log = nullptr;
  Rows rows;
};

}  // namespace offhook::hostsim
