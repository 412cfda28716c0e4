// SPDX-License-Identifier: MIT
#include "src/measure/latency.h"

#include <time.h>

#include <atomic>
#include <chrono>
#include <exception>
#include <mutex>
#include <thread>

namespace offhook::measure {

LatencyResult measure_latency(const LatencyConfig& config, const std::function<bool(const LatencyResult&)>& look) {
  // The probe owns one result and never waits; the looker sees a copy that the probe makes when it is asked.
  LatencyResult probe, shown;
  std::atomic<int> wanted{0};  // 1: a copy is wanted, 2: it has been made
  std::atomic<bool> stop{false}, over{false};
  std::exception_ptr refused;
  std::vector<std::string> without;
  std::thread runner([&] {
    try {
      without = run_as(config.context, [&] {
        const std::int64_t end = now_ns() + config.duration_ns;
        std::int64_t due = now_ns() + config.interval_ns;
        while (due < end && !stop.load(std::memory_order_relaxed)) {
          const timespec at{due / 1'000'000'000, due % 1'000'000'000};
          clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, nullptr);
          const std::int64_t woken = now_ns();
          const std::int64_t late = woken > due ? woken - due : 0;
          probe.latency.add(static_cast<std::uint64_t>(late));
          if (config.threshold_ns > 0 && late >= config.threshold_ns) {
            probe.over_threshold_ns = late;
            probe.over_at_ns = woken;
            break;
          }
          due += config.interval_ns;
          while (due <= woken) {
            due += config.interval_ns;
            ++probe.missed;
          }
          if (wanted.load(std::memory_order_acquire) == 1) {
            shown = probe;  // same sizes: no allocation
            wanted.store(2, std::memory_order_release);
          }
          probe.own_cost.add(static_cast<std::uint64_t>(now_ns() - woken));
        }
      });
    } catch (...) {
      refused = std::current_exception();
    }
    over.store(true);
  });
  while (!over.load()) {
    if (wanted.load(std::memory_order_acquire) == 2) {
      if (!look(shown)) stop.store(true);
      wanted.store(0);
    }
    if (wanted.load() == 0) wanted.store(1, std::memory_order_release);
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  runner.join();
  if (refused) std::rethrow_exception(refused);
  probe.without = without;
  return probe;
}

}  // namespace offhook::measure
