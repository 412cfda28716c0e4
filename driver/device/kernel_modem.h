// SPDX-License-Identifier: MIT
//
// A modem of the kernel driver (driver/linux), as a program has it: /dev/offhookN.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "driver/context/context_spec.h"
#include "offhook/kernel_modem.h"

namespace offhook {

class KernelModem {
 public:
  /// @throws std::runtime_error with the path and what is wrong: no such device, in use
  explicit KernelModem(const std::string& path);
  ~KernelModem();
  KernelModem(const KernelModem&) = delete;
  KernelModem& operator=(const KernelModem&) = delete;

  /// Before a call, or while one is up. @throws std::runtime_error: not a context of a kernel, not admitted
  void set_context(const ContextSpec& context);
  /// @throws std::runtime_error
  void start(oh_kernel_call call);
  void stop();
  void hang_up();
  /// @return a descriptor of the serial port's other end (OH_KERNEL_TERMINAL), the caller's from now on
  int take_terminal();
  /// @throws std::runtime_error: the device is gone
  oh_kernel_status status() const;
  /// @return octets taken, or given; 0: none now, or the card has failed, as status() says. Does not block.
  /// @throws std::runtime_error: the device is gone
  std::size_t write(const std::uint8_t* octets, std::size_t n);
  std::size_t read(std::uint8_t* octets, std::size_t n);
  /// Until there is something to read, or `ms` have passed.
  void wait(int ms) const;
  /// The events since the last time, appended.
  void take_log(std::vector<oh_event>& events);

 private:
  void control(unsigned long what, const void* argument, const char* attempt) const;
  std::string path_;
  int file_ = -1;
  const oh_event* log_ = nullptr;
  std::size_t log_at_ = 0;
};

}  // namespace offhook
