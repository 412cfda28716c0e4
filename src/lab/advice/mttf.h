// SPDX-License-Identifier: MIT
//
// Mean time to a buffer underrun of a periodic computation on a host that lets it wait: Cota-Robles and Held, OSDI
// 1999, section 5. Every t an interrupt brings a buffer, which costs c of CPU time; n buffers of t hold
//
//     latency tolerance (n - 1) t        slack (n - 1) t - c        frequency P of latencies above the slack
//     mean time to failure, theirs: (n - 1) t / P          ours: t / P, for an interrupt comes every t, not (n - 1) t
//
// The two agree with double buffering, for which theirs is meant. Both ignore that a long latency also delays the next
// buffers; the simulation includes it.
#pragma once

#include <cstdint>

#include "hostsim/host/distribution.h"
#include "src/lab/analysis/confidence.h"

namespace offhook {

struct Buffering {
  double buffer_ms = 16;  ///< t
  int buffers = 2;        ///< n, 2 or more
  double compute_ms = 4;  ///< c, 0 to t

  double tolerance_ms() const { return (buffers - 1) * buffer_ms; }
  double slack_ms() const { return tolerance_ms() - compute_ms; }
};

/// Their formula. Infinite if no latency is longer than the slack.
double published_mttf_s(const hostsim::LatencyDistribution& latency, const Buffering& b);
/// With one interrupt every t.
double mttf_s(const hostsim::LatencyDistribution& latency, const Buffering& b);

struct UnderrunRun {
  double simulated_s = 0;
  std::uint64_t buffers = 0;    ///< that came
  std::uint64_t missed = 0;     ///< not finished before all buffered data were consumed
  std::uint64_t underruns = 0;  ///< sequences of missed ones: the failures
  bool stopped = false;         ///< by `go_on`

  double mttf_s() const { return underruns == 0 ? 0 : simulated_s / static_cast<double>(underruns); }
  /// 95 % confidence; the upper end is infinite if nothing failed.
  Interval mttf_interval_s() const;
};

/// The same computation on a virtual clock of integer nanoseconds. If the computation is waiting or running at an
/// interrupt, that interrupt adds no latency, because its buffer is served after the earlier ones. Stops early after
/// `enough` underruns.
/// @param go_on called about once per million buffers with the finished share; if it returns false, stops
UnderrunRun simulate_underruns(const hostsim::LatencyDistribution& latency, const Buffering& b, double seconds,
                               std::uint64_t enough, std::uint64_t seed, bool (*go_on)(void*, double) = nullptr,
                               void* user = nullptr);

}  // namespace offhook
