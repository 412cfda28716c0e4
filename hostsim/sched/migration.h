// SPDX-License-Identifier: MIT
//
// How threads share several CPUs. Each ready thread stands in line at one CPU, which runs the first of its line. When
// something happened, the threads that wait are asked, the most urgent first, whether another CPU should have them:
//
//   kPinned   never. Rialto and Rez are schedulers of one CPU.
//   kGlobal   one ready queue for all CPUs: an idle CPU, else the one whose thread is the least urgent, if it is less
//             urgent. Among equals who waits takes over when a turn ends, on whatever CPU.
//   kIdeal    Windows 2000 (Solomon and Russinovich, Inside Windows 2000, chapter 6, "Multiprocessor systems"): one
//             that becomes ready takes an idle CPU: its ideal one, its last one, else the highest-numbered. If there is
//             none it may preempt on its ideal CPU only, although others may run something less urgent. A CPU whose
//             thread leaves or ends its turn takes from the queue of all: of the most urgent ones the first that last
//             ran there, or has it for its ideal CPU, or has waited for 3 clock intervals, or has priority 24 and more;
//             without any of these, the first. Turns that end together end in the order of the CPUs.
//   kPush     Linux's real-time and deadline classes (kernel/sched/rt.c, deadline.c): a thread wakes where it last ran.
//             If it, or the one that it preempts there, must wait, it is pushed to an idle CPU, else to the one with
//             the least urgent thread, if that is less urgent; a CPU that gets less urgent work pulls by the same rule.
//             Equals take turns on their own CPU only. Deadline threads without an affinity: global EDF.
//   kBalance  Linux's fair class (fair.c): a thread wakes where it last ran, or on an idle CPU; an idle CPU takes a
//             waiting thread, and one with two fair threads less than another takes one of its. The kernel looks for
//             that at intervals of some ms, this at once.
//
// Urgency is that of threads: a CPU in an interrupt or a DPC counts as what its thread is, and the thread stays.
#pragma once

#include <span>

#include "hostsim/engine/engine.h"
#include "hostsim/sched/ready_list.h"

namespace offhook::hostsim {

enum class Migration { kPinned, kGlobal, kIdeal, kPush, kBalance };

/// One CPU's line as the others see it.
struct CpuLine {
  bool idle = true;            ///< no thread is ready there
  Rank first{};                ///< of the thread that has the CPU or would have it
  bool settled = false;        ///< it had it before, and its turn is not over
  bool first_is_fair = false;  ///< kBalance
  int fair = 0;                ///< how many of them are ready
};

/// A ready thread that would rather be elsewhere.
struct Waiter {
  Rank rank{};
  Migration migration = Migration::kPinned;
  int cpu = 0;  ///< in whose line it is; when it wakes: where it last ran
  int ideal = 0;
  int last = 0;       ///< where it last ran
  Ns since = 0;       ///< has been waiting since
  bool next = false;  ///< the first of its line and about to run there: a lower CPU may still take it, with kIdeal
};

/// In whose line to put a thread that becomes ready.
int cpu_to_wake_on(const Waiter& thread, std::span<const CpuLine> lines);
/// @return the CPU that should take this thread, which waits in its own line; its own when none should
int cpu_to_move_to(const Waiter& thread, std::span<const CpuLine> lines);
/// Who of those that wait, the most urgent first, goes where `thread` could: itself, but with kIdeal.
const Waiter& who_moves(const Waiter& thread, int cpu, std::span<const CpuLine> lines, std::span<const Waiter> waiters,
                        Ns now);

}  // namespace offhook::hostsim
