// SPDX-License-Identifier: MIT
//
// Parts of the modem: coding, shaping, spectrum, and that every instruction set gives the same bits.
#include "dsp/v22/modem.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <deque>
#include <random>
#include <vector>

#include "dsp/pump/pump_type.h"
#include "tests/unit/driver/user_modem/pump_pair.h"

namespace offhook::v22 {
namespace {

/// A user that records every bit.
struct Notes {
  std::vector<uint8_t> sent, received;
  std::mt19937 random;
  oh_bit_port port() {
    return {.get_bit =
                [](void* user) {
                  auto& notes = *static_cast<Notes*>(user);
                  notes.sent.push_back(static_cast<uint8_t>(notes.random() & 1));
                  return int{notes.sent.back()};
                },
            .put_bit = [](void* user,
                          int bit) { static_cast<Notes*>(user)->received.push_back(static_cast<uint8_t>(bit)); },
            .user = this};
  }
};

// 6.3.1.1.1 f, 6.3.1.1.2 e, 6.3.1.2.1 c: an end is ready to receive before it is ready to send, by up to 765 ms, and
// all bits of a far end that sends immediately are received; before them there are only ones.
TEST(V22Modem, WhatTheFarEndSendsFirstArrives) {
  for (const uint32_t rate : {1200u, 2400u}) {
    for (const size_t delay : {size_t{8}, size_t{80}, size_t{2400}}) {
      SCOPED_TRACE(testing::Message() << rate << " bit/s, " << delay / 8 << " ms one way");
      Notes notes[2];
      std::vector<Modem> ends;
      for (const int end : {0, 1}) {
        notes[end].random.seed(static_cast<unsigned>(end + 1));
        oh_pump_config c{};
        c.format = kLinear8000;
        c.role = end == 0 ? OH_PUMP_CALL : OH_PUMP_ANSWER;
        c.tx_level_dbm0 = -12;
        c.max_bit_rate = rate;
        c.port = notes[end].port();
        ends.emplace_back(c);
      }
      std::deque<int16_t> line[2];
      for (auto& l : line) l.assign(delay, 0);
      for (int n = 0; n < 14 * 8000; ++n) {
        for (const int end : {0, 1}) {
          line[1 - end].push_back(static_cast<int16_t>(ends[static_cast<size_t>(end)].process(line[end].front()) / 4));
          line[end].pop_front();
        }
      }
      for (const int end : {0, 1}) {
        const std::vector<uint8_t>&sent = notes[1 - end].sent, &received = notes[end].received;
        ASSERT_GT(sent.size(), 1000u);
        const auto first = std::search(received.begin(), received.end(), sent.begin(), sent.begin() + 200);
        EXPECT_NE(first, received.end()) << (end == 0 ? "the caller" : "the answerer") << " lost the first bits";
        if (first != received.end()) {
          EXPECT_EQ(std::count(received.begin(), first, 0), 0);
        }
      }
    }
  }
}

// Figure 2 and Table 1 as printed: dibits of quadrants, and points of the first quadrant; the left bit is first.
TEST(V22Coding, TableAndFigureAsPrinted) {
  EXPECT_EQ(kTurnOfDibit[0b00] * 90, 90);
  EXPECT_EQ(kTurnOfDibit[0b01] * 90, 0);
  EXPECT_EQ(kTurnOfDibit[0b11] * 90, 270);
  EXPECT_EQ(kTurnOfDibit[0b10] * 90, 180);
  EXPECT_EQ(point(0, 0b00), (Complex{1, 1}));
  EXPECT_EQ(point(0, 0b01), (Complex{3, 1}));
  EXPECT_EQ(point(0, 0b10), (Complex{1, 3}));
  EXPECT_EQ(point(0, 0b11), (Complex{3, 3}));
  EXPECT_EQ(point(1, 0b01), (Complex{-1, 3}));
  for (int d = 0; d < 4; ++d) EXPECT_EQ(kDibitOfTurn[kTurnOfDibit[d]], d);
}

TEST(V22Coding, DecisionsAreTheNearestPoints) {
  for (float re = -4.05f; re < 4; re += 0.3f) {
    for (float im = -4.05f; im < 4; im += 0.3f) {
      float best16 = 1e9f, best4 = 1e9f;
      for (int q = 0; q < 4; ++q) {
        for (int inner = 0; inner < 4; ++inner) best16 = std::min(best16, norm(Complex{re, im} - point(q, inner)));
        best4 = std::min(best4, norm(Complex{re, im} - point(q, kInnerAt1200)));
      }
      const Decision d16 = nearest_of_sixteen({re, im}), d4 = nearest_of_four({re, im});
      EXPECT_NEAR(norm(Complex{re, im} - point(d16.quadrant, d16.inner)), best16, 1e-4);
      EXPECT_NEAR(norm(Complex{re, im} - point(d4.quadrant, d4.inner)), best4, 1e-4);
    }
  }
}

// 5.1: never more than 64 successive ones, invisible to the far end.
TEST(V22Coding, AScramblerThatLocksUpIsFreed) {
  GuardedScrambler scrambler;
  GuardedDescrambler descrambler;
  int run = 0, longest = 0, wrong = 0;
  for (int n = 0; n < 1000; ++n) {
    const int bit = n >= 14 && n < 17 ? 0 : 1;  // fills it with ones, which preserve ones
    const int line = scrambler.scramble(bit);
    run = line != 0 ? run + 1 : 0;
    longest = std::max(longest, run);
    wrong += descrambler.descramble(line) != bit;
  }
  EXPECT_EQ(longest, kMostOnes);
  EXPECT_EQ(wrong, 0);
}

std::complex<double> spectrum(const std::vector<double>& x, double hz) {
  std::complex<double> sum;
  for (size_t n = 0; n < x.size(); ++n) {
    const double window = 0.5 - 0.5 * std::cos(2 * M_PI * static_cast<double>(n) / static_cast<double>(x.size()));
    sum += window * x[n] * std::polar(1.0, -2 * M_PI * hz * static_cast<double>(n) / 8000);
  }
  return sum;
}

// 2.4: square root of a raised cosine of 75 %, with almost nothing in the other channel.
TEST(V22Shaping, TheSpectrumIsTheClauses) {
  for (const Channel channel : {Channel::kLow, Channel::kHigh}) {
    test::BitTester bits;
    Transmitter tx(channel, -12, bits.port());
    tx.start(Signal::kData);
    constexpr int kPieces = 300, kPiece = 800;
    const double carrier = channel == Channel::kLow ? 1200 : 2400, other = 3600 - carrier;
    std::vector<std::vector<double>> pieces(kPieces, std::vector<double>(kPiece));
    double power = 0;
    for (auto& piece : pieces) {
      for (double& x : piece) {
        if (tx.wants_symbol()) tx.next_symbol();
        x = static_cast<double>(tx.next());
        power += x * x / (kPieces * kPiece);
      }
    }
    EXPECT_NEAR(test::dbm0(power), -12, 0.1);
    const auto density = [&](double hz) {
      double sum = 0;
      for (const auto& piece : pieces) sum += std::norm(spectrum(piece, hz));
      return sum;
    };
    const double middle = density(carrier);
    for (const double offset : {-450., -300., -150., 150., 300., 450.}) {
      const double expected = std::abs(offset) <= 75 ? 1 : std::cos(M_PI * (std::abs(offset) - 75) / 900);
      EXPECT_NEAR(10 * std::log10(density(carrier + offset) / middle), 20 * std::log10(expected), 1.2) << offset;
    }
    for (const double offset : {-450., -300., 0., 300., 450.}) {
      EXPECT_LT(10 * std::log10(density(other + offset) / middle), -45) << offset;
    }
  }
}

TEST(V22Receiver, EveryInstructionSetGivesTheSameBits) {
  std::vector<int16_t> sent[3];
  std::vector<uint8_t> received[3];
  int n = 0;
  for (const InstructionSet set : kInstructionSets) {
    if (!cpu_has(set)) continue;
    test::BitTester bits[2];
    std::vector<Modem> modems;
    modems.reserve(2);
    for (const int end : {0, 1}) {
      bits[end].tx = 77;
      bits[end].keep = true;
      oh_pump_config c{};
      c.format = kLinear8000;
      c.role = static_cast<oh_pump_role>(end);
      c.tx_level_dbm0 = -12;
      c.port = bits[end].port();
      modems.emplace_back(c, kernels_for(set));
    }
    int16_t line[2] = {};
    uint32_t noise = 1;
    for (int k = 0; k < 12 * 8000; ++k) {
      int16_t tx[2];
      for (const int end : {0, 1}) {
        noise = noise * 1664525u + 1013904223u;
        tx[end] = modems[static_cast<size_t>(end)].process(static_cast<int16_t>(line[end] + (noise >> 24) - 128));
      }
      line[0] = tx[1], line[1] = tx[0];
      sent[n].push_back(tx[0]);
      sent[n].push_back(tx[1]);
    }
    received[n] = bits[0].received;
    ASSERT_GT(received[n].size(), 10'000u);
    if (n > 0) {
      EXPECT_EQ(sent[n], sent[0]);
      EXPECT_EQ(received[n], received[0]);
    }
    ++n;
  }
}

}  // namespace
}  // namespace offhook::v22
