// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

namespace offhook::hostsim {

/// Totals of a driver's records of its service runs, SERVICE_END and OUTPUT_READY, for a run without a log. Driver and
/// card count lost samples.
struct ServiceCounts {
  std::uint64_t blocks = 0;       ///< SERVICE_END
  std::uint64_t blocks_late = 0;  ///< OUTPUT_READY with late samples
  std::uint32_t pending_max = 0;  ///< sum over all SERVICE_END, in samples
};

}  // namespace offhook::hostsim
