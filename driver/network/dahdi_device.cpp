// SPDX-License-Identifier: MIT
#include "driver/network/dahdi_device.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <stdexcept>
#include <system_error>

#include "driver/base/printable.h"
#include "driver/live/live_card.h"

namespace offhook {

namespace {

class KernelChannel final : public DahdiDevice {
 public:
  explicit KernelChannel(int fd) : fd_(fd) {}
  ~KernelChannel() override { close(fd_); }
  KernelChannel(const KernelChannel&) = delete;
  KernelChannel& operator=(const KernelChannel&) = delete;

  long read(void* octets, std::size_t n) override { return result(::read(fd_, octets, n)); }
  long write(const void* octets, std::size_t n) override { return result(::write(fd_, octets, n)); }
  int control(unsigned long request, void* argument) override {
    return static_cast<int>(result(ioctl(fd_, request, argument)));
  }
  int wait(int milliseconds) override {
    pollfd channel{fd_, POLLIN | POLLPRI, 0};
    const int n = poll(&channel, 1, milliseconds);
    return n < 0 && errno != EINTR ? -errno : 0;
  }
  std::int64_t now_ns() override { return monotonic_ns(); }

 private:
  static long result(long n) { return n < 0 ? -errno : n; }
  int fd_;
};

}  // namespace

std::unique_ptr<DahdiDevice> open_dahdi_device(const std::string& path) {
  const int fd = open(path.c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC);
  if (fd < 0) {
    const int error = errno;
    throw std::runtime_error(printable(path) + ": " + dahdi_reason(error) +
                             (error == ENOENT ? ": is the kernel module dahdi loaded?" : ""));
  }
  return std::make_unique<KernelChannel>(fd);
}

std::string dahdi_reason(int error) {
  if (error == EBUSY) return "another program uses the channel";
  if (error == ENXIO) return "the channel is not configured (dahdi_cfg)";
  return std::generic_category().message(error);
}

}  // namespace offhook
