// SPDX-License-Identifier: MIT
//
// The DMT pump's whole start-up on fifty random loops, each a test of its own (`ctest -R RandomLoop`, and what failed
// again with --rerun-failed), and its bit error rate with the noise raised by its margin.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include "dsp/dmt/loading.h"
#include "hostsim/call/loop_rates.h"
#include "hostsim/channel/gaussian_noise.h"
#include "hostsim/engine/random.h"
#include "tests/unit/hostsim/channel/dmt_call.h"

namespace offhook {
namespace {

using hostsim::LoopConfig;
using test::DmtCall;

struct Drawn {
  LoopConfig loop;
  bool full_rate = false;
  std::string words;
};

/// Loop `n`: one or two gauges, up to two bridged taps, other services, a far clock within 100 ppm.
Drawn draw(std::uint64_t n) {
  const hostsim::Random random(50, 1);
  std::uint64_t at = 100 * n;
  const auto uniform = [&](double from, double to) { return from + (to - from) * random.uniform(at++); };
  Drawn d;
  const auto section = [&](char joint, double kft) {
    const int gauge = uniform(0, 1) < 0.5 ? 24 : 26;
    d.words += std::to_string(gauge) + joint + std::to_string(kft).substr(0, 4) + ' ';
  };
  d.full_rate = n % 5 == 4;
  section(':', uniform(2, 8));
  for (int taps = static_cast<int>(uniform(0, 3)); taps > 0; --taps) {
    section('/', uniform(0.2, 1.5));
    section(':', uniform(0.3, 2));
  }
  d.words.pop_back();
  d.loop.cable = hostsim::cable_named(d.words);
  static constexpr const char* kOthers[] = {"", "24 ISDN", "10 HDSL", "2 T1", "10 ADSL-down FEXT, 10 ADSL-up FEXT"};
  const char* others = kOthers[static_cast<int>(uniform(0, 5))];
  d.loop.disturbers = hostsim::disturbers_named(others);
  d.loop.clock_ppm = uniform(-100, 100);
  d.words += std::string(", [") + others + "], " + std::to_string(d.loop.clock_ppm) + " ppm" +
             (d.full_rate ? ", full rate" : "");
  return d;
}

class RandomLoop : public testing::TestWithParam<int> {};

TEST_P(RandomLoop, TrainsAndCarriesBitsWithoutAnError) {
  const Drawn d = draw(static_cast<std::uint64_t>(GetParam()));
  SCOPED_TRACE(d.words);
  DmtCall call(d.loop, d.full_rate, static_cast<std::uint64_t>(GetParam()));
  ASSERT_GT(call.connect(4), 0);
  call.run(0.4);
  EXPECT_TRUE(call.in_data());
  const auto down = call.remote_instruments(), up = call.central_instruments();
  EXPECT_EQ(call.remote.wrong + call.central.wrong, 0u);
  EXPECT_EQ(down.crc_errors + up.crc_errors, 0u);
  EXPECT_GT(down.superframes + up.superframes, 30u);
  EXPECT_EQ(down.trainings + up.trainings, 2u);
  EXPECT_GT(call.remote.received, 0u);
  EXPECT_GT(call.central.received, 0u);
  const auto& rx = d.full_rate ? dmt::kFullDown : dmt::kLiteDown;
  const auto& tx = d.full_rate ? dmt::kFullUp : dmt::kLiteUp;
  EXPECT_LT(down.gross_bit_rate, hostsim::loop_rates(d.loop, rx).capacity);
  EXPECT_LT(up.gross_bit_rate, hostsim::loop_rates(d.loop, tx).capacity);
}

INSTANTIATE_TEST_SUITE_P(Fifty, RandomLoop, testing::Range(0, 50));

// In data mode, noise of three times the loop's own power and with its spectrum is added: as much as the margin
// permits. No error in n bits: the rate is below 3 / n at 95 % (Clopper-Pearson).
class DmtMargin : public testing::TestWithParam<bool> {};

TEST_P(DmtMargin, BitErrorRateIsBelowOneInTenMillionWithTheNoiseRaisedByTheMargin) {
  const bool full_rate = GetParam();
  LoopConfig c;
  c.front_end.hybrid_loss_db = 200;
  DmtCall call(c, full_rate);
  ASSERT_GT(call.connect(4), 0);
  call.run(0.1);
  const auto at_first = call.remote_instruments();
  int tone_bits = 0;
  for (const int b : at_first.bits) tone_bits += b;
  EXPECT_EQ(4000u * static_cast<unsigned>(tone_bits) > at_first.gross_bit_rate, full_rate) << "the trellis code";
  const double rate_hz = full_rate ? 2'208'000 : 1'104'000;
  const double more = std::pow(10, dmt::kMarginDb / 10) - 1;
  hostsim::GaussianNoise noise(hostsim::Random(11, 1), rate_hz,
                               [&](double hz) { return more * call.loop->noise_psd(hostsim::Direction::kDown, hz); });
  call.tamper = [&](std::vector<std::int16_t>& samples) {
    for (std::int16_t& s : samples)
      s = static_cast<std::int16_t>(std::lrint(std::clamp(static_cast<float>(s) + noise.next(), -32768.f, 32767.f)));
  };
  const std::uint64_t from = call.remote.received;
  while (call.remote.received < from + 31'000'000 && call.in_data()) call.run(0.5);
  EXPECT_TRUE(call.in_data());
  const auto i = call.remote_instruments();
  EXPECT_EQ(call.remote.wrong, 0u) << "of " << call.remote.received - from;
  EXPECT_EQ(i.fast_retrains, 0u);
  EXPECT_GT(i.corrected_octets, 0u);  // the code is in use
  EXPECT_NEAR(static_cast<double>(i.margin_db), static_cast<double>(at_first.margin_db) - dmt::kMarginDb, 1.5);
  std::printf("%u octets corrected in %llu bits, least margin %.1f dB\n", i.corrected_octets,
              static_cast<unsigned long long>(call.remote.received - from), static_cast<double>(i.margin_db));
}

INSTANTIATE_TEST_SUITE_P(LiteAndFullRate, DmtMargin, testing::Bool());

}  // namespace
}  // namespace offhook
