// SPDX-License-Identifier: MIT
//
// Whether two channels are one line written twice or two directions.
#include "src/decode/line/channels.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

namespace offhook::decode {
namespace {

using Sound = std::vector<float>;

Sound noise(double s, double rms, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal(0, static_cast<float>(rms));
  Sound x(static_cast<std::size_t>(s * kRateHz));
  for (float& v : x) v = normal(random);
  return x;
}

Sound times(double factor, Sound x) {
  for (float& v : x) v *= static_cast<float>(factor);
  return x;
}
Sound sum(Sound a, const Sound& b) {
  for (std::size_t k = 0; k < a.size(); ++k) a[k] += b[k];
  return a;
}

TEST(DecodeChannels, OneLineWrittenTwiceIsOne) {
  const Sound line = noise(10, 3000, 1);
  const auto alike = channel_likeness(line, sum(times(0.5, line), noise(10, 84, 2)));
  ASSERT_TRUE(alike.has_value());
  EXPECT_NEAR(alike->gain_db, -6.02, 0.05);
  EXPECT_NEAR(alike->difference_db, -25, 0.5);
  EXPECT_EQ(alike->delay_s, 0);
}

TEST(DecodeChannels, ADelayBetweenThemIsMeasured) {
  const Sound line = noise(20, 3000, 1);
  for (const int delay : {123, -4567, 31111}) {
    Sound late(line.size());
    for (long k = 0; k < static_cast<long>(line.size()); ++k) {
      if (k - delay >= 0 && k - delay < static_cast<long>(line.size()))
        late[static_cast<std::size_t>(k)] = -line[static_cast<std::size_t>(k - delay)];
    }
    const auto alike = channel_likeness(line, late);
    ASSERT_TRUE(alike.has_value()) << delay;
    EXPECT_EQ(std::lround(alike->delay_s * kRateHz), delay);
    EXPECT_NEAR(alike->gain_db, 0, 0.01);
  }
}

// Each with an echo of the other, one after the other and both at once.
TEST(DecodeChannels, TwoDirectionsAreTwo) {
  Sound one = noise(10, 3000, 1), other = noise(10, 3000, 2);
  for (std::size_t k = 0; k < 3 * kRateHz; ++k) other[k] = 0;
  for (std::size_t k = 3 * kRateHz; k < 6 * kRateHz; ++k) one[k] = 0;
  EXPECT_FALSE(channel_likeness(sum(one, times(0.1, other)), sum(other, times(0.1, one))).has_value());
  EXPECT_FALSE(channel_likeness(noise(10, 3000, 1), noise(10, 3000, 2)).has_value());
}

TEST(DecodeChannels, AnEmptyOneIsNotLikeTheOther) {
  EXPECT_FALSE(channel_likeness(noise(10, 3000, 1), Sound(10 * kRateHz)).has_value());
  EXPECT_FALSE(channel_likeness(Sound(kRateHz), Sound(kRateHz)).has_value());
}

TEST(DecodeChannels, TheirMeanIsReadWhateverThePoles) {
  const Sound line = noise(2, 3000, 1);
  Recording r;
  r.channel = {line, times(-1, line)};
  r.peak = {10, 20};
  r.clipped = {0, 1};
  join_alike_channels(r);
  ASSERT_EQ(r.channel.size(), 1u);
  EXPECT_EQ(r.channel[0], line);
  EXPECT_EQ(r.peak, std::vector<int>{20});
}

}  // namespace
}  // namespace offhook::decode
