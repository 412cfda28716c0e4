// SPDX-License-Identifier: MIT
//
// One echo at a time, exactly a delayed copy of what is sent; whole hybrids and networks are in tests/sim.
#include "dsp/qam/echo_canceller.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "dsp/qam/modulator.h"
#include "dsp/v34/coding/framing.h"
#include "tests/unit/dsp/v34/random.h"

namespace offhook::qam {
namespace {

constexpr double kRms = 2000;
const Band kBand = v34::band(v34::SymbolRate::k3200, v34::Carrier::kHigh);

std::vector<float> data(std::size_t samples) {
  Modulator m;
  m.init(kBand, kRms);
  v34::Random random(5, 11);
  std::vector<float> line;
  const auto half = static_cast<float>(kSqrt2 / 2);
  while (line.size() < samples) {
    if (m.wants_symbol()) m.put({random.bit() ? half : -half, random.bit() ? half : -half});
    line.push_back(m.next());
  }
  return line;
}

struct Echo {
  int delay;  ///< samples after a sent sample
  float gain;
};

/// Mean square of the last 2000 samples with an echo, relative to the residual, in decibels.
/// @param train  samples during which the far end is silent; another 4000 are held
double taken_off_db(EchoCanceller& canceller, const Echo& echo, int train, double noise = 0) {
  const auto sent = data(static_cast<std::size_t>(train) + 4000);
  v34::Random random(6, 11);
  double before = 0, after = 0;
  canceller.set_training(true);
  for (int n = 0; n < static_cast<int>(sent.size()); ++n) {
    if (n == train) canceller.set_training(false);
    const float heard = n < echo.delay ? 0 : echo.gain * sent[static_cast<std::size_t>(n - echo.delay)];
    const double other = noise * random.gaussian();
    const double left = canceller.process(heard + static_cast<float>(other)) - other;
    canceller.put(sent[static_cast<std::size_t>(n)]);
    if (n < train + 2000) continue;
    before += heard * heard;
    after += left * left;
  }
  return 10 * std::log10(before / (after + 1e-9));
}

TEST(QamEchoCanceller, TakesANearEchoOffFromTheFirstTapToTheLast) {
  for (const int io_delay : {0, 300}) {
    for (const int after : {0, 70, EchoCanceller::kNearTaps - 9}) {
      EchoCanceller canceller;
      canceller.init(kBand, io_delay, 4000);
      // Its own sample is put() after process(), so the least delay is one sample. At both ends of the taps, there are
      // no taps for the response of the band's edges.
      EXPECT_GT(taken_off_db(canceller, {io_delay + 1 + after, 0.5f}, 6000), after == 70 ? 44 : 31)
          << io_delay << " + " << after;
    }
  }
}

// The taps are slow for half of the band's edges; the inverse spectrum makes them as fast as in the middle.
TEST(QamEchoCanceller, LearnsANearEchoWithinAQuarterOfASecond) {
  EchoCanceller canceller;
  canceller.init(kBand, 0, 4000);
  EXPECT_GT(taken_off_db(canceller, {20, 0.5f}, 2400), 33);
}

TEST(QamEchoCanceller, TakesAFarEchoOffARoundTripLater) {
  for (const int round_trip : {700, 9600}) {
    EchoCanceller canceller;
    canceller.init(kBand, 200, round_trip);
    EXPECT_GT(taken_off_db(canceller, {200 + round_trip, 0.1f}, 200 + round_trip + 8000), 26) << round_trip;
    EXPECT_NEAR(canceller.far_offset_hz(), 0, 0.25);
  }
}

// When held, it is a filter of the sent samples. Earlier
// samples that training needs must be available immediately.
TEST(QamEchoCanceller, AFarEchoStaysOffWhileATrainingBeginsAgain) {
  constexpr int kRoundTrip = 700, kTrained = 8000, kHeld = 4000, kAgain = 200;
  EchoCanceller canceller;
  canceller.init(kBand, 0, kRoundTrip);
  const auto sent = data(kTrained + kHeld + kAgain);
  double before = 0, held = 0, again = 0;
  canceller.set_training(true);
  for (int n = 0; n < kTrained + kHeld + kAgain; ++n) {
    if (n == kTrained) canceller.set_training(false);
    if (n == kTrained + kHeld) canceller.set_training(true);
    const float heard = n < kRoundTrip ? 0 : 0.1f * sent[static_cast<std::size_t>(n - kRoundTrip)];
    const float left = canceller.process(heard);
    canceller.put(sent[static_cast<std::size_t>(n)]);
    if (n >= kTrained + kHeld) {
      again += left * left;
    } else if (n >= kTrained + kHeld - kAgain) {
      held += left * left;
      before += heard * heard;
    }
  }
  EXPECT_LT(10 * std::log10(held / before), -25);
  EXPECT_NEAR(10 * std::log10(again / held), 0, 2);
}

TEST(QamEchoCanceller, AFarEchoBeyondItsMemoryStays) {
  constexpr int kMost = EchoCanceller::kMaxDelaySamples + EchoCanceller::kFarBefore;  // of the round trip
  EchoCanceller last, beyond;
  last.init(kBand, 0, kMost);
  EXPECT_GT(taken_off_db(last, {kMost, 0.1f}, kMost + 6000), 25);
  beyond.init(kBand, 0, kMost + 1);
  EXPECT_NEAR(taken_off_db(beyond, {kMost + 1, 0.1f}, kMost + 6000), 0, 0.1);
}

// Without an echo, taps would keep the noise of their adaptation and always add it to the received signal.
TEST(QamEchoCanceller, WithoutAnEchoNothingIsAdded) {
  EchoCanceller canceller;
  canceller.init(kBand, 0, 700);
  const auto sent = data(12000);
  v34::Random random(7, 11);
  double added = 0;
  canceller.set_training(true);
  for (std::size_t n = 0; n < sent.size(); ++n) {
    if (n == 8000) canceller.set_training(false);
    const auto heard = static_cast<float>(20 * random.gaussian());
    const float left = canceller.process(heard);
    canceller.put(sent[n]);
    if (n >= 8000) added += std::abs(left - heard);
  }
  EXPECT_LT(added / 4000, 0.2) << "of a noise of 20";
}

TEST(QamEchoCanceller, InstrumentsAreOfTheTraining) {
  EchoCanceller canceller;
  canceller.init(kBand, 0, 4000);
  EXPECT_FALSE(canceller.training());
  taken_off_db(canceller, {20, 0.5f}, 6000);
  EXPECT_NEAR(10 * std::log10(canceller.echo_power() / (0.25 * kRms * kRms)), 0, 1.5);
  EXPECT_LT(canceller.residual_power(), 1e-3f * canceller.echo_power());
  canceller.set_training(true);
  EXPECT_TRUE(canceller.training());
  EXPECT_EQ(canceller.echo_power(), 0) << "a new training, new figures";
  EXPECT_EQ(canceller.residual_power(), 0);
}

}  // namespace
}  // namespace offhook::qam
