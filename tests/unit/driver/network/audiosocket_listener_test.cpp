// SPDX-License-Identifier: MIT
//
// A shared port of AudioSocket and a card that gets its connections, with clients that are sockets of the test. The
// time of the listener is the test's.
#include "driver/network/audiosocket_listener.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "driver/network/audiosocket.h"
#include "driver/network/audiosocket_card.h"
#include "tests/unit/temporary_folder.h"

namespace offhook {
namespace {

using Octets = std::vector<std::uint8_t>;

Octets hello(std::uint8_t octet) {
  Octets all = {0x01, 0, 16};
  all.resize(kAudioSocketHeader + kUuidOctets, octet);
  return all;
}

struct Client {
  explicit Client(const AudioSocketListener& listener) : fd(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    EXPECT_EQ(connect(fd, listener.address().get(), listener.address().length), 0);
  }
  ~Client() { close(fd); }
  void say(const Octets& octets) {
    EXPECT_EQ(send(fd, octets.data(), octets.size(), 0), static_cast<ssize_t>(octets.size()));
  }
  /// Reads until the other end closes.
  Octets heard() {
    Octets all;
    std::uint8_t octet = 0;
    while (recv(fd, &octet, 1, 0) == 1) all.push_back(octet);
    return all;
  }
  int fd;
};

/// The loopback interface takes some time.
std::vector<AudioSocketListener::Connection> wait_for_one(AudioSocketListener& listener, std::int64_t now_ms) {
  for (int k = 0; k < 500; ++k) {
    auto all = listener.arrived(now_ms);
    if (!all.empty()) return all;
    poll(nullptr, 0, 10);
  }
  ADD_FAILURE() << "no connection";
  return {{-1, ""}};
}

TEST(AudioSocketListener, GivesAConnectionOnceItsFirstMessageIsWhole) {
  AudioSocketListener listener(internet_address(":0"));
  EXPECT_TRUE(listener.address().is_loopback());
  Client client(listener);
  const Octets all = hello(0xab);
  client.say({all.begin(), all.begin() + 10});
  for (int k = 0; k < 5; ++k) {
    poll(nullptr, 0, 10);
    EXPECT_TRUE(listener.arrived(0).empty());
  }
  client.say({all.begin() + 10, all.end()});
  const auto given = wait_for_one(listener, 1);
  ASSERT_EQ(given.size(), 1u);
  EXPECT_EQ(given[0].uuid, "abababab-abab-abab-abab-abababababab");
  Octets unread(64);
  EXPECT_EQ(recv(given[0].socket, unread.data(), unread.size(), MSG_DONTWAIT), 19) << "the message is the line's";
  refuse_audiosocket(given[0].socket);
  EXPECT_THAT(client.heard(), testing::ElementsAre(0, 0, 0));
  EXPECT_TRUE(listener.arrived(1'000'000).empty());
}

TEST(AudioSocketListener, WhatIsNoUuidHasNoName) {
  AudioSocketListener listener(internet_address(":0"));
  Client stranger(listener);
  stranger.say({'G', 'E', 'T', ' '});
  const auto given = wait_for_one(listener, 0);
  EXPECT_EQ(given[0].uuid, "");
  refuse_audiosocket(given[0].socket);
}

TEST(AudioSocketListener, ASilentConnectionHasItsTimeAndOneThatLeavesIsForgotten) {
  AudioSocketListener listener(internet_address(":0"));
  Client silent(listener);
  { Client leaves(listener); }
  for (int k = 0; k < 10; ++k) {
    poll(nullptr, 0, 10);
    EXPECT_TRUE(listener.arrived(5).empty());
  }
  EXPECT_TRUE(listener.arrived(5 + AudioSocketListener::kNameMs - 1).empty());
  const auto given = listener.arrived(5 + AudioSocketListener::kNameMs);
  ASSERT_EQ(given.size(), 1u);
  EXPECT_EQ(given[0].uuid, "");
  refuse_audiosocket(given[0].socket);
}

TEST(AudioSocketListener, APortInUseIsNamed) {
  AudioSocketListener listener(internet_address(":0"));
  EXPECT_THAT(test::complaint([&] { AudioSocketListener(listener.address()); }),
              testing::HasSubstr(listener.address().text() + ": "));
}

TEST(AudioSocketListener, ACardTakesAConnectionAndIsFreeWhenTheFarEndLeaves) {
  AudioSocketListener listener(internet_address(":0"));
  AudioSocketConfig config{.address = listener.address(), .listens = true, .shares_listener = true};
  AudioSocketCard card(config);  // the port is in use: a card that shares it opens no port
  card.card().ops->set_block(card.card().self, 80);
  card.start();
  const auto run = [&](int blocks) {
    for (int k = 0; k < blocks; ++k) {
      ASSERT_EQ(card.wait(), LiveCard::Wait::kInterrupt);
      const std::uint64_t end = card.card().ops->acknowledge(card.card().self);
      card.card().ops->rx_read(card.card().self, end);
      card.card().ops->tx_written(card.card().self, end + 160);
    }
  };
  run(2);
  EXPECT_FALSE(card.has_connection());
  {
    Client client(listener);
    client.say(hello(0x12));
    card.take(wait_for_one(listener, 0)[0].socket);
    EXPECT_TRUE(card.has_connection()) << "before the card's thread has seen it";
    run(3);
    EXPECT_TRUE(card.has_connection());
    EXPECT_EQ(oh_card_ringing(&card.state()), 1);
    EXPECT_EQ(card.caller().name, "12121212-1212-1212-1212-121212121212");
  }
  run(5);
  EXPECT_FALSE(card.has_connection());
  EXPECT_EQ(oh_card_ringing(&card.state()), 0);
}

}  // namespace
}  // namespace offhook
