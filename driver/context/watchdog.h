// SPDX-License-Identifier: MIT
//
// A thread of the process, more urgent than all its others. It demotes real-time threads that keep the CPU to normal
// threads, so that a spinning pump or card cannot lock up the machine. It checks every 200 ms for two signs of such a
// thread in SCHED_FIFO or SCHED_RR:
//
//   it had more than its share of the time between three checks
//   it has not slept once between three checks, though it had a fifth of the CPU in each
//
// The second sign finds threads that the first misses. The kernel gives real-time threads at most 95 %
// (sched_rt_runtime_us), two spinning threads share a CPU, and a hypervisor takes its part. Both are detected within
// 0.6 s of the start of a spin, or 0.8 s if it started just before a check. The kernel limits a reservation to its
// budget.
//
// The watchdog delays all threads below it, so it does not read /proc for a thread that reports how often it has slept.
// The thread reports if it was asked at the last check; one that keeps the CPU in its work does not.
#pragma once

#include <time.h>

#include <array>
#include <atomic>
#include <cstdint>

namespace offhook {

struct WatchRule {
  double share = 0.8;  ///< of the CPU; set before the thread is watched
  std::atomic<bool> demoted{false};
  std::atomic<unsigned> reads{0};  ///< of /proc. Each delays all threads below the watchdog
};

/// Watches the calling thread while the object lives. The same thread destroys it.
class Watched {
 public:
  explicit Watched(WatchRule& rule);
  ~Watched();
  Watched(const Watched&) = delete;
  Watched& operator=(const Watched&) = delete;
  /// From the watched thread, often: once per block. A system call five times per second.
  void report() {
    if (asked_.load(std::memory_order_relaxed)) report_now();
  }

 private:
  friend class Watchdog;
  void look();
  void report_now();

  Watched* next_ = nullptr;
  WatchRule& rule_;
  int tid_;
  clockid_t clock_{};
  struct Look {
    std::int64_t at_ns, spent_ns;
  };
  std::array<Look, 2> before_;  // the newer one first
  int looks_awake_ = 0;         // in a row, with slept_ the same
  std::int64_t slept_ = 0;      // times
  std::atomic<bool> asked_{true};
  std::atomic<std::int64_t> reported_{-1};  // times; -1: nothing since the last check
};

/// SCHED_FIFO priority of the watchdog; watched threads must be below. 99, or the maximum for this process; 0:
/// none. Starts it.
int watchdog_priority();

}  // namespace offhook
