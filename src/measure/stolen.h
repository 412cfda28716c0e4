// SPDX-License-Identifier: MIT
//
// The test application of Regehr and Stankovic (2001), live: a thread with a reservation polls the clock all the time.
// A gap longer than any poll is time stolen from the thread; a period in which the thread got less than its budget is a
// miss.
#pragma once

#include <cstdint>

#include "driver/base/histogram.h"
#include "src/measure/real_time.h"

namespace offhook::measure {

struct StolenConfig {
  LiveContextConfig context;  ///< RES x/y: x of every y is checked; others: period_ns and budget_ns as given
  std::int64_t budget_ns = 0;
  std::int64_t period_ns = 0;
  std::int64_t duration_ns = 10'000'000'000;
  std::int64_t gap_ns = 2'200;    ///< threshold of the paper (5); ten times the median poll if polls take longer
  std::int64_t threshold_ns = 0;  ///< end at the first stolen interval of at least this; 0: never
};

struct StolenResult {
  LogLinearHistogram stolen;  ///< each stolen interval, ns, without the thread's own sleeps
  std::uint64_t stolen_ns = 0;
  std::uint64_t running_ns = 0;        ///< polled
  std::uint64_t hits = 0, misses = 0;  ///< periods with and without the full budget
  std::int64_t gap_ns = 0;             ///< the threshold that was used
  std::int64_t poll_ns = 0;            ///< median poll
  std::int64_t over_threshold_ns = 0;  ///< the interval that ended the measurement
  std::vector<std::string> without;
};

StolenResult measure_stolen(const StolenConfig& config);

}  // namespace offhook::measure
