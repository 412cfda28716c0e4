// SPDX-License-Identifier: MIT
//
// Two channels on different clocks: two recorders, or two files put together. Each direction can be read by its own
// clock, but the echo of the other one moves by a sample every 1.25 s at 100 ppm, and no fixed path cancels it. The
// difference is measured by that echo, whose delay is a straight line in time, in stretches of a second.
#pragma once

#include <optional>
#include <span>
#include <vector>

namespace offhook::decode {

/// By how much the clock of `b` is faster than that of `a`, ppm, if they differ: where one channel has the other's echo
/// for 2 s or more. To 1.5 ppm. @param a, b  at a nominal rate of 8000 Hz
/// @return nothing: no difference of kLeastPpm or more was found
std::optional<double> clock_difference_ppm(std::span<const float> a, std::span<const float> b);

inline constexpr double kLeastPpm = 2, kMostPpm = 500;

/// The samples of x as a clock that is `ppm` slower takes them. @return [size], silence behind the end of x
std::vector<float> on_slower_clock(std::span<const float> x, double ppm, std::size_t size);

}  // namespace offhook::decode
