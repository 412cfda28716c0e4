// SPDX-License-Identifier: MIT
#include "src/decode/line/hum.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

#include "src/decode/call/call.h"
#include "src/decode/call/verdict.h"
#include "src/decode/line/samples.h"

namespace offhook::decode {
namespace {

void add_tone(std::vector<float>& x, double hz, double peak) {
  constexpr double kTurn = 2 * 3.14159265358979 / kRateHz;
  for (std::size_t k = 0; k < x.size(); ++k)
    x[k] += static_cast<float>(peak * std::sin(kTurn * hz * static_cast<double>(k)));
}

Recording own_call() {
  return read_recording(std::filesystem::path(OFFHOOK_SOURCE_DIR) / "examples/call.wav");
}

// 10 and 16 dB above the channels' power. The training of the weaker one was not found, and the verdict was "other PCM
// modem".
TEST(DecodeHum, ACallNextToLoudHumIsReadToTheEnd) {
  for (const double hz : {50.0, 60.0}) {
    SCOPED_TRACE(hz);
    Recording r = own_call();
    for (auto& x : r.channel) {
      add_tone(x, hz, 9000);
      add_tone(x, 3 * hz, 2000);
      for (float& v : x) v += 3000;
    }
    const Call call = analyse(std::move(r));
    EXPECT_THAT(call.recording.remark, testing::StartsWith("Hum in channel 0, "));
    const Verdict verdict = verdict_of(call);
    EXPECT_EQ(verdict.technology, "V.34");
    ASSERT_EQ(verdict.directions.size(), 2u);
    for (const Verdict::Direction& d : verdict.directions) {
      EXPECT_TRUE(d.to_the_end) << d.name << ": " << d.reason;
      EXPECT_LT(d.bad_frames, d.good_frames) << d.name;  // the lowest 20 Hz of the weaker signal are removed, too
    }
  }
}

TEST(DecodeHum, AChannelWithoutHumKeepsEverySample) {
  Recording r = own_call();
  r.channel[0].assign(r.channel[0].size(), 0);
  add_tone(r.channel[0], 350, 3000);  // North American dial tone
  add_tone(r.channel[0], 440, 3000);
  const auto before = r.channel;
  take_hum_off(r);
  EXPECT_EQ(r.channel, before);
  EXPECT_EQ(r.remark, "");
}

// A channel of hum alone becomes silent; the other one is unchanged.
TEST(DecodeHum, HumAloneBecomesSilence) {
  Recording r = own_call();
  r.channel[1].assign(r.channel[1].size(), 0);
  add_tone(r.channel[1], 50, 8000);
  const std::vector<float> other = r.channel[0];
  take_hum_off(r);
  EXPECT_EQ(r.channel[0], other);
  constexpr std::size_t kEdge = 800;  // the tone begins and ends suddenly
  for (std::size_t k = kEdge; k + kEdge < r.channel[1].size(); ++k) ASSERT_LT(std::abs(r.channel[1][k]), 16) << k;
}

}  // namespace
}  // namespace offhook::decode
