// SPDX-License-Identifier: MIT
#include "driver/kernel/kernel_terminal.h"

#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

namespace offhook {

KernelTerminal::KernelTerminal(KernelModem& modem, int number) {
  fd_ = modem.take_terminal();
  device_ = "/dev/ttySM" + std::to_string(number);
  show();
}

KernelTerminal::~KernelTerminal() {
  close(fd_);
}

std::uint32_t KernelTerminal::rate() const {
  std::uint32_t rate = 0;
  ioctl(fd_, OH_TERMINAL_GET_RATE, &rate);  // on failure: as if the port were closed
  return rate;
}

void KernelTerminal::set_lines(const modem::Lines& lines) {
  if (lines == lines_) return;
  lines_ = lines;
  show();
}

void KernelTerminal::show() {
  ioctl(fd_, OH_TERMINAL_SET_LINES,
        static_cast<unsigned long>(TIOCM_DSR | TIOCM_CTS | (lines_.carrier ? TIOCM_CAR : 0) |
                                   (lines_.ring ? TIOCM_RI : 0)));
}

}  // namespace offhook
