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

inline constexpr std::pair<double, double> kAlways{0, 1e9};  ///< s, beginning and end of the network's stream
inline constexpr int kPreciseHz = 20'000;  ///< "precise timers" (5): four ms are a whole number of their ticks

/// An axis with only this text.
Axis plain_axis(std::string text);

/// One figure of each repetition.
std::vector<double> numbers(const std::vector<RegehrResult>& results, double RegehrResult::*field);

/// Runs each `repetitions` times, [run][repetition], with the seed of `run`, in parallel. @throws as run.parallel
std::vector<std::vector<RegehrResult>> run_all(const Run& run, const std::vector<RegehrRun>& runs,
                                               std::size_t repetitions);

/// A point at their mean times `scale`, with its 95 % confidence interval.
void add_mean(Series& series, double x, const std::vector<double>& values, double scale);

}  // namespace offhook::reproduce
