// SPDX-License-Identifier: MIT
//
// Calls of a modem of the kernel driver, with the interface for callers: the AT commands are the same on it as on a
// live session. Features that the kernel's modem lacks are refused when a call begins: digits (its line is a leased
// line or an operator's), pumps other than V.90, V.34, V.32bis and V.22bis, and pumps whose sample format differs from
// the card's.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "driver/kernel/kernel_device.h"
#include "driver/session/call_line.h"
#include "dsp/modulation/modulation.h"
#include "dsp/pump/pump_type.h"

namespace offhook {

/// The carriers of +MS. The kernel's modem does not negotiate the modulation: it takes the fastest permitted one.
std::span<const Modulation> kernel_modulations();

struct KernelLineConfig {
  std::vector<std::uint32_t> block_plan;
  std::uint32_t transmit_lead_samples = 0;
  oh_service_policy policy = OH_SERVICE_DRAIN_ALL;
  oh_pump_format format = kLinear8000;  ///< of the card's samples
};

class KernelLine final : public modem::CallLine {
 public:
  /// @param modem  outlives it
  KernelLine(KernelDevice& modem, KernelLineConfig config) : modem_(modem), config_(std::move(config)) {}
  ~KernelLine() override;

  bool ringing() const override;
  void begin_call(const modem::CallConfig& call) override;
  /// Informs the far end, which takes at most kReleaseMs.
  void end_call() override;
  static constexpr int kReleaseMs = 1000;
  void hold(oh_hold_order order) override;
  modem::CallStatus status() const override;
  std::size_t write(const std::uint8_t* bytes, std::size_t n) override;
  std::size_t read(std::uint8_t* bytes, std::size_t n) override;
  std::size_t writable() const override;

  const KernelLineConfig& config() const { return config_; }

  /// The reason why the kernel did not begin the last call, once; empty if it began, or if the reason was already
  /// taken. The status is FAILED meanwhile.
  std::string take_refusal() { return std::exchange(refusal_, {}); }
  /// The card has failed, or was removed.
  bool failed() const { return failed_; }
  std::uint64_t bytes_sent() const { return sent_; }
  std::uint64_t bytes_received() const { return received_; }

 private:
  /// @return the operation's result, or none if the device is gone
  template <typename Operation>
  auto attempt(Operation operation) const -> decltype(operation());
  oh_kernel_status look() const;

  KernelDevice& modem_;
  KernelLineConfig config_;
  bool calling_ = false, refused_ = false;
  std::string refusal_;
  oh_modulation modulation_ = OH_MODULATION_NONE;  // of the call
  std::uint32_t min_bit_rate_ = 0;
  std::uint64_t sent_ = 0, received_ = 0;
  mutable bool failed_ = false;
};

/// The kernel's form of a call.
/// @throws std::invalid_argument: not a call of the kernel's modem
oh_kernel_call kernel_call(const modem::CallConfig& call, const KernelLineConfig& config);

}  // namespace offhook
