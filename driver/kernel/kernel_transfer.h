// SPDX-License-Identifier: MIT
//
// One call of a kernel's modem that carries files. It moves octets in and out, reads the event log in time, and changes
// the context at the requested time. The caller polls it, and decides when it ends.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "driver/kernel/kernel_device.h"

namespace offhook {

/// A call of one pump with V.42 and no other options, all blocks alike, every waiting block served at once.
/// @param pump  a name of a pump in the kernel  @param block  samples per interrupt  @param lead  samples queued
/// ahead of the codec
oh_kernel_call plain_kernel_call(oh_pump_role role, std::string_view pump, std::uint32_t block, std::uint32_t lead);

class KernelTransfer {
 public:
  struct Config {
    oh_kernel_call call{};
    std::vector<ContextSpec> contexts;  ///< the call begins in the first
    int switches = 0;                   ///< number of switches to the next one, evenly over `switch_samples`
    std::uint64_t switch_samples = 0;
    std::vector<std::uint8_t> to_send;
    std::function<void(std::span<const oh_event>, std::uint64_t lost)> events;  ///< may be empty
  };
  /// @param device  outlives it  @pre there is a context
  KernelTransfer(KernelDevice& device, Config config) : device_(device), config_(std::move(config)) {}

  /// @throws std::runtime_error: not a context of this kernel, no such call
  void begin();
  /// Octets, log, context. @return the status that it found  @throws std::runtime_error: the device is gone
  const oh_kernel_status& look();
  /// Waits until octets have arrived, or it is time for the next poll.
  void wait() const;
  void hang_up() { device_.hang_up(); }
  /// The call ends; the rest of the log is read. status() keeps its last value.
  void end();

  const oh_kernel_status& status() const { return status_; }
  bool connected() const { return connected_; }  ///< whether octets were ever accepted
  /// bit/s; the newest non-zero rates
  std::uint32_t tx_bit_rate() const { return tx_bit_rate_; }
  std::uint32_t rx_bit_rate() const { return rx_bit_rate_; }
  std::size_t sent() const { return sent_; }  ///< octets that the kernel has taken
  const std::vector<std::uint8_t>& received() const { return received_; }
  int switches() const { return context_; }
  const ContextSpec& context() const { return config_.contexts[std::size_t(context_) % config_.contexts.size()]; }
  std::uint64_t log_events() const { return events_; }

 private:
  void move_octets();
  void take_log();
  void switch_context();

  KernelDevice& device_;
  Config config_;
  oh_kernel_status status_{};
  std::size_t sent_ = 0;
  std::vector<std::uint8_t> received_;
  std::vector<oh_event> taken_;
  std::uint64_t events_ = 0;
  int context_ = 0;
  bool connected_ = false;
  std::uint32_t tx_bit_rate_ = 0, rx_bit_rate_ = 0;
};

}  // namespace offhook
