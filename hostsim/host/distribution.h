// SPDX-License-Identifier: MIT
//
// Distribution of a host's latencies, from a measurement. It is a list of points, each a latency and the share of waits
// that take longer:
//
//     latency   longer, per wait          between the points log(latency) is linear in log(frequency), a Pareto
//     0.02 ms   1                         piece; the worst measured latency is the longest one of a
//     45 ms     1 in 87,840 (hour)        draw, because nothing is known beyond it.
//     58 ms     1 in 307,440 (day)
//     84 ms     1 in 2,152,080 (week)
//
// Cota-Robles and Held (OSDI 1999) publish three such points per service and workload (Table 3); a histogram file gives
// hundreds; a least, mean and greatest value (Siemens' Table 1 of Windows CE) give a Weibull that has all three.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "hostsim/engine/engine.h"

namespace offhook::hostsim {

/// Latencies are in ms, and simulated time in ns.
inline constexpr double kNsPerMs = 1e6;

struct LatencyPoint {
  double longer;      ///< share of waits that take longer than this, 0 < longer <= 1
  double latency_ms;  ///< 1e-9 to 1e12
};

class LatencyDistribution {
 public:
  /// @param points the first with longer = 1; then longer falls by at least 1e-12 of it, and latency never falls
  /// @throws std::invalid_argument otherwise, or when there is none
  explicit LatencyDistribution(std::vector<LatencyPoint> points);

  /// From worst cases of several numbers of waits (for example in an hour, a day, a week). Each latency is exceeded
  /// once in its number. @param least least latency
  static LatencyDistribution through_worst_cases(double least_ms, std::span<const double> worst_ms,
                                                 std::span<const double> waits);
  /// A Weibull distribution with this least and mean value, which exceeds `greatest` once in `count` waits (in the
  /// limit: it is the worst).
  /// @throws std::invalid_argument unless least < mean < greatest and count > 1
  static LatencyDistribution through_moments(double least_ms, double mean_ms, double greatest_ms, double count);

  /// The same latencies, `factor` times as frequent where possible: all except the commonest.
  /// @pre factor > 0
  LatencyDistribution more_often(double factor) const;

  /// The latency that the share `longer` of all waits exceeds; for rarer shares than measured, the worst latency.
  double latency_ms(double longer) const;
  /// The share of waits that take longer than this.
  double longer_than(double latency_ms) const;
  double mean_ms() const;
  double worst_ms() const { return points_.back().latency_ms; }
  /// Share of waits that have the worst latency.
  double rarest() const { return points_.back().longer; }
  const std::vector<LatencyPoint>& points() const { return points_; }

 private:
  struct Piece {
    double log_longer, log_latency, slope;  // from its point onwards; slope = -d log latency / d log longer
  };
  std::vector<LatencyPoint> points_;
  std::vector<Piece> pieces_;  // one a point
};

/// Kinds of waits, as Cota-Robles and Held distinguish them.
enum class Modality : std::uint8_t { kInterrupt, kDpc, kThread };

/// Kinds of threads, whose waits differ. On Linux: SCHED_FIFO and SCHED_RR, SCHED_DEADLINE, SCHED_OTHER.
enum class ThreadKind : std::uint8_t { kRealTime, kDeadline, kNormal };

/// A host described by its latencies, from the hardware interrupt to the first instruction of the working code. One
/// uniform number decides all of them (they are comonotone): a late interrupt has a late DPC and a late thread. The
/// rows of Table 3 add up in this way in every column.
struct HostLatencies {
  LatencyDistribution interrupt;
  std::optional<LatencyDistribution> dpc;  ///< none: the host has no DPCs
  LatencyDistribution thread;
  LatencyDistribution high_thread;  ///< of a thread at `high_priority` or above
  int high_priority = 28;
  double waits_per_s = 1;   ///< of the measurement; converts a worst case per hour to a frequency per wait
  double use_per_load = 1;  ///< hours of a heavy user per hour of the measured load
  /// Priority of the measured thread. More urgent threads wait no longer; for less urgent ones nothing is known. 0:
  /// any.
  int measured_priority = 0;
  /// Other threads that were measured there.
  struct MeasuredThread {
    ThreadKind kind = ThreadKind::kRealTime;
    int priority = 0;  ///< kRealTime: must be above measured_priority
    LatencyDistribution latency;
  };
  std::vector<MeasuredThread> more{};  ///< real-time ones in rising order of priority

  /// Duration of the measurement, for the service with the most waits.
  double measured_s() const { return 1 / thread.rarest() / waits_per_s; }

  /// @throws std::invalid_argument for a DPC on a host without
  const LatencyDistribution& to(Modality modality, int priority) const;
  /// Of a thread. For a real-time thread, the measurement at its priority or the next lower one. A kind that was not
  /// measured is treated as real-time.
  const LatencyDistribution& to_thread(ThreadKind kind, int priority) const;
  /// Whether a thread of this kind was measured. kRealTime: yes.
  bool knows(ThreadKind kind) const;
};

}  // namespace offhook::hostsim
