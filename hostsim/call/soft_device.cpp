// SPDX-License-Identifier: MIT
#include "hostsim/call/soft_device.h"

#include <algorithm>
#include <numeric>
#include <stdexcept>

namespace offhook::hostsim {

namespace {

constexpr std::uint32_t kLongestUnitBlock = OH_RING_SAMPLES / 2;

}  // namespace

std::uint32_t SoftDevice::longest_block() const {
  return block_plan.empty() ? 0 : *std::max_element(block_plan.begin(), block_plan.end());
}

std::string SoftDevice::problem() const {
  const auto text = [](std::uint64_t n) { return std::to_string(n); };
  if (block_plan.empty() || block_plan.size() > OH_BLOCK_PLAN_MAX) {
    return "the block plan has " + text(block_plan.size()) + " blocks; expected 1 to " + text(OH_BLOCK_PLAN_MAX);
  }
  if (*std::min_element(block_plan.begin(), block_plan.end()) == 0) return "a block of 0 samples; expected 1 or more";
  if (buffer() < longest_block()) {
    return "a buffer of " + text(buffer()) + " samples; expected at least the longest block, " + text(longest_block());
  }
  const std::uint64_t held = std::uint64_t{buffers} * buffer();
  if (held > UINT32_MAX) return text(buffers) + " buffers hold more than 2^32 samples";
  if (lead() < longest_block() || lead() > held) {
    return "a transmit lead of " + text(lead()) + " samples; expected at least the longest block, " +
           text(longest_block()) + ", and at most what the buffers hold, " + text(held);
  }
  if (isr_max_ns < isr_mean_ns) return "the interrupt routine's maximum is less than its mean";
  return "";
}

CarriedDevice carry(const SoftDevice& device) {
  if (const std::string problem = device.problem(); !problem.empty()) throw std::invalid_argument(problem);
  std::uint32_t common = std::gcd(device.rate_hz, device.lead());
  for (const std::uint32_t n : device.block_plan) common = std::gcd(common, n);
  // The finest unit: as many of them in the common divisor as still fit into the ring.
  std::uint32_t parts = OH_RING_SAMPLES;
  const auto fits = [&] {
    const std::uint32_t unit = common / parts;
    return common % parts == 0 && device.lead() / unit <= OH_RING_SAMPLES &&
           device.longest_block() / unit <= kLongestUnitBlock;
  };
  while (parts > 0 && (parts > common || !fits())) parts--;
  if (parts == 0) {
    throw std::invalid_argument("blocks of " + std::to_string(device.longest_block()) + " samples and a lead of " +
                                std::to_string(device.lead()) + " at " + std::to_string(device.rate_hz) +
                                " Hz do not fit into a ring of " + std::to_string(+OH_RING_SAMPLES) +
                                " units: expected a larger common divisor of rate, blocks and lead");
  }
  const std::uint32_t unit = common / parts;
  CarriedDevice carried;
  carried.samples_per_unit = unit;
  carried.transmit_lead_units = device.lead() / unit;
  CostProfile& profile = carried.profile;
  profile.name = device.name;
  profile.isr_mean_ns = device.isr_mean_ns;
  profile.isr_max_ns = device.isr_max_ns;
  profile.phi = device.output_fraction;
  profile.service_spread = device.cost_spread;
  PhaseProfile phase;
  phase.rate_hz = device.rate_hz / unit;
  for (const std::uint32_t n : device.block_plan) phase.block_plan.push_back(n / unit);
  phase.service_ns = device.cost_ns;
  std::fill(std::begin(profile.phases), std::end(profile.phases), phase);
  profile.phases[static_cast<int>(Phase::kConnected)].worst_service_ns = device.worst_cost_ns;
  return carried;
}

}  // namespace offhook::hostsim
