// SPDX-License-Identifier: MIT
//
// The time for which a device works in a context until it loses samples, and the evidence for that time. No duration
// exceeds its evidence. The kinds:
//
//     losses        some were seen: their rate, with the interval of a Poisson count. Of losses in bursts, the bursts
//                   are counted, each as long as the longest one
//     seen          nothing was lost in T independent seconds: T/3 with 95 % (rule of three). A recording that is
//                   replayed adds no evidence: T is at most its length
//     law           a reservation's slots suffice from every phase, with the costliest block, every block costing
//                   the most that its spread allows, and the host's work in the slots (law.h)
//     distribution  the host is drawn from latencies that were measured for T: how often one is longer than a block
//                   can wait, T/3 at most if none was. It counts for the measured priority and above; not for a thread
//                   that alternates with one that never blocks.
//                   With a recording of the same host, the latencies bound the wait and the recording bounds the
//                   time taken from the work; the latencies then count for half as long
//     tail          the longest simulated times from interrupt to output continue the observed distribution:
//                   Hill's estimate (Annals of Statistics 1975), P(t) = k/n (t / t_k)^-alpha above the k-th longest
//                   of n. Of synthetic load only: a recording supports no more than T/3
//     assumed       nothing was lost in T simulated seconds of a host without measured numbers: T/3 of that model
//
// Nothing is extrapolated beyond a week.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "hostsim/call/scenario.h"
#include "src/lab/analysis/confidence.h"

namespace offhook::advice {

inline constexpr double kWeekS = 7 * 24 * 3600;
inline constexpr std::size_t kLongestKept = 64;  ///< number of longest times that a run keeps

enum class Evidence : std::uint8_t { kLosses, kSeen, kLaw, kDistribution, kTail, kAssumed };
std::string_view to_string(Evidence evidence);
/// "the losses that were seen"
std::string_view in_words(Evidence evidence);

/// If there was no event in T seconds, the mean time between events is at least T/3 with 95 % confidence: exp(-3) <
/// 0.05.
constexpr double rule_of_three(double seconds) {
  return seconds / 3;
}

/// Time between losses, s.
struct Expectation {
  Evidence evidence = Evidence::kTail;
  double expected_s = 0;  ///< infinite: none is expected, or none within a week
  /// 95 %; from the law, a week if `because` applies. The reliable time is the lower end, at most a week.
  Interval interval_s;
  std::string because;  ///< a sentence, with its assumptions
  double margin_ms =
      std::numeric_limits<double>::infinity();  ///< margin after the longest known wait; infinite: no wait is known

  double evidence_s = std::numeric_limits<double>::infinity();  ///< independent seconds of evidence; infinite: the law

  bool carries(double seconds) const { return interval_s.low >= seconds; }
  /// No loss is expected within a week.
  bool expects_none() const { return expected_s >= kWeekS; }
};

/// The results of the runs of one context in one scenario.
struct Seen {
  double seconds = 0;
  std::uint64_t blocks = 0;
  std::uint64_t losses = 0;         ///< blocks with lost samples
  std::vector<double> longest_ms;   ///< from interrupt to output, in descending order; at most kLongestKept
  std::uint64_t late_bursts = 0;    ///< runs of lost blocks; 0: each loss is one
  std::uint64_t longest_burst = 0;  ///< blocks
};

/// The time between losses, s, with 95 % confidence; without a loss, it has no upper limit. Losses of one burst are not
/// independent: the bursts are counted, and each may be as long as the longest one, because a load and a device of
/// related periods keep their phase.
/// @param independent_s  s of `seen` that are not a repetition: a loss that is replayed counts once
Interval time_between_losses(const Seen& seen, double independent_s);

/// @param scenario with the context  @param assumed whether the host's numbers are assumptions
Expectation expectation(const hostsim::Scenario& scenario, const Seen& seen, bool assumed = false);

/// "90 s", "12 min", "3.25 h", "a week or more": three digits, never rounded up.
std::string span(double seconds);

}  // namespace offhook::advice
