// SPDX-License-Identifier: MIT
//
// Most of a busy host's instants are those of short chains (clock interrupt, timer DPC, callback; a segment's
// interrupt, DPC, reader) in which nothing else happens. Such a chain needs no place in the ready list, no timers and
// no rounds of the engine: its jobs follow one another, and then the thread that had the CPU goes on.
#include <array>
#include <numeric>

#include "hostsim/cpu/cpu_impl.h"

namespace offhook::hostsim {

namespace {
constexpr std::size_t kMaxRepeated = 3;  // an interrupt, its DPC, a thread
}

// What run_unbroken() relies on, each of it.
bool Cpu::Impl::is_unbroken(std::span<const PlannedJob> jobs) const {
  const Ns now = engine.now();
  if (several || some_share || !rows.empty() || !touched.empty() || wake <= now) return false;
  const Core& core = cores.front();
  // The CPU idles, or a thread has it; then no interrupt waits, for it would go first.
  if (charges_stolen && core.current != kNoEntity) return false;
  if (core.current == kNoEntity ? !core.ready.empty() : first(core) != core.current) return false;
  if (core.current != kNoEntity && (at(core.current).kind != EntityKind::kThread || !at(core.current).started))
    return false;
  if (core.deferred->jobs() > 0 || core.deferred->thread() != nullptr) return false;
  Ns end = now;
  for (const PlannedJob& job : jobs) {
    const Entity& e = at(job.entity);
    if (e.ready() || job.cost < 0 || e.deadline != kNever) return false;
    const bool waits = job.cost == 0;
    if (!waits && e.kind == EntityKind::kThread && switch_costs.any()) return false;
    if (waits && (e.kind != EntityKind::kThread || core.current == kNoEntity)) return false;
    if (e.kind == EntityKind::kDpc && e.importance == DpcImportance::kLow) return false;
    if (e.kind == EntityKind::kThread) {
      const auto* fixed = std::get_if<FixedPriority>(&e.reservation);
      if (fixed == nullptr || (fixed->quantum > 0 && job.cost >= fixed->quantum)) return false;
      if (core.current != kNoEntity) {
        const Rank& other = core.ready.best_last().back();
        const auto band = static_cast<int>(Band::kPriority);
        if ((other.band < band || (other.band == band && other.key <= -fixed->priority)) != waits) return false;
      }
    }
    end += job.cost;
  }
  return end < engine.undisturbed_until() && end < timers.first();
}

void Cpu::Impl::run_unbroken(std::span<const PlannedJob> jobs) {
  Core& core = cores.front();
  const bool observed = rows.observed();
  unbroken_now = engine.now();
  charge(core, unbroken_now);
  if (core.current != kNoEntity) take_off(core, unbroken_now);
  const auto logged = [this](oh_event_kind kind, EntityId id, std::uint32_t argument) {
    oh_event_log_write_alone(log, static_cast<std::uint64_t>(unbroken_now), kind, id, argument);
  };
  unbroken = jobs;
  in_unbroken = true;
  release_unbroken(jobs.front().entity);
  for (const PlannedJob& job : jobs) {
    if (job.cost == 0) {
      place(job.entity, unbroken_now);
      break;
    }
    Entity& e = at(job.entity);
    const bool dpc = e.kind == EntityKind::kDpc;
    logged(OH_EV_RUN, job.entity, 1);
    if (observed) {
      rows.note(job.entity, CpuObserver::Kind::kStart);
      tell(unbroken_now);
    }
    if (dpc) core.deferred->begins(unbroken_now);
    if (e.program->next(unbroken_now) != job.cost) throw std::logic_error("'" + e.name + "' is not what was planned");
    unbroken_now += job.cost;
    e.cpu_time += job.cost;
    if (dpc) core.dpc_time += job.cost;
    if (e.program->next(unbroken_now) != 0) throw std::logic_error("'" + e.name + "' is longer than was planned");
    const Ns released = e.jobs.front();
    e.jobs.pop();
    if (observed) rows.note(job.entity, CpuObserver::Kind::kFinish);
    logged(OH_EV_FINISH, job.entity,
           static_cast<std::uint32_t>(std::min<Ns>((unbroken_now - released) / 1000, UINT32_MAX)));
    if (e.dpc != kNoEntity) release_unbroken(e.dpc);
    if (dpc) (void)core.deferred->done(unbroken_now);
    if (e.policy) {
      e.policy->charge(job.cost);
      e.policy->sleep(unbroken_now);
    }
  }
  if (!unbroken.empty()) throw std::logic_error("a planned job was not released");
  in_unbroken = false;
  core.charged = unbroken_now;
  go_on(core, unbroken_now);
}

// As run_unbroken(), of which all but the times and costs is known to be so: what it relies on changes at a timer, at
// another event, or when the thread that has the CPU ends its stretch.
Ns Cpu::Impl::repeat_unbroken(std::span<const PlannedJob> jobs, Ns every, RepeatedChain& chain) {
  Core& core = cores.front();
  const Ns limit = std::min(engine.undisturbed_until(), timers.first());
  std::array<Ns, kMaxRepeated> cost{};
  const std::span<Ns> costs = std::span(cost).first(jobs.size());
  Ns begin = engine.now() + every;
  for (;; begin += every) {
    if (core.deferred->jobs() > 0 || core.deferred->thread() != nullptr || !chain.costs(begin, costs)) return begin;
    if (std::accumulate(costs.begin(), costs.end(), begin) >= limit || !engine.skip_to(begin)) return begin;
    charge(core, begin);
    if (core.current != kNoEntity) take_off(core, begin);
    Ns now = begin;
    for (std::size_t i = 0; i < jobs.size(); now += cost[i++]) pass(core, jobs[i].entity, now, cost[i]);
    core.charged = now;
    go_on(core, now);
    chain.passed();
  }
}

// A job that is released at `now` and has the CPU at once until it ends.
void Cpu::Impl::pass(Core& core, EntityId id, Ns now, Ns cost) {
  Entity& e = at(id);
  oh_event_log_write_alone(log, static_cast<std::uint64_t>(now), OH_EV_RUN, id, 1);
  if (rows.observed()) {
    rows.note(id, CpuObserver::Kind::kStart);
    tell(now);
    rows.note(id, CpuObserver::Kind::kFinish);
  }
  e.cpu_time += cost;
  oh_event_log_write_alone(log, static_cast<std::uint64_t>(now + cost), OH_EV_FINISH, id,
                           static_cast<std::uint32_t>(std::min<Ns>(cost / 1000, UINT32_MAX)));
  if (e.kind == EntityKind::kDpc) {
    (void)core.deferred->queue(now, e.importance, true);
    core.deferred->begins(now);
    core.dpc_time += cost;
    (void)core.deferred->done(now + cost);
  } else if (e.policy) {
    e.queued = e.waiting_since = now;
    e.turn_ended_on = -1;
    e.policy->begin_job(now, {now, kNever}, true);
    e.policy->charge(cost);
    e.policy->sleep(now + cost);
  }
}

// Nothing but the thread that had the CPU is left, or nothing.
void Cpu::Impl::go_on(Core& core, Ns now) {
  const bool idle = core.current == kNoEntity;
  oh_event_log_write_alone(log, static_cast<std::uint64_t>(now), idle ? OH_EV_IDLE : OH_EV_RUN,
                           idle ? EntityId{0} : core.current, 0);
  if (rows.observed()) {
    if (!idle) rows.note(core.current, CpuObserver::Kind::kResume);
    tell(now);
  }
  wake = std::min(end_of_run(core, now), timers.first());
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
