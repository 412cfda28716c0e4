// SPDX-License-Identifier: MIT
#include "src/decode/line/silence.h"

#include <gtest/gtest.h>

#include <vector>

namespace offhook::decode {
namespace {

constexpr double kBlockS = 0.02;

// Stretches of a power, s each.
std::vector<float> power(std::initializer_list<std::pair<double, float>> stretches) {
  std::vector<float> all;
  for (const auto& [length_s, value] : stretches)
    all.insert(all.end(), static_cast<std::size_t>(length_s / kBlockS + 0.5), value);
  return all;
}

TEST(DecodeSilence, SeparatesFromFourAndAHalfSecondsOn) {
  const auto spans = sound_spans({power({{10, 0.01F}, {4.4, 0}, {10, 0.01F}, {4.6, 0}, {10, 0.01F}})}, kBlockS);
  ASSERT_EQ(spans.size(), 2U);
  EXPECT_NEAR(spans[0].from_s, 0, 0.03);
  EXPECT_NEAR(spans[0].to_s, 24.4, 0.03);
  EXPECT_NEAR(spans[1].from_s, 29, 0.03);
  EXPECT_NEAR(spans[1].to_s, 39, 0.03);
}

TEST(DecodeSilence, SoundInEitherChannelIsNoSilence) {
  const auto spans =
      sound_spans({power({{10, 0.01F}, {8, 0}, {10, 0.01F}}), power({{12, 0}, {4, 0.01F}, {12, 0}})}, kBlockS);
  EXPECT_EQ(spans.size(), 1U);
}

TEST(DecodeSilence, CallsThatFillOnePercentOfADayAreFoundOverItsNoise) {
  const auto spans =
      sound_spans({power({{40000, 1e-7F}, {400, 0.01F}, {20000, 1e-7F}, {400, 0.0005F}, {20000, 1e-7F}})}, kBlockS);
  EXPECT_EQ(spans.size(), 2U);
}

TEST(DecodeSilence, ClicksAndADayOfNoiseAloneAreNoCalls) {
  EXPECT_EQ(sound_spans({power({{20, 1e-7F}, {0.1, 0.5F}, {20, 1e-7F}, {60, 0.01F}, {20, 1e-7F}})}, kBlockS).size(),
            1U);
  EXPECT_LE(sound_spans({power({{2000, 1e-4F}})}, kBlockS).size(), 1U);
  EXPECT_TRUE(sound_spans({power({{2000, 0}})}, kBlockS).empty());
  EXPECT_TRUE(sound_spans({{}}, kBlockS).empty());
}

}  // namespace
}  // namespace offhook::decode
