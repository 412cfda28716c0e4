// SPDX-License-Identifier: MIT
//
// A clock's interrupts come a thousand times per second and, on most hosts, do nothing but take a few microseconds from
// the job on the CPU. They need no events: the next observer subtracts their time. An observer in the middle of one
// finds it running: it is then begun, at its time, and ends as any other interrupt does.
#include "hostsim/cpu/cpu_impl.h"

namespace offhook::hostsim {

namespace {
constexpr Ns kFar = 4;  // intervals
}

// Neither a tick nor a call of standing() at that time changes its standing.
bool policy_takes_no_notice(const Policy& policy) {
  return std::holds_alternative<FixedPriority>(policy) || std::holds_alternative<Slot>(policy);
}

bool Cpu::Impl::keep_ticking(EntityId interrupt, Ns cost, const TickTimes& times, SteadyClock& clock) {
  if (several || !engine.has_one_processor() || steady || log != nullptr || rows.observed() || some_share ||
      charges_stolen || switch_costs.any())
    return false;
  if (cost <= 0 || cost >= times.interval || cores.front().deferred->thread() != nullptr) return false;
  for (EntityId id = 0; id < entities.size(); id++) {
    const Entity& e = at(id);
    const bool above = e.kind == EntityKind::kInterrupt && id != interrupt && e.level >= at(interrupt).level;
    const bool waits_for_ticks = e.kind == EntityKind::kDpc && e.importance == DpcImportance::kLow;
    if (above || waits_for_ticks || (e.policy && !policy_takes_no_notice(e.reservation))) return false;
  }
  steady.emplace(Steady{interrupt, cost, times, clock});
  tick = times.at;
  return true;
}

void Cpu::Impl::resume_clock() {
  if (!steady) return;
  const Ns now = engine.now();
  if (tick < now) catch_up(now);
  tick = kNever;
  const Steady was = *std::exchange(steady, std::nullopt);
  was.clock.resume(was.times);
}

// Ticks that have ended by now.
void Cpu::Impl::pass_ticks(Ns now) {
  Steady& clock = *steady;
  TickTimes times = clock.times;
  Ns took = 0;
  for (const Ns last = now - clock.cost; times.at <= last; (void)times.advance()) took += clock.cost;
  if (took == 0) return;
  clock.times = times;
  tick = times.at;
  ticked += took;
  at(clock.interrupt).cpu_time += took;
}

void Cpu::Impl::catch_up(Ns now) {
  pass_ticks(now);
  if (tick >= now) return;
  const Ns came = tick;
  charge(cores.front(), came);
  tick_comes(came);
  dispatch(came);
}

// The time at which it will have run for `span`, or earlier if many ticks come meanwhile. If the next tick is now, it
// was already released.
Ns Cpu::Impl::end_among_ticks(Ns now, Ns span) const {
  if (span >= kFar * steady->times.interval) return later(now, span);
  Ns end = now + span;
  for (TickTimes times = steady->times; times.at < end; (void)times.advance()) end += steady->cost;
  return end;
}

}  // namespace offhook::hostsim
