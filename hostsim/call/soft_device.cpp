// SPDX-License-Identifier: MIT
#include "hostsim/call/soft_device.h"

#include <algorithm>
#include <bit>
#include <stdexcept>

namespace offhook::hostsim {

std::uint32_t SoftDevice::longest_block() const {
  return block_plan.empty() ? 0 : *std::max_element(block_plan.begin(), block_plan.end());
}

std::string SoftDevice::problem() const {
  const auto text = [](std::uint64_t n) { return std::to_string(n); };
  if (block_plan.empty() || block_plan.size() > OH_BLOCK_PLAN_MAX) {
    return "the block plan has " + text(block_plan.size()) + " blocks; expected 1 to " + text(OH_BLOCK_PLAN_MAX) +
           " (for a fraction of a sample per block, as in 44.1 samples of a millisecond at 44100 Hz, use 44 at 44000 "
           "Hz)";
  }
  if (*std::min_element(block_plan.begin(), block_plan.end()) == 0) return "a block of 0 samples; expected 1 or more";
  if (buffer() < longest_block()) {
    return "a buffer of " + text(buffer()) + " samples; expected at least the longest block, " + text(longest_block());
  }
  const std::uint64_t held = std::uint64_t{buffers} * buffer();
  constexpr std::uint64_t kMost = std::uint64_t{1} << 28;  // in samples: 512 MiB per ring
  if (std::max(held, 2 * std::uint64_t{longest_block()}) > kMost)
    return text(buffers) + " buffers of " + text(buffer()) + " samples; expected at most " + text(kMost) + " in all";
  if (lead() < longest_block() || lead() > held) {
    return "a transmit lead of " + text(lead()) + " samples; expected at least the longest block, " +
           text(longest_block()) + ", and at most the contents of the buffers, " + text(held);
  }
  if (isr_max_ns < isr_mean_ns) return "the interrupt routine's maximum is less than its mean";
  return "";
}

SoftDevice SoftDevice::in_periods(std::uint32_t ratio) const {
  SoftDevice d = *this;
  const auto to_periods = [ratio](std::uint32_t* samples) {
    if (*samples % ratio != 0) {
      throw std::invalid_argument("blocks, buffers or a lead of " + std::to_string(*samples) +
                                  " samples; expected a multiple of " + std::to_string(ratio) +
                                  ", the ratio of the rates of the two directions");
    }
    *samples /= ratio;
  };
  to_periods(&d.rate_hz);
  for (std::uint32_t& block : d.block_plan) to_periods(&block);
  to_periods(&d.buffer_samples);
  to_periods(&d.transmit_lead_samples);
  return d;
}

oh_streams SoftDevice::streams() const {
  oh_streams streams = oh_modem_streams(rate_hz);
  const std::uint32_t held = std::bit_ceil(std::max(buffers * buffer(), 2 * longest_block()));
  for (oh_stream_format* direction : {&streams.rx, &streams.tx}) {
    direction->ring_samples = held;
    direction->block_max = held / 2;
  }
  return streams;
}

CostProfile SoftDevice::profile() const {
  if (const std::string why = problem(); !why.empty()) throw std::invalid_argument(why);
  CostProfile profile;
  profile.name = name;
  profile.isr_mean_ns = isr_mean_ns;
  profile.isr_max_ns = isr_max_ns;
  profile.phi = output_fraction;
  profile.service_spread = cost_spread;
  PhaseProfile phase;
  phase.rate_hz = rate_hz;
  phase.block_plan = block_plan;
  phase.service_ns = cost_ns;
  std::fill(std::begin(profile.phases), std::end(profile.phases), phase);
  profile.phases[static_cast<int>(Phase::kConnected)].worst_service_ns = worst_cost_ns;
  return profile;
}

}  // namespace offhook::hostsim
