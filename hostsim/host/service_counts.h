// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

namespace offhook::hostsim {

/// What a driver's records of its service runs come to, for a run that keeps no log: SERVICE_END and OUTPUT_READY.
/// Samples that were lost are counted by driver and card themselves.
struct ServiceCounts {
  std::uint64_t blocks = 0;       ///< SERVICE_END
  std::uint64_t blocks_late = 0;  ///< OUTPUT_READY with samples that came too late
  std::uint32_t pending_max = 0;  ///< of all SERVICE_END, samples
};

}  // namespace offhook::hostsim
