// SPDX-License-Identifier: MIT
#include "hostsim/cpu/cpu_impl.h"

namespace offhook::hostsim {

void Cpu::Impl::move(EntityId id, int cpu, Ns now) {
  Entity& e = at(id);
  if (e.cpu == cpu) return;
  unlist(e, id);
  e.cpu = cpu;
  e.policy->moved(cpu);
  if (e.ready()) place(id, now);
}

Waiter Cpu::Impl::waiter(EntityId id, Ns now) {
  const Entity& e = at(id);
  return {.rank = rank_of(id, now),
          .migration = e.policy && !e.stays() ? e.policy->migration() : Migration::kPinned,
          .cpu = e.cpu,
          .ideal = e.ideal,
          .last = e.last,
          .since = e.waiting_since};
}

// The queues of threads, and all threads in them except the first.
void Cpu::Impl::look_at_lines(Ns now) {
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

// See sched/migration.h. Every move gives a CPU a more urgent thread or more work, or makes the queues more equal.
void Cpu::Impl::migrate(Ns now) {
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
  for (EntityId id = 0; some_share && id < entities.size(); id++)
    if (at(id).shares && at(id).listed) place(id, now);  // a move changed the positions of others
  look_at_lines(now);
  for (std::size_t c = 0; c < cores.size(); c++) cores[c].thread = lines[c].idle ? kNoEntity : lines[c].first.id;
}

}  // namespace offhook::hostsim
