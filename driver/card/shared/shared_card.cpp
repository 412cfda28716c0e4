// SPDX-License-Identifier: MIT
#include "driver/card/shared/shared_card.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <system_error>

namespace offhook {

namespace {

constexpr time_t kAnswerSeconds = 5;  // for who listens to send them
constexpr int kDescriptors = 2;       // memory, interrupt

[[noreturn]] void fail(const std::string& path, const std::string& what) {
  throw std::runtime_error(path + ": " + what);
}
[[noreturn]] void fail(const std::string& path) {
  fail(path, std::generic_category().message(errno));
}

sockaddr_un address_of(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) fail(path, "too long for a socket's path");
  std::memcpy(address.sun_path, path.data(), path.size());
  return address;
}

void send_descriptors(int socket, const int* descriptors) {
  char byte = 0;
  iovec io{&byte, 1};
  alignas(cmsghdr) char control[CMSG_SPACE(kDescriptors * sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &io;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  cmsghdr* header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(kDescriptors * sizeof(int));
  std::memcpy(CMSG_DATA(header), descriptors, kDescriptors * sizeof(int));
  sendmsg(socket, &message, MSG_NOSIGNAL);  // a modem that left at once is seen later
}

bool receive_descriptors(int socket, int* descriptors) {
  char byte;
  iovec io{&byte, 1};
  alignas(cmsghdr) char control[CMSG_SPACE(kDescriptors * sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &io;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  if (recvmsg(socket, &message, MSG_CMSG_CLOEXEC) != 1) return false;
  const cmsghdr* header = CMSG_FIRSTHDR(&message);
  if (header == nullptr || header->cmsg_type != SCM_RIGHTS) return false;
  if (header->cmsg_len != CMSG_LEN(kDescriptors * sizeof(int))) {
    int one;
    std::memcpy(&one, CMSG_DATA(header), sizeof one);
    if (header->cmsg_len >= CMSG_LEN(sizeof one)) close(one);  // the only one: there is no room for more than two
    return false;
  }
  std::memcpy(descriptors, CMSG_DATA(header), kDescriptors * sizeof(int));
  return true;
}

void* map(int memory, std::size_t size) {
  void* p = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, memory, 0);
  return p == MAP_FAILED ? nullptr : p;
}

void post(int event) {
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t n = write(event, &one, sizeof one);  // full: it is raised already
}

}  // namespace

SharedCard::SharedCard(const std::string& path) : path_(path) {
  const sockaddr_un address = address_of(path);
  socket_ = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  stop_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (socket_ < 0 || stop_ < 0 || connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    const int error = errno;
    release();
    errno = error;
    fail(path);
  }
  const timeval patience{kAnswerSeconds, 0};
  setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  int descriptors[kDescriptors] = {-1, -1};
  const bool given = receive_descriptors(socket_, descriptors);
  interrupt_ = descriptors[1];
  struct stat memory {};
  if (given && fstat(descriptors[0], &memory) == 0 && memory.st_size > 0) {
    size_ = static_cast<std::size_t>(memory.st_size);
    memory_ = map(descriptors[0], size_);
  }
  if (descriptors[0] >= 0) close(descriptors[0]);
  if (memory_ == nullptr || oh_card_attach(&card_, memory_, size_) != 0) {
    release();
    fail(path, "who listens there is no card of this build; expected `offhook line`");
  }
}

SharedCard::~SharedCard() {
  release();
}

void SharedCard::release() {
  if (memory_ != nullptr) munmap(memory_, size_);
  for (int* fd : {&socket_, &interrupt_, &stop_}) {
    if (*fd >= 0) close(*fd);
    *fd = -1;
  }
  memory_ = nullptr;
}

void SharedCard::start() {
  oh_card_log_changes(&report_, &state(), static_cast<std::uint64_t>(monotonic_ns()));
  if (send(socket_, "", 1, MSG_NOSIGNAL) != 1) fail(path_, "the card's process is gone");
}

LiveCard::Wait SharedCard::wait() {
  pollfd fds[] = {{interrupt_, POLLIN, 0}, {stop_, POLLIN, 0}, {socket_, POLLIN, 0}};
  for (;;) {
    if (poll(fds, 3, -1) < 0 && errno != EINTR) {
      failure_ = "cannot wait for the card at " + path_;
      return Wait::kGone;
    }
    if (fds[1].revents != 0) return Wait::kStopped;
    if (fds[2].revents != 0) {  // the hardware never sends
      failure_ = "the card at " + path_ + " is gone: its process ended";
      return Wait::kGone;
    }
    std::uint64_t raised;
    if (fds[0].revents != 0 && read(interrupt_, &raised, sizeof raised) == sizeof raised) {
      // The hardware's process has no log.
      oh_card_log_changes(&report_, &state(), static_cast<std::uint64_t>(monotonic_ns()));
      return Wait::kInterrupt;
    }
  }
}

void SharedCard::stop() {
  post(stop_);
}

CardServer::CardServer(std::string path, const oh_streams& streams)
    : path_(std::move(path)), size_(oh_card_size(&streams)) {
  const sockaddr_un address = address_of(path_);
  const auto* name = reinterpret_cast<const sockaddr*>(&address);
  memory_ = memfd_create("offhook card", MFD_CLOEXEC);
  interrupt_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  listening_ = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (memory_ < 0 || interrupt_ < 0 || listening_ < 0 || ftruncate(memory_, static_cast<off_t>(size_)) != 0)
    fail(path_);
  void* memory = map(memory_, size_);
  if (memory == nullptr) fail(path_);
  if (oh_card_init(memory, &streams) != 0 || oh_card_attach(&card_, memory, size_) != 0)
    fail(path_, "no card can have such streams");
  // A socket that nobody answers at was left behind by a process that was killed.
  if (connect(listening_, name, sizeof address) != 0 && errno == ECONNREFUSED) unlink(path_.c_str());
  close(listening_);
  listening_ = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (bind(listening_, name, sizeof address) != 0 || listen(listening_, 1) != 0) fail(path_);
}

CardServer::~CardServer() {
  if (listening_ >= 0) unlink(path_.c_str());
  if (card_.self != nullptr) munmap(card_.self, size_);
  for (const int fd : {listening_, socket_, interrupt_, memory_}) {
    if (fd >= 0) close(fd);
  }
}

bool CardServer::wait_for_modem(int ms) {
  if (started_) return true;
  pollfd wait{socket_ >= 0 ? socket_ : listening_, POLLIN, 0};
  if (poll(&wait, 1, ms) <= 0) return false;
  if (socket_ < 0) {
    socket_ = accept4(listening_, nullptr, nullptr, SOCK_CLOEXEC);
    const int descriptors[kDescriptors] = {memory_, interrupt_};
    if (socket_ >= 0) send_descriptors(socket_, descriptors);
    return false;
  }
  char byte;
  const ssize_t n = recv(socket_, &byte, 1, MSG_DONTWAIT);
  if (n == 1) return started_ = true;
  if (n == 0) {  // came and went: the next one may come
    close(socket_);
    socket_ = -1;
  }
  return false;
}

bool CardServer::modem_left() const {
  char byte;
  return started_ && recv(socket_, &byte, 1, MSG_DONTWAIT | MSG_PEEK) == 0;
}

void CardServer::raise_interrupt() {
  post(interrupt_);
}

const CardKind kSharedCards = {
    "unix", "unix:PATH", true,
    [](const std::string& place, std::uint32_t) -> std::unique_ptr<LiveCard> {
      return std::make_unique<SharedCard>(place);
    },
    [] {
      return std::vector<CardDevice>{{"built-in", "unix:PATH", "Hardware in another process: offhook line",
                                      "that process's rate and clock", true}};
    }};

}  // namespace offhook
