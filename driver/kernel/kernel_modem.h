// SPDX-License-Identifier: MIT
//
// A program's access to a modem of the kernel driver (driver/linux): /dev/offhookN.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "driver/kernel/kernel_device.h"

namespace offhook {

class KernelModem final : public KernelDevice {
 public:
  /// @throws std::runtime_error with the path and the reason: no such device, in use, a file of another kind
  explicit KernelModem(const std::string& path);
  ~KernelModem() override;
  KernelModem(const KernelModem&) = delete;
  KernelModem& operator=(const KernelModem&) = delete;

  void set_context(const ContextSpec& context) override;
  void start(oh_kernel_call call) override;
  void stop() override;
  void hang_up() override;
  void hold(oh_hold_order order) override;
  /// @return a descriptor of the serial port's other end (OH_KERNEL_TERMINAL), which the caller then owns
  int take_terminal();
  oh_kernel_status status() const override;
  std::size_t write(const std::uint8_t* octets, std::size_t n) override;
  std::size_t read(std::uint8_t* octets, std::size_t n) override;
  void wait(int ms) const override;
  void take_log(std::vector<oh_event>& events) override;

 private:
  void map_log();
  void control(unsigned long what, const void* argument, const char* attempt) const;
  std::string path_;
  int file_ = -1;
  const oh_event* log_ = nullptr;
  std::size_t log_at_ = 0;
};

}  // namespace offhook
