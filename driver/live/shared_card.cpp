// SPDX-License-Identifier: MIT
#include "driver/live/shared_card.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <system_error>

#include "driver/base/output.h"

namespace offhook {

namespace {

constexpr time_t kAnswerSeconds = 5;           // for the listener to send them
constexpr std::size_t kDescriptors = 2;        // memory, interrupt
constexpr std::size_t kMostOctets = 16 << 20;  // for one card: rings of several seconds at 2.2 MHz
constexpr std::size_t kMostWaiting = 8;        // for each: three descriptors and a card's memory
// A card's position may be ahead of this host's clock by at most 1 % of the elapsed time plus this.
constexpr std::int64_t kEarlySeconds = 10;
constexpr std::int64_t kGiga = 1'000'000'000;
// Shrinking would cause SIGBUS at an access; the third seal prevents a seal against writing, which would also stop this
// process.
constexpr int kSeals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;

[[noreturn]] void fail(const std::string& path, const std::string& what) {
  throw std::runtime_error(path + ": " + what);
}
[[noreturn]] void fail(const std::string& path) {
  fail(path, std::generic_category().message(errno));
}

[[noreturn]] void fail_to_connect(const std::string& path, int error) {
  if (struct stat there{}; error == ECONNREFUSED && stat(path.c_str(), &there) == 0 && !S_ISSOCK(there.st_mode))
    fail(path, "is " + kind_of_file(there.st_mode) + "; expected the socket of a card of `offhook line`");
  const bool absent = error == ENOENT || error == ECONNREFUSED;
  fail(path,
       std::generic_category().message(error) + (absent ? "; start `offhook line` first, which makes the card" : ""));
}

sockaddr_un address_of(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) fail(path, "too long for a socket's path");
  std::memcpy(address.sun_path, path.data(), path.size());
  return address;
}

bool send_descriptors(int socket, const std::array<int, kDescriptors>& descriptors) {
  char byte = 0;
  iovec io{&byte, 1};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof descriptors)] = {};
  msghdr message{};
  message.msg_iov = &io;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  cmsghdr* header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof descriptors);
  std::memcpy(CMSG_DATA(header), descriptors.data(), sizeof descriptors);
  return sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT) == 1;
}

enum class Received { kAll, kNothing, kOther };

/// @param[out] descriptors  -1 if none was received
Received receive_descriptors(int socket, std::array<int, kDescriptors>& descriptors) {
  char byte;
  iovec io{&byte, 1};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof descriptors)] = {};
  msghdr message{};
  message.msg_iov = &io;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  descriptors.fill(-1);
  const ssize_t n = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
  if (n < 0 && errno == EAGAIN) return Received::kNothing;
  const cmsghdr* header = n == 1 ? CMSG_FIRSTHDR(&message) : nullptr;
  if (header == nullptr || header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) return Received::kOther;
  const std::size_t octets = header->cmsg_len - CMSG_LEN(0);  // of one or two: there is no room for more
  std::memcpy(descriptors.data(), CMSG_DATA(header), octets);
  return octets == sizeof descriptors && (message.msg_flags & MSG_CTRUNC) == 0 ? Received::kAll : Received::kOther;
}

void* map(int memory, std::size_t size) {
  void* p = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, memory, 0);
  return p == MAP_FAILED ? nullptr : p;
}

/// @return octets of the card in this memory; 0 unless it is sealed memory that is no larger than a card's
std::size_t size_of_card(int memory) {
  struct statfs system {};
  struct stat file {};
  const int seals = fcntl(memory, F_GET_SEALS);
  // Huge pages may be exhausted at the access.
  if (seals < 0 || (seals & kSeals) != kSeals || fstatfs(memory, &system) != 0 || system.f_type != TMPFS_MAGIC ||
      fstat(memory, &file) != 0)
    return 0;
  oh_card_state state;
  if (pread(memory, &state, sizeof state, 0) != sizeof state) return 0;
  const std::size_t size = oh_card_size(&state.streams);
  return size <= kMostOctets && static_cast<std::size_t>(file.st_size) == size ? size : 0;
}

void post(int event) {
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t n = write(event, &one, sizeof one);  // full: it is already raised
}

/// Read the posted count, without waiting, even if another owner has cleared O_NONBLOCK. @return as read()
ssize_t take(int event, std::uint64_t* posted) {
  const iovec io{posted, sizeof *posted};
  return preadv2(event, &io, 1, -1, RWF_NOWAIT);
}

/// An eventfd that one read empties. One of the semaphore kind stays readable for as many reads as its count, and
/// a file permanently: a thread that waits for it would spin.
bool is_interrupt(int fd) {
  std::array<char, 64> kind{};
  const std::string link = "/proc/self/fd/" + std::to_string(fd);
  if (readlink(link.c_str(), kind.data(), kind.size() - 1) < 0 || std::strcmp(kind.data(), "anon_inode:[eventfd]") != 0)
    return false;
  std::uint64_t posted = 0;
  if (fcntl(fd, F_SETFL, O_NONBLOCK) != 0) return false;
  if (take(fd, &posted) < 0 && errno != EAGAIN) return false;
  const std::uint64_t two = 2;
  if (write(fd, &two, sizeof two) != sizeof two) return false;
  return take(fd, &posted) == sizeof posted && posted >= two;
}

}  // namespace

SharedCard::SharedCard(const std::string& path) : path_(path) {
  try {
    attach();
  } catch (...) {
    release();
    throw;
  }
}

void SharedCard::attach() {
  const sockaddr_un address = address_of(path_);
  socket_ = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  stop_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  const timeval patience{kAnswerSeconds, 0};
  setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  setsockopt(socket_, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);  // of connect() too
  const bool connected =
      socket_ >= 0 && stop_ >= 0 && connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  if (!connected && errno != EAGAIN) fail_to_connect(path_, errno);
  std::array<int, kDescriptors> descriptors;
  const Received received = connected ? receive_descriptors(socket_, descriptors) : Received::kNothing;
  if (received == Received::kNothing) {
    fail(path_, "the program at this path offers no card within " + std::to_string(kAnswerSeconds) +
                    " s; a card that has a modem accepts no second one");
  }
  interrupt_ = descriptors[1];
  if (received == Received::kAll && is_interrupt(interrupt_)) size_ = size_of_card(descriptors[0]);
  if (size_ > 0) memory_ = map(descriptors[0], size_);
  if (descriptors[0] >= 0) close(descriptors[0]);
  if (memory_ == nullptr || oh_card_attach(&shared_, memory_, size_) != 0)
    fail(path_, "the program there is not a card of this build; expected `offhook line`");
  card_ = shared_;
  card_.ops = &kOps;
  card_.self = this;
  first_ = oh_card_position(&state());
  since_ns_ = monotonic_ns();
  position_can_be();
}

bool SharedCard::position_can_be() {
  const std::int64_t passed_ns = monotonic_ns() - since_ns_;
  const std::int64_t most_ns = passed_ns + passed_ns / 100 + kEarlySeconds * kGiga;
  const std::uint64_t rate_hz = oh_streams_rate_hz(&card_.streams),
                      seconds = static_cast<std::uint64_t>(most_ns / kGiga);
  const std::uint64_t most = first_ + (seconds + 1) * rate_hz;
  most_.store(most, std::memory_order_relaxed);
  return oh_card_position(&state()) <= most;
}

namespace {

const SharedCard& shared(const void* self) {
  return *static_cast<const SharedCard*>(self);
}

}  // namespace

const oh_card_ops SharedCard::kOps = {
    .acknowledge = [](void* self) { return shared(self).bounded(&oh_card_ops::acknowledge); },
    .rx_position = [](void* self) { return shared(self).bounded(&oh_card_ops::rx_position); },
    .tx_position = [](void* self) { return shared(self).bounded(&oh_card_ops::tx_position); },
    .set_block = [](void* self,
                    std::uint32_t n) { return shared(self).shared_.ops->set_block(&shared(self).state(), n); },
    .tx_written = [](void* self, std::uint64_t p) { shared(self).shared_.ops->tx_written(&shared(self).state(), p); },
    .rx_read = [](void* self, std::uint64_t p) { shared(self).shared_.ops->rx_read(&shared(self).state(), p); },
    .rx_lost_before = [](void* self) { return shared(self).bounded(&oh_card_ops::rx_lost_before); }};

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

LiveCard::Wait SharedCard::gone(const std::string& why) {
  failure_ = "the card at " + path_ + " is gone: " + why;
  return Wait::kGone;
}

LiveCard::Wait SharedCard::wait() {
  for (;;) {
    pollfd fds[] = {{interrupt_, POLLIN, 0}, {stop_, POLLIN, 0}, {socket_, POLLIN, 0}};
    if (poll(fds, 3, -1) < 0) {
      if (errno == EINTR) continue;
      return gone("waiting for it failed");
    }
    if (fds[1].revents != 0) return Wait::kStopped;
    if (fds[2].revents != 0) {
      char byte;
      return gone(recv(socket_, &byte, 1, MSG_DONTWAIT | MSG_PEEK) > 0 ? "its process violates the card protocol"
                                                                       : "its process ended");
    }
    std::uint64_t raised;
    if (fds[0].revents == POLLIN && take(interrupt_, &raised) == sizeof raised) {
      if (!position_can_be()) return gone("it received samples faster than the clock allows");
      // The hardware's process has no log.
      oh_card_log_changes(&report_, &state(), static_cast<std::uint64_t>(monotonic_ns()));
      return Wait::kInterrupt;
    }
    // The other side, which shares it, may have emptied it meanwhile.
    if (fds[0].revents != 0 && (fds[0].revents != POLLIN || errno != EAGAIN)) return gone("its interrupt has failed");
  }
}

void SharedCard::stop() {
  post(stop_);
}

CardServer::CardServer(std::string path, const oh_streams& streams)
    : path_(std::move(path)), streams_(streams), size_(oh_card_size(&streams)) {
  if (size_ == 0) fail(path_, "a card cannot have such streams");
  listener_.emplace(LocalListener::at(path_));
}

CardServer::~CardServer() {
  release(modem_);
  for (Peer& peer : waiting_) release(peer);
}

void CardServer::release(Peer& peer) {
  if (peer.card.self != nullptr) munmap(peer.card.self, size_);
  for (const int fd : {peer.socket, peer.interrupt}) {
    if (fd >= 0) close(fd);
  }
  peer = {};
}

/// The next client gets a card.
void CardServer::admit() {
  Peer peer;
  peer.socket = accept4(listener_->fd(), nullptr, nullptr, SOCK_CLOEXEC);
  if (peer.socket < 0) {
    if (errno == EAGAIN || errno == EINTR || errno == ECONNABORTED) return;
    fail(path_);  // no descriptors: an immediate retry would spin
  }
  peer.interrupt = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  const int memory = memfd_create("offhook card", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  void* mapped = memory >= 0 && ftruncate(memory, static_cast<off_t>(size_)) == 0 ? map(memory, size_) : nullptr;
  const bool made = peer.interrupt >= 0 && mapped != nullptr && fcntl(memory, F_ADD_SEALS, kSeals) == 0 &&
                    oh_card_init(mapped, &streams_) == 0 && oh_card_attach(&peer.card, mapped, size_) == 0;
  const int error = errno;
  const bool sent = made && send_descriptors(peer.socket, {memory, peer.interrupt});
  if (memory >= 0) close(memory);
  if (!made) {
    peer.card.self = mapped;
    release(peer);
    errno = error;
    fail(path_);
  }
  if (sent) {
    waiting_.push_back(peer);
  } else {  // the client left immediately
    release(peer);
  }
}

bool CardServer::wait_for_modem(int ms) {
  if (modem_.socket >= 0 && !modem_left()) return true;
  release(modem_);
  jammed_ = false;
  // A silent peer keeps its place until another peer needs it: at most kMostWaiting peers have one.
  std::vector<pollfd> fds;
  for (const Peer& peer : waiting_) fds.push_back({peer.socket, POLLIN, 0});
  fds.push_back({listener_->fd(), POLLIN, 0});
  if (poll(fds.data(), fds.size(), ms) <= 0) return false;
  for (std::size_t i = waiting_.size(); i-- > 0;) {
    if (fds[i].revents == 0) continue;
    char byte;
    const ssize_t n = recv(waiting_[i].socket, &byte, 1, MSG_DONTWAIT);
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) continue;
    release(modem_);  // if two arrive at once, the first one
    if (n == 1) {
      modem_ = waiting_[i];
    } else {
      release(waiting_[i]);
    }
    waiting_.erase(waiting_.begin() + static_cast<std::ptrdiff_t>(i));
  }
  if (modem_.socket >= 0) {
    for (Peer& peer : waiting_) release(peer);  // they learn that there is no card for them
    waiting_.clear();
    return true;
  }
  if (fds.back().revents != 0) {
    if (waiting_.size() == kMostWaiting) {
      release(waiting_.front());
      waiting_.erase(waiting_.begin());
    }
    admit();
  }
  return false;
}

bool CardServer::modem_left() const {
  // Unread bytes from it do not hide its end from poll().
  pollfd fds[] = {{modem_.socket, POLLRDHUP, 0}};
  return modem_.socket >= 0 && (jammed_ || (poll(fds, 1, 0) > 0 && fds[0].revents != 0));
}

void CardServer::raise_interrupt() {
  // This process cannot fill an eventfd: it holds 2^64 - 2
  // unread interrupts. If a write fails, the modem caused it.
  pollfd event{modem_.interrupt, POLLOUT, 0};
  if (poll(&event, 1, 0) == 1 && event.revents == POLLOUT) {
    post(modem_.interrupt);
  } else {
    jammed_ = true;
  }
}

const CardKind kSharedCards = {
    "unix", "unix:PATH", true,
    [](const std::string& place, const CardRates&) -> std::unique_ptr<LiveCard> {
      return std::make_unique<SharedCard>(place);
    },
    [] {
      return std::vector<CardDevice>{{"built-in", "unix:PATH", "Hardware in another process: offhook line",
                                      "that process's rate and clock", true}};
    }};

}  // namespace offhook
