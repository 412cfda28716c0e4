// SPDX-License-Identifier: MIT
#include "driver/tty/terminal.h"

#include <fcntl.h>
#include <grp.h>
#include <pty.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <stdexcept>
#include <system_error>
#include <utility>

namespace offhook::modem {

namespace {

std::string system_error() {
  return std::generic_category().message(errno);
}

}  // namespace

PseudoTerminal::PseudoTerminal(const std::string& link, const std::string& group) : group_(group) {
  if (!link.empty()) link_.emplace(link);
  open_pair();
}

/// Group of the other side of the pair, before it has a public name.
void PseudoTerminal::admit_group() {
  if (group_.empty()) return;
  std::array<char, 4096> strings;
  ::group entry{};
  ::group* found = nullptr;
  std::string why;
  if (getgrnam_r(group_.c_str(), &entry, strings.data(), strings.size(), &found) != 0 || found == nullptr) {
    why = "there is no group " + group_;
  } else if (chown(device_.c_str(), static_cast<uid_t>(-1), found->gr_gid) != 0 || chmod(device_.c_str(), 0660) != 0) {
    why = device_ + " cannot be given to the group " + group_ + ": " + system_error();
  }
  if (!why.empty()) throw std::runtime_error(why);
}

void PseudoTerminal::open_pair() {
  fd_ = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK);
  if (fd_ < 0 || grantpt(fd_) != 0 || unlockpt(fd_) != 0)
    throw std::runtime_error("no pseudo-terminal: " + system_error());
  std::array<char, 128> name{};
  if (ptsname_r(fd_, name.data(), name.size()) != 0) throw std::runtime_error("no pseudo-terminal: " + system_error());
  device_ = name.data();
  // Raw from the start, so that the terminal does not also echo the commands of programs that configure nothing.
  if (const int slave = open(device_.c_str(), O_RDWR | O_NOCTTY | O_CLOEXEC); slave >= 0) {
    termios t{};
    tcgetattr(slave, &t);
    cfmakeraw(&t);
    t.c_cflag |= CLOCAL;
    tcsetattr(slave, TCSANOW, &t);
    close(slave);
  }
  try {
    admit_group();
    if (link_) link_->point_to(device_);
  } catch (...) {
    close(std::exchange(fd_, -1));
    throw;
  }
}

PseudoTerminal::~PseudoTerminal() {
  link_.reset();  // before the terminal's number can be reused
  if (fd_ >= 0) close(fd_);
}

void PseudoTerminal::carrier_lost() {
  termios t{};
  if (tcgetattr(fd_, &t) != 0 || (t.c_cflag & CLOCAL) != 0) return;  // of the other side, as this one has no settings
  struct stat was {};
  const bool known = stat(device_.c_str(), &was) == 0;
  close(fd_);
  pending_.clear();
  open_pair();
  if (!known) return;
  // A process cannot set a group to which it does not belong; the user of the terminal must ask the administrator.
  if (chown(device_.c_str(), static_cast<uid_t>(-1), was.st_gid) == 0) chmod(device_.c_str(), was.st_mode & 07777);
}

int Terminal::read(char* bytes, int n) {
  const ssize_t got = ::read(fd_, bytes, static_cast<std::size_t>(n));
  if (got >= 0) return static_cast<int>(got);
  return errno == EIO ? -1 : 0;  // EIO: the other side is not open
}

std::uint32_t PseudoTerminal::rate() const {
  struct Rate {
    speed_t code;
    std::uint32_t bit_rate;
  };
  constexpr std::array<Rate, 12> kRates = {{{B300, 300},
                                            {B1200, 1200},
                                            {B2400, 2400},
                                            {B4800, 4800},
                                            {B9600, 9600},
                                            {B19200, 19'200},
                                            {B38400, 38'400},
                                            {B57600, 57'600},
                                            {B115200, 115'200},
                                            {B230400, 230'400},
                                            {B460800, 460'800},
                                            {B921600, 921'600}}};
  termios t{};
  tcgetattr(fd_, &t);  // also of the other side of the pair
  const auto found =
      std::find_if(kRates.begin(), kRates.end(), [&](const Rate& r) { return r.code == cfgetospeed(&t); });
  return found == kRates.end() ? 0 : found->bit_rate;
}

void Terminal::write(std::string_view text) {
  pending_ += text;
  const ssize_t done = ::write(fd_, pending_.data(), pending_.size());
  if (done > 0) pending_.erase(0, static_cast<std::size_t>(done));
  constexpr std::size_t kKept = 65'536;  // without a reader, the oldest one is useless
  if (pending_.size() > kKept) pending_.erase(0, pending_.size() - kKept);
}

}  // namespace offhook::modem
