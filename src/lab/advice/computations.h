// SPDX-License-Identifier: MIT
//
// Periodic computations for `offhook mttf --tasks`, as TOML:
//
//     host = "win98-games"           # a host with a table [latency]
//     virus_scanner = false
//
//     [[computation]]
//     name = "soft modem"
//     modality = "dpc"               # interrupt, dpc or thread
//     period_ms = 8
//     cost_ms = 2
//     buffers = 3                    # the deadline is 2 periods after the interrupt
//     failure = "hour"               # one dropped buffer in 5min, an hour or a day may be
#pragma once

#include <string>
#include <vector>

#include "src/lab/advice/schedulability.h"
#include "traces/scenario/document.h"

namespace offhook::config {

struct ComputationFile {
  std::string host = "win98-games";
  bool virus_scanner = false;
  std::vector<Computation> computations;
};

/// @throws Error with the position
ComputationFile read_computations(Document document);
/// The keys of a file, for --help.
std::string describe_computations();

}  // namespace offhook::config
