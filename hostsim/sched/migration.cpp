// SPDX-License-Identifier: MIT
#include "hostsim/sched/migration.h"

namespace offhook::hostsim {
namespace {

bool more_urgent(const Rank& a, const Rank& b) {
  return a.band != b.band ? a.band < b.band : a.key < b.key;
}

/// The first idle CPU; -1: none.
int lowest_idle(std::span<const CpuLine> lines) {
  for (std::size_t c = 0; c < lines.size(); c++)
    if (lines[c].idle) return static_cast<int>(c);
  return -1;
}

int highest_idle(std::span<const CpuLine> lines) {
  for (std::size_t c = lines.size(); c-- > 0;)
    if (lines[c].idle) return static_cast<int>(c);
  return -1;
}

const CpuLine& line(std::span<const CpuLine> lines, int cpu) {
  return lines[static_cast<std::size_t>(cpu)];
}

/// Whether the thread may preempt there. @param turns also among equals, when a turn ends
bool may_take(const Rank& thread, const CpuLine& there, bool turns) {
  return more_urgent(thread, there.first) || (turns && !there.settled && thread < there.first);
}

/// The CPU with the least urgent thread that it may replace; -1: none.
int least_urgent(const Rank& thread, std::span<const CpuLine> lines, bool turns) {
  int least = -1;
  for (std::size_t c = 0; c < lines.size(); c++) {
    if (!may_take(thread, lines[c], turns)) continue;
    if (least < 0 || line(lines, least).first < lines[c].first) least = static_cast<int>(c);
  }
  return least;
}

int idle_for_nt(const Waiter& thread, std::span<const CpuLine> lines) {
  if (line(lines, thread.ideal).idle) return thread.ideal;
  if (line(lines, thread.cpu).idle) return thread.cpu;
  return highest_idle(lines);
}

}  // namespace

int cpu_to_wake_on(const Waiter& thread, std::span<const CpuLine> lines) {
  int to = thread.cpu;
  switch (thread.migration) {
    case Migration::kPinned:
    case Migration::kPush:
      return thread.cpu;
    case Migration::kGlobal:
      if (!line(lines, thread.cpu).idle && (to = lowest_idle(lines)) < 0) to = least_urgent(thread.rank, lines, false);
      break;
    case Migration::kIdeal:
      to = idle_for_nt(thread, lines);
      return to < 0 ? thread.ideal : to;
    case Migration::kBalance:
      if (!line(lines, thread.cpu).idle) to = lowest_idle(lines);
      break;
  }
  return to < 0 ? thread.cpu : to;
}

int cpu_to_move_to(const Waiter& thread, std::span<const CpuLine> lines) {
  if (thread.migration == Migration::kPinned) return thread.cpu;
  if (thread.next) {
    for (int c = 0; c < thread.cpu; c++)
      if (!line(lines, c).idle && !line(lines, c).settled && thread.rank < line(lines, c).first) return c;
    return thread.cpu;
  }
  int to = thread.migration == Migration::kIdeal ? idle_for_nt(thread, lines) : lowest_idle(lines);
  if (to >= 0) return to;
  switch (thread.migration) {
    case Migration::kGlobal:
      to = least_urgent(thread.rank, lines, true);
      break;
    case Migration::kPush:
      to = least_urgent(thread.rank, lines, false);
      break;
    case Migration::kIdeal:
      if (more_urgent(thread.rank, line(lines, thread.ideal).first)) return thread.ideal;
      for (std::size_t c = 0; c < lines.size() && to < 0; c++)
        if (!lines[c].settled && thread.rank < lines[c].first) to = static_cast<int>(c);
      break;
    case Migration::kBalance:
      for (std::size_t c = 0; c < lines.size(); c++)
        if (lines[c].first_is_fair && lines[c].fair + 2 <= line(lines, thread.cpu).fair &&
            (to < 0 || lines[c].fair < line(lines, to).fair))
          to = static_cast<int>(c);
      break;
    case Migration::kPinned:
      break;
  }
  return to < 0 ? thread.cpu : to;
}

const Waiter& who_moves(const Waiter& thread, int cpu, std::span<const CpuLine> lines, std::span<const Waiter> waiters,
                        Ns now) {
  constexpr Ns kThreeIntervals = 3'000'000'000 / 64;
  constexpr int kRealTime = 24;
  const CpuLine& there = line(lines, cpu);
  if (thread.migration != Migration::kIdeal || (!there.idle && there.settled)) return thread;
  for (const Waiter& w : waiters) {
    if (w.migration != Migration::kIdeal || w.rank.band != thread.rank.band || w.rank.key != thread.rank.key) continue;
    if (w.cpu == cpu || (w.next && w.cpu < cpu)) continue;
    if (!(there.idle || w.rank < there.first)) continue;  // it must get that CPU
    if (w.last == cpu || w.ideal == cpu || now - w.since >= kThreeIntervals || w.rank.key <= -kRealTime) return w;
  }
  return thread;
}

}  // namespace offhook::hostsim
