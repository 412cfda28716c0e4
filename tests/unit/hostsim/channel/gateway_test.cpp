// SPDX-License-Identifier: MIT
#include "hostsim/channel/gateway.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "dsp/blocks/level.h"
#include "tests/unit/hostsim/channel/tone.h"

namespace offhook::hostsim {
namespace {

using Signal = std::function<double(double t)>;

double sine(double hz, double dbm0, double t) {
  return dbm0_to_peak(dbm0) * std::sin(test::kTwoPi * hz * t);
}

/// Mean levels of both outputs in the last half of the time.
struct Out {
  double to_far = -400, to_near = -400;
};
Out run(const LineConfig& c, double seconds, const Signal& to_far, const Signal& to_near) {
  Gateway gateway(c, 1);
  double power[2] = {0, 0};
  const int n = static_cast<int>(seconds * 8000);
  for (int k = 0; k < n; ++k) {
    const double t = k / 8000.;
    const float far = gateway.process(Gateway::kToFar, static_cast<float>(to_far(t)));
    const float near = gateway.process(Gateway::kToNear, static_cast<float>(to_near(t)));
    if (k < n / 2) continue;
    power[0] += far * static_cast<double>(far) / (n / 2);
    power[1] += near * static_cast<double>(near) / (n / 2);
  }
  return {mean_square_to_dbm0(power[0]), mean_square_to_dbm0(power[1])};
}

TEST(Gateway, IsInALineThatNamesOneOfItsKeys) {
  EXPECT_FALSE(Gateway::is_in({}));
  LineConfig c;
  c.tandem_codecs = 1;
  EXPECT_TRUE(Gateway::is_in(c));
}

TEST(Gateway, AttenuatesTheQuieterDirectionUnlessAnAnswerToneDisabledIt) {
  const auto loud = [](double t) { return sine(1000, -12, t); };
  const auto quiet = [](double t) { return sine(700, -25, t); };
  const auto after_tone = [&](const Signal& then) {
    return [then](double t) { return t < 1 ? sine(2100, -12, t) : then(t); };
  };
  LineConfig c;
  c.suppressor_db = 30;
  Out out = run(c, 2, loud, quiet);
  EXPECT_NEAR(out.to_far, -12, 0.5);
  EXPECT_NEAR(out.to_near, -55, 0.5);
  out = run(c, 6, after_tone(loud), quiet);
  EXPECT_NEAR(out.to_near, -25, 0.5);
  const auto pause = [&](double t) { return t > 2 && t < 2.5 ? 0 : quiet(t); };
  const auto loud_pause = [&](double t) { return t < 1 ? sine(2100, -12, t) : t > 2 && t < 2.5 ? 0 : loud(t); };
  out = run(c, 6, loud_pause, pause);
  EXPECT_NEAR(out.to_near, -55, 0.5) << "silence of both directions has enabled it";
  c.tone_disabling = false;
  out = run(c, 6, after_tone(loud), quiet);
  EXPECT_NEAR(out.to_near, -55, 0.5);
}

TEST(Gateway, ReplacesWhatIsBelowTheThresholdOfVoiceByNoise) {
  LineConfig c;
  c.vad_dbm0 = -40;
  c.comfort_noise_dbm0 = -60;
  const Out out = run(
      c, 4, [](double t) { return sine(1000, -35, t); }, [](double t) { return sine(1000, -45, t); });
  EXPECT_NEAR(out.to_far, -35, 0.5);
  EXPECT_NEAR(out.to_near, -60, 1);
}

TEST(Gateway, ConcealsLostPacketsInThreeWays) {
  const auto tone = [](double t) { return sine(1000, -12, t); };
  LineConfig c;
  c.packet_ms = 20;
  c.packet_loss = 0.25;
  const double repeated = run(c, 40, tone, tone).to_far;
  c.concealment = "silence";
  const double silent = run(c, 40, tone, tone).to_far;
  c.concealment = "fade";
  const double faded = run(c, 40, tone, tone).to_far;
  EXPECT_NEAR(repeated, -12, 0.1);
  EXPECT_NEAR(silent, -12 + 10 * std::log10(0.75), 0.25);
  EXPECT_GT(faded, silent + 0.1);
  EXPECT_LT(faded, repeated - 0.5);
}

TEST(Gateway, DelaysByOnePacketAndTandemsRound) {
  LineConfig c;
  c.packet_ms = 10;
  Gateway packets(c, 1);
  for (int k = 0; k < 400; ++k) {
    EXPECT_EQ(packets.process(Gateway::kToFar, static_cast<float>(k + 1)), k < 80 ? 0 : static_cast<float>(k - 79));
  }
  c = {};
  c.tandem_codecs = 2;
  Gateway tandem(c, 1);
  EXPECT_NE(tandem.process(Gateway::kToFar, 1001), 1001);
  EXPECT_NEAR(tandem.process(Gateway::kToFar, 1001), 1001, 40);
}

TEST(Gateway, InterruptsTheNearEndWithACallWaitingTone) {
  LineConfig c;
  c.call_waiting_at_s = 1;
  Gateway gateway(c, 1);
  int interrupted[2] = {0, 0};
  for (int k = 0; k < 3 * 8000; ++k) {
    interrupted[0] += gateway.process(Gateway::kToFar, 1) != 1;
    interrupted[1] += gateway.process(Gateway::kToNear, 1) != 1;
  }
  EXPECT_EQ(interrupted[0], 0);
  EXPECT_NEAR(interrupted[1], 2400, 10);
}

}  // namespace
}  // namespace offhook::hostsim
