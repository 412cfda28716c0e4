// SPDX-License-Identifier: MIT
//
// The contexts of a live driver: who calls service(), and when.
//
//   OTHER        a normal thread (nice 0)
//   FIFO p, RR p a real-time thread at priority p, 1 to 99
//   RES x/y      a reservation: x ms of CPU in every y ms, SCHED_DEADLINE
//
// A reservation keeps its budget by itself: when it has used x ms since its period began it yields, and the kernel
// wakes it at the next one. The kernel's own enforcement comes at ticks (4 ms at HZ=250) with the excess carried over;
// it is the backstop, and what it did is counted as throttles.
//
// A watchdog above the thread makes a normal thread of it when it has had the CPU for too large a share of a second,
// so that a pump gone wild cannot take the machine with it.
#pragma once

#include <pthread.h>
#include <semaphore.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "driver/histogram/histogram.h"
#include "offhook/driver.h"

namespace offhook {

struct ContextSpec {
  enum class Kind { kNormal, kFifo, kRoundRobin, kReservation };
  Kind kind = Kind::kFifo;
  int priority = 50;             ///< kFifo, kRoundRobin
  std::int64_t budget_ns = 0;    ///< kReservation: x
  std::int64_t period_ns = 0;    ///< kReservation: y
  std::optional<int> cpu;        ///< keep to this CPU; a reservation cannot (the kernel's admission is global)
  bool best_effort = false;      ///< go on without what is not permitted, and say so in shortcomings()
  bool cpu_dma_latency = true;   ///< keep the CPUs out of deep sleep
  double watchdog_share = 0.95;  ///< of a second; 0: no watchdog

  /// "FIFO 50", "RR 10", "RES 2/8" (ms, decimals allowed), "OTHER". @throws std::invalid_argument with what was
  /// expected
  static ContextSpec parse(std::string_view text);
  std::string str() const;
};

/// Runs service() on a thread of its own, as its specification says. request_service() never blocks.
class LiveContext {
 public:
  /// @param service  serves what is owed; real-time  @param finished_block  may be empty
  LiveContext(const ContextSpec& spec, std::function<std::uint32_t()> service);
  ~LiveContext();
  LiveContext(const LiveContext&) = delete;
  LiveContext& operator=(const LiveContext&) = delete;

  /// For the driver's configuration.
  oh_context driver_context();
  /// Locks memory, makes the thread, gives it its scheduling. @throws std::runtime_error naming the missing privilege
  /// and how to grant it (unless best_effort)
  void start();
  void stop();  ///< the service under way ends first

  LogLinearHistogram dispatch_latency() const { return dispatch_.read(); }  ///< from request to service, ns
  LogLinearHistogram service_time() const { return service_time_.read(); }  ///< CPU time of a call, ns
  std::uint64_t calls() const { return calls_.load(std::memory_order_relaxed); }
  std::uint64_t yields() const { return yields_.load(std::memory_order_relaxed); }  ///< budget spent
  std::uint64_t throttles() const {
    return throttles_.load(std::memory_order_relaxed);
  }                                                                          ///< calls the kernel broke off
  bool demoted() const { return demoted_.load(std::memory_order_relaxed); }  ///< by the watchdog
  const std::vector<std::string>& shortcomings() const { return shortcomings_; }

 private:
  void loop();
  void watch();
  void keep_budget();
  void schedule();
  void lacking(const std::string& what);

  ContextSpec spec_;
  std::function<std::uint32_t()> service_;
  sem_t requested_, ended_;
  pthread_t thread_{}, watchdog_{};
  bool running_ = false, watched_ = false;
  std::atomic<bool> stopping_{false}, demoted_{false};
  std::atomic<std::int64_t> requested_at_{0};
  std::atomic<int> tid_{0};
  int dma_latency_ = -1;
  std::int64_t period_began_ = 0, spent_before_ = 0;  // the thread's own
  LiveHistogram dispatch_, service_time_;
  std::atomic<std::uint64_t> calls_{0}, yields_{0}, throttles_{0};
  std::vector<std::string> shortcomings_;
};

/// Lock and touch this process's memory, now and for what comes; once, however often it is asked for. Threads made
/// later have small stacks (kStackBytes), for they are locked in full. @return empty, or why not and how to permit it
std::string lock_memory();
inline constexpr std::size_t kStackBytes = 256 * 1024;
/// Keep the calling thread to a CPU. @return empty, or why not
std::string keep_to_cpu(int cpu);
/// Give the calling thread SCHED_FIFO at this priority. @return empty, or why not and how to permit it
std::string become_fifo(int priority);

}  // namespace offhook
