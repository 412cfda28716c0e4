// SPDX-License-Identifier: MIT
//
// Mutexes that threads of a host share, and what becomes of a thread that holds one while a more urgent one waits:
//
//   - plain: nothing. The waiter sleeps; whoever is more urgent than the holder runs before it (priority inversion).
//   - inherit: the waiter sleeps, and the holder stands where the most urgent of its waiters stood when it began
//     to wait (Sha, Rajkumar and Lehoczky 1990; Linux's rt_mutex and PTHREAD_PRIO_INHERIT). What it runs is its own
//     time; while its own budget is spent, nobody's. Fair threads of Linux lend nothing, as there.
//   - proxy: the waiter stays among the runnable threads with its scheduling context, and where that is chosen
//     the holder runs in it: at its priority or deadline, out of its budget, slice and virtual time (proxy
//     execution; Linux 6.17 on, CONFIG_SCHED_PROXY_EXEC). So it is for fair threads and for reservations, too, and
//     for a holder that is throttled. A waiter whose holder is on another CPU sleeps, as in 6.17.
//
// Chains are followed. A mutex that is given back goes to one who waits for it, never to one who comes at that moment:
// to who has waited longest; with inherit to the most urgent; with proxy to the one in whose context the holder ran.
//
// A thread that waits is preempted in the log of events, and resumes when it has the mutex. Taking and giving cost
// nothing but the switches that they bring about.
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

/// In the order of LockProtocol: what a scenario and a system may say.
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

  /// The mutex of that name: a new one, unless it was named before.
  MutexId mutex(std::string_view name);
  /// A thread that takes some. @param name for messages
  MemberId member(std::string name);
  /// Its policy. To be asked again where the thread gets another one (Cpu::set_policy).
  Policy policy(MemberId thread, Policy own);

  /// From its program, in next(). @return it has the mutex; false: what next() returns now
  /// begins when it has it
  /// @throws std::runtime_error naming the threads that would wait for one another for ever
  bool take(MemberId thread, MutexId mutex, Ns now);
  /// From its program, in next(). @pre it has the mutex
  void give(MemberId thread, MutexId mutex, Ns now);

 private:
  friend MutexThread;
  struct Member;
  struct Mutex {
    std::string name;
    Member* holder = nullptr;
    std::vector<Member*> waiters{};  // who has waited longest first
  };
  struct Loan {
    Standing standing;
    Ns queued;
    Member* lender;  // whose policy it is; null: nobody's time
    Member* waiter;  // who waits for a mutex of the holder itself, for its own sake or another's
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
