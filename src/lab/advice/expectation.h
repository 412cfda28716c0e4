// SPDX-License-Identifier: MIT
//
// How long a device works in a context until it loses something, and what says so: three minutes of simulation in which
// nothing was lost say little of a week. The evidence, the strongest that there is:
//
//     losses      some were seen: their rate, with the interval of a Poisson count
//     law         a reservation's slots suffice from every phase, with the costliest block, every block costing
//                 the most that its spread allows, and what the host does in the slots (law.h)
//     latencies   the host is drawn from measured latencies: how often one is longer than a block can wait; not
//                 of a thread that takes turns with one that never blocks
//     tail        the longest times from interrupt to output go on falling as those that were seen do: Hill's estimate
//                 (Annals of Statistics 1975), P(t) = k/n (t / t_k)^-alpha above the k-th longest of n
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
inline constexpr std::size_t kLongestKept = 64;  ///< longest times that a run keeps

enum class Evidence : std::uint8_t { kLosses, kLaw, kLatencies, kTail };
std::string_view to_string(Evidence evidence);
/// "the losses that were seen"
std::string_view in_words(Evidence evidence);

/// Time between losses, s.
struct Expectation {
  Evidence evidence = Evidence::kTail;
  double expected_s = 0;  ///< infinite: none is expected, or none within a week
  /// 95 %; of the law, and of latencies that all suffice, a week if `because` holds. The lower end can be relied on, a
  /// week at most.
  Interval interval_s;
  std::string because;  ///< a sentence, with what it assumes
  double margin_ms =
      std::numeric_limits<double>::infinity();  ///< that the longest wait known leaves; infinite: none is

  bool carries(double seconds) const { return interval_s.low >= seconds; }
};

/// What the runs of one context in one scenario came to.
struct Seen {
  double seconds = 0;
  std::uint64_t blocks = 0;
  std::uint64_t losses = 0;        ///< blocks that lost something
  std::vector<double> longest_ms;  ///< from interrupt to output, falling; at most kLongestKept
};

/// @param scenario with the context
Expectation expectation(const hostsim::Scenario& scenario, const Seen& seen);

/// "12 min", "3 h", "a week or more".
std::string span(double seconds);

}  // namespace offhook::advice
