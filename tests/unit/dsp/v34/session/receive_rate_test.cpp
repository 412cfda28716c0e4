// SPDX-License-Identifier: MIT
#include "dsp/v34/session/receive_rate.h"

#include <gtest/gtest.h>

namespace offhook::v34 {
namespace {

using Advice = LineMonitor::Advice;

constexpr RateLimits kLimits{SymbolRate::k3200, TrellisCode::k64, true, false, false, true, 0};
constexpr uint16_t kAllRates = 0x3FFF;

double needed(int rate) {
  return required_snr(kLimits.trellis,
                      make_framing(kLimits.symbol_rate, static_cast<uint32_t>(rate) * 2400, false, true), false);
}

DataParameters at(int rate) {
  const auto bit_rate = static_cast<uint32_t>(rate) * 2400;
  return {
      {make_framing(kLimits.symbol_rate, bit_rate, false, true), Scrambling{}, kLimits.trellis, {}}, false, bit_rate};
}

TEST(V34ReceiveRate, IsTheHighestWhoseSnrTheTrainingHasWithTheMargin) {
  const ReceiveRate rate;
  for (int r = 4; r <= 13; ++r) {
    EXPECT_EQ(rate.choose(kLimits, 1.01 * needed(r), 1, false, ReceiveRate::kNoLimit), r);
    EXPECT_EQ(rate.choose(kLimits, 0.99 * needed(r), 1, false, ReceiveRate::kNoLimit), r - 1);
    EXPECT_EQ(rate.choose(kLimits, 1.01 * needed(r), 1.1, false, ReceiveRate::kNoLimit), r - 1);
    EXPECT_EQ(rate.choose(kLimits, 1.01 * needed(r), 1, false, 5), r < 5 ? r : 5);
  }
}

TEST(V34ReceiveRate, AnAdviceToLowerStopsAtTheLowestThatBothEndsHave) {
  ReceiveRate rate;
  rate.start(at(8), kLimits, kAllRates, 14);
  EXPECT_EQ(rate.limit_after(Advice::kResynchronise), 8);
  EXPECT_EQ(rate.limit_after(Advice::kLower), 7);
  EXPECT_EQ(rate.limit_after(Advice::kHigher), ReceiveRate::kNoLimit);
  EXPECT_EQ(rate.limit_after(Advice::kMove), ReceiveRate::kNoLimit);
  rate.start(at(8), kLimits, kAllRates & ~((1u << 7) - 1), 14);
  EXPECT_EQ(rate.limit_after(Advice::kLower), 8);
}

TEST(V34ReceiveRate, WithoutNoiseOfDataARenegotiationGoesByTheTraining) {
  ReceiveRate rate;
  rate.start(at(8), kLimits, kAllRates, 14);
  EXPECT_EQ(rate.data_variance(), 0);
  EXPECT_EQ(rate.choose(kLimits, 1.01 * needed(6), 1, true, ReceiveRate::kNoLimit), 6);
}

// As good as the training, or unrelated to any sent signal: nothing is learnt.
TEST(V34ReceiveRate, ADataModeThatIsWorseThanItsTrainingLowersTheRatesToCome) {
  ReceiveRate rate;
  const double training = 1.01 * needed(12);
  const auto b1_variance = [](double snr) { return static_cast<float>(at(12).mean_energy() / (2 * snr)); };
  rate.start(at(12), kLimits, kAllRates, 14, training, b1_variance(1.02 * needed(7)));
  EXPECT_EQ(rate.choose(kLimits, training, 1, true, ReceiveRate::kNoLimit), 7);
  ReceiveRate next;  // after a retrain
  next.remember(rate.memory());
  EXPECT_EQ(next.choose(kLimits, training, 1, false, ReceiveRate::kNoLimit), 7);
  // As good as the training, or as nothing that was sent: nothing is learnt.
  for (const double snr : {0.9 * training, 2.}) {
    rate.start(at(12), kLimits, kAllRates, 14, training, b1_variance(snr));
    EXPECT_EQ(rate.choose(kLimits, training, 1, true, ReceiveRate::kNoLimit), 12);
  }
}

TEST(V34ReceiveRate, AReceiverThatWasLostTwiceYieldsAQuarterOfItsRate) {
  ReceiveRate rate;
  rate.start(at(12), kLimits, kAllRates, 14);
  EXPECT_EQ(rate.limit_after(Advice::kYield), 9);
  rate.start(at(4), kLimits, kAllRates & ~((1u << 3) - 1), 14);
  EXPECT_EQ(rate.limit_after(Advice::kYield), 4);
}

}  // namespace
}  // namespace offhook::v34
