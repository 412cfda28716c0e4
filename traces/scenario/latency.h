// SPDX-License-Identifier: MIT
//
// Sources of latency distributions: the table [latency] of a host (traces/data/hosts/*.toml) and histogram files.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "hostsim/host/distribution.h"
#include "traces/scenario/document.h"

namespace offhook::config {

/// The table [latency] of a host. @throws Error with `host`
hostsim::HostLatencies read_latencies(Document table, bool virus_scanner);
/// A host that a program made: later load_latencies(name) returns it. From any thread.
void register_latencies(const std::string& name, hostsim::HostLatencies latencies);

/// A histogram as cyclictest and rtla print it, and the measurement's properties from its header.
struct LatencyHistogram {
  hostsim::LatencyDistribution latency;
  std::string tool;          ///< "cyclictest" or "rtla timerlat"
  std::string scheduling{};  ///< "FIFO", "RR", "DEADLINE", "OTHER"; empty if the header does not have it
  int priority = 0;          ///< 0: not in the header
  double seconds = 0;        ///< 0: not in the header
  double waits = 0;          ///< of all threads
  std::string kernel{};      ///< "Linux 6.12.57 ..."; empty if the header does not have it
};
/// cyclictest -h (text), cyclictest --json, rtla timerlat hist: the sums over several threads, in microseconds.
/// @throws Error with the line and the accepted formats
LatencyHistogram parse_histogram(std::string_view text, std::string_view file);
/// Whether a text begins like one of them.
bool is_histogram(std::string_view text);

/// The latencies of traces/data/hosts/NAME.toml, or of a file whose name ends in .toml. @throws Error if it has none,
/// with the list of hosts that have
hostsim::HostLatencies load_latencies(std::string_view host, bool virus_scanner = false);
/// Names of the hosts with a table [latency].
std::vector<std::string> latency_hosts();

/// HdrHistogram's text (value, percentile, count; the value's unit is not in it).  @throws Error with file:line
/// @param unit_ms unit of a value, in ms
hostsim::LatencyDistribution parse_hgrm(std::string_view text, std::string_view file, double unit_ms);
/// Lines "latency,count" after a header that is latency_ms,count, latency_us,count or latency_ns,count; latencies
/// increase, each is the upper end of its bucket.  @throws Error with file:line
hostsim::LatencyDistribution parse_latency_csv(std::string_view text, std::string_view file);

}  // namespace offhook::config
