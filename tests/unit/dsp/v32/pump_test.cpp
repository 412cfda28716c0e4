// SPDX-License-Identifier: MIT
#include "dsp/v32/pump.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <memory>
#include <numbers>
#include <vector>

#include "dsp/pump/pump_type.h"
#include "tests/unit/driver/user_modem/pump_pair.h"

namespace offhook {
namespace {

using test::BitTester;
using test::LineConfig;
using test::PumpPair;

class V32bisPump : public testing::Test {
 protected:
  V32bisPump() { bits_[0].tx = 0x1234567, bits_[1].tx = 0x7654321; }
  PumpPair make(LineConfig line = {}) { return PumpPair(oh_v32bis_type(), line, {bits_[0].port(), bits_[1].port()}); }
  /// Four seconds of data, counted after the bit testers have synchronised.
  void expect_clean(PumpPair* pair, uint32_t rate) {
    pair->run(4000);
    for (BitTester& b : bits_) b.good = b.bad = 0;
    const uint64_t before[2] = {pair->status(0).bits_received, pair->status(1).bits_received};
    pair->run(32000);
    for (const int end : {0, 1}) {
      EXPECT_EQ(pair->status(end).rx_bit_rate, rate);
      EXPECT_EQ(pair->status(end).tx_bit_rate, rate);
      EXPECT_EQ(pair->status(end).retrains, 0u);
      EXPECT_EQ(bits_[end].bad, 0u) << end;
      EXPECT_NEAR(static_cast<double>(bits_[end].good), 4.0 * rate, 10) << end;
      EXPECT_EQ(pair->status(end).bits_received - before[end], bits_[end].good) << end;
    }
  }
  BitTester bits_[2];
};

TEST_F(V32bisPump, CarriesEveryRateBothWays) {
  for (const uint32_t rate : {14400u, 12000u, 9600u, 7200u, 4800u}) {
    SCOPED_TRACE(rate);
    PumpPair pair = make({.max_bit_rate = {rate, 0}});
    ASSERT_TRUE(pair.connect(25));
    expect_clean(&pair, rate);
  }
}

TEST_F(V32bisPump, NoiseLowersTheRateAndDataStayClean) {
  const struct {
    double snr_db;
    uint32_t rate;
  } cases[] = {{24, 14400}, {20, 12000}, {18, 9600}, {14, 7200}};
  for (const auto& c : cases) {
    SCOPED_TRACE(c.snr_db);
    PumpPair pair = make({.snr_db = c.snr_db});
    ASSERT_TRUE(pair.connect(25));
    expect_clean(&pair, c.rate);
  }
}

TEST_F(V32bisPump, ConnectsOver300MsEachWay) {
  PumpPair pair = make({.delay_samples = 2400, .snr_db = 40});
  ASSERT_TRUE(pair.connect(25));
  expect_clean(&pair, 14400);
}

TEST_F(V32bisPump, NoiseAloneNeverConnectsAndEndsInFailure) {
  BitTester bits;
  oh_pump_config config{};
  config.format = kLinear8000;
  config.tx_level_dbm0 = -12;
  config.port = bits.port();
  const oh_pump_type* ops = oh_v32bis_type();
  for (const oh_pump_role role : {OH_PUMP_CALL, OH_PUMP_ANSWER}) {
    config.role = role;
    std::unique_ptr<void, decltype(&std::free)> self(std::aligned_alloc(64, ops->size(&config)), &std::free);
    ASSERT_EQ(ops->init(self.get(), &config), 0);
    std::mt19937 random(7);
    for (int n = 0; n < 70 * 8000; ++n) {                                   // a minute without data is the end
      const auto rx = static_cast<int16_t>(random() & 1 ? 32767 : -32768);  // clipped
      int16_t tx;
      ops->process(self.get(), &rx, &tx, 1);
    }
    oh_pump_status status;
    ops->status(self.get(), &status);
    EXPECT_EQ(status.state, OH_PUMP_FAILED);
    EXPECT_EQ(status.bits_received, 0u);
  }
}

// A third-party caller needs an answer tone even after V.8: AC for 3 s (6, Note 5), 1.8 s silence, ANS for 3.3 s, AC.
TEST_F(V32bisPump, AnswersWithAToneWhenNobodyHearsAcAfterV8) {
  const oh_pump_type* ops = oh_v32bis_type();
  oh_pump_config config{};
  config.format = kLinear8000;
  config.role = OH_PUMP_ANSWER;
  config.tx_level_dbm0 = -12;
  config.port = bits_[1].port();
  const std::unique_ptr<void, decltype(&std::free)> pump(std::aligned_alloc(64, ops->size(&config)), &std::free);
  ASSERT_EQ(ops->init(pump.get(), &config), 0);
  oh_v32bis_begin(pump.get(), 1);
  std::vector<int16_t> sent(14 * 8000), silence(sent.size());
  ops->process(pump.get(), silence.data(), sent.data(), sent.size());
  const auto share = [&](double hz, double from_s) {  // of the power in a tenth of a second
    double re = 0, im = 0, all = 1;
    for (int n = 0; n < 800; ++n) {
      const double x = sent[static_cast<size_t>(from_s * 8000) + static_cast<size_t>(n)];
      re += x * std::cos(2 * std::numbers::pi * hz * n / 8000);
      im += x * std::sin(2 * std::numbers::pi * hz * n / 8000);
      all += x * x;
    }
    return (re * re + im * im) / 400 / all;
  };
  for (const double t : {0.5, 2.8, 8.4, 13.5}) EXPECT_GT(share(600, t) + share(3000, t), 0.9) << t;
  for (const double t : {5.0, 5.5, 7.5}) EXPECT_GT(share(2100, t), 0.9) << t;
  for (const double t : {3.2, 4.6}) EXPECT_EQ(sent[static_cast<size_t>(t * 8000)], 0) << t;
  size_t last = 4 * 8000, next = last;
  while (sent[last] == 0) --last;
  while (sent[next] == 0) ++next;
  EXPECT_NEAR(static_cast<double>(next - last) / 8000, 1.8, 0.01);
}

}  // namespace
}  // namespace offhook
