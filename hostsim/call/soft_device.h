// SPDX-License-Identifier: MIT
//
// A soft device, not necessarily a modem: a card that interrupts after each block of samples, work for each block, and
// a queue of output that must not run empty. It runs in any context as a modem does. Only its cost is simulated, and it
// succeeds if nothing was lost. Shipped ones with their sources: traces/data/devices/*.toml.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "hostsim/call/cost_profile.h"
#include "hostsim/engine/engine.h"

namespace offhook::hostsim {

struct SoftDevice {
  std::string name;
  std::string pump;                          ///< registered pump that does the work (registered_pump.h); empty: none
  std::uint32_t rate_hz = OH_MODEM_RATE_HZ;  ///< of the faster direction
  std::vector<std::uint32_t> block_plan = {105, 105, 90};  ///< t: samples per interrupt, repeated
  std::uint32_t buffers = 2;                               ///< n
  std::uint32_t buffer_samples = 0;                        ///< samples of one buffer; 0: the longest block
  std::uint32_t transmit_lead_samples = 0;                 ///< samples queued ahead if all are served; 0: all buffers
  Ns cost_ns = 1'760'000;                                  ///< c: CPU time of one block
  double cost_spread = 0;        ///< random variation of a block's cost in both directions, as a share
  Ns worst_cost_ns = 0;          ///< of the first block; 0: like all others
  double output_fraction = 0.4;  ///< phi: share of a block's work after which its output is queued
  Ns isr_mean_ns = 5'400;
  Ns isr_max_ns = 16'000;

  std::uint32_t longest_block() const;
  std::uint32_t buffer() const { return buffer_samples != 0 ? buffer_samples : longest_block(); }
  std::uint32_t lead() const { return transmit_lead_samples != 0 ? transmit_lead_samples : buffers * buffer(); }
  /// Impossible properties, in words; empty if there are none.
  std::string problem() const;
  /// Rate, blocks, buffers and lead in samples of a direction that is `ratio` times slower.
  /// @throws std::invalid_argument for a number that is not a multiple of the ratio
  SoftDevice in_periods(std::uint32_t ratio) const;
  /// Its card, whose rings hold all buffers plus two of the longest block, rounded up to a power of two.
  oh_streams streams() const;
  /// Its costs: the device works in both phases after the answer. @throws std::invalid_argument with problem()
  CostProfile profile() const;
};

}  // namespace offhook::hostsim
