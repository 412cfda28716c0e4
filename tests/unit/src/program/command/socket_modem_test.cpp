// SPDX-License-Identifier: MIT
#include "src/program/command/socket_modem.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

namespace offhook {
namespace {

constexpr int kResamplers = 2 * static_cast<int>(hostsim::Resampler::kDelay);

/// Sends back its input, after `ahead` samples of silence that it writes before it reads; the first `dropped` samples
/// are lost.
void loop_back(const std::string& path, std::size_t ahead, std::size_t dropped) {
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
    const ssize_t kept_back = std::min(n, static_cast<ssize_t>(2 * dropped));
    dropped -= static_cast<std::size_t>(kept_back) / 2;
    if (send(fd, bytes.data(), static_cast<std::size_t>(n - kept_back), MSG_NOSIGNAL) != n - kept_back) break;
  }
  close(fd);
}

/// Number of samples after which a sample returns from a peer that loops back.
int delay_of(std::uint32_t block, std::uint32_t ahead) {
  const std::string path = testing::TempDir() + "loop" + std::to_string(getpid());
  std::thread peer(loop_back, path, ahead, 0);
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

TEST(SocketModem, APeerThatShortensItsQueueIsWaitedForNoLongerThanItCanAnswer) {
  for (const bool smaller : {true, false}) {
    const std::string path = testing::TempDir() + "short" + std::to_string(getpid());
    std::thread peer(loop_back, path, 96, 40);
    {
      SocketModem modem(
          {path, 8000, smaller ? 48u : 96u, 96, 1}, [] { return true; }, 1);
      std::int16_t sent[480]{}, heard[480];
      modem.process(sent, heard, 480);
      const std::string told =
          "sent no block of samples within 1 s, and is waiting for samples itself: with block=96 its queue can shrink "
          "by 0 samples at most; a smaller block= leaves more";
      EXPECT_EQ(modem.failure(), smaller ? "" : told);
    }
    peer.join();
  }
}

/// Gain in dB of a tone through the peer and back, at twice the line's rate.
double gain_db_at(double hz, std::uint32_t rate) {
  const std::string path = testing::TempDir() + "tone" + std::to_string(getpid());
  std::thread peer(loop_back, path, 0, 0);
  constexpr std::size_t kSamples = 4000, kFrom = 1000;
  double in = 0, out = 0;
  {
    SocketModem modem(
        {path, rate, 48, 0}, [] { return true; }, 2);
    for (std::size_t k = 0; k < kSamples; ++k) {
      std::int16_t twice[2], back = 0;
      for (std::size_t half = 0; half < 2; ++half) {
        twice[half] = static_cast<std::int16_t>(
            std::lround(10'000 * std::sin(2 * M_PI * hz * static_cast<double>(2 * k + half) / 16'000.)));
      }
      modem.process(twice, &back, 1);
      if (k < kFrom) continue;
      in += (static_cast<double>(twice[0]) * twice[0] + static_cast<double>(twice[1]) * twice[1]) / 2;
      out += static_cast<double>(back) * back;
    }
    EXPECT_EQ(modem.failure(), "");
  }
  peer.join();
  return 10 * std::log10(out / in);
}

TEST(SocketModem, TheAnalogueEndOfATrunkHearsWhatLiesNear4000Hz) {
  for (const double hz : {1000., 3000., 3900.}) EXPECT_NEAR(gain_db_at(hz, 9600), 0, 0.05) << hz;
}

}  // namespace
}  // namespace offhook
