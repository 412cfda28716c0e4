// SPDX-License-Identifier: MIT
//
// The contexts of a live driver on Linux, outside the kernel: a thread that calls service().
//
//   OTHER n, WORKER  a normal thread
//   FIFO p, RR p     a real-time thread
//   RES x/y          a reservation: SCHED_DEADLINE
//
// A reservation limits its budget itself: when it has used x since its period began it yields, and the kernel wakes
// it at the next one. The kernel's own enforcement is a second safeguard: it acts at ticks (4 ms at HZ=250) and carries
// the excess over. Its interventions are counted as throttles.
//
// The watchdog (watchdog.h) demotes a thread that keeps the CPU to a normal thread.
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

#include "driver/base/histogram.h"
#include "driver/context/context_spec.h"
#include "driver/context/watchdog.h"
#include "offhook/context.h"

namespace offhook {

struct LiveContextConfig : ContextSpec {
  LiveContextConfig(const ContextSpec& spec = ContextSpec::parse("FIFO 50"))
      : ContextSpec(spec) {}  // NOLINT: implicit, because a spec is sufficient

  std::optional<int> cpu;       ///< keep to this CPU; not for a reservation, because the kernel's admission is global
  bool best_effort = false;     ///< continue without missing permissions, and list them in shortcomings()
  bool cpu_dma_latency = true;  ///< keep the CPUs out of deep sleep
  double watchdog_share = WatchRule{}.share;  ///< of the CPU; 0: no watchdog

  /// ContextSpec::parse(), and that this host can run it. @throws std::invalid_argument
  static LiveContextConfig parse(std::string_view text);
  /// X and Y of a reservation; 0 for other contexts.
  std::int64_t live_budget_ns() const;
  std::int64_t live_period_ns() const;
};

/// Runs service() on a separate thread, as its specification requests.
class LiveContext {
 public:
  /// @param service  serves the owed blocks; real-time
  LiveContext(const LiveContextConfig& config, std::function<std::uint32_t()> service);
  ~LiveContext();
  LiveContext(const LiveContext&) = delete;
  LiveContext& operator=(const LiveContext&) = delete;

  /// The table of operations, for the driver's configuration.
  oh_context driver_context();
  /// Locks memory, makes the thread, gives it its scheduling. @throws std::runtime_error naming the missing privilege
  /// and how to grant it (unless best_effort); std::invalid_argument when this host does not run it
  void start();
  void stop();  ///< the running service ends first
  void request();
  /// Changes the thread's scheduling. @throws as start(); the previous scheduling then stays in effect
  void reconfigure(const ContextSpec& spec);
  const ContextSpec& spec() const { return config_; }  ///< the owner's

  LogLinearHistogram dispatch_latency() const { return dispatch_.read(); }  ///< from request to service, ns
  LogLinearHistogram service_time() const { return service_time_.read(); }  ///< CPU time of a call, ns
  std::uint64_t calls() const { return calls_.load(std::memory_order_relaxed); }
  std::uint64_t yields() const { return yields_.load(std::memory_order_relaxed); }  ///< budget spent
  std::uint64_t throttles() const {
    return throttles_.load(std::memory_order_relaxed);
  }                                                                               ///< calls that the kernel interrupted
  bool demoted() const { return rule_.demoted.load(std::memory_order_relaxed); }  ///< by the watchdog
  const std::vector<std::string>& shortcomings() const { return shortcomings_; }

 private:
  void loop();
  void keep_budget(std::int64_t budget_ns, std::int64_t period_ns);
  void schedule(const LiveContextConfig& config);
  void lacking(const LiveContextConfig& config, const std::string& what, int error);

  LiveContextConfig config_;
  std::function<std::uint32_t()> service_;
  sem_t requested_;
  pthread_t thread_{};
  WatchRule rule_;
  bool running_ = false;
  std::atomic<bool> stopping_{false};
  std::atomic<std::int64_t> requested_at_{0};
  std::atomic<int> tid_{0};
  std::atomic<std::int64_t> budget_ns_{0}, period_ns_{0};  // of a reservation; 0: none
  std::atomic<std::int64_t> waited_ns_{0};                 // the last request for its service
  int refused_ = 0;                                        // errno of the last refusal
  int dma_latency_ = -1;
  std::int64_t period_began_ = 0, spent_before_ = 0;  // the thread's own
  LiveHistogram dispatch_, service_time_;
  std::atomic<std::uint64_t> calls_{0}, yields_{0}, throttles_{0};
  std::vector<std::string> shortcomings_;
};

/// Lock and touch this process's memory, present and future; repeated calls do nothing. Threads made
/// later have small stacks (kStackBytes), because they are locked in full. @return empty, or the reason and how to
/// permit it
std::string lock_memory();
inline constexpr std::size_t kStackBytes = 256 * 1024;
/// Keep the calling thread to a CPU. @return empty, or why not
std::string keep_to_cpu(int cpu);
/// Give the calling thread SCHED_FIFO at this priority, below 99. The watchdog watches it until the thread ends.
/// @param rule  the watchdog's, for a caller that needs to know of a demotion; outlives the thread
/// @return empty, or the reason and how to permit it
std::string become_fifo(int priority, WatchRule* rule = nullptr);
/// From a thread after become_fifo(), once per block: saves the watchdog from reading /proc (watchdog.h).
void report_to_watchdog();
/// For a measurement that never sleeps and ends by itself.
std::string become_fifo_unwatched(int priority);

}  // namespace offhook
