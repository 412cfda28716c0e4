// SPDX-License-Identifier: MIT
//
// Mutexes shared by the threads of a host. The protocol decides what happens while a more urgent thread waits for
// the holder:
//
//   - plain: The waiter sleeps. Threads that are more urgent than the holder run before it (priority inversion).
//   - inherit: The waiter sleeps. The holder inherits the standing of the most urgent waiter, as it was at the
//     beginning of that wait (Sha, Rajkumar and Lehoczky 1990; Linux's rt_mutex and PTHREAD_PRIO_INHERIT). The holder
//     is charged for its running time, except while its own budget is spent. Fair threads of Linux do not lend their
//     standing.
//   - proxy: The waiter stays among the runnable threads with its scheduling context. If that context is chosen, the
//     holder runs in it: at its priority or deadline, with its budget, slice and virtual time (proxy execution;
//     Linux since 6.17, CONFIG_SCHED_PROXY_EXEC). This includes fair threads, reservations, and a throttled holder.
//     A waiter whose holder is on another CPU sleeps, as in 6.17.
//
// Chains are followed. A released mutex goes to a waiting thread, never to one that arrives at that moment: to the
// one that has waited longest; with inherit to the most urgent; with proxy to the one in whose context the holder
// ran.
//
// In the event log, a waiting thread is preempted, and resumes when it has the mutex. Taking and releasing cost
// nothing except the context switches that they cause.
#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "hostsim/sched/policy.h"

namespace offhook::hostsim {

enum class LockProtocol { kPlain, kInherit, kProxy };

/// Names of the protocols in scenarios and systems, in the order of LockProtocol.
inline constexpr std::string_view kLockProtocols[] = {"plain", "inherit", "proxy"};

class MutexThread;

/// All mutexes of a host, and the threads that take them. It must outlive the CPU's threads.
class Mutexes {
 public:
  using MutexId = std::size_t;
  using MemberId = std::size_t;

  explicit Mutexes(LockProtocol protocol);
  ~Mutexes();
  Mutexes(const Mutexes&) = delete;
  Mutexes& operator=(const Mutexes&) = delete;

  /// The mutex of that name, which is created at the first call.
  MutexId mutex(std::string_view name);
  /// Adds a thread that takes mutexes. @param name for messages
  MemberId member(std::string name);
  /// The thread's policy. Call again after the thread gets another one (Cpu::set_policy).
  Policy policy(MemberId thread, Policy own);

  /// From its program, in next(). @return whether it has the mutex; if not, next()'s segment begins when it has
  /// @throws std::runtime_error naming the threads that would wait for one another (deadlock)
  bool take(MemberId thread, MutexId mutex, Ns now);
  /// From its program, in next(). @pre it holds the mutex
  void give(MemberId thread, MutexId mutex, Ns now);

 private:
  friend MutexThread;
  struct Member;
  struct Mutex {
    std::string name;
    Member* holder = nullptr;
    std::vector<Member*> waiters{};  // the longest wait comes first
  };
  struct Loan {
    Standing standing;
    Ns queued;
    Member* lender;  // owner of the policy; null: the time is not charged
    Member* waiter;  // waits for a mutex of the holder, directly or through another waiter
  };

  bool lends(const Member& waiter, const Member& holder) const;
  Loan best(Member& holder, Ns now) const;
  std::size_t next_holder(const Mutex& mutex, const Member& holder, Ns now) const;
  void sleep(Member& waiter, Ns now) const;

  LockProtocol protocol_;
  std::deque<Mutex> mutexes_;
  std::deque<std::unique_ptr<Member>> members_;
};

}  // namespace offhook::hostsim
