// SPDX-License-Identifier: MIT
#include "src/measure/stolen.h"

#include <sched.h>
#include <time.h>

#include <algorithm>

namespace offhook::measure {

namespace {

std::int64_t median_poll() {
  LogLinearHistogram polls;
  std::int64_t last = now_ns();
  for (int k = 0; k < 20'000; ++k) {
    const std::int64_t at = now_ns();
    polls.add(static_cast<std::uint64_t>(at - last));
    last = at;
  }
  return static_cast<std::int64_t>(polls.quantile(0.5));
}

}  // namespace

StolenResult measure_stolen(const StolenConfig& config) {
  StolenResult result;
  const bool reservation = config.context.kind == OH_CONTEXT_RESERVATION;
  const std::int64_t budget = reservation ? config.context.live_budget_ns() : config.budget_ns;
  const std::int64_t period = reservation ? config.context.live_period_ns() : config.period_ns;
  LiveContextConfig context = config.context;
  context.watchdog_share = 0;  // it polls, but sleeps in every period
  result.poll_ns = median_poll();
  result.gap_ns = std::max(config.gap_ns, 10 * result.poll_ns);
  // A reservation is polled for nine tenths of its budget. The last tenth covers delays of the kernel.
  const std::int64_t work = reservation ? budget * 9 / 10 : budget;
  result.without = run_as(context, [&] {
    const std::int64_t begin = now_ns();
    for (std::int64_t start = begin; start < begin + config.duration_ns && result.over_threshold_ns == 0;
         start += period) {
      const timespec at{start / 1'000'000'000, start % 1'000'000'000};
      clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, nullptr);
      const std::int64_t deadline = start + period;
      std::int64_t got = 0;
      std::int64_t last = now_ns();
      while (got < work && last < deadline) {
        const std::int64_t t = now_ns();
        const std::int64_t gap = t - last;
        if (gap > result.gap_ns) {
          result.stolen.add(static_cast<std::uint64_t>(gap));
          result.stolen_ns += static_cast<std::uint64_t>(gap);
          if (config.threshold_ns > 0 && gap >= config.threshold_ns && result.over_threshold_ns == 0)
            result.over_threshold_ns = gap;
        } else {
          got += gap;
          result.running_ns += static_cast<std::uint64_t>(gap);
        }
        last = t;
      }
      (got >= work ? result.hits : result.misses) += 1;
    }
  });
  return result;
}

}  // namespace offhook::measure
