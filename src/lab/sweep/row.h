// SPDX-License-Identifier: MIT
//
// The result of one run of a sweep: a line of a shard, a row of results.csv and of results.json.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "driver/base/record.h"
#include "hostsim/call/fax_call.h"
#include "hostsim/call/pump_call.h"
#include "hostsim/call/radio_call.h"
#include "hostsim/call/subscriber_call.h"
#include "src/lab/analysis/verdict.h"

namespace offhook::sweep {

struct RunRow : RunOutcome {
  double simulated_s = 0;  ///< the whole call
  std::uint64_t bytes_delivered = 0;
  /// From the answer on (training and connected), as in the paper.
  std::uint64_t blocks = 0, blocks_late = 0, samples_late = 0;
  std::uint32_t pending_max_samples = 0;
  std::uint64_t overrun_samples = 0, underrun_samples = 0;
  std::uint32_t frames_retransmitted = 0, timeouts = 0, retrains = 0;
  double pump_share = 0;  ///< of the CPU
  std::string ending;
  std::vector<std::pair<std::string, std::uint64_t>> late_by_device;  ///< one for each [[load.soft_device]]
  std::optional<hostsim::DmtStatus> dmt;
  std::optional<hostsim::RadioStatus> radio;
  std::optional<hostsim::PumpStatus> pump;
  std::optional<hostsim::FaxStatus> fax;
};

extern const record::Table kRunRow;

/// Written as a line of JSON, and read back. @throws config::Error for a text that is not a row
std::string to_text(const RunRow& row);
RunRow row_of(const std::string& text);

}  // namespace offhook::sweep
