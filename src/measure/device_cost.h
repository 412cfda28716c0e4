// SPDX-License-Identifier: MIT
//
// The cost of a real DMT pump or radio on this CPU, block by block, as a soft device: a device description
// for the simulator and for the reservation law.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "driver/base/histogram.h"
#include "hostsim/call/scenario.h"

namespace offhook::measure {

struct DeviceCost {
  std::uint64_t blocks = 0;              ///< of data mode
  LogLinearHistogram start_up, in_data;  ///< CPU time of a block, ns
  struct BitRate {
    std::string key, name;  ///< "gross_down_bps", "gross down"
    std::uint32_t bps = 0;
  };
  std::vector<BitRate> bit_rates;  ///< of both directions
  bool in_data_mode = false;       ///< whether data mode was reached
};

/// The near end of a scenario with a device on a line, in blocks of the device. Nothing else runs on the host.
/// @param data_s  of data mode  @param progress  share; false stops it  @throws std::invalid_argument
DeviceCost measure_device_cost(const hostsim::Scenario& scenario, double data_s,
                               const std::function<bool(double)>& progress);

/// The scenario's device with measured values: block_us is the median in data mode, spread the distance to the 99 %
/// quantile, worst_us the longest block of the start-up, phi 1.
hostsim::SoftDevice measured_device(const hostsim::Scenario& scenario, const DeviceCost& cost);

}  // namespace offhook::measure
