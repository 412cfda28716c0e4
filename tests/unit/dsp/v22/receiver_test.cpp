// SPDX-License-Identifier: MIT
//
// The receiver alone, on what the transmitter sends: what it says of the line, and its first decisions.
#include "dsp/v22/receiver.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "dsp/blocks/level.h"
#include "dsp/v22/transmitter.h"
#include "tests/unit/driver/user_modem/pump_pair.h"

namespace offhook::v22 {
namespace {

constexpr double kLevelDbm0 = -20;

/// @param seconds  of scrambled ones at 1200 bit/s
std::vector<double> sent(Channel channel, double seconds) {
  test::BitTester bits;
  Transmitter tx(channel, kLevelDbm0, bits.port());
  tx.start(Signal::kSb1Slow);
  std::vector<double> x(static_cast<size_t>(seconds * 8000));
  for (double& v : x) {
    if (tx.wants_symbol()) tx.next_symbol();
    v = static_cast<double>(tx.next());
  }
  return x;
}

/// As sent by a far end whose clock is this much faster: interpolated with 64 taps.
std::vector<double> of_clock(const std::vector<double>& x, double ppm) {
  std::vector<double> y;
  for (double t = 64; t + 64 < static_cast<double>(x.size()); t += 1 + ppm * 1e-6) {
    const auto first = static_cast<int>(t) - 31;
    double sum = 0;
    for (int k = first; k < first + 64; ++k) {
      const double u = t - k, sinc = u == 0 ? 1 : std::sin(M_PI * u) / (M_PI * u);
      sum += x[static_cast<size_t>(k)] * sinc * (0.5 + 0.5 * std::cos(M_PI * u / 32));
    }
    y.push_back(sum);
  }
  return y;
}

/// Every frequency shifted by hz, with a Hilbert transform of 127 taps.
std::vector<double> moved(const std::vector<double>& x, double hz) {
  std::vector<double> y;
  for (size_t n = 63; n + 63 < x.size(); ++n) {
    double quadrature = 0;
    for (int k = -63; k <= 63; k += 2) {
      quadrature += x[n - static_cast<size_t>(k + 63) + 63] * 2 / (M_PI * k) * (0.5 + 0.5 * std::cos(M_PI * k / 64));
    }
    const double turn = 2 * M_PI * hz * static_cast<double>(n) / 8000;
    y.push_back(x[n] * std::cos(turn) - quadrature * std::sin(turn));
  }
  return y;
}

void hear(Receiver* receiver, const std::vector<double>& x, double gain = 1) {
  for (const double v : x) receiver->process(static_cast<float>(gain * v));
}

double line_dbm0(const Receiver& receiver) {
  return test::dbm0(static_cast<double>(receiver.line_power()));
}

TEST(V22Receiver, SaysWhatTheLineDoes) {
  for (const Channel channel : {Channel::kLow, Channel::kHigh}) {
    Receiver receiver(channel, best_kernels());
    receiver.acquire();
    hear(&receiver, sent(channel, 6));
    EXPECT_TRUE(receiver.carrier());
    EXPECT_NEAR(receiver.clock_ppm(), 0, 3);
    EXPECT_NEAR(receiver.carrier_offset_hz(), 0, 0.02);
    EXPECT_NEAR(line_dbm0(receiver), kLevelDbm0, 0.3);
    EXPECT_GT(10 * std::log10(receiver.snr()), 35);
    EXPECT_NEAR(receiver.snr() * receiver.error(), kMeanEnergy, 1e-4);
  }
}

TEST(V22Receiver, FollowsTheFarClockAndTheCarrier) {
  for (const double ppm : {-100., 100.}) {
    Receiver receiver(Channel::kLow, best_kernels());
    receiver.acquire();
    hear(&receiver, of_clock(sent(Channel::kLow, 20), ppm));
    EXPECT_NEAR(receiver.clock_ppm(), ppm, 10);
  }
  for (const double hz : {-5., 5.}) {
    Receiver receiver(Channel::kHigh, best_kernels());
    receiver.acquire();
    hear(&receiver, moved(sent(Channel::kHigh, 4), hz));
    EXPECT_NEAR(receiver.carrier_offset_hz(), hz, 0.05);
    EXPECT_GT(10 * std::log10(receiver.snr()), 30);
  }
}

// The taps begin as a single one at a symbol, so the first decisions are already right.
TEST(V22Receiver, TheFirstSymbolsAreSymbols) {
  Receiver receiver(Channel::kLow, best_kernels());
  receiver.acquire();
  float worst = 0;
  int symbols = 0;
  for (const double v : sent(Channel::kLow, 1)) {
    if (!receiver.process(static_cast<float>(v)) || ++symbols > 20) continue;
    const Decision d = receiver.decision();
    worst = std::max(worst, norm(receiver.symbol() - point(d.quadrant, d.inner)));
  }
  ASSERT_GT(symbols, 20);
  EXPECT_LT(worst, 1);  // of 10; neighbours are 20 apart
}

TEST(V22Receiver, TheLevelFollowsTheLine) {
  const std::vector<double> x = sent(Channel::kLow, 8);
  Receiver receiver(Channel::kLow, best_kernels());
  receiver.acquire();
  hear(&receiver, x);
  hear(&receiver, x, 0.5);
  EXPECT_NEAR(line_dbm0(receiver), kLevelDbm0 - 6.02, 0.3);
  EXPECT_TRUE(receiver.carrier());
}

// 3.2: circuit 109 goes off 40 to 65 ms after the carrier.
TEST(V22Receiver, TheCarrierIsGoneAfterItsTimeAndComesBack) {
  const std::vector<double> x = sent(Channel::kLow, 2);
  for (const double gain_db : {10., 0., -10., -20.}) {
    const double gain = db_to_gain(gain_db);
    Receiver receiver(Channel::kLow, best_kernels());
    receiver.acquire();
    hear(&receiver, x, gain);
    receiver.confirm();
    int silent = 0;
    while (receiver.carrier() && silent < 8000) receiver.process(0), ++silent;
    EXPECT_GE(silent - Receiver::kDelay, 40 * 8) << gain_db;
    EXPECT_LE(silent - Receiver::kDelay, 65 * 8) << gain_db;
    EXPECT_TRUE(receiver.confirmed());
    hear(&receiver, x, gain);
    EXPECT_TRUE(receiver.carrier());
  }
}

TEST(V22Transmitter, ASignalCountsFromItsBeginning) {
  test::BitTester bits;
  Transmitter tx(Channel::kLow, -12, bits.port());
  tx.start(Signal::kUsb1);
  for (int k = 0; k < 5; ++k) tx.next_symbol();
  EXPECT_EQ(tx.count(), 5);
  tx.start(Signal::kS1);
  EXPECT_EQ(tx.count(), 0);
  tx.next_symbol();
  EXPECT_EQ(tx.count(), 1);
  EXPECT_EQ(tx.bits_sent(), 0u);
}

}  // namespace
}  // namespace offhook::v22
