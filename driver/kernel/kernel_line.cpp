// SPDX-License-Identifier: MIT
#include "driver/kernel/kernel_line.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <stdexcept>

namespace offhook {
namespace {

constexpr int kLookMs = 10;

// From the slowest to the fastest; the row for "any" is the last.
constexpr std::array<Modulation, 5> kModulations = [] {
  Modulation any = kV34;
  any.id = OH_MODULATION_NONE;
  any.carrier = "";
  return std::array{kV22bis, kV32bis, kV34, kV90, any};
}();

/// The chosen one among those that have the card's samples.
const Modulation& chosen(const modem::CallConfig& call, const oh_pump_format& card) {
  const std::uint32_t wanted = call.modulations;
  // choose_modem() names modulations without V.8 by their pump only, and "any" by the pump of the last row.
  const bool any = wanted == 0 && call.pump == kModulations.back().type();
  for (std::size_t k = kModulations.size() - 1; k-- > 0;) {
    const Modulation& m = kModulations[k];
    if (!takes(*m.type(), card)) continue;
    if (any || (wanted & m.id) != 0 || (wanted == 0 && m.type() == call.pump)) return m;
  }
  throw std::invalid_argument(
      "the kernel modem supports V.34, V.32bis and V.22bis on a card of 8000 samples/s, and V.90 on a V.90 card");
}

}  // namespace

std::span<const Modulation> kernel_modulations() {
  return kModulations;
}

oh_kernel_call kernel_call(const modem::CallConfig& call, const KernelLineConfig& config) {
  if (!call.digits.empty()) throw std::invalid_argument("the kernel modem does not dial; expected no digits");
  const Modulation& modulation = chosen(call, config.format);
  if (call.max_bit_rate != 0 && call.max_bit_rate < modulation.min_bit_rate)
    throw std::invalid_argument("the modulation has no such low rate");
  oh_kernel_call k{};
  k.role = call.role;
  std::string(modulation.name).copy(k.pump, sizeof k.pump - 1);
  k.max_bit_rate = call.max_bit_rate;
  k.link = call.link;
  k.hold_timeout = call.hold_timeout;
  k.policy = config.policy;
  k.transmit_lead_samples = config.transmit_lead_samples;
  if (config.block_plan.empty() || config.block_plan.size() > OH_BLOCK_PLAN_MAX)
    throw std::invalid_argument("a plan of blocks has 1 to " + std::to_string(OH_BLOCK_PLAN_MAX));
  for (const std::uint32_t block : config.block_plan) k.block_plan[k.block_plan_length++] = block;
  return k;
}

KernelLine::~KernelLine() {
  try {
    if (calling_) modem_.stop();
  } catch (const std::runtime_error&) {  // the device is gone, and the call with it
  }
}

// If a device disappears while it is open, every call returns that.
template <typename Operation>
auto KernelLine::attempt(Operation operation) const -> decltype(operation()) {
  try {
    return operation();
  } catch (const std::runtime_error&) {
    failed_ = true;
    return {};
  }
}

oh_kernel_status KernelLine::look() const {
  const oh_kernel_status s = attempt([this] { return modem_.status(); });
  failed_ = failed_ || s.card == OH_KERNEL_CARD_FAILED;
  return s;
}

bool KernelLine::ringing() const {
  return look().ringing != 0;
}

void KernelLine::begin_call(const modem::CallConfig& call) {
  const oh_kernel_call wanted = kernel_call(call, config_);
  // A refusal of the kernel (no memory, no admission, no card) counts as a failed call.
  if (std::exchange(calling_, false)) attempt([this] { return modem_.stop(), true; });
  try {
    modem_.start(wanted);
    calling_ = true;
  } catch (const std::runtime_error& e) {
    refusal_ = e.what();
    look();  // the device may be gone
  }
  refused_ = !calling_;
  modulation_ = chosen(call, config_.format).id;
  min_bit_rate_ = call.min_bit_rate;
}

void KernelLine::end_call() {
  refused_ = false;
  if (!calling_) return;
  calling_ = false;
  if (const oh_kernel_status now = look();
      !failed_ && (now.direct != 0 ? now.pump == OH_PUMP_DATA : now.link == OH_LAPM_CONNECTED)) {
    attempt([this] { return modem_.hang_up(), true; });
    const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(kReleaseMs);
    while (look().pump == OH_PUMP_DATA && !failed_ && std::chrono::steady_clock::now() < until) {
      std::array<std::uint8_t, 4096> late;  // discarded; if unread, they would keep the far end waiting
      while (attempt([&] { return modem_.read(late.data(), late.size()); }) > 0) {
      }
      modem_.wait(kLookMs);
    }
  }
  if (!failed_) attempt([this] { return modem_.stop(), true; });
}

void KernelLine::hold(oh_hold_order order) {
  if (calling_) attempt([&] { return modem_.hold(order), true; });
}

modem::CallStatus KernelLine::status() const {
  modem::CallStatus status;
  if (refused_) status.pump.state = OH_PUMP_FAILED;
  if (!calling_) return status;
  const oh_kernel_status s = look();
  status.pump.state = static_cast<oh_pump_state>(s.pump);
  status.pump.tx_bit_rate = s.tx_bit_rate;
  status.pump.rx_bit_rate = s.rx_bit_rate;
  status.pump.rx_level_dbm0 = s.rx_level_dbm0;
  status.pump.samples = s.samples;
  status.pump.retrains = s.retrains;
  status.pump.modulation = modulation_;
  status.pump.hold = static_cast<oh_hold_state>(s.hold);
  status.pump.hold_timeout = s.hold_timeout;
  status.order = static_cast<modem::OrderStatus>(s.hold_order);
  status.link.state = static_cast<oh_lapm_state>(s.link);
  status.direct = s.direct != 0;
  status.link.unacknowledged = s.unsent;
  status.link.compression = static_cast<std::uint8_t>(s.compression);
  status.link.v44 = static_cast<std::uint8_t>(s.v44);
  status.link.mnp_class = static_cast<std::uint8_t>(s.mnp_class);
  if (status.pump.state == OH_PUMP_DATA && std::min(s.tx_bit_rate, s.rx_bit_rate) < min_bit_rate_) {
    status.pump.state = OH_PUMP_FAILED;
    status.pump.failure = OH_PUMP_TOO_SLOW;
  }
  // Without a call: the machine was suspended, which ends it.
  if (failed_ || s.card == OH_KERNEL_NO_CALL) status.pump.state = OH_PUMP_FAILED;
  return status;
}

std::size_t KernelLine::write(const std::uint8_t* bytes, std::size_t n) {
  if (!calling_ || failed_) return 0;
  const std::size_t taken = attempt([&] { return modem_.write(bytes, n); });
  sent_ += taken;
  return taken;
}

std::size_t KernelLine::read(std::uint8_t* bytes, std::size_t n) {
  if (!calling_ || failed_) return 0;
  const std::size_t given = attempt([&] { return modem_.read(bytes, n); });
  received_ += given;
  return given;
}

std::size_t KernelLine::writable() const {
  if (!calling_ || failed_) return 0;
  const std::uint32_t unsent = look().unsent;  // some of them are already V.42's
  return unsent < OH_KERNEL_OCTETS ? OH_KERNEL_OCTETS - unsent : 0;
}

}  // namespace offhook
