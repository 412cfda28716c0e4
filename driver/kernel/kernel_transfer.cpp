// SPDX-License-Identifier: MIT
#include "driver/kernel/kernel_transfer.h"

#include <array>

#include "dsp/link/lapm.h"

namespace offhook {
namespace {

constexpr int kLookMs = 20, kLookToSwitchMs = 1;

}  // namespace

oh_kernel_call plain_kernel_call(oh_pump_role role, std::string_view pump, std::uint32_t block, std::uint32_t lead) {
  oh_kernel_call call{};
  call.role = role;
  pump.copy(call.pump, sizeof call.pump - 1);
  call.policy = OH_SERVICE_DRAIN_ALL;
  call.transmit_lead_samples = lead;
  call.block_plan[0] = block;
  call.block_plan_length = 1;
  return call;
}

void KernelTransfer::begin() {
  device_.set_context(context());
  device_.start(config_.call);
}

const oh_kernel_status& KernelTransfer::look() {
  status_ = device_.status();
  move_octets();
  take_log();
  switch_context();
  connected_ = connected_ || (status_.direct != 0 ? status_.pump == OH_PUMP_DATA : status_.link == OH_LAPM_CONNECTED);
  if (status_.tx_bit_rate > 0) tx_bit_rate_ = status_.tx_bit_rate;
  if (status_.rx_bit_rate > 0) rx_bit_rate_ = status_.rx_bit_rate;
  return status_;
}

void KernelTransfer::wait() const {
  device_.wait(context_ < config_.switches ? kLookToSwitchMs : kLookMs);
}

void KernelTransfer::end() {
  status_ = device_.status();
  device_.stop();
  take_log();
}

void KernelTransfer::move_octets() {
  const std::vector<std::uint8_t>& all = config_.to_send;
  if (sent_ < all.size()) sent_ += device_.write(all.data() + sent_, all.size() - sent_);
  std::array<std::uint8_t, 4096> piece;
  while (const std::size_t n = device_.read(piece.data(), piece.size()))
    received_.insert(received_.end(), piece.begin(), piece.begin() + static_cast<std::ptrdiff_t>(n));
}

void KernelTransfer::take_log() {
  taken_.clear();
  device_.take_log(taken_);
  events_ += taken_.size();
  if (config_.events) config_.events(taken_, device_.status().log_lost);
}

// Switches that a slow poll missed are made at once.
void KernelTransfer::switch_context() {
  const double every = static_cast<double>(config_.switch_samples) / (config_.switches + 1);
  while (context_ < config_.switches && static_cast<double>(status_.samples) >= every * (context_ + 1)) {
    ++context_;
    device_.set_context(context());
  }
}

}  // namespace offhook
