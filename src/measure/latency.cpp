// SPDX-License-Identifier: MIT
#include "src/measure/latency.h"

#include <sched.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "driver/base/thread.h"

namespace offhook::measure {

namespace {

/// From the probe's thread to the observer's. If it is full, events are dropped; the histograms have all.
class WakeupRing {
 public:
  explicit WakeupRing(bool wanted) : ring_(wanted ? kSize : 0) {}
  void push(const Wakeup& w) {
    const std::size_t at = pushed_.load(std::memory_order_relaxed);
    if (ring_.empty() || at - popped_.load(std::memory_order_acquire) == kSize) return;
    ring_[at % kSize] = w;
    pushed_.store(at + 1, std::memory_order_release);
  }
  std::vector<Wakeup> pop() {
    std::vector<Wakeup> all;
    const std::size_t end = pushed_.load(std::memory_order_acquire);
    for (std::size_t at = popped_.load(std::memory_order_relaxed); at < end; ++at) all.push_back(ring_[at % kSize]);
    popped_.store(end, std::memory_order_release);
    return all;
  }

 private:
  static constexpr std::size_t kSize = 1 << 16;
  std::vector<Wakeup> ring_;
  std::atomic<std::size_t> pushed_{0}, popped_{0};
};

/// The probe owns one result and never waits; the observer reads a copy, which the probe makes on request.
struct Shared {
  explicit Shared(const LatencyConfig& of) : config(of), wakeups(static_cast<bool>(of.on_wakeups)) {}
  const LatencyConfig& config;
  LatencyResult probe, shown;
  std::atomic<int> wanted{0};  // 1: a copy was requested, 2: it is complete
  std::atomic<bool> stop{false};
  WakeupRing wakeups;

  /// @return false if it was late by the threshold, which ends the measurement
  bool wake(std::int64_t due) {
    const timespec at{due / 1'000'000'000, due % 1'000'000'000};
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, nullptr);
    woken = now_ns();
    const std::int64_t late = woken > due ? woken - due : 0;
    probe.latency.add(static_cast<std::uint64_t>(late));
    wakeups.push({due, woken});
    if (config.threshold_ns <= 0 || late < config.threshold_ns) return true;
    probe.over_threshold_ns = late;
    probe.over_at_ns = woken;
    if (config.at_threshold) config.at_threshold();
    return false;
  }
  /// Runs in the measured context.
  void run() {
    probe.tid = gettid();
    probe.policy = sched_getscheduler(0);
    if (config.begin) config.begin(probe.tid);
    const std::int64_t end = now_ns() + config.duration_ns;
    std::int64_t due = now_ns() + config.interval_ns;
    while (due < end && !stop.load(std::memory_order_relaxed) && wake(due)) {
      due += config.interval_ns;
      while (due <= woken) {
        due += config.interval_ns;
        ++probe.missed;
      }
      if (wanted.load(std::memory_order_acquire) == 1) {
        shown = probe;  // equal sizes, so no allocation
        wanted.store(2, std::memory_order_release);
      }
      probe.own_cost.add(static_cast<std::uint64_t>(now_ns() - woken));
    }
  }

  std::int64_t woken = 0;
};

}  // namespace

LatencyResult measure_latency(const LatencyConfig& config, const std::function<bool(const LatencyResult&)>& look) {
  Shared shared(config);
  std::atomic<bool> over{false};
  std::exception_ptr refused;
  std::vector<std::string> without;
  std::thread runner = start_thread([&] {
    try {
      without = run_as(config.context, [&] { shared.run(); });
    } catch (...) {
      refused = std::current_exception();
    }
    over.store(true);
  });
  while (!over.load()) {
    if (shared.wanted.load(std::memory_order_acquire) == 2) {
      if (!look(shared.shown)) shared.stop.store(true);
      shared.wanted.store(0);
    }
    if (shared.wanted.load() == 0) shared.wanted.store(1, std::memory_order_release);
    if (config.on_wakeups) config.on_wakeups(shared.wakeups.pop());
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  runner.join();
  if (config.on_wakeups && !refused) config.on_wakeups(shared.wakeups.pop());
  if (refused) std::rethrow_exception(refused);
  shared.probe.without = without;
  return shared.probe;
}

}  // namespace offhook::measure
