// SPDX-License-Identifier: MIT
//
// Most of a busy host's instants are those of short chains (clock interrupt, timer DPC, callback; a segment's
// interrupt, DPC, reader) in which nothing else happens. Such a chain needs no place in the ready list, no timers and
// no rounds of the engine: its jobs follow one another, and then the thread that had the CPU continues.
#include <array>

#include "hostsim/cpu/cpu_impl.h"

namespace offhook::hostsim {

namespace {
constexpr std::size_t kMaxRepeated = 3;  // an interrupt, its DPC, a thread
}

// All conditions of run_unbroken() on the host.
inline bool Cpu::Impl::goes_unbroken() const {
  if (several || some_share || !rows.empty() || !touched.empty() || wake <= engine.now()) return false;
  const Core& core = cores.front();
  // The CPU is idle or runs a thread; then no interrupt waits, because it would preempt.
  if (charges_stolen && core.current != kNoEntity) return false;
  if (core.current == kNoEntity ? !core.ready.empty() : first(core) != core.current) return false;
  if (core.current != kNoEntity && (at(core.current).kind != EntityKind::kThread || !at(core.current).started))
    return false;
  return core.deferred->jobs() == 0 && core.deferred->thread() == nullptr;
}

// All conditions on a job.
inline bool Cpu::Impl::goes_unbroken(const PlannedJob& job) const {
  const Entity& e = at(job.entity);
  if (e.ready() || job.cost <= 0) return false;
  if (e.kind == EntityKind::kInterrupt) return true;
  if (e.kind == EntityKind::kDpc) return e.importance != DpcImportance::kLow;
  if (e.deadline != kNever) return false;
  const auto* fixed = std::get_if<FixedPriority>(&e.reservation);
  if (fixed == nullptr || switch_costs.any() || (fixed->quantum > 0 && job.cost >= fixed->quantum)) return false;
  const Core& core = cores.front();
  if (core.current == kNoEntity) return true;
  const Rank& other = core.ready.best_last().back();
  const auto band = static_cast<int>(Band::kPriority);
  return other.band > band || (other.band == band && other.key > -fixed->priority);
}

// Number of these jobs, from the first one on, that run before this time.
std::size_t Cpu::Impl::unbroken_part(std::span<const PlannedJob> jobs, Ns limit) const {
  std::size_t n = 0;
  if (!goes_unbroken()) return n;
  for (Ns end = engine.now(); n < jobs.size() && goes_unbroken(jobs[n]) && end + jobs[n].cost < limit; n++)
    end += jobs[n].cost;
  return n;
}

// A job that is released at `now` and gets the CPU immediately until its end.
inline void Cpu::Impl::pass(Core& core, const PlannedJob& job, Ns now, Ns cost) {
  const EntityId id = job.entity;
  Entity& e = at(id);
  e.cpu_time += cost;
  if (rows.observed()) {
    rows.tell_alone(now, id, CpuObserver::Kind::kStart);
    rows.tell_alone(now + cost, id, CpuObserver::Kind::kFinish);
  }
  if (log != nullptr) {
    oh_event_log_write_alone(log, static_cast<std::uint64_t>(now), OH_EV_RUN, id, 1);
    oh_event_log_write_alone(log, static_cast<std::uint64_t>(now + cost), OH_EV_FINISH, id,
                             static_cast<std::uint32_t>(std::min<Ns>(cost / 1000, UINT32_MAX)));
  }
  if (e.kind == EntityKind::kDpc) {
    (void)core.deferred->queue(now, e.importance, true);
    core.deferred->begins(now);
    core.dpc_time += cost;
    (void)core.deferred->done(now + cost);
  } else if (e.policy) {
    auto& policy = static_cast<FixedPriorityThread&>(*e.policy);  // no other chain runs unbroken
    e.queued = e.waiting_since = now;
    e.turn_ended_on = -1;
    policy.begin_job(now, {now, kNever}, true);
    policy.charge(cost);
    policy.sleep(now + cost);
  } else if (job.ticks) {
    (void)core.deferred->tick();  // nothing is deferred
  }
}

// The thread on the CPU, if any, is preempted by an interrupt.
inline void Cpu::Impl::step_aside(const Core& core, Ns now) {
  if (core.current == kNoEntity) return;
  Entity& e = at(core.current);
  e.waiting_since = now;
  if (rows.observed()) rows.tell_alone(now, core.current, CpuObserver::Kind::kPreempt);
  e.policy->stopped();
}

// At most the thread that had the CPU remains.
inline void Cpu::Impl::go_on(Core& core, Ns now) {
  const bool idle = core.current == kNoEntity;
  oh_event_log_write_alone(log, static_cast<std::uint64_t>(now), idle ? OH_EV_IDLE : OH_EV_RUN,
                           idle ? EntityId{0} : core.current, 0);
  if (!idle && rows.observed()) rows.tell_alone(now, core.current, CpuObserver::Kind::kResume);
  wake = std::min(end_of_run(core, now), timers.first());
}

bool Cpu::Impl::run_unbroken(std::span<const PlannedJob> jobs) {
  const std::size_t part = unbroken_part(jobs, std::min(undisturbed_until(), tick));
  if (part == 0) return false;
  Core& core = cores.front();
  const bool observed = rows.observed();
  unbroken_now = engine.now();
  charge(core, unbroken_now);
  step_aside(core, unbroken_now);
  const auto logged = [this](oh_event_kind kind, EntityId id, std::uint32_t argument) {
    oh_event_log_write_alone(log, static_cast<std::uint64_t>(unbroken_now), kind, id, argument);
  };
  unbroken = jobs;
  in_unbroken = true;
  release_unbroken(jobs.front().entity);
  EntityId finished = kNoEntity;
  for (const PlannedJob& job : jobs.first(part)) {
    Entity& e = at(job.entity);
    const bool dpc = e.kind == EntityKind::kDpc;
    logged(OH_EV_RUN, job.entity, 1);
    if (observed) {
      if (finished != kNoEntity) rows.tell_alone(unbroken_now, finished, CpuObserver::Kind::kFinish);
      rows.tell_alone(unbroken_now, job.entity, CpuObserver::Kind::kStart);
    }
    if (dpc) core.deferred->begins(unbroken_now);
    if (e.program->next(unbroken_now) != job.cost) throw std::logic_error("'" + e.name + "' differs from the plan");
    unbroken_now += job.cost;
    e.cpu_time += job.cost;
    if (dpc) core.dpc_time += job.cost;
    if (e.program->next(unbroken_now) != 0) throw std::logic_error("'" + e.name + "' is longer than planned");
    const Ns released = e.jobs.front();
    e.jobs.pop();
    finished = job.entity;
    logged(OH_EV_FINISH, job.entity,
           static_cast<std::uint32_t>(std::min<Ns>((unbroken_now - released) / 1000, UINT32_MAX)));
    if (e.dpc != kNoEntity) release_unbroken(e.dpc);
    if (dpc) (void)core.deferred->done(unbroken_now);
    if (e.policy) {
      e.policy->charge(job.cost);
      e.policy->sleep(unbroken_now);
    }
  }
  in_unbroken = false;
  core.charged = unbroken_now;
  const std::size_t released = jobs.size() - std::exchange(unbroken, {}).size();
  if (released < part) throw std::logic_error("a planned job was not released");
  if (released == part) {
    if (observed) rows.tell_alone(unbroken_now, finished, CpuObserver::Kind::kFinish);
    go_on(core, unbroken_now);
  } else {  // the next one, which owns the instant in which the part ends
    if (observed) rows.note(finished, CpuObserver::Kind::kFinish);
    core.current = finished;
    engine.skip_to(unbroken_now, 0);
    changed(jobs[part].entity, unbroken_now);
    wake = unbroken_now;
  }
  return true;
}

// From the second chain on, only times and costs are computed: the conditions of goes_unbroken() change at a timer, at
// another event, or when the thread that has the CPU ends its stretch.
Ns Cpu::Impl::repeat_unbroken(std::span<const PlannedJob> jobs, RepeatedChain& chain) {
  Ns begin = engine.now();
  const Ns limit = undisturbed_until();
  if (jobs.size() > kMaxRepeated || unbroken_part(jobs, std::min(limit, tick)) < jobs.size()) return begin;
  Core& core = cores.front();
  std::array<Ns, kMaxRepeated> cost{};
  const std::span<Ns> costs = std::span(cost).first(jobs.size());
  Ns last = begin;
  std::uint64_t ran = 0;
  while (wake > begin && begin < limit && chain.costs(begin, costs)) {
    if (tick < begin) pass_ticks(begin);
    if (tick < begin || begin + cost[0] + cost[1] + cost[2] >= std::min(limit, tick)) break;
    if (core.current != kNoEntity) {
      charge(core, begin);
      step_aside(core, begin);
    }
    Ns now = begin;
    for (std::size_t i = 0; i < jobs.size(); now += cost[i++]) pass(core, jobs[i], now, cost[i]);
    core.charged = now;
    ticked = 0;  // for an idle CPU
    go_on(core, now);
    ran++;
    last = std::exchange(begin, chain.passed(begin));
    if (core.deferred->jobs() > 0 || core.deferred->thread() != nullptr) break;
  }
  if (ran > 1) engine.skip_to(last, ran - 1);
  return begin;
}

void Cpu::Impl::release_unbroken(EntityId id) {
  if (unbroken.empty() || unbroken.front().entity != id)
    throw std::logic_error("'" + at(id).name + "' was not planned here");
  unbroken = unbroken.subspan(1);
  Entity& e = at(id);
  e.jobs.push(unbroken_now);
  if (e.kind == EntityKind::kDpc) (void)cores.front().deferred->queue(unbroken_now, e.importance, true);
  make_current(e, unbroken_now, true);
}

}  // namespace offhook::hostsim
