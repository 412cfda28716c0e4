// SPDX-License-Identifier: MIT
//
// The hardware's side of a card's socket against a modem that sends and does what it likes.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <future>
#include <thread>

#include "offhook/card_engine.h"
#include "tests/unit/descriptors.h"
#include "tests/unit/driver/live/shared_card_peers.h"

namespace offhook {
namespace {

using namespace std::chrono_literals;
using namespace test;  // NOLINT: the peers

TEST(CardServer, GivesMemoryWhoseSizeNobodyCanChange) {
  CardServer server(path_of_test(), kStreams);
  ForeignModem modem(path_of_test());
  server.wait_for_modem(1000);
  modem.receive();
  EXPECT_NE(ftruncate(modem.memory, 0), 0);
  EXPECT_NE(ftruncate(modem.memory, 1 << 20), 0);
  EXPECT_NE(fcntl(modem.memory, F_ADD_SEALS, F_SEAL_WRITE), 0);
}

TEST(CardServer, PeersThatSayNothingOrLeaveKeepNobodyOut) {
  CardServer server(path_of_test(), kStreams);
  std::vector<ForeignModem> silent;
  for (int i = 0; i < 20; ++i) {
    silent.emplace_back(path_of_test());
    server.wait_for_modem(1000);
  }
  silent.erase(silent.begin() + 15);
  std::thread serve([&] { EXPECT_TRUE(finds_modem(server)); });
  SharedCard modem(path_of_test());
  modem.start();
  serve.join();
  EXPECT_FALSE(server.modem_left());
  server.raise_interrupt();
  EXPECT_EQ(modem.wait(), LiveCard::Wait::kInterrupt);
}

TEST(CardServer, OfTwoThatAskAtOnceTheFirstToComeIsTheModemAndTheOtherIsSentAway) {
  CardServer server(path_of_test(), kStreams);
  std::vector<ForeignModem> both;
  for (int i = 0; i < 2; ++i) {
    both.emplace_back(path_of_test());
    server.wait_for_modem(1000);
    both.back().receive();
  }
  for (const ForeignModem& modem : both) ASSERT_EQ(send(modem.socket, "", 1, MSG_NOSIGNAL), 1);
  ASSERT_TRUE(finds_modem(server));
  server.raise_interrupt();
  pollfd fds[] = {{both[0].interrupt, POLLIN, 0}, {both[1].interrupt, POLLIN, 0}};
  EXPECT_EQ(poll(fds, 2, 0), 1);
  EXPECT_EQ(fds[0].revents, POLLIN);
  char byte;
  EXPECT_EQ(recv(both[0].socket, &byte, 1, MSG_DONTWAIT), -1) << "it has its card";
  EXPECT_EQ(errno, EAGAIN);
  EXPECT_EQ(recv(both[1].socket, &byte, 1, MSG_DONTWAIT), 0) << "the end";
}

TEST(CardServer, WhoIsNotTheModemHasNoPartOfItsCard) {
  CardServer server(path_of_test(), kStreams);
  ForeignModem other(path_of_test());
  server.wait_for_modem(1000);
  other.receive();
  ForeignModem modem(path_of_test());
  server.wait_for_modem(1000);
  modem.receive();
  ASSERT_EQ(send(modem.socket, "", 1, MSG_NOSIGNAL), 1);
  ASSERT_TRUE(finds_modem(server));
  const std::vector<char> scribble(oh_card_size(&kStreams), 'x');
  ASSERT_EQ(pwrite(other.memory, scribble.data(), scribble.size(), 0), static_cast<ssize_t>(scribble.size()));
  EXPECT_EQ(server.state().magic, std::uint32_t{OH_CARD_MAGIC});
  char byte;
  EXPECT_EQ(recv(other.socket, &byte, 1, MSG_DONTWAIT), 0) << "it sees that there is no card for it";
  server.raise_interrupt();
  pollfd fds[] = {{modem.interrupt, POLLIN, 0}, {other.interrupt, POLLIN, 0}};
  EXPECT_EQ(poll(fds, 2, 0), 1);
  EXPECT_EQ(fds[0].revents, POLLIN);
}

TEST(CardServer, SeesAModemLeaveWhateverItSentBefore) {
  CardServer server(path_of_test(), kStreams);
  auto modem = std::make_unique<ForeignModem>(path_of_test());
  server.wait_for_modem(1000);
  modem->receive();
  ASSERT_EQ(send(modem->socket, "more than one byte", 18, MSG_NOSIGNAL), 18);
  ASSERT_TRUE(finds_modem(server));
  EXPECT_FALSE(server.modem_left());
  modem.reset();
  EXPECT_TRUE(server.modem_left());
  EXPECT_FALSE(server.wait_for_modem(0));
  std::thread serve([&] { EXPECT_TRUE(finds_modem(server)); });
  SharedCard next(path_of_test());
  next.start();
  serve.join();
}

/// Memory of cards that this process has mapped.
std::ptrdiff_t mapped_cards() {
  std::ifstream maps("/proc/self/maps");
  std::ptrdiff_t cards = 0;
  for (std::string line; std::getline(maps, line);) cards += line.find("/memfd:") != std::string::npos;
  return cards;
}

TEST(CardServer, WhoLeavesLeavesNoMemoryBehind) {
  const std::ptrdiff_t before = mapped_cards();
  {
    CardServer server(path_of_test(), kStreams);
    for (int i = 0; i < 3; ++i) {
      ForeignModem modem(path_of_test());
      server.wait_for_modem(1000);
      modem.receive();
      ASSERT_EQ(send(modem.socket, "", 1, MSG_NOSIGNAL), 1);
      ASSERT_TRUE(finds_modem(server));
      EXPECT_EQ(mapped_cards(), before + 1) << "of the modem before";
    }
  }
  EXPECT_EQ(mapped_cards(), before);
}

TEST(CardServer, NeitherSideLeavesADescriptorOpen) {
  CardServer server(path_of_test(), kStreams);
  const test::WithoutStandardInput without;
  std::array<std::ptrdiff_t, 3> open{};
  for (std::ptrdiff_t& now : open) {
    std::thread serve([&] { EXPECT_TRUE(finds_modem(server)); });
    {
      SharedCard modem(path_of_test());
      modem.start();
      serve.join();
    }
    EXPECT_TRUE(server.modem_left());
    now = test::open_descriptors();
  }
  EXPECT_EQ(open[1], open[0]);
  EXPECT_EQ(open[2], open[0]);
}

TEST(CardServer, AModemThatFillsItsInterruptAndMakesItBlockingIsLeft) {
  CardServer server(path_of_test(), kStreams);
  ForeignModem modem(path_of_test());
  server.wait_for_modem(1000);
  modem.receive();
  ASSERT_EQ(send(modem.socket, "", 1, MSG_NOSIGNAL), 1);
  ASSERT_TRUE(finds_modem(server));
  const std::uint64_t most = ~std::uint64_t{1};
  ASSERT_EQ(write(modem.interrupt, &most, sizeof most), 8);
  ASSERT_EQ(fcntl(modem.interrupt, F_SETFL, 0), 0);
  auto raised = std::async(std::launch::async, [&] { server.raise_interrupt(); });
  const bool returned = raised.wait_for(10s) == std::future_status::ready;
  EXPECT_TRUE(returned);
  std::uint64_t value;
  if (!returned) {  // so that the test ends
    ASSERT_EQ(read(modem.interrupt, &value, sizeof value), 8);
  }
  raised.get();
  EXPECT_TRUE(server.modem_left());
}

TEST(CardServer, IsItsOwnersAloneAtAnyUmask) {
  const mode_t before = umask(0);
  {
    CardServer server(path_of_test(), kStreams);
    umask(before);
    struct stat made {};
    ASSERT_EQ(stat(path_of_test().c_str(), &made), 0);
    EXPECT_EQ(made.st_mode & 0777, 0600u);
    if (geteuid() == 0) {  // another user, only here
      const pid_t child = fork();
      if (child == 0) {
        const bool other = setgid(65534) == 0 && setuid(65534) == 0;
        _exit(!other ? 2 : ForeignModem(path_of_test()).connected ? 1 : 0);
      }
      int status = -1;
      ASSERT_EQ(waitpid(child, &status, 0), child);
      EXPECT_EQ(WEXITSTATUS(status), 0);
    }
  }
  umask(before);
}

}  // namespace
}  // namespace offhook
