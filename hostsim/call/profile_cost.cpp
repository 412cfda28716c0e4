// SPDX-License-Identifier: MIT
#include "hostsim/call/profile_cost.h"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

namespace offhook::hostsim {
namespace {

Ns samples_to_ns(std::uint64_t samples, std::uint32_t rate_hz) {
  return static_cast<Ns>(samples * 1'000'000'000 / rate_hz);
}

/// The cost of n samples in blocks of a plan. A block of the plan counts as one, independent of its length. The cost of
/// merged interrupts and of the rest of a block is per sample, because the modem must compute all of them.
double worth_in_blocks(std::uint32_t n, const std::vector<std::uint32_t>& plan) {
  const auto [least, most] = std::minmax_element(plan.begin(), plan.end());
  if (n >= *least && n <= *most) return 1;
  const double mean = std::accumulate(plan.begin(), plan.end(), 0.0) / static_cast<double>(plan.size());
  return n / mean;
}

}  // namespace

void ProfileCost::enter(Phase phase) {
  phase_ = &profile_.phases[static_cast<int>(phase)];
  worst_due_ = phase_->worst_service_ns > 0;
}

Ns ProfileCost::next_isr() {
  if (at_ == kAhead) draw_isrs();
  return ahead_[at_];
}

Ns ProfileCost::isr() {
  const Ns cost = next_isr();
  at_++;
  return cost;
}

// Shifted exponential with the published mean, limited to the published maximum.
void ProfileCost::draw_isrs() {
  const double spread = static_cast<double>(profile_.isr_mean_ns) / 5;
  const double least = static_cast<double>(profile_.isr_mean_ns) - spread;
  double drawn[kAhead];
  isrs_.exponentials(drawn_, drawn, kAhead);
  for (std::size_t i = 0; i < kAhead; ++i)
    ahead_[i] = std::min(profile_.isr_max_ns, static_cast<Ns>(least + spread * drawn[i]));
  drawn_ += kAhead;
  at_ = 0;
}

Ns ProfileCost::service(std::uint32_t samples) {
  const double vary = 1 + profile_.service_spread * (2 * blocks_.next() - 1);
  const double service_ns = static_cast<double>(service_ > 0 ? service_ : phase_->service_ns) * vary;
  double blocks = worth_in_blocks(samples, phase_->block_plan);
  Ns cost = 0;
  if (worst_due_) {  // of one block, or of the first of several
    cost = phase_->worst_service_ns;
    blocks = std::max(0.0, blocks - 1);
  }
  worst_due_ = false;
  cost += static_cast<Ns>(service_ns * blocks);
  if (logging_) cost += profile_.logging.in(samples_to_ns(samples, phase_->rate_hz));
  return cost;
}

}  // namespace offhook::hostsim
