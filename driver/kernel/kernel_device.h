// SPDX-License-Identifier: MIT
//
// The interface of a modem of the kernel driver. The device file is one (kernel_modem.h); tests have another,
// in their own process.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "driver/context/context_spec.h"
#include "offhook/event_log.h"
#include "offhook/kernel_modem.h"

namespace offhook {

class KernelDevice {
 public:
  virtual ~KernelDevice() = default;

  /// Sets the context before or during a call. @throws std::runtime_error: not a context of a kernel, not admitted
  virtual void set_context(const ContextSpec& context) = 0;
  /// @throws std::runtime_error
  virtual void start(oh_kernel_call call) = 0;
  virtual void stop() = 0;
  virtual void hang_up() = 0;
  /// status() shows the result. @throws std::runtime_error: there is no call, the device is gone
  virtual void hold(oh_hold_order order) = 0;
  /// @throws std::runtime_error: the device is gone
  virtual oh_kernel_status status() const = 0;
  /// @return octets taken, or given; 0: none now, or there is no call, or the card has failed; see status(). Does
  /// not block.
  /// @throws std::runtime_error: the device is gone
  virtual std::size_t write(const std::uint8_t* octets, std::size_t n) = 0;
  virtual std::size_t read(std::uint8_t* octets, std::size_t n) = 0;
  /// Waits until data can be read, or `ms` have passed.
  virtual void wait(int ms) const = 0;
  /// The events since the last time, appended.
  virtual void take_log(std::vector<oh_event>& events) = 0;
};

}  // namespace offhook
