// SPDX-License-Identifier: MIT
#include "driver/live/clock_watch.h"

#include <algorithm>
#include <cmath>

namespace offhook {

namespace {

constexpr std::int64_t kGiga = 1'000'000'000;
constexpr std::int64_t kWindowNs = 2 * kGiga;
constexpr std::int64_t kStallNs = kGiga;
constexpr std::int64_t kLookNs = kGiga / 4;  // maximum between two checks: a longer gap is the host's fault
constexpr double kAheadSeconds = 0.75;  // maximum of a device's own buffer: without a clock it is beyond that at once
constexpr double kTolerance = 0.02;     // a quartz is within 0.01 %

}  // namespace

void ClockWatch::restart(std::uint64_t samples, std::int64_t ns) {
  begun_ns_ = at_ns_ = looked_ns_ = ns;
  quiet_ns_ = 0;
  stretches_ = 1;
  begun_samples_ = at_samples_ = samples;
}

void ClockWatch::resume(std::uint64_t samples, std::int64_t ns) {
  // Moves the window's origin by the time without checks.
  begun_ns_ += ns - at_ns_;
  begun_samples_ += samples - at_samples_;
  at_ns_ = looked_ns_ = ns;
  at_samples_ = samples;
  quiet_ns_ = 0;
  ++stretches_;
}

void ClockWatch::seen(std::uint64_t samples, std::int64_t ns) {
  if (samples == at_samples_) return;
  at_samples_ = samples;
  at_ns_ = looked_ns_ = ns;
  quiet_ns_ = 0;
}

std::uint64_t ClockWatch::expected(std::int64_t ns) const {
  const double more = static_cast<double>(ns - at_ns_) * 1e-9 * rate_hz_;
  return at_samples_ + static_cast<std::uint64_t>(std::llround(std::fmax(more, 0)));
}

std::string ClockWatch::verdict(std::int64_t ns) {
  quiet_ns_ += std::min(ns - looked_ns_, kLookNs);
  looked_ns_ = ns;
  if (quiet_ns_ > kStallNs) return "the device is gone: no samples for a second";
  const std::int64_t watched_ns = at_ns_ - begun_ns_;
  const double seconds = static_cast<double>(watched_ns) * 1e-9;
  const double passed = static_cast<double>(at_samples_ - begun_samples_);
  if (passed > (seconds + kAheadSeconds) * rate_hz_)
    return "its samples do not arrive at a constant rate: it is not a sound device of " + std::to_string(rate_hz_) +
           " Hz";
  if (watched_ns < kWindowNs) return "";
  const auto unsure = static_cast<double>(stretches_ * granularity_);
  if (std::fabs(passed - seconds * rate_hz_) > kTolerance * seconds * rate_hz_ + unsure)
    return "passes " + std::to_string(std::llround(passed / seconds)) + " samples per second instead of " +
           std::to_string(rate_hz_) + ": its rate changed";
  restart(at_samples_, at_ns_);
  return "";
}

}  // namespace offhook
