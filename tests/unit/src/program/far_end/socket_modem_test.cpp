// SPDX-License-Identifier: MIT
#include "src/program/far_end/socket_modem.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

namespace offhook {
namespace {

constexpr int kResamplers = 2 * static_cast<int>(hostsim::Resampler::kDelay);

/// Sends back what it hears, behind `ahead` samples of silence that it writes before it reads.
void loop_back(const std::string& path, std::size_t ahead) {
  const int fd = socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path.data(), path.size());
  while (connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) usleep(1000);
  std::vector<char> bytes(2 * ahead);
  if (!bytes.empty()) {
    ASSERT_EQ(send(fd, bytes.data(), bytes.size(), 0), static_cast<ssize_t>(bytes.size()));
  }
  bytes.resize(4096);
  for (ssize_t n; (n = recv(fd, bytes.data(), bytes.size(), 0)) > 0;) {
    if (send(fd, bytes.data(), static_cast<std::size_t>(n), MSG_NOSIGNAL) != n) break;
  }
  close(fd);
}

/// Samples after which a sample comes back from a peer that loops back.
int delay_of(std::uint32_t block, std::uint32_t ahead) {
  const std::string path = testing::TempDir() + "loop" + std::to_string(getpid());
  std::thread peer(loop_back, path, ahead);
  constexpr std::size_t kSamples = 2000, kAt = 500;
  std::vector<std::int16_t> sent(kSamples), heard(kSamples);
  sent[kAt] = 10'000;
  {
    SocketModem modem({path, 8000, block, ahead}, [] { return true; });
    for (std::size_t k = 0; k < kSamples; k += 8) modem.process(&sent[k], &heard[k], 8);
    EXPECT_EQ(modem.failure(), "");
  }
  peer.join();
  return static_cast<int>(std::max_element(heard.begin(), heard.end()) - heard.begin()) - static_cast<int>(kAt);
}

TEST(SocketModem, ThePeersSamplesComeABlockLater) {
  for (const std::uint32_t block : {48u, 160u}) {
    EXPECT_NEAR(delay_of(block, 0), static_cast<int>(block) + kResamplers, 3) << block;
  }
}

TEST(SocketModem, WhatThePeerWritesAheadIsTheWholeDelay) {
  for (const std::uint32_t block : {48u, 100u}) {
    EXPECT_NEAR(delay_of(block, 192), 192 + kResamplers, 3) << block << ": not a block more";
  }
}

}  // namespace
}  // namespace offhook
