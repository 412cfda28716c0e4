// SPDX-License-Identifier: MIT
//
// The system calls of a DAHDI channel, so that tests can replace the kernel.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace offhook {

/// An open channel. No call blocks. Errors are negative errno values.
class DahdiDevice {
 public:
  virtual ~DahdiDevice() = default;
  virtual long read(void* octets, std::size_t n) = 0;
  virtual long write(const void* octets, std::size_t n) = 0;
  /// ioctl()
  virtual int control(unsigned long request, void* argument) = 0;
  /// Waits for samples or an event. @return 0 also after a timeout or a signal
  virtual int wait(int milliseconds) = 0;
  /// CLOCK_MONOTONIC
  virtual std::int64_t now_ns() = 0;
};

/// @throws std::runtime_error with the path and the reason
std::unique_ptr<DahdiDevice> open_dahdi_device(const std::string& path);

/// The reason for an error of a channel, for people. @param error  an errno value
std::string dahdi_reason(int error);

}  // namespace offhook
