// SPDX-License-Identifier: MIT
#include "src/measure/trunk.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "hostsim/channel/g711.h"
#include "hostsim/engine/random.h"

namespace offhook::measure {
namespace {

constexpr std::size_t kPeriods = 10 * 8000;
constexpr std::size_t kDelay = 333;

/// A network as a function of the octet and its index at the far end.
using Network = std::function<std::uint8_t(std::size_t at, std::uint8_t octet)>;

TrunkReceived silence(oh_encoding law) {
  return {law, std::vector<std::uint8_t>(kPeriods, law == OH_ALAW ? 0xD5 : 0xFF), std::vector<bool>(kPeriods)};
}

TrunkReceived through(const TrunkSignal& sent, oh_encoding law, const Network& network) {
  TrunkReceived all = silence(law);
  all.octets.resize(kPeriods + 4000, all.octets[0]);
  all.lost.resize(kPeriods + 4000);
  for (std::size_t k = 0; k < sent.octets().size(); ++k) all.octets[k + kDelay] = network(k + kDelay, sent.octets()[k]);
  return all;
}

std::uint8_t mu_scaled(double gain, std::uint8_t octet) {
  return hostsim::mu_law_encode(static_cast<std::int16_t>(std::lround(gain * hostsim::mu_law_decode(octet))));
}

class Trunk : public testing::Test {
 protected:
  TrunkDirection analysed(const Network& network, oh_encoding law = OH_MULAW) const {
    return analyse_trunk(sent_, through(sent_, law, network), silence(OH_MULAW));
  }
  const TrunkSignal sent_{OH_MULAW, kPeriods, 7};
};

TEST_F(Trunk, NamesATransparentPathAndItsDelay) {
  const TrunkDirection d = analysed([](std::size_t, std::uint8_t octet) { return octet; });
  EXPECT_EQ(d.path, TrunkPath::kTransparent);
  EXPECT_EQ(d.lag_samples, static_cast<std::int64_t>(kDelay));
  EXPECT_EQ(d.same, 1);
  EXPECT_NEAR(d.loss_db, 0, 0.01);
  EXPECT_EQ(d.lost_samples, 0u);
  EXPECT_TRUE(d.jumps.empty());
  EXPECT_FALSE(d.echo);
  EXPECT_GE(d.best_rate(), 31200);  // of quantisation alone
}

TEST_F(Trunk, FindsTheIntervalsOfRobbedBits) {
  const TrunkDirection d = analysed([](std::size_t at, std::uint8_t octet) {
    return static_cast<std::uint8_t>(at % 6 == 1 || at % 6 == 4 ? octet | 1 : octet);
  });
  EXPECT_EQ(d.path, TrunkPath::kMapped);
  EXPECT_EQ(d.robbed_intervals, (std::vector{1, 4}));
}

TEST_F(Trunk, TellsAPadFromRobbedBits) {
  const TrunkDirection d =
      analysed([](std::size_t, std::uint8_t octet) { return mu_scaled(std::pow(10, -3.0 / 20), octet); });
  EXPECT_EQ(d.path, TrunkPath::kMapped);
  EXPECT_NEAR(d.loss_db, 3, 0.1);
  EXPECT_TRUE(d.robbed_intervals.empty());
}

TEST_F(Trunk, FindsRobbedBitsBehindAPad) {
  const TrunkDirection d = analysed([](std::size_t at, std::uint8_t octet) {
    const std::uint8_t quiet = mu_scaled(std::pow(10, -6.0 / 20), octet);
    return static_cast<std::uint8_t>(at % 6 == 3 ? quiet & ~1 : quiet);
  });
  EXPECT_EQ(d.path, TrunkPath::kMapped);
  EXPECT_EQ(d.robbed_intervals, std::vector{3});
}

TEST_F(Trunk, TakesTheOtherLawForAMap) {
  const TrunkDirection d = analysed(
      [](std::size_t, std::uint8_t octet) { return hostsim::a_law_encode(hostsim::mu_law_decode(octet)); }, OH_ALAW);
  EXPECT_EQ(d.path, TrunkPath::kMapped);
  EXPECT_TRUE(d.robbed_intervals.empty());
  EXPECT_NEAR(d.loss_db, 0, 0.1);
}

TEST_F(Trunk, ConvertersLeaveNoMapAndLowerTheRate) {
  const hostsim::Random noise(3, 1);
  const auto noisy = [&](double rms) {
    return analysed([&, rms](std::size_t at, std::uint8_t octet) {
      return hostsim::mu_law_encode(static_cast<std::int16_t>(
          std::clamp(hostsim::mu_law_decode(octet) + rms * noise.normal(at), -32768.0, 32767.0)));
    });
  };
  const TrunkDirection quiet = noisy(40), loud = noisy(250);
  EXPECT_EQ(quiet.path, TrunkPath::kAltered);
  EXPECT_EQ(loud.path, TrunkPath::kAltered);
  EXPECT_LT(loud.snr_db, quiet.snr_db - 10);
  EXPECT_LT(loud.best_rate(), quiet.best_rate());
  EXPECT_GT(loud.best_rate(), 0);
}

TEST_F(Trunk, CountsLostSamplesAndJumps) {
  TrunkReceived received = through(sent_, OH_MULAW, [](std::size_t, std::uint8_t octet) { return octet; });
  for (std::size_t k = 20000; k < 20160; ++k) received.lost[k] = true, received.octets[k] = 0xFF;
  // From 5 s on all octets come 10 ms later, and from 6 s on 20 ms earlier.
  received.octets.insert(received.octets.begin() + 40000, 80, 0xFF);
  received.octets.erase(received.octets.begin() + 48000, received.octets.begin() + 48160);
  received.lost.resize(received.octets.size());
  const TrunkDirection d = analyse_trunk(sent_, received, silence(OH_MULAW));
  EXPECT_EQ(d.path, TrunkPath::kTransparent);
  EXPECT_EQ(d.lost_samples, 160u);
  ASSERT_EQ(d.jumps.size(), 2u);
  EXPECT_EQ(d.jumps[0].samples, 80);
  EXPECT_NEAR(d.jumps[0].at_s, 5, 0.1);
  EXPECT_EQ(d.jumps[1].samples, -160);
  EXPECT_NEAR(d.jumps[1].at_s, 6, 0.1);
}

TEST_F(Trunk, MeasuresTheSendersEcho) {
  TrunkReceived heard = silence(OH_MULAW);
  for (std::size_t k = 0; k + 200 < kPeriods; ++k) heard.octets[k + 200] = mu_scaled(0.1, sent_.octets()[k]);
  const TrunkDirection d =
      analyse_trunk(sent_, through(sent_, OH_MULAW, [](std::size_t, std::uint8_t octet) { return octet; }), heard);
  ASSERT_TRUE(d.echo);
  EXPECT_NEAR(d.echo->delay_ms, 25, 0.01);
  EXPECT_NEAR(d.echo->loss_db, 20, 0.3);
}

TEST_F(Trunk, SaysThatNothingArrived) {
  const TrunkDirection d = analyse_trunk(sent_, silence(OH_MULAW), silence(OH_MULAW));
  EXPECT_EQ(d.path, TrunkPath::kSilent);
  TrunkResult r;
  r.a_to_b = r.b_to_a = d;
  EXPECT_NE(r.findings().front().find("did not arrive"), std::string::npos);
  EXPECT_FALSE(r.v90_from_a());
}

TEST_F(Trunk, RoundTripLeavesOutTheTimeThatTheEndsBeganApart) {
  TrunkResult r;
  r.a_to_b.lag_samples = 333 + 100;
  r.b_to_a.lag_samples = 333 - 100;
  EXPECT_DOUBLE_EQ(r.round_trip_ms(), 83.25);
}

TEST(TrunkSignal, RefusesWhatIsTooShortOrNoOctets) {
  EXPECT_THROW(TrunkSignal(OH_MULAW, TrunkSignal::kLeastPeriods - 1, 1), std::invalid_argument);
  EXPECT_THROW(TrunkSignal(OH_LINEAR16, kPeriods, 1), std::invalid_argument);
}

}  // namespace
}  // namespace offhook::measure
