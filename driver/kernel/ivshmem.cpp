// SPDX-License-Identifier: MIT
#include "driver/kernel/ivshmem.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <system_error>

namespace offhook {
namespace {

// Constants of the protocol: its version, our id and the host's, and the announcement of the shared memory.
constexpr std::int64_t kProtocolVersion = 0, kCardId = 0, kHostId = 1, kMemory = -1;
// Memory below the hole for devices is at its own address; QEMU's q35 puts no hole below 2 GiB.
constexpr std::uint64_t kLowMemory = std::uint64_t{2} << 30;

[[noreturn]] void fail(const std::string& path) {
  throw std::runtime_error(path + ": " + std::generic_category().message(errno));
}

// One message: eight octets, little endian, and a descriptor with it unless it is -1.
bool send_message(int socket, std::int64_t number, int descriptor) {
  iovec io{&number, sizeof number};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &io;
  message.msg_iovlen = 1;
  if (descriptor >= 0) {
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    cmsghdr* header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(header), &descriptor, sizeof descriptor);
  }
  return sendmsg(socket, &message, MSG_NOSIGNAL) == sizeof number;
}

int make_event() {
  return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
}

}  // namespace

IvshmemTransport::IvshmemTransport(std::string socket_path, std::string ram_path)
    : socket_path_(std::move(socket_path)), ram_path_(std::move(ram_path)) {
  bar_memory_ = memfd_create("offhook card", MFD_CLOEXEC);
  if (bar_memory_ < 0 || ftruncate(bar_memory_, OH_PCI_BAR_SIZE) != 0) fail(socket_path_);
  bar_ = mmap(nullptr, OH_PCI_BAR_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, bar_memory_, 0);
  if (bar_ == MAP_FAILED) fail(socket_path_);
  interrupt_ = make_event();
  for (int& doorbell : doorbells_) doorbell = make_event();
  listener_.emplace(LocalListener::at(socket_path_));
}

IvshmemTransport::~IvshmemTransport() {
  if (bar_ != nullptr && bar_ != MAP_FAILED) munmap(bar_, OH_PCI_BAR_SIZE);
  if (ram_ != nullptr) munmap(ram_, ram_size_);
  for (const int fd : {host_, bar_memory_, interrupt_, doorbells_[0], doorbells_[1]}) {
    if (fd >= 0) close(fd);
  }
}

std::uint32_t IvshmemTransport::doorbell() const {
  return static_cast<std::uint32_t>(kCardId) << 16;
}

bool IvshmemTransport::wait_for_host(int ms) {
  if (host_ >= 0) return true;
  pollfd wait{listener_->fd(), POLLIN, 0};
  if (poll(&wait, 1, ms) <= 0) return false;
  host_ = accept4(listener_->fd(), nullptr, nullptr, SOCK_CLOEXEC);
  bool sent = host_ >= 0 && send_message(host_, kProtocolVersion, -1) && send_message(host_, kHostId, -1) &&
              send_message(host_, kMemory, bar_memory_);
  for (const int doorbell : doorbells_) sent = sent && send_message(host_, kCardId, doorbell);
  sent = sent && send_message(host_, kHostId, interrupt_);
  if (!sent && host_ >= 0) {  // came and went
    close(host_);
    host_ = -1;
  }
  return sent;
}

void* IvshmemTransport::memory(std::uint64_t address, std::uint64_t size) {
  if (ram_ == nullptr) {
    const int fd = open(ram_path_.c_str(), O_RDWR | O_CLOEXEC);
    struct stat file {};
    if (fd < 0 || fstat(fd, &file) != 0 || file.st_size <= 0) fail(ram_path_);
    ram_size_ = static_cast<std::uint64_t>(file.st_size);
    void* ram = mmap(nullptr, ram_size_, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    if (ram == MAP_FAILED) fail(ram_path_);
    ram_ = ram;
  }
  const std::uint64_t reach = ram_size_ < kLowMemory ? ram_size_ : kLowMemory;
  if (size == 0 || size > reach || address > reach - size) return nullptr;
  return static_cast<char*>(ram_) + address;
}

void IvshmemTransport::raise_interrupt() {
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t n = write(interrupt_, &one, sizeof one);  // full: it is already raised
}

bool IvshmemTransport::wait_doorbell(int ms) {
  // Unread messages of the host neither wake the thread nor hide the host's end.
  pollfd fds[] = {{doorbells_[0], POLLIN, 0}, {doorbells_[1], POLLIN, 0}, {host_, POLLRDHUP, 0}};
  if (poll(fds, 3, ms) <= 0) return true;
  std::uint64_t rung;
  for (const int doorbell : doorbells_) [[maybe_unused]] const ssize_t n = read(doorbell, &rung, sizeof rung);
  return fds[2].revents == 0;
}

}  // namespace offhook
