// SPDX-License-Identifier: MIT
//
// Peers of either side of a card's socket that send and do what they like.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <thread>

#include "driver/live/shared_card.h"
#include "offhook/card_engine.h"
#include "offhook/modem_card.h"

namespace offhook::test {

inline const oh_streams kStreams = oh_modem_streams(OH_MODEM_RATE_HZ);

inline std::string path_of_test() {
  return "/tmp/offhook_" + std::to_string(getpid()) + "_" +
         testing::UnitTest::GetInstance()->current_test_info()->name();
}

inline sockaddr_un address_of(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, sizeof address.sun_path - 1);
  return address;
}

/// Closed at its end.
struct Fd {
  Fd(int f = -1) : fd(f) {}  // NOLINT: implicit, because a descriptor is one
  Fd(Fd&& other) noexcept : fd(std::exchange(other.fd, -1)) {}
  Fd& operator=(Fd&& other) noexcept {
    std::swap(fd, other.fd);
    return *this;
  }
  ~Fd() {
    if (fd >= 0) close(fd);
  }
  operator int() const { return fd; }  // NOLINT
  int fd;
};

inline void send_with(int socket, const std::vector<int>& fds) {
  char byte = 0;
  iovec io{&byte, 1};
  alignas(cmsghdr) char control[CMSG_SPACE(8 * sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &io;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = CMSG_SPACE(fds.size() * sizeof(int));
  cmsghdr* header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(fds.size() * sizeof(int));
  std::copy(fds.begin(), fds.end(), reinterpret_cast<int*>(CMSG_DATA(header)));
  ASSERT_EQ(sendmsg(socket, &message, MSG_NOSIGNAL), 1);
}

/// A card's memory as it should be, except for the seals.
inline Fd memory_of_card(int seals, const oh_streams& streams = kStreams, std::size_t more = 0) {
  Fd memory = memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  const std::size_t size = oh_card_size(&streams);
  EXPECT_EQ(ftruncate(memory, static_cast<off_t>(size + more)), 0);
  void* mapped = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0);
  EXPECT_EQ(oh_card_init(mapped, &streams), 0);
  munmap(mapped, size);
  EXPECT_EQ(fcntl(memory, F_ADD_SEALS, seals), 0);
  return memory;
}
inline constexpr int kSeals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;

/// A card's hardware that sends the given descriptors.
class ForeignHardware {
 public:
  explicit ForeignHardware(std::vector<int> fds) : path(path_of_test()) {
    listening_ = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const sockaddr_un address = address_of(path);
    unlink(path.c_str());
    EXPECT_EQ(bind(listening_, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    EXPECT_EQ(listen(listening_, 8), 0);
    thread_ = std::thread([this, fds = std::move(fds)] {
      peer = accept(listening_, nullptr, nullptr);
      send_with(peer, fds);
    });
  }
  ~ForeignHardware() {
    thread_.join();
    unlink(path.c_str());
  }
  /// @return why a modem does not accept it; empty if it does
  std::string refusal() {
    try {
      SharedCard card(path);
      return "";
    } catch (const std::runtime_error& e) {
      return e.what();
    }
  }
  const std::string path;
  Fd peer;

 private:
  Fd listening_;
  std::thread thread_;
};

/// A modem that behaves as instructed.
struct ForeignModem {
  explicit ForeignModem(const std::string& path) : socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    const sockaddr_un address = address_of(path);
    connected = connect(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  }
  void receive() {
    char byte;
    iovec io{&byte, 1};
    alignas(cmsghdr) char control[CMSG_SPACE(2 * sizeof(int))] = {};
    msghdr message{};
    message.msg_iov = &io;
    message.msg_iovlen = 1;
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    ASSERT_EQ(recvmsg(socket, &message, MSG_CMSG_CLOEXEC), 1);
    const int* fds = reinterpret_cast<const int*>(CMSG_DATA(CMSG_FIRSTHDR(&message)));
    memory = fds[0];
    interrupt = fds[1];
  }
  Fd socket, memory, interrupt;
  bool connected = false;
};

/// @return whether there is a modem within ten seconds
inline bool finds_modem(CardServer& server) {
  for (int i = 0; i < 100; ++i)
    if (server.wait_for_modem(100)) return true;
  return false;
}

/// A modem that is accepted, and the state of its card's hardware.
struct Pair {
  Pair() : server(path_of_test(), kStreams) {
    std::thread serve([&] { EXPECT_TRUE(finds_modem(server)); });
    modem = std::make_unique<SharedCard>(path_of_test());
    modem->start();
    serve.join();
  }
  CardServer server;
  std::unique_ptr<SharedCard> modem;
};

}  // namespace offhook::test
