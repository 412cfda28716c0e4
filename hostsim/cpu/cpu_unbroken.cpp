// SPDX-License-Identifier: MIT
//
// Most of a busy host's instants are those of short chains (clock interrupt, timer DPC, callback; a segment's
// interrupt, DPC, reader) in which nothing else happens. Such a chain needs no place in the ready list, no timers and
// no rounds of the engine: its jobs follow one another, and then the thread that had the CPU goes on.
#include "hostsim/cpu/cpu_impl.h"

namespace offhook::hostsim {

// What run_unbroken() relies on, each of it.
bool Cpu::Impl::is_unbroken(std::span<const PlannedJob> jobs) const {
  const Ns now = engine.now();
  if (several || some_share || rows.observed() || !touched.empty() || wake <= now) return false;
  const Core& core = cores.front();
  // The CPU idles, or a thread has it; then no interrupt waits, for it would go first.
  if (core.current == kNoEntity ? !core.ready.empty() : first(core) != core.current) return false;
  if (core.current != kNoEntity && (at(core.current).kind != EntityKind::kThread || !at(core.current).started))
    return false;
  if (core.deferred->jobs() > 0 || core.deferred->thread() != nullptr) return false;
  Ns end = now;
  for (const PlannedJob& job : jobs) {
    const Entity& e = at(job.entity);
    if (e.ready() || job.cost <= 0 || e.deadline != kNever) return false;
    if (e.kind == EntityKind::kDpc && e.importance == DpcImportance::kLow) return false;
    if (e.kind == EntityKind::kThread) {
      const auto* fixed = std::get_if<FixedPriority>(&e.reservation);
      if (fixed == nullptr || (fixed->quantum > 0 && job.cost >= fixed->quantum)) return false;
      if (core.current != kNoEntity) {
        const Rank& other = core.ready.best_last().back();
        const auto band = static_cast<int>(Band::kPriority);
        if (other.band < band || (other.band == band && other.key <= -fixed->priority)) return false;
      }
    }
    end += job.cost;
  }
  return end < engine.undisturbed_until() && end < timers.first();
}

void Cpu::Impl::run_unbroken(std::span<const PlannedJob> jobs) {
  Core& core = cores.front();
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
    Entity& e = at(job.entity);
    const bool dpc = e.kind == EntityKind::kDpc;
    logged(OH_EV_RUN, job.entity, 1);
    if (dpc) core.deferred->begins(unbroken_now);
    if (e.program->next(unbroken_now) != job.cost) throw std::logic_error("'" + e.name + "' is not what was planned");
    unbroken_now += job.cost;
    e.cpu_time += job.cost;
    if (dpc) core.dpc_time += job.cost;
    if (e.program->next(unbroken_now) != 0) throw std::logic_error("'" + e.name + "' is longer than was planned");
    const Ns released = e.jobs.front();
    e.jobs.pop();
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
  if (core.current == kNoEntity) {
    logged(OH_EV_IDLE, 0, 0);
  } else {
    logged(OH_EV_RUN, core.current, 0);
  }
  wake = std::min(end_of_run(core, unbroken_now), timers.first());
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
