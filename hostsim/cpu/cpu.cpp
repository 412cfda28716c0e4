// SPDX-License-Identifier: MIT
#include "hostsim/cpu/cpu.h"

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include "hostsim/cpu/job_queue.h"
#include "hostsim/cpu/ready_list.h"
#include "hostsim/cpu/timer_tree.h"
#include "hostsim/engine/processor.h"

namespace offhook::hostsim {
namespace {

enum class Kind : std::uint8_t { kInterrupt, kDpc, kThread };

struct Entity {
  Program* program = nullptr;
  std::unique_ptr<ThreadPolicy> policy;  // of a thread
  JobQueue jobs;                         // unfinished ones, the current one first
  Ns remaining = 0;                      // of the current segment
  Ns queued = 0;                         // q of S3
  Ns cpu_time = 0;
  Ns deadline = kNever;    // relative
  std::size_t missed = 0;  // of the unfinished jobs, how many have been logged as missed
  Rank rank{};
  Kind kind = Kind::kThread;
  bool started = false;    // the current job has had the CPU
  bool listed = false;     // stands in the ready list, under `rank`
  bool touched = false;    // something happened to it in this instant
  bool exhausted = false;  // as of the previous instant: its budget was spent and it had a current job
  bool high = false;       // of a DPC
  EntityId dpc = kNoEntity;
  int level = 0;
  Policy reservation;
  std::string name;

  bool ready() const { return !jobs.empty(); }
  Ns next_miss() const { return deadline == kNever || missed == jobs.size() ? kNever : jobs[missed] + deadline; }
  CurrentJob current_job() const { return {jobs.front(), deadline == kNever ? kNever : jobs.front() + deadline}; }
};

/// See SoftirqLimit.
struct Softirq {
  SoftirqLimit limit;
  std::unique_ptr<ThreadPolicy> ksoftirqd;
  Ns began = -1;             // when the queue was empty no longer; -1: it is
  int passes = 0;            // that are over since
  std::size_t in_pass = 0;   // jobs that were there when the pass began and are not done
  bool handed_over = false;  // to ksoftirqd
};

// S9: the order of rows within an instant, for kStart, kResume, kPreempt, kFinish, kMiss, kThrottle, kReplenish.
constexpr std::uint32_t kRowOrder[] = {5, 5, 4, 0, 1, 3, 2};

Ns later(Ns now, Ns span) {
  return span > kNever - now ? kNever : now + span;
}

}  // namespace

struct Cpu::Impl final : Processor {
  Impl(Engine& e, Admission a) : engine(e), admission(a) { engine.attach(*this); }

  void settle(Ns now) override {
    charge(now);  // step 1
    if (current != kNoEntity) {
      if (at(current).started && at(current).remaining == 0) advance(current, now);  // step 2
      update(current, now);                                                          // step 3
    }
    while (timers.first() <= now) {  // step 4
      const EntityId id = timers.first_id();
      timers.set(id, kNever);
      update(id, now);
    }
    wake = std::min(wake, now);
  }

  void dispatch(Ns now) override {
    wake = kNever;
    charge(now);
    for (const EntityId id : touched) {
      miss_and_throttle(id, now);  // steps 6 and 7
      place(id, now);
    }
    touched.clear();
    const EntityId best = ready.empty() ? kNoEntity : ready.best();  // step 8
    if (best != current) {
      switch_to(best, now);
    } else if (best != kNoEntity && !at(best).started) {
      begin(best, now);
    }
    if (!rows.empty()) emit(now);
    wake = std::min({wake, timers.first(), end_of_run(now)});
  }

  Entity& at(EntityId id) { return entities[id]; }
  const Entity& at(EntityId id) const { return entities[id]; }

  void touch(EntityId id) {
    if (std::exchange(at(id).touched, true)) return;
    touched.push_back(id);
  }

  void charge(Ns now) {
    const Ns ran = now - std::exchange(charged, now);
    if (current == kNoEntity || ran == 0) return;
    Entity& e = at(current);
    e.remaining -= ran;
    e.cpu_time += ran;
    if (e.kind == Kind::kDpc) {
      dpc_time += ran;
      if (softirq && softirq->handed_over) softirq->ksoftirqd->charge(ran);
    }
    if (e.policy) e.policy->charge(ran);
  }

  // The running job's segment is over: ask for the next, or finish the job.
  void advance(EntityId id, Ns now) {
    const Ns cost = at(id).program->next(now);
    Entity& e = at(id);
    if (cost > 0) {
      e.remaining = cost;
      return;
    }
    const Ns released = e.jobs.front();
    e.jobs.pop();
    if (e.kind == Kind::kDpc) dpc_jobs--;
    if (e.missed > 0) e.missed--;
    e.started = false;
    touch(id);
    note(id, CpuObserver::Kind::kFinish);
    oh_event_log_write(log, static_cast<std::uint64_t>(now), OH_EV_FINISH, id,
                       static_cast<std::uint32_t>(std::min<Ns>((now - released) / 1000, UINT32_MAX)));
    if (e.dpc != kNoEntity) release(e.dpc, now);
    if (e.kind == Kind::kDpc && softirq) softirq_done(now);
    if (e.ready()) {
      make_current(e, now, false);
    } else if (e.policy) {
      e.policy->sleep(now);
    }
  }

  void touch_dpcs() {
    for (EntityId id = 0; id < entities.size(); id++)
      if (at(id).kind == Kind::kDpc && at(id).ready()) touch(id);
  }

  // A softirq is done: the last one, or the last of a pass?
  void softirq_done(Ns now) {
    Softirq& s = *softirq;
    if (dpc_jobs == 0) {
      s.began = -1;
      if (std::exchange(s.handed_over, false)) s.ksoftirqd->sleep(now);
      return;
    }
    if (s.handed_over || --s.in_pass > 0) return;
    s.in_pass = dpc_jobs;
    if (++s.passes < s.limit.passes && now - s.began < s.limit.budget) return;
    s.handed_over = true;
    s.ksoftirqd->begin_job(now, {now, kNever}, true);
    touch_dpcs();
  }

  static void make_current(Entity& e, Ns now, bool woken) {
    e.queued = now;
    if (e.policy) e.policy->begin_job(now, e.current_job(), woken);
  }

  void release(EntityId id, Ns now) {
    Entity& e = at(id);
    e.jobs.push(now);
    if (e.kind == Kind::kDpc) dpc_jobs++;
    if (e.jobs.size() == 1) {
      make_current(e, now, true);
    } else if (e.deadline == kNever || e.missed + 1 != e.jobs.size()) {
      return;  // it waits, and is not the next to miss its deadline
    }
    touch(id);
    wake = std::min(wake, now);
  }

  void update(EntityId id, Ns now) {
    Entity& e = at(id);
    touch(id);
    if (e.kind == Kind::kDpc && softirq && softirq->handed_over) {
      (void)softirq->ksoftirqd->update(now);
      touch_dpcs();
    }
    if (!e.policy || !e.ready()) return;
    const Change change = e.policy->update(now);
    if (change.requeue) e.queued = now;
    if (change.replenished) note(id, CpuObserver::Kind::kReplenish);
  }

  void miss_and_throttle(EntityId id, Ns now) {
    Entity& e = at(id);
    e.touched = false;
    if (!e.policy) return;
    while (e.next_miss() <= now) {
      e.missed++;
      note(id, CpuObserver::Kind::kMiss);
    }
    const bool exhausted = e.ready() && e.policy->exhausted();
    if (exhausted && !e.exhausted) note(id, CpuObserver::Kind::kThrottle);
    e.exhausted = exhausted;
  }

  // Its place in the ready list, and the next time at which something happens to it by itself.
  void place(EntityId id, Ns now) {
    Entity& e = at(id);
    Rank rank{static_cast<int>(Band::kCannotRun), 0, 0, id};
    if (e.ready()) {
      if (e.policy) {
        const Standing standing = e.policy->standing(now);
        rank = {static_cast<int>(standing.band), standing.key, e.queued, id};
        timers.set(id, std::min(e.next_miss(), e.policy->next_change(now)));
      } else if (e.kind == Kind::kInterrupt) {
        rank = {1, -e.level, e.jobs.front(), id};
      } else if (softirq && softirq->handed_over) {
        const Standing standing = softirq->ksoftirqd->standing(now);
        rank = {static_cast<int>(standing.band), standing.key, e.jobs.front(), id};
        timers.set(id, softirq->ksoftirqd->next_change(now));
      } else {
        constexpr Ns kHead = kNever / 2;
        rank = {2, e.started ? -kNever : e.high ? e.jobs.front() - kHead : e.jobs.front(), 0, id};
      }
    } else if (e.policy || e.kind == Kind::kDpc) {
      timers.set(id, kNever);
    }
    if (e.listed && rank == e.rank) return;
    if (e.listed) ready.remove(id);
    e.listed = rank.band != static_cast<int>(Band::kCannotRun);
    e.rank = rank;
    if (e.listed) ready.insert(rank);
  }

  void switch_to(EntityId next, Ns now) {
    if (current != kNoEntity && at(current).ready() && at(current).started) {
      note(current, CpuObserver::Kind::kPreempt);
      if (at(current).policy) at(current).policy->stopped();
    }
    current = next;
    if (next == kNoEntity) {
      oh_event_log_write(log, static_cast<std::uint64_t>(now), OH_EV_IDLE, 0, 0);
    } else if (at(next).started) {
      note(next, CpuObserver::Kind::kResume);
      oh_event_log_write(log, static_cast<std::uint64_t>(now), OH_EV_RUN, next, 0);
    } else {
      begin(next, now);
    }
  }

  // A job that starts runs its program now. What that releases, and the CPU itself if the program ends at once, take
  // another round of this instant.
  void begin(EntityId id, Ns now) {
    note(id, CpuObserver::Kind::kStart);
    oh_event_log_write(log, static_cast<std::uint64_t>(now), OH_EV_RUN, id, 1);
    at(id).started = true;
    if (softirq && at(id).kind == Kind::kDpc && softirq->began < 0) {
      softirq->began = now;
      softirq->passes = 0;
      softirq->in_pass = dpc_jobs;
    }
    if (high_dpcs && at(id).kind == Kind::kDpc) place(id, now);  // from now on nothing of the queue goes before it
    advance(id, now);
    if (at(id).touched) wake = now;
  }

  Ns end_of_run(Ns now) const {
    if (current == kNoEntity || !at(current).started) return kNever;
    const Entity& e = at(current);
    return later(now, e.policy ? std::min(e.remaining, e.policy->allowance()) : e.remaining);
  }

  void note(EntityId id, CpuObserver::Kind kind) {
    if (observer != nullptr) rows.push_back({kRowOrder[static_cast<int>(kind)] << 16 | id, kind});
  }

  void emit(Ns now) {
    for (std::size_t i = 1; i < rows.size(); i++) {  // by insertion: there are a handful, and it keeps equals in order
      const Row row = rows[i];
      std::size_t k = i;
      for (; k > 0 && row.order < rows[k - 1].order; k--) rows[k] = rows[k - 1];
      rows[k] = row;
    }
    for (const Row& row : rows) {
      const auto id = static_cast<EntityId>(row.order);
      if (row.kind == CpuObserver::Kind::kPreempt && throttled_off(id)) continue;
      observer->on_event(now, id, row.kind);
    }
    rows.clear();
  }

  // A throttle in this instant says already that the thread left the CPU, unless it may go on in the background.
  bool throttled_off(EntityId id) const {
    const std::uint32_t throttle = kRowOrder[static_cast<int>(CpuObserver::Kind::kThrottle)] << 16 | id;
    return !at(id).listed &&
           std::any_of(rows.begin(), rows.end(), [throttle](const Row& row) { return row.order == throttle; });
  }

  EntityId add(Entity e) {
    if (entities.size() >= kNoEntity) throw std::length_error("too many entities on one CPU");
    entities.push_back(std::move(e));
    timers.add();
    return static_cast<EntityId>(entities.size() - 1);
  }

  // Every reservation by itself and all of them together must fit into the CPU.
  void admit(const std::string& name, EntityId replacing, const Policy& policy) const {
    double sum = reserved_share(name, policy);
    if (admission == Admission::kNone) return;
    for (EntityId id = 0; id < entities.size(); id++) {
      if (id != replacing && at(id).kind == Kind::kThread) sum += reserved_share(at(id).name, at(id).reservation);
    }
    if (sum > 1 + 1e-12) {
      throw std::invalid_argument("reservation of '" + name +
                                  "' cannot be admitted: all reservations together would take " +
                                  std::to_string(sum * 100) + " % of the CPU");
    }
  }

  struct Row {
    std::uint32_t order;  // kind's place of S9, then declaration order
    CpuObserver::Kind kind;
  };

  Engine& engine;
  Admission admission;
  std::vector<Entity> entities;
  ReadyList ready;
  TimerTree timers;               // deadlines to be missed, refills, slot edges
  std::vector<EntityId> touched;  // in this instant
  EntityId current = kNoEntity;
  Ns charged = 0;            // up to when
  Ns dpc_time = 0;           // of all DPCs, up to then
  bool high_dpcs = false;    // there are some
  std::size_t dpc_jobs = 0;  // unfinished
  std::optional<Softirq> softirq;
  CpuObserver* observer = nullptr;
  oh_event_log* log = nullptr;
  std::vector<Row> rows;  // of this instant, for the observer
};

Cpu::Cpu(Engine& engine, Admission admission) : impl_(std::make_unique<Impl>(engine, admission)) {}
Cpu::~Cpu() = default;

EntityId Cpu::add_interrupt(InterruptSpec spec, Program& program) {
  Entity e;
  e.name = std::move(spec.name);
  e.kind = Kind::kInterrupt;
  e.program = &program;
  e.level = spec.level;
  e.dpc = spec.dpc;
  return impl_->add(std::move(e));
}

EntityId Cpu::add_dpc(DpcSpec spec, Program& program) {
  Entity e;
  e.name = std::move(spec.name);
  e.kind = Kind::kDpc;
  e.high = spec.high;
  impl_->high_dpcs |= spec.high;
  e.program = &program;
  return impl_->add(std::move(e));
}

EntityId Cpu::add_thread(std::string name, Policy policy, Program& program, Ns deadline) {
  impl_->admit(name, kNoEntity, policy);
  Entity e;
  e.name = std::move(name);
  e.program = &program;
  e.deadline = deadline;
  e.policy = make_thread_policy(policy);
  e.reservation = std::move(policy);
  return impl_->add(std::move(e));
}

void Cpu::release(EntityId entity) {
  impl_->release(entity, impl_->engine.now());
}

void Cpu::set_policy(EntityId thread, Policy policy) {
  const Ns now = impl_->engine.now();
  Entity& e = impl_->at(thread);
  impl_->admit(e.name, thread, policy);
  impl_->charge(now);
  e.policy = make_thread_policy(policy);
  e.reservation = std::move(policy);
  if (e.ready()) e.policy->begin_job(now, e.current_job(), true);
  impl_->touch(thread);
  impl_->wake = std::min(impl_->wake, now);
}

void Cpu::limit_dpcs(const SoftirqLimit& limit, Policy ksoftirqd) {
  impl_->softirq.emplace();
  impl_->softirq->limit = limit;
  impl_->softirq->ksoftirqd = make_thread_policy(ksoftirqd);
}

std::uint32_t Cpu::unfinished_jobs(EntityId entity) const {
  return static_cast<std::uint32_t>(impl_->at(entity).jobs.size());
}
Ns Cpu::cpu_time(EntityId entity) const {
  return impl_->at(entity).cpu_time + (entity == impl_->current ? impl_->engine.now() - impl_->charged : 0);
}
Ns Cpu::dpc_time() const {
  const bool in_dpc = impl_->current != kNoEntity && impl_->at(impl_->current).kind == Kind::kDpc;
  return impl_->dpc_time + (in_dpc ? impl_->engine.now() - impl_->charged : 0);
}
EntityId Cpu::running() const {
  return impl_->current;
}
std::string_view Cpu::name(EntityId entity) const {
  return impl_->at(entity).name;
}
std::size_t Cpu::entities() const {
  return impl_->entities.size();
}
void Cpu::set_observer(CpuObserver* observer) {
  impl_->observer = observer;
}
void Cpu::set_log(oh_event_log* log) {
  impl_->log = log;
}

}  // namespace offhook::hostsim
