// SPDX-License-Identifier: MIT
#include "driver/kernel/kernel_modem.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <system_error>

#include "driver/base/output.h"

namespace offhook {
namespace {

// driver/linux/context.c
constexpr std::array kRuns = {OH_CONTEXT_INTERRUPT,   OH_CONTEXT_SOFTIRQ, OH_CONTEXT_THREADED, OH_CONTEXT_FIFO,
                              OH_CONTEXT_ROUND_ROBIN, OH_CONTEXT_NORMAL,  OH_CONTEXT_WORKER,   OH_CONTEXT_RESERVATION};
constexpr const char* kExpected = "; expected a device of the module offhook";
constexpr std::size_t kLogOctets = OH_KERNEL_LOG_EVENTS * sizeof(oh_event);

[[noreturn]] void fail(const std::string& path, const std::string& attempt) {
  throw std::runtime_error(path + ": " + attempt + ": " + std::generic_category().message(errno));
}

}  // namespace

KernelModem::KernelModem(const std::string& path) : path_(path) {
  // Checked before it is opened, because opening a FIFO or a file has effects.
  struct stat there {};
  if (stat(path.c_str(), &there) == 0 && !S_ISCHR(there.st_mode))
    throw std::runtime_error(path + ": is " + kind_of_file(there.st_mode) + kExpected);
  file_ = open(path.c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (file_ < 0) fail(path, std::string("cannot be opened") + kExpected);
  try {
    map_log();
  } catch (const std::runtime_error&) {
    close(file_);
    throw;
  }
}

KernelModem::~KernelModem() {
  munmap(const_cast<oh_event*>(log_), kLogOctets);
  close(file_);
}

void KernelModem::map_log() {
  oh_kernel_status status{};
  status.struct_size = sizeof status;
  // Other drivers do not support the command: they return ENOTTY, or their error for unknown commands.
  if (ioctl(file_, OH_KERNEL_GET_STATUS, &status) != 0 && (errno == ENOTTY || errno == EINVAL))
    throw std::runtime_error(path_ + ": belongs to another driver, or to another version of the module" + kExpected);
  void* log = mmap(nullptr, kLogOctets, PROT_READ, MAP_SHARED, file_, 0);
  if (log == MAP_FAILED) fail(path_, "its event log cannot be mapped");
  log_ = static_cast<const oh_event*>(log);
}

void KernelModem::control(unsigned long what, const void* argument, const char* attempt) const {
  if (ioctl(file_, what, argument) != 0) fail(path_, attempt);
}

void KernelModem::set_context(const ContextSpec& context) {
  if (std::ranges::find(kRuns, context.kind) == kRuns.end())
    throw std::runtime_error(path_ + ": " + not_of_this_host(context, "a Linux kernel", kRuns));
  const oh_context_spec& spec = context;
  control(OH_KERNEL_SET_CONTEXT, &spec, ("the context " + context.str()).c_str());
}

void KernelModem::start(oh_kernel_call call) {
  call.struct_size = sizeof call;
  control(OH_KERNEL_START, &call, "the call cannot start");
}

void KernelModem::stop() {
  control(OH_KERNEL_STOP, nullptr, "stop");
}
void KernelModem::hang_up() {
  control(OH_KERNEL_HANG_UP, nullptr, "hang up");
}

void KernelModem::hold(oh_hold_order order) {
  if (ioctl(file_, OH_KERNEL_HOLD, static_cast<unsigned long>(order)) != 0) fail(path_, "hold");
}

int KernelModem::take_terminal() {
  const int end = ioctl(file_, OH_KERNEL_TERMINAL);
  if (end < 0) fail(path_, "its serial port");
  return end;
}

oh_kernel_status KernelModem::status() const {
  oh_kernel_status status{};
  status.struct_size = sizeof status;
  control(OH_KERNEL_GET_STATUS, &status, "status");
  return status;
}

std::size_t KernelModem::write(const std::uint8_t* octets, std::size_t n) {
  const ssize_t taken = ::write(file_, octets, n);
  if (taken < 0 && errno != EAGAIN && errno != EINTR && errno != EPIPE && errno != EIO && errno != ENOTCONN)
    fail(path_, "write");
  return taken > 0 ? static_cast<std::size_t>(taken) : 0;
}

std::size_t KernelModem::read(std::uint8_t* octets, std::size_t n) {
  const ssize_t given = ::read(file_, octets, n);
  if (given < 0 && errno != EAGAIN && errno != EINTR && errno != EIO && errno != ENOTCONN) fail(path_, "read");
  return given > 0 ? static_cast<std::size_t>(given) : 0;
}

void KernelModem::wait(int ms) const {
  pollfd wait{file_, POLLIN, 0};
  poll(&wait, 1, ms);
}

void KernelModem::take_log(std::vector<oh_event>& events) {
  // A slot's second word is stored last, and is 0 while the slot is empty (oh_event_log_write).
  constexpr std::size_t kAtOnce = 4096;
  for (;;) {
    std::size_t n = 0;
    for (; n < kAtOnce; ++n) {
      const oh_event& slot = log_[(log_at_ + n) % OH_KERNEL_LOG_EVENTS];
      if (__atomic_load_n(&slot.kind, __ATOMIC_ACQUIRE) == OH_EV_NONE) break;
      events.push_back(slot);
    }
    if (n == 0) return;
    log_at_ += n;  // the caller owns them, even if the device is gone
    if (ioctl(file_, OH_KERNEL_RELEASE_LOG, n) != 0) fail(path_, "the event log");
  }
}

}  // namespace offhook
