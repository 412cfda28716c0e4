// SPDX-License-Identifier: MIT
//
// Bursts of both waveforms through white noise, a carrier offset and an echo.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <random>
#include <string>
#include <vector>

#include "dsp/radio/low_if.h"
#include "dsp/radio/ofdm.h"
#include "dsp/radio/single_carrier.h"

namespace offhook::radio {
namespace {

struct Air {
  float snr_db = 60;  // of the symbols
  double offset_hz = 0;
  float echo = 0;  // one sample later
  int echo_samples = 1;
};

struct Tally {
  int whole = 0, header_only = 0, broken = 0, wrong = 0;
  double snr_db = 0, offset_hz = 0;  // of the last
};

// The receiver's gain for noise of the whole band: it sums two samples per symbol, or omits the empty carriers.
template <class Waveform>
const float kGainDb = 10 * std::log10(2.0f);
template <>
const float kGainDb<Ofdm> = 10 * std::log10(64.0f / 50);

template <class Waveform>
Tally send(unsigned rate, const Air& air, int bursts) {
  typename Waveform::Sender sender;
  typename Waveform::Receiver receiver;
  std::mt19937 random(rate + 1);
  std::normal_distribution<float> normal(0, std::sqrt(0.5f) * std::pow(10.0f, (kGainDb<Waveform> - air.snr_db) / 20));
  std::vector<std::uint8_t> payload(sender.packets().most_octets());
  Tally t;
  std::vector<Complex> before(static_cast<std::size_t>(air.echo_samples));  // the oldest first
  double turn = 0;
  for (int b = 0; b < bursts; ++b) {
    for (std::uint8_t& octet : payload) octet = static_cast<std::uint8_t>(random());
    BurstHeader h;
    h.slot = static_cast<std::uint16_t>(1000 * b);
    h.rate = static_cast<std::uint8_t>(rate);
    h.hears = b % 2;
    const Complex* const samples = sender.burst(h, payload.data());
    for (unsigned k = 0; k < Waveform::kSlotSamples; ++k) {
      const Complex x = k < sender.samples() ? samples[k] : Complex{};
      Complex y = x + air.echo * before.front();
      std::rotate(before.begin(), before.begin() + 1, before.end());
      before.back() = x;
      y = y * std::polar(1.0f, static_cast<float>(turn)) + Complex{normal(random), normal(random)};
      turn = std::fmod(turn + 2 * std::numbers::pi * air.offset_hz / kSampleRateHz, 2 * std::numbers::pi);
      const Heard heard = receiver.step(y);
      if (heard == Heard::kNothing) continue;
      t.whole += heard == Heard::kBurst;
      t.header_only += heard == Heard::kHeader;
      t.broken += heard == Heard::kBroken;
      if (heard == Heard::kBroken) continue;
      const BurstHeader& got = receiver.header();
      t.wrong += got.slot != h.slot || got.rate != rate || got.hears != h.hears || got.data || got.ends;
      if (heard != Heard::kBurst) continue;
      t.wrong += !std::equal(receiver.payload(), receiver.payload() + sender.packets().octets(rate), payload.begin());
      t.snr_db = receiver.snr_db();
      t.offset_hz = receiver.offset_turns() * kSampleRateHz;
    }
  }
  return t;
}

template <class Waveform>
class Burst : public testing::Test {};
using Waveforms = testing::Types<SingleCarrier, Ofdm>;
TYPED_TEST_SUITE(Burst, Waveforms);

TYPED_TEST(Burst, AtARatesLeastSnrFewerThanOneOfAHundredIsLost) {
  for (unsigned rate = 0; rate < kRates.size(); ++rate) {
    const Tally t = send<TypeParam>(rate, {.snr_db = kRates[rate].least_snr_db}, 400);
    EXPECT_GE(t.whole, 397) << "rate " << rate;
    EXPECT_EQ(t.wrong, 0) << "rate " << rate;
  }
}

TYPED_TEST(Burst, WhatIsNotWholeIsNeverTakenForIt) {
  for (unsigned rate = 0; rate < kRates.size(); ++rate) {
    const Tally t = send<TypeParam>(rate, {.snr_db = kRates[rate].least_snr_db - 5}, 400);
    EXPECT_LT(t.whole, 390) << "rate " << rate;
    EXPECT_EQ(t.wrong, 0) << "rate " << rate;
  }
}

TYPED_TEST(Burst, TheReceiverMeasuresSnrAndCarrier) {
  for (const float snr : {12.0f, 20.0f, 30.0f}) {
    const Tally t = send<TypeParam>(0, {.snr_db = snr, .offset_hz = 4000}, 50);
    EXPECT_EQ(t.whole, 50);
    EXPECT_NEAR(t.snr_db, snr, 1.5);
    EXPECT_NEAR(t.offset_hz, 4000, 700);
  }
}

TYPED_TEST(Burst, AnEchoOfASampleIsEqualised) {
  EXPECT_EQ((send<TypeParam>(2, {.snr_db = 35, .echo = 0.3f}, 100).whole), 100);
}

// The ripple of four samples has four periods in the band, which the polynomial of liquid's channel cannot represent.
TEST(Ofdm, AnEchoOfFourSamplesIsEqualisedAndItsSnrIsMeasured) {
  const Tally t = send<Ofdm>(2, {.snr_db = 35, .echo = 0.3f, .echo_samples = 4}, 100);
  EXPECT_EQ(t.whole, 100);
  EXPECT_GT(t.snr_db, 18);
}

TYPED_TEST(Burst, ABurstLeavesRoomInItsSlot) {
  typename TypeParam::Sender sender;
  EXPECT_LT(sender.samples(), TypeParam::kSlotSamples - 100);
  EXPECT_LT(sender.packets().octets(0), sender.packets().octets(1));
  EXPECT_EQ(sender.packets().octets(3), sender.packets().most_octets());
}

// A card's samples around a quarter of its rate are again the complex ones, delayed, with the same mean square.
TEST(LowIf, CarriesABandOfThreeQuartersThereAndBack) {
  for (const double cycles : {-0.35, -0.2, 0.01, 0.15, 0.35}) {  // of a complex sample
    LowIfSender up;
    LowIfReceiver down;
    double sent = 0, card = 0, got = 0;
    Complex correlation;
    for (int n = 0; n < 4000; ++n) {
      const Complex x = std::polar(1.0f, static_cast<float>(2 * std::numbers::pi * std::fmod(cycles * n, 1)));
      const auto pair = up.step(x);
      const Complex y = down.step(pair[0], pair[1]);
      if (n < 100) continue;
      sent += std::norm(x);
      card += (pair[0] * pair[0] + pair[1] * pair[1]) / 2;
      got += std::norm(y);
      correlation += y * std::conj(x);
    }
    EXPECT_NEAR(card / sent, 1, 0.02) << cycles;
    EXPECT_NEAR(got / sent, 1, 0.03) << cycles;
    EXPECT_NEAR(std::abs(correlation) / sent, 1, 0.02) << cycles;
  }
}

}  // namespace
}  // namespace offhook::radio
