// SPDX-License-Identifier: MIT
//
// The common steps of the experiments of Regehr and Stankovic: repeated runs of the machine, and series of their means.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "src/lab/reproduce/claim.h"
#include "src/lab/reproduce/regehr_machine.h"

namespace offhook::reproduce {

inline constexpr std::pair<double, double> kAlways{0, 1e9};  ///< s, when the network's stream begins and ends
inline constexpr int kPreciseHz = 20'000;  ///< "precise timers" (5): four ms are a whole number of its ticks

/// An axis with this text and nothing else.
Axis plain_axis(std::string text);

/// One figure of each repetition.
std::vector<double> numbers(const std::vector<RegehrResult>& results, double RegehrResult::*field);

/// `repetitions` runs of each of these, [run][repetition], with the seed of `run`, in parallel. @throws as run.parallel
std::vector<std::vector<RegehrResult>> run_all(const Run& run, const std::vector<RegehrRun>& runs,
                                               std::size_t repetitions);

/// A point at the mean of these, with its 95 % confidence interval, times `scale`.
void add_mean(Series& series, double x, const std::vector<double>& values, double scale);

}  // namespace offhook::reproduce
