// SPDX-License-Identifier: MIT
//
// The host's own speed: the microbenchmarks of Chen et al., "The Measured Performance of Personal Computer Operating
// Systems" (SOSP 1995, section 4), and their three applications (section 5; workloads.h).
//
// As there, every figure is of one repeated operation. The cost of starting and stopping the measurement (the
// null benchmark) is subtracted. Counters are read in separate repetitions, so that reading them does not disturb the
// times.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace offhook::measure {

struct HostConfig {
  int repetitions = 50;                 ///< of each, as in the paper
  std::filesystem::path folder;         ///< folder of the test files, which selects the file system under test
  int workload_repetitions = 3;         ///< 0: no applications
  std::size_t memory_limit = 64 << 20;  ///< bytes of the largest array
};

/// One benchmark.
struct HostRow {
  std::string name;                                      ///< name in the claim chen.microbenchmarks, with a variant
  std::string what;                                      ///< the action that is measured here
  std::string unit;                                      ///< "us", "ns", "MB/s", "s"
  std::vector<double> values;                            ///< [repetition] time of one operation
  std::vector<std::pair<std::string, double>> counters;  ///< counters for one operation, by name
  std::string skipped;                                   ///< why there are no values
  std::string remark;                                    ///< a note for the reader

  double median() const { return quantile(0.5); }
  double quantile(double share) const;  ///< 0 without values
};

/// Time of one access in a walk through an array: "stride 128" of the paper's Figure 4, and others.
struct MemoryCurve {
  std::size_t stride = 0;  ///< bytes; 0: cells of 128 bytes in random order
  std::vector<std::size_t> bytes;
  std::vector<double> median_ns, low_ns, high_ns;  ///< [size]: median, minimum and maximum of the repetitions
};

struct HostResult {
  std::vector<HostRow> rows;
  std::vector<MemoryCurve> memory;
  std::string counters;  ///< one sentence about missing ones; empty: all are available
  std::string file_system;
};

/// @param progress  finished share and current benchmark; if it returns false, stops with the results so far
HostResult measure_host(const HostConfig& config, const std::function<bool(double, const std::string&)>& progress);

/// A ring of pointers through `bytes` with this stride (0: random order of cells of 128 bytes), for `p = *p`.
/// @param[out] array  [bytes]  @return its first element
void** pointer_ring(std::vector<std::uint64_t>& array, std::size_t bytes, std::size_t stride);

}  // namespace offhook::measure
