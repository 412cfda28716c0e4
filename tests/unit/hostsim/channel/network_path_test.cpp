// SPDX-License-Identifier: MIT
#include "hostsim/channel/network_path.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <vector>

namespace offhook::hostsim {
namespace {

constexpr std::uint8_t kSilence = 0xFF;
constexpr std::size_t kSecond = 8000;

// The octets 0 to 250 repeatedly: place and octet determine each other.
std::uint8_t octet(std::size_t n) {
  return static_cast<std::uint8_t>(n % 251);
}
std::vector<std::uint8_t> through(const NetworkFaults& faults, std::size_t delay, std::size_t n, double late = 0) {
  NetworkPath path(faults, delay, kSilence, Random(1, 2), late);
  std::vector<std::uint8_t> out(n);
  for (std::size_t k = 0; k < n; ++k) out[k] = path.put(octet(k));
  return out;
}

TEST(NetworkPath, ACircuitDelaysAndNothingElse) {
  const auto out = through({}, 40, kSecond);
  for (std::size_t k = 0; k < 40; ++k) ASSERT_EQ(out[k], kSilence);
  for (std::size_t k = 40; k < out.size(); ++k) ASSERT_EQ(out[k], octet(k - 40));
}

TEST(NetworkPath, PacketsAddTwoOfThem) {
  const auto out = through({.packet_ms = 20}, 0, kSecond);
  for (std::size_t k = 320; k < out.size(); ++k) ASSERT_EQ(out[k], octet(k - 320));
}

TEST(NetworkPath, SlipsDeleteAndRepeatOneOctetInTurn) {
  const auto out = through({.slip_every_s = 0.25}, 10, kSecond);
  std::vector<std::size_t> deleted, repeated;
  for (std::size_t k = 12; k < out.size(); ++k) {
    const int step = (out[k] - out[k - 1] + 251) % 251;
    if (step == 2) deleted.push_back(k);
    if (step == 0) repeated.push_back(k);
    if (step != 2 && step != 0) {
      ASSERT_EQ(step, 1) << k;
    }
  }
  EXPECT_EQ(deleted, (std::vector<std::size_t>{2000, 6000}));
  EXPECT_EQ(repeated, (std::vector<std::size_t>{4000}));
}

TEST(NetworkPath, TheShareOfPacketsThatIsLostIsTheOneAskedForAndIsConcealed) {
  constexpr std::size_t kPacket = 160, kPackets = 5000;
  for (const bool concealment : {false, true}) {
    const auto out = through({.packet_ms = 20, .packet_loss = 0.1, .concealment = concealment}, 0, kPacket * kPackets);
    std::size_t lost = 0;
    for (std::size_t p = 3; p < kPackets; ++p) {
      bool gone = false, silent = true, again = true;
      for (std::size_t k = p * kPacket; k < (p + 1) * kPacket; ++k) {
        gone |= out[k] != octet(k - 2 * kPacket);
        silent &= out[k] == kSilence;
        again &= out[k] == out[k - kPacket];
      }
      lost += gone;
      if (gone) {
        ASSERT_TRUE(concealment ? again : silent) << p;
      }
    }
    // 500 +- 3 sigma of a binomial distribution
    EXPECT_GT(lost, 436u);
    EXPECT_LT(lost, 564u);
  }
}

TEST(NetworkPath, ThePlayoutFallsBackAndComesForwardAgain) {
  const NetworkFaults faults = {.packet_ms = 20, .jump_every_s = 0.25, .jump_ms = 10};
  const auto out = through(faults, 0, kSecond), other = through(faults, 0, kSecond, 0.5);
  const auto behind = [](const std::vector<std::uint8_t>& o, std::size_t k) { return (octet(k) - o[k] + 251) % 251; };
  EXPECT_EQ(behind(out, 1999), 320 % 251);
  EXPECT_EQ(behind(out, 2000), 400 % 251) << "the last octets once more";
  EXPECT_EQ(behind(out, 5999), 400 % 251);
  EXPECT_EQ(behind(out, 6000), 320 % 251) << "so many are never played";
  EXPECT_EQ(behind(other, 3999), 320 % 251) << "the other direction is half its period later";
  EXPECT_EQ(behind(other, 4000), 400 % 251);
  NetworkFaults silent = faults;
  silent.concealment = false;
  const auto quiet = through(silent, 0, kSecond);
  for (std::size_t k = 2000; k < 2080; ++k) ASSERT_EQ(quiet[k], kSilence);
  EXPECT_EQ(quiet[2080], octet(2080 - 400));
}

TEST(NetworkPath, WhatNoNetworkDoesIsRefused) {
  const auto message = [](const NetworkFaults& faults) -> std::string {
    try {
      through(faults, 0, 1);
    } catch (const std::invalid_argument& e) {
      return e.what();
    }
    return "";
  };
  for (const NetworkFaults& allowed : {NetworkFaults{.slip_every_s = 0.01},
                                       {.slip_every_s = 1e6},
                                       {.packet_ms = 1},
                                       {.packet_ms = 100},
                                       {.packet_ms = 1, .packet_loss = 1},
                                       {.packet_ms = 1, .jump_every_s = 0.01, .jump_ms = 0},
                                       {.packet_ms = 1, .jump_every_s = 1e6, .jump_ms = 500}})
    EXPECT_EQ(message(allowed), "");
  const char* every = "trunk.jump_every_s: expected 0, or 0.01 to 1000000";
  EXPECT_EQ(message({.packet_ms = 20, .jump_every_s = 0.0099}), every);
  EXPECT_EQ(message({.packet_ms = 20, .jump_every_s = 1.01e6}), every);
  EXPECT_EQ(message({.packet_ms = 100.5}), "trunk.packet_ms: expected 0, or 1 to 100");
  EXPECT_EQ(message({.packet_ms = 20, .jump_every_s = 1, .jump_ms = -1}), "trunk.jump_ms: expected 0 to 500");
  EXPECT_EQ(message({.jump_every_s = 1}),
            "trunk.packet_ms: expected 1 to 100 with trunk.packet_loss or trunk.jump_every_s");
  EXPECT_EQ(message({.slip_every_s = 0.0099}), "trunk.slip_every_s: expected 0, or 0.01 to 1000000");
  EXPECT_EQ(message({.slip_every_s = 1.01e6}), "trunk.slip_every_s: expected 0, or 0.01 to 1000000");
  EXPECT_EQ(message({.slip_every_s = -1}), "trunk.slip_every_s: expected 0, or 0.01 to 1000000");
  EXPECT_EQ(message({.packet_ms = 0.5}), "trunk.packet_ms: expected 0, or 1 to 100");
  EXPECT_EQ(message({.packet_ms = 20, .packet_loss = 1.1}), "trunk.packet_loss: expected 0 to 1");
  EXPECT_EQ(message({.packet_loss = 0.1}),
            "trunk.packet_ms: expected 1 to 100 with trunk.packet_loss or trunk.jump_every_s");
  EXPECT_EQ(message({.packet_ms = 20, .jump_every_s = 1, .jump_ms = 501}), "trunk.jump_ms: expected 0 to 500");
}

}  // namespace
}  // namespace offhook::hostsim
