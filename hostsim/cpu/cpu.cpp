// SPDX-License-Identifier: MIT
#include "hostsim/cpu/cpu.h"

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include "driver/core/event_log_one_writer.h"
#include "hostsim/cpu/job_queue.h"
#include "hostsim/cpu/timer_tree.h"
#include "hostsim/engine/processor.h"
#include "hostsim/sched/migration.h"
#include "hostsim/sched/ready_list.h"

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
  DpcImportance importance = DpcImportance::kMedium;  // of a DPC
  EntityId dpc = kNoEntity;
  int level = 0;
  int cpu = 0;              // in whose line it is; of one that sleeps: where it last was
  bool pinned = true;       // to that one
  int ideal = 0, last = 0;  // Windows NT's ideal CPU; the one where it last ran
  int turn_ended_on = -1;   // the CPU where it used up its turn, at `queued`; -1: it queued for another reason
  Ns waiting_since = 0;     // since it became ready or lost the CPU
  Policy reservation;
  std::string name;

  bool ready() const { return !jobs.empty(); }
  Ns next_miss() const { return deadline == kNever || missed == jobs.size() ? kNever : jobs[missed] + deadline; }
  CurrentJob current_job() const { return {jobs.front(), deadline == kNever ? kNever : jobs.front() + deadline}; }
  bool stays() const { return pinned || policy->migration() == Migration::kPinned; }
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

/// What is left of a threaded interrupt at interrupt level.
class Stub final : public Program {
 public:
  explicit Stub(Ns cost) : cost_(cost) {}
  Ns next(Ns) override {
    entered_ = !entered_ && cost_ > 0;
    return entered_ ? cost_ : 0;
  }

 private:
  Ns cost_;
  bool entered_ = false;
};

/// One CPU.
struct Core {
  ReadyList ready;
  EntityId current = kNoEntity;
  EntityId thread = kNoEntity;  // that has it, or had it until an interrupt or a DPC came; of several CPUs only
  Ns charged = 0;               // up to when
  Ns dpc_time = 0;              // of all DPCs, up to then
  std::size_t dpc_jobs = 0;     // unfinished
  bool drains = false;          // the DPC queue has been requested to be emptied
  int requests = 0;             // of DPCs, in this clock interval
  int request_rate = 0;         // and in those before, as a mean that forgets by halves
  std::optional<Softirq> softirq;
};

// S9: the order of rows within an instant, for kStart, kResume, kPreempt, kFinish, kMiss, kThrottle, kReplenish.
constexpr std::uint32_t kRowOrder[] = {5, 5, 4, 0, 1, 3, 2};

Ns later(Ns now, Ns span) {
  return span > kNever - now ? kNever : now + span;
}

}  // namespace

struct Cpu::Impl final : Processor {
  Impl(Engine& e, Admission a, int cpus) : engine(e), admission(a), cores(static_cast<std::size_t>(cpus)) {
    engine.attach(*this);
  }

  void settle(Ns now) override {
    for (Core& core : cores) {
      charge(core, now);  // step 1
      if (core.current == kNoEntity) continue;
      enter(core);
      if (at(core.current).started && at(core.current).remaining == 0) advance(core.current, now);  // step 2
      update(core.current, now);                                                                    // step 3
    }
    leave();
    while (timers.first() <= now) {  // step 4
      const EntityId id = timers.first_id();
      timers.set(id, kNever);
      update(id, now);
    }
    wake = std::min(wake, now);
  }

  void dispatch(Ns now) override {
    wake = kNever;
    for (Core& core : cores) charge(core, now);
    for (const EntityId id : touched) {
      miss_and_throttle(id, now);  // steps 6 and 7
      if (!several || !wakes(id)) place(id, now);
    }
    if (several) migrate(now);
    touched.clear();
    for (Core& core : cores) {  // step 8
      if (core.dpc_jobs > 0 && !core.drains && core.ready.empty()) {
        core.drains = true;
        for (EntityId id = 0; id < entities.size(); id++)
          if (is_dpc_of(core, id)) place(id, now);
      }
      if (core.current != kNoEntity && first(core) != core.current) take_off(core, now);
    }
    Ns next = timers.first();
    for (Core& core : cores) {
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
    if (!rows.empty()) emit(now);
    wake = std::min({wake, next, timers.first()});
  }

  static EntityId first(const Core& core) { return core.ready.empty() ? kNoEntity : core.ready.best(); }
  Core& core_of(const Entity& e) { return cores[static_cast<std::size_t>(e.cpu)]; }
  // What happens from now on, and is written to the log, happens on this CPU.
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

  void charge(Core& core, Ns now) {
    const Ns ran = now - std::exchange(core.charged, now);
    if (core.current == kNoEntity || ran == 0) return;
    Entity& e = at(core.current);
    e.remaining -= ran;
    e.cpu_time += ran;
    if (e.kind == Kind::kDpc) {
      core.dpc_time += ran;
      if (core.softirq && core.softirq->handed_over) core.softirq->ksoftirqd->charge(ran);
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
    if (e.kind == Kind::kDpc && --core_of(e).dpc_jobs == 0) core_of(e).drains = false;
    if (e.missed > 0) e.missed--;
    e.started = false;
    touch(id);
    note(id, CpuObserver::Kind::kFinish);
    oh_event_log_write_alone(log, static_cast<std::uint64_t>(now), OH_EV_FINISH, id,
                             static_cast<std::uint32_t>(std::min<Ns>((now - released) / 1000, UINT32_MAX)));
    if (e.dpc != kNoEntity) release(e.dpc, now);
    if (e.kind == Kind::kDpc && core_of(e).softirq) softirq_done(core_of(e), now);
    if (e.ready()) {
      make_current(e, now, false);
    } else if (e.policy) {
      e.policy->sleep(now);
    }
  }

  bool is_dpc_of(const Core& core, EntityId id) {
    return at(id).kind == Kind::kDpc && at(id).ready() && &core_of(at(id)) == &core;
  }
  void touch_dpcs(const Core& core) {
    for (EntityId id = 0; id < entities.size(); id++)
      if (is_dpc_of(core, id)) touch(id);
  }

  // A DPC was queued: see DpcImportance.
  void request_dpc(const Entity& e, Core& core, Ns now) {
    constexpr std::size_t kMaximumDepth = 4;
    constexpr int kMinimumRate = 3;
    core.dpc_jobs++;
    core.requests++;
    if (core.drains) return;
    const bool elsewhere = executing != nullptr && executing != &core;
    core.drains = core.softirq || e.importance == DpcImportance::kHigh || core.dpc_jobs > kMaximumDepth ||
                  (!elsewhere && (e.importance == DpcImportance::kMedium || core.request_rate < kMinimumRate));
    if (!core.drains || core.dpc_jobs == 1) return;
    touch_dpcs(core);  // those that waited
    wake = std::min(wake, now);
  }

  // A softirq is done: the last one, or the last of a pass?
  void softirq_done(Core& core, Ns now) {
    Softirq& s = *core.softirq;
    if (core.dpc_jobs == 0) {
      s.began = -1;
      if (std::exchange(s.handed_over, false)) s.ksoftirqd->sleep(now);
      return;
    }
    if (s.handed_over || --s.in_pass > 0) return;
    s.in_pass = core.dpc_jobs;
    if (++s.passes < s.limit.passes && now - s.began < s.limit.budget) return;
    s.handed_over = true;
    s.ksoftirqd->begin_job(now, {now, kNever}, true);
    touch_dpcs(core);
  }

  static void make_current(Entity& e, Ns now, bool woken) {
    e.queued = now;
    e.turn_ended_on = -1;
    if (woken) e.waiting_since = now;
    if (e.policy) e.policy->begin_job(now, e.current_job(), woken);
  }

  void release(EntityId id, Ns now) {
    Entity& e = at(id);
    e.jobs.push(now);
    if (e.kind == Kind::kDpc) request_dpc(e, core_of(e), now);
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
    if (e.kind == Kind::kDpc && core_of(e).softirq && core_of(e).softirq->handed_over) {
      (void)core_of(e).softirq->ksoftirqd->update(now);
      touch_dpcs(core_of(e));
    }
    if (!e.policy || !e.ready()) return;
    const Change change = e.policy->update(now);
    if (change.requeue) {
      e.queued = now;
      e.turn_ended_on = e.cpu;
    }
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

  // Its place in the ready list.
  Rank rank_of(EntityId id, Ns now) {
    const Entity& e = at(id);
    if (!e.ready()) return {static_cast<int>(Band::kCannotRun), 0, 0, id};
    if (e.kind == Kind::kInterrupt) return {1, -e.level, e.jobs.front(), id};
    const std::optional<Softirq>& softirq = core_of(e).softirq;
    if (e.kind == Kind::kThread || (softirq && softirq->handed_over)) {
      const Standing standing = (e.policy ? *e.policy : *softirq->ksoftirqd).standing(now);
      Ns queued = e.policy ? e.queued : e.jobs.front();
      // Among the threads of all CPUs: those whose turns end together queue in the order of their CPUs.
      if (several) queued = queued * (2 * kMaxCpus) + (e.policy && !e.stays() ? e.turn_ended_on + 1 : 0);
      return {static_cast<int>(standing.band), standing.key, queued, id};
    }
    if (!core_of(e).drains) return {static_cast<int>(Band::kCannotRun), 0, 0, id};
    constexpr Ns kHead = kNever / 2;
    const bool high = e.importance == DpcImportance::kHigh;
    return {2, e.started ? -kNever : high ? e.jobs.front() - kHead : e.jobs.front(), 0, id};
  }

  // Its place in the line of its CPU, and the next time at which something happens to it by itself.
  void place(EntityId id, Ns now) {
    Entity& e = at(id);
    if (!e.ready()) {
      if (e.policy || e.kind == Kind::kDpc) timers.set(id, kNever);
      return unlist(e, id);
    }
    const Rank rank = rank_of(id, now);
    if (e.policy) {
      timers.set(id, std::min(e.next_miss(), e.policy->next_change(now)));
    } else if (e.kind == Kind::kDpc) {
      const std::optional<Softirq>& softirq = core_of(e).softirq;
      timers.set(id, softirq && softirq->handed_over ? softirq->ksoftirqd->next_change(now) : kNever);
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

  // A thread that becomes ready looks for a CPU first.
  bool wakes(EntityId id) const {
    const Entity& e = at(id);
    return !e.listed && e.ready() && e.policy && !e.stays();
  }

  void move(EntityId id, int cpu, Ns now) {
    Entity& e = at(id);
    if (e.cpu == cpu) return;
    unlist(e, id);
    e.cpu = cpu;
    e.policy->moved(cpu);
    if (e.ready()) place(id, now);
  }

  Waiter waiter(EntityId id, Ns now) {
    const Entity& e = at(id);
    return {.rank = rank_of(id, now),
            .migration = e.policy && !e.stays() ? e.policy->migration() : Migration::kPinned,
            .cpu = e.cpu,
            .ideal = e.ideal,
            .last = e.last,
            .since = e.waiting_since};
  }

  // The lines of threads, and those in them who are not the first.
  void look_at_lines(Ns now) {
    constexpr int kThreads = static_cast<int>(Band::kSlot);
    waiters.clear();
    for (std::size_t c = 0; c < cores.size(); c++) {
      CpuLine line;
      for (const Rank& rank : cores[c].ready.best_last()) {
        if (rank.band < kThreads) continue;
        const Entity& e = at(rank.id);
        const bool fair = e.policy && e.policy->migration() == Migration::kBalance;
        line.fair += fair;
        if (!line.idle) waiters.push_back(waiter(line.first.id, now));
        line.idle = false;
        line.first = rank;
        line.first_is_fair = fair;
        line.settled = rank.id == cores[c].thread && e.queued != now;
      }
      if (!line.idle && line.first.id != cores[c].thread) {
        Waiter next = waiter(line.first.id, now);
        next.next = true;
        if (next.migration == Migration::kIdeal) waiters.push_back(next);
      }
      lines[c] = line;
    }
  }

  // See sched/migration.h. Every move makes some CPU's thread more urgent, busy, or its line nearer to the others'.
  void migrate(Ns now) {
    for (const EntityId id : touched) {
      if (!wakes(id)) continue;
      look_at_lines(now);
      move(id, cpu_to_wake_on(waiter(id, now), lines), now);
      place(id, now);
    }
    for (bool moved = true; std::exchange(moved, false);) {
      look_at_lines(now);
      std::sort(waiters.begin(), waiters.end(), [](const Waiter& a, const Waiter& b) { return a.rank < b.rank; });
      for (const Waiter& w : waiters) {
        const int cpu = cpu_to_move_to(w, lines);
        if (cpu == w.cpu) continue;
        move(who_moves(w, cpu, lines, waiters, now).rank.id, cpu, now);
        moved = true;
        break;
      }
    }
    look_at_lines(now);
    for (std::size_t c = 0; c < cores.size(); c++) cores[c].thread = lines[c].idle ? kNoEntity : lines[c].first.id;
  }

  void take_off(const Core& core, Ns now) {
    Entity& e = at(core.current);
    e.waiting_since = now;
    if (!e.ready() || !e.started) return;
    note(core.current, CpuObserver::Kind::kPreempt);
    if (e.policy) e.policy->stopped();
  }

  void switch_to(Core& core, EntityId next, Ns now) {
    core.current = next;
    if (next == kNoEntity) {
      oh_event_log_write_alone(log, static_cast<std::uint64_t>(now), OH_EV_IDLE, 0, 0);
      return;
    }
    at(next).last = at(next).cpu;
    if (at(next).started) {
      note(next, CpuObserver::Kind::kResume);
      oh_event_log_write_alone(log, static_cast<std::uint64_t>(now), OH_EV_RUN, next, 0);
    } else {
      begin(next, now);
    }
  }

  // A job that starts runs its program now. What that releases, and the CPU itself if the program ends at once, take
  // another round of this instant.
  void begin(EntityId id, Ns now) {
    note(id, CpuObserver::Kind::kStart);
    oh_event_log_write_alone(log, static_cast<std::uint64_t>(now), OH_EV_RUN, id, 1);
    at(id).started = true;
    Core& core = core_of(at(id));
    if (core.softirq && at(id).kind == Kind::kDpc && core.softirq->began < 0) {
      core.softirq->began = now;
      core.softirq->passes = 0;
      core.softirq->in_pass = core.dpc_jobs;
    }
    if (high_dpcs && at(id).kind == Kind::kDpc) place(id, now);  // from now on nothing of the queue goes before it
    advance(id, now);
    if (at(id).touched) wake = now;
  }

  Ns end_of_run(const Core& core, Ns now) const {
    if (core.current == kNoEntity || !at(core.current).started) return kNever;
    const Entity& e = at(core.current);
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
    if (entities.size() >= kNoEntity) throw std::length_error("too many entities on one host");
    if (e.cpu < 0 || e.cpu >= static_cast<int>(cores.size()))
      throw std::invalid_argument("'" + e.name + "' is on CPU " + std::to_string(e.cpu) + ", but there are only " +
                                  std::to_string(cores.size()));
    entities.push_back(std::move(e));
    timers.add();
    return static_cast<EntityId>(entities.size() - 1);
  }

  // Every reservation by itself, those that stay on its CPU and all of them together must fit.
  void admit(const std::string& name, EntityId replacing, const Policy& policy, int on) const {
    const double own = reserved_share(name, policy);
    if (admission == Admission::kNone) return;
    double here = own, all = own;
    for (EntityId id = 0; id < entities.size(); id++) {
      if (id == replacing || at(id).kind != Kind::kThread) continue;
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

  struct Row {
    std::uint32_t order;  // kind's place of S9, then declaration order
    CpuObserver::Kind kind;
  };

  Engine& engine;
  Admission admission;
  std::vector<Core> cores;
  const bool several = cores.size() > 1;
  std::vector<Entity> entities;
  TimerTree timers;                 // deadlines to be missed, refills, slot edges
  std::vector<EntityId> touched;    // in this instant
  const Core* executing = nullptr;  // of several: whose program runs just now
  std::vector<std::unique_ptr<Stub>> stubs;
  std::vector<CpuLine> lines = std::vector<CpuLine>(cores.size());
  std::vector<Waiter> waiters;
  int threads = 0;
  bool high_dpcs = false;  // there are some
  CpuObserver* observer = nullptr;
  oh_event_log* log = nullptr;
  std::vector<Row> rows;  // of this instant, for the observer
};

Cpu::Cpu(Engine& engine, Admission admission, int cpus) {
  if (cpus < 1 || cpus > kMaxCpus) throw std::invalid_argument("a host has 1 to " + std::to_string(kMaxCpus) + " CPUs");
  impl_ = std::make_unique<Impl>(engine, admission, cpus);
}
Cpu::~Cpu() = default;

EntityId Cpu::add_interrupt(InterruptSpec spec, Program& program) {
  Entity e;
  e.name = std::move(spec.name);
  e.kind = Kind::kInterrupt;
  e.program = &program;
  e.level = spec.level;
  e.dpc = spec.dpc;
  e.cpu = spec.cpu;
  return impl_->add(std::move(e));
}

EntityId Cpu::add_dpc(DpcSpec spec, Program& program) {
  Entity e;
  e.name = std::move(spec.name);
  e.kind = Kind::kDpc;
  e.importance = spec.importance;
  impl_->high_dpcs |= spec.importance == DpcImportance::kHigh;
  e.cpu = spec.cpu;
  e.program = &program;
  return impl_->add(std::move(e));
}

EntityId Cpu::add_thread(std::string name, Policy policy, Program& program, Ns deadline, int cpu) {
  Entity e;
  e.name = std::move(name);
  e.program = &program;
  e.deadline = deadline;
  e.pinned = cpu != kAnyCpu;
  e.policy = make_thread_policy(policy);
  // Ideal CPUs go round, as Windows gives them to the threads of a process.
  e.ideal = e.pinned ? cpu : impl_->threads % cpus();
  e.cpu = e.pinned ? cpu : e.policy->migration() == Migration::kIdeal ? e.ideal : 0;
  e.last = e.cpu;
  e.policy->moved(e.cpu);
  impl_->admit(e.name, kNoEntity, policy, e.stays() ? e.cpu : kAnyCpu);
  e.reservation = std::move(policy);
  impl_->threads++;
  return impl_->add(std::move(e));
}

Cpu::ThreadedInterrupt Cpu::add_threaded_interrupt(InterruptSpec spec, Ns stub, Policy policy, Program& handler) {
  const EntityId thread = add_thread(spec.name + " thread", std::move(policy), handler, kNever, spec.cpu);
  impl_->at(thread).dpc = std::exchange(spec.dpc, thread);
  impl_->stubs.push_back(std::make_unique<Stub>(stub));
  return {add_interrupt(std::move(spec), *impl_->stubs.back()), thread};
}

void Cpu::clock_tick(int cpu) {
  Core& core = impl_->cores.at(static_cast<std::size_t>(cpu));
  core.request_rate = (std::exchange(core.requests, 0) + core.request_rate) / 2;
  if (core.dpc_jobs == 0 || std::exchange(core.drains, true)) return;
  impl_->touch_dpcs(core);
  impl_->wake = std::min(impl_->wake, impl_->engine.now());
}

void Cpu::release(EntityId entity) {
  impl_->release(entity, impl_->engine.now());
}

void Cpu::set_policy(EntityId thread, Policy policy) {
  const Ns now = impl_->engine.now();
  Entity& e = impl_->at(thread);
  std::unique_ptr<ThreadPolicy> made = make_thread_policy(policy);
  const bool stays = e.pinned || made->migration() == Migration::kPinned;
  const int cpu = stays && !e.pinned ? 0 : e.cpu;
  impl_->admit(e.name, thread, policy, stays ? cpu : kAnyCpu);
  for (Core& core : impl_->cores) impl_->charge(core, now);
  if (cpu != e.cpu) impl_->move(thread, cpu, now);
  e.policy = std::move(made);
  e.policy->moved(cpu);
  e.reservation = std::move(policy);
  if (e.ready()) e.policy->begin_job(now, e.current_job(), true);
  impl_->touch(thread);
  impl_->wake = std::min(impl_->wake, now);
}

void Cpu::limit_dpcs(const SoftirqLimit& limit, const Policy& ksoftirqd) {
  for (std::size_t c = 0; c < impl_->cores.size(); c++) {
    Softirq& softirq = impl_->cores[c].softirq.emplace();
    softirq.limit = limit;
    softirq.ksoftirqd = make_thread_policy(ksoftirqd);
    softirq.ksoftirqd->moved(static_cast<int>(c));
  }
}

std::uint32_t Cpu::unfinished_jobs(EntityId entity) const {
  return static_cast<std::uint32_t>(impl_->at(entity).jobs.size());
}
Ns Cpu::cpu_time(EntityId entity) const {
  const Core& core = impl_->core_of(impl_->at(entity));
  return impl_->at(entity).cpu_time + (entity == core.current ? impl_->engine.now() - core.charged : 0);
}
Ns Cpu::dpc_time(int cpu) const {
  const Core& core = impl_->cores.at(static_cast<std::size_t>(cpu));
  const bool in_dpc = core.current != kNoEntity && impl_->at(core.current).kind == Kind::kDpc;
  return core.dpc_time + (in_dpc ? impl_->engine.now() - core.charged : 0);
}
EntityId Cpu::running(int cpu) const {
  return impl_->cores.at(static_cast<std::size_t>(cpu)).current;
}
int Cpu::cpus() const {
  return static_cast<int>(impl_->cores.size());
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
