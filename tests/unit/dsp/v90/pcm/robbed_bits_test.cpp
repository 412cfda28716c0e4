// SPDX-License-Identifier: MIT
#include "dsp/v90/pcm/robbed_bits.h"

#include <gtest/gtest.h>

#include <random>

namespace offhook::v90 {
namespace {

struct Octet {
  uint8_t sent, received;
};

// Octets of a Gaussian signal at -15 dBm0, or of silence; the last bit is taken in the intervals of `pattern`.
class Trunk {
 public:
  Trunk(Law law, unsigned pattern, bool one, double rms = 2900)
      : law_(law), pattern_(pattern), one_(one), signal_(0, rms) {}
  Octet next() {
    value_ = static_cast<int>(signal_(random_));
    const uint8_t sent = nearest_octet(law_, value_);
    const bool taken = (pattern_ >> at_ & 1) != 0;
    at_ = (at_ + 1) % RobbedBits::kIntervals;
    return {sent, taken ? static_cast<uint8_t>((sent & ~1) | (one_ ? 1 : 0)) : sent};
  }
  int value() const { return value_; }
  void slip() { at_ = (at_ + 1) % RobbedBits::kIntervals; }

 private:
  Law law_;
  unsigned pattern_;
  bool one_;
  int at_ = 0, value_ = 0;
  std::mt19937 random_{1};
  std::normal_distribution<double> signal_;
};

unsigned found(const RobbedBits& r) {
  unsigned set = 0;
  for (int i = 0; i < RobbedBits::kIntervals; ++i) set |= r.robbed(i) ? 1u << i : 0u;
  return set;
}

TEST(V90RobbedBits, EveryPatternIsFoundInBothLawsWhateverTheBitBecomes) {
  for (const Law law : {Law::kMu, Law::kA}) {
    for (unsigned pattern = 0; pattern < 64; ++pattern) {
      for (const bool one : {false, true}) {
        Trunk trunk(law, pattern, one);
        RobbedBits robbed(law);
        for (int k = 0; k < 600; ++k) robbed.put(trunk.next().received);
        EXPECT_EQ(found(robbed), pattern);
        for (int k = 0; k < 3000; ++k) {
          robbed.put(trunk.next().received);
          ASSERT_EQ(found(robbed), pattern);
        }
      }
    }
  }
}

// In steps of the law the error is uniform over one of them (1/12), and a taken bit moves half of the octets by one:
// 1/2 more as it stands, 1/4 half way between.
TEST(V90RobbedBits, HalfWayBetweenBothOctetsLeavesFourSeventhsOfTheError) {
  for (const Law law : {Law::kMu, Law::kA}) {
    Trunk trunk(law, 63, true);
    RobbedBits robbed(law);
    for (int k = 0; k < 600; ++k) robbed.put(trunk.next().received);
    double raw = 0, left = 0;
    for (int k = 0; k < 200000; ++k) {
      const uint8_t octet = trunk.next().received;
      const double a = linear_of(law, pcm_of(law, octet)) - trunk.value();
      const double b = static_cast<double>(robbed.put(octet)) - trunk.value();
      raw += a * a, left += b * b;
    }
    EXPECT_NEAR(left / raw, 4. / 7, 0.03);
  }
}

TEST(V90RobbedBits, WithoutThemEveryOctetHasItsValue) {
  Trunk trunk(Law::kMu, 0, true);
  RobbedBits robbed(Law::kMu);
  for (int k = 0; k < 100000; ++k) {
    const uint8_t octet = trunk.next().received;
    ASSERT_EQ(robbed.put(octet), static_cast<float>(linear_of(Law::kMu, pcm_of(Law::kMu, octet))));
  }
}

TEST(V90RobbedBits, ASlipMovesThemAndALostOctetDoesNot) {
  Trunk trunk(Law::kMu, 0b000101, true);
  RobbedBits robbed(Law::kMu);
  for (int k = 0; k < 600; ++k) robbed.put(trunk.next().received);
  trunk.next();
  robbed.skip();
  for (int k = 0; k < 599; ++k) robbed.put(trunk.next().received);
  EXPECT_EQ(found(robbed), 0b000101u);
  trunk.slip();
  for (int k = 0; k < 600; ++k) robbed.put(trunk.next().received);
  EXPECT_EQ(found(robbed), 0b100010u);
}

TEST(V90RobbedBits, SilenceShowsNone) {
  RobbedBits robbed(Law::kMu);
  Trunk silence(Law::kMu, 0, true, 2);
  for (int k = 0; k < 6000; ++k) robbed.put(silence.next().received);
  EXPECT_EQ(found(robbed), 0u);
}

}  // namespace
}  // namespace offhook::v90
