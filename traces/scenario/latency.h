// SPDX-License-Identifier: MIT
//
// Where latency distributions come from: the table [latency] of a host (traces/data/hosts/*.toml) and histogram files.
#pragma once

#include <string_view>

#include "hostsim/host/distribution.h"
#include "traces/scenario/document.h"

namespace offhook::config {

/// The table [latency] of a host. @throws Error naming `host`
hostsim::HostLatencies read_latencies(const Document& table, bool virus_scanner);
/// Of traces/data/hosts/NAME.toml, or of a file whose name ends in .toml. @throws Error when it has none, naming the hosts
/// that do
hostsim::HostLatencies load_latencies(std::string_view host, bool virus_scanner = false);
/// Names of the hosts with a table [latency].
std::vector<std::string> latency_hosts();

/// HdrHistogram's text (value, percentile, count; the value's unit is not in it).  @throws Error with file:line
/// @param unit_ms what a value of 1 means
hostsim::LatencyDistribution parse_hgrm(std::string_view text, std::string_view file, double unit_ms);
/// Lines "latency,count" under a header that is latency_ms,count, latency_us,count or latency_ns,count; latencies rise,
/// each the upper end of its bucket.  @throws Error with file:line
hostsim::LatencyDistribution parse_latency_csv(std::string_view text, std::string_view file);

}  // namespace offhook::config
