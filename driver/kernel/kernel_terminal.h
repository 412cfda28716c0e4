// SPDX-License-Identifier: MIT
#pragma once

#include "driver/kernel/kernel_modem.h"
#include "driver/tty/terminal.h"

namespace offhook {

/// The DCE's end of /dev/ttySMN, which has all the lines of a serial port: DSR and CTS are on while this exists,
/// and the kernel hangs up the program on the port when DCD drops.
class KernelTerminal final : public modem::Terminal {
 public:
  /// @param number  of the device  @throws std::runtime_error: another program has it
  KernelTerminal(KernelModem& modem, int number);
  ~KernelTerminal() override;

  std::uint32_t rate() const override;
  void set_lines(const modem::Lines& lines) override;
  void carrier_lost() override {}  // DCD shows it

 private:
  void show();
  modem::Lines lines_;
};

}  // namespace offhook
