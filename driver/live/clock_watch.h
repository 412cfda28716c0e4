// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>

namespace offhook {

/// Compares the samples that a sound device has passed with CLOCK_MONOTONIC, to detect whether it still runs at its
/// rate. Real-time, except the texts. One thread at a time.
class ClockWatch {
 public:
  /// @param granularity  samples by which the device's count jumps: a period
  ClockWatch(std::uint32_t rate_hz, std::uint32_t granularity) : rate_hz_(rate_hz), granularity_(granularity) {}

  /// The stream began at this count.
  void restart(std::uint64_t samples, std::int64_t ns);
  /// The stream restarted at this count, after an overrun. The rate is computed over all parts together.
  void resume(std::uint64_t samples, std::int64_t ns);
  /// `samples` have passed.
  void seen(std::uint64_t samples, std::int64_t ns);
  /// @return the expected count at this time, from the newest count and the clock
  std::uint64_t expected(std::int64_t ns) const;
  /// @return empty, or the fault: no samples for a second, no clock, another rate over two seconds of stream
  std::string verdict(std::int64_t ns);

 private:
  std::uint32_t rate_hz_, granularity_;
  std::int64_t at_ns_ = 0, begun_ns_ = 0;
  std::int64_t looked_ns_ = 0, quiet_ns_ = 0;  // at the last check; without samples, up to the last check
  std::uint64_t at_samples_ = 0, begun_samples_ = 0;
  std::uint64_t stretches_ = 1;  // of this window, between overruns
};

}  // namespace offhook
