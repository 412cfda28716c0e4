// SPDX-License-Identifier: MIT
//
// The socket protocol of QEMU's ivshmem-doorbell, against a host that does QEMU's part of it or leaves.
#include "driver/kernel/ivshmem.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <utility>
#include <vector>

namespace offhook {
namespace {

constexpr std::uint64_t kRam = 1 << 16;

/// The host's end of the socket, and the descriptors received through it.
class Host {
 public:
  explicit Host(const std::string& path) : socket_(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path.copy(address.sun_path, sizeof address.sun_path - 1);
    EXPECT_EQ(connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  }
  ~Host() {
    leave();
    for (const int fd : descriptors_) close(fd);
  }
  Host(const Host&) = delete;
  Host& operator=(const Host&) = delete;

  void leave() {
    if (socket_ >= 0) close(socket_);
    socket_ = -1;
  }
  void say(const char* what) { EXPECT_EQ(send(socket_, what, std::strlen(what), 0), ssize_t(std::strlen(what))); }
  /// @return the next message: its number, and its descriptor or -1
  std::pair<std::int64_t, int> next() {
    std::int64_t number = 77;
    iovec io{&number, sizeof number};
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
    msghdr message{};
    message.msg_iov = &io;
    message.msg_iovlen = 1;
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    EXPECT_EQ(recvmsg(socket_, &message, MSG_CMSG_CLOEXEC | MSG_DONTWAIT), ssize_t(sizeof number));
    const cmsghdr* header = CMSG_FIRSTHDR(&message);
    if (header == nullptr) return {number, -1};
    int fd = -1;
    std::memcpy(&fd, CMSG_DATA(header), sizeof fd);
    descriptors_.push_back(fd);
    return {number, fd};
  }
  bool has_more() const {
    char octet;
    return recv(socket_, &octet, 1, MSG_DONTWAIT | MSG_PEEK) > 0;
  }

 private:
  int socket_;
  std::vector<int> descriptors_;
};

bool readable(int fd) {
  pollfd event{fd, POLLIN, 0};
  return poll(&event, 1, 0) == 1 && event.revents == POLLIN;
}

class Ivshmem : public testing::Test {
 protected:
  Ivshmem() {
    std::filesystem::create_directories(folder_);
    std::ofstream(ram_path_) << std::string(kRam, 'r');
  }
  ~Ivshmem() override { std::filesystem::remove_all(folder_); }

  const std::filesystem::path folder_ =
      std::filesystem::temp_directory_path() / ("offhook-ivshmem-" + std::to_string(getpid()));
  const std::string path_ = folder_ / "socket", ram_path_ = folder_ / "ram";
};

// docs/specs/ivshmem-spec.txt of QEMU, "Server-client protocol": version, the client's id, the shared memory, and the
// vectors of each peer, the client's own last.
TEST_F(Ivshmem, TheHostIsGivenVersionIdMemoryDoorbellsAndItsInterrupt) {
  IvshmemTransport transport(path_, ram_path_);
  EXPECT_FALSE(transport.wait_for_host(0));
  Host host(path_);
  ASSERT_TRUE(transport.wait_for_host(1000));
  EXPECT_TRUE(transport.wait_for_host(0)) << "it is there";
  EXPECT_EQ(host.next(), std::pair(std::int64_t{0}, -1));
  const auto [own_id, none] = host.next();
  EXPECT_EQ(none, -1);
  const auto [memory, bar] = host.next();
  EXPECT_EQ(memory, -1);
  ASSERT_GE(bar, 0);
  int doorbells[OH_PCI_DOORBELLS];
  for (int& doorbell : doorbells) {
    const auto [card_id, fd] = host.next();
    ASSERT_GE(fd, 0);
    EXPECT_EQ(transport.doorbell(), static_cast<std::uint32_t>(card_id) << 16);
    EXPECT_NE(card_id, own_id);
    doorbell = fd;
  }
  const auto [id, interrupt] = host.next();
  EXPECT_EQ(id, own_id);
  ASSERT_GE(interrupt, 0);
  EXPECT_FALSE(host.has_more());

  void* mapped = mmap(nullptr, OH_PCI_BAR_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, bar, 0);
  ASSERT_NE(mapped, MAP_FAILED);
  static_cast<oh_pci_registers*>(mapped)->command = 0x5eed;
  EXPECT_EQ(transport.registers().command, 0x5eedu);
  munmap(mapped, OH_PCI_BAR_SIZE);

  EXPECT_FALSE(readable(interrupt));
  transport.raise_interrupt();
  EXPECT_TRUE(readable(interrupt));

  for (const int doorbell : doorbells) {
    const std::uint64_t one = 1;
    ASSERT_EQ(write(doorbell, &one, sizeof one), ssize_t(sizeof one));
    EXPECT_TRUE(transport.wait_doorbell(1000));
    EXPECT_FALSE(readable(doorbell)) << "taken";
  }
  EXPECT_TRUE(transport.wait_doorbell(0)) << "nothing rang, and the host is there";
}

TEST_F(Ivshmem, AHostThatLeftIsGoneWhateverItSaidBefore) {
  for (const char* said : {"", "what no host says"}) {
    IvshmemTransport transport(path_, ram_path_);
    Host host(path_);
    ASSERT_TRUE(transport.wait_for_host(1000));
    host.say(said);
    EXPECT_TRUE(transport.wait_doorbell(0));
    host.leave();
    EXPECT_FALSE(transport.wait_doorbell(1000)) << said;
  }
}

TEST_F(Ivshmem, AHostThatCameAndWentLeavesRoomForTheNext) {
  IvshmemTransport transport(path_, ram_path_);
  Host(path_).leave();
  EXPECT_FALSE(transport.wait_for_host(1000));
  Host next(path_);
  EXPECT_TRUE(transport.wait_for_host(1000));
  EXPECT_EQ(next.next(), std::pair(std::int64_t{0}, -1));
}

TEST_F(Ivshmem, TheHostsMemoryIsTheFileAndNothingBeyondIt) {
  IvshmemTransport transport(path_, ram_path_);
  auto* first = static_cast<char*>(transport.memory(0, kRam));
  ASSERT_NE(first, nullptr);
  EXPECT_EQ(first[kRam - 1], 'r');
  EXPECT_EQ(transport.memory(kRam - 1, 1), first + kRam - 1);
  EXPECT_EQ(transport.memory(64, 0), nullptr);
  EXPECT_EQ(transport.memory(kRam, 1), nullptr);
  EXPECT_EQ(transport.memory(1, kRam), nullptr);
  EXPECT_EQ(transport.memory(0, kRam + 1), nullptr);
  EXPECT_EQ(transport.memory(~std::uint64_t{0}, 2), nullptr) << "the sum wraps";
  EXPECT_EQ(transport.memory(2, ~std::uint64_t{0}), nullptr);
}

TEST_F(Ivshmem, WithoutTheHostsMemoryItSaysWhichFile) {
  for (const std::string& path : {(folder_ / "absent").string(), folder_.string()}) {
    IvshmemTransport transport(path_, path);
    try {
      transport.memory(0, 1);
      ADD_FAILURE() << path;
    } catch (const std::runtime_error& e) {
      EXPECT_EQ(std::string(e.what()).find(path + ": "), 0u) << e.what();
    }
  }
}

}  // namespace
}  // namespace offhook
