// SPDX-License-Identifier: MIT
//
// Migration of threads between several CPUs. Each ready thread is in the queue of one CPU, which runs the first
// thread of its queue. After each change, the waiting threads are checked, the most urgent first, for a CPU that
// suits them better:
//
//   kPinned   Threads never move. Rialto and Rez are schedulers of one CPU.
//   kGlobal   All CPUs have one ready queue. A thread takes an idle CPU, or else the CPU with the least urgent thread,
//             if that is less urgent. When a turn ends, a waiting thread of equal urgency takes over, on any CPU.
//   kIdeal    Windows 2000 (Solomon and Russinovich, Inside Windows 2000, chapter 6, "Multiprocessor systems"). A
//             thread that becomes ready takes an idle CPU: its ideal one, its last one, or else the highest-numbered.
//             If no CPU is idle, it may preempt on its ideal CPU only, even if other CPUs run less urgent threads. A
//             CPU whose thread leaves or ends its turn takes a thread from the common queue. Among the most urgent, it
//             takes the first thread that last ran there, or has it as its ideal CPU, or has waited for 3 clock
//             intervals, or has a priority of at least 24. If there is none, it takes the first. Turns that end
//             together end in the order of the CPUs.
//   kPush     Linux's real-time and deadline classes (kernel/sched/rt.c, deadline.c). A thread wakes where it last
//             ran. If it must wait, or a thread that it preempts there, the waiting thread is pushed to an idle CPU.
//             If none is idle, it goes to the CPU with the least urgent thread, if that is less urgent. A CPU that
//             gets less urgent work pulls by the same rule. Equals take turns on their own CPU only. Deadline threads
//             without an affinity: global EDF.
//   kBalance  Linux's fair class (fair.c). A thread wakes where it last ran, or on an idle CPU. An idle CPU takes a
//             waiting thread. A CPU takes a fair thread of another one that has two more. The kernel balances at
//             intervals of some ms, this model at once.
//
// Urgency is that of threads: in an interrupt or a DPC, a CPU counts with the urgency of its thread, which stays
// there.
#pragma once

#include <span>

#include "hostsim/engine/engine.h"
#include "hostsim/sched/ready_list.h"

namespace offhook::hostsim {

enum class Migration { kPinned, kGlobal, kIdeal, kPush, kBalance };

/// The queue of one CPU, as the other CPUs see it.
struct CpuLine {
  bool idle = true;            ///< no thread is ready there
  Rank first{};                ///< of the thread on the CPU, or the next one
  bool settled = false;        ///< it had the CPU before and its turn is not over
  bool first_is_fair = false;  ///< kBalance
  int fair = 0;                ///< number of ready ones
};

/// A ready thread that may fit another CPU better.
struct Waiter {
  Rank rank{};
  Migration migration = Migration::kPinned;
  int cpu = 0;  ///< CPU of its queue; when it wakes: the CPU where it last ran
  int ideal = 0;
  int last = 0;       ///< its last CPU
  Ns since = 0;       ///< beginning of its wait
  bool next = false;  ///< first in its queue and about to run there; with kIdeal, a lower CPU may still take it
};

/// @return the CPU to whose queue a thread is added when it becomes ready
int cpu_to_wake_on(const Waiter& thread, std::span<const CpuLine> lines);
/// @return the CPU that should take this thread, which waits in its own queue; its own CPU if none should
int cpu_to_move_to(const Waiter& thread, std::span<const CpuLine> lines);
/// @return the waiting thread that moves to where `thread` could, which is the most urgent: `thread` itself, except
/// with kIdeal
const Waiter& who_moves(const Waiter& thread, int cpu, std::span<const CpuLine> lines, std::span<const Waiter> waiters,
                        Ns now);

}  // namespace offhook::hostsim
