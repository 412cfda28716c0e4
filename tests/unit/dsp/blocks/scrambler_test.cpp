// SPDX-License-Identifier: MIT
#include "dsp/blocks/scrambler.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/unit/dsp/v34/random.h"

namespace offhook::v34 {
namespace {

std::string scrambled(Scrambling s, const std::string& bits) {
  Scrambler scrambler(s);
  std::string out;
  for (const char c : bits) out += static_cast<char>('0' + scrambler.scramble(c - '0'));
  return out;
}

TEST(V34Scrambler, SixtyFourOnesFromZero) {
  const std::string ones(64, '1');
  EXPECT_EQ(scrambled(kGpc, ones), "1111111111111111110000011111111111110000000000111111110000011111");
  EXPECT_EQ(scrambled(kGpa, ones), "1111100000111110000011100111110001100000111001000010011000001110");
}

TEST(V34Scrambler, ImpulseShowsThePolynomial) {
  const std::string impulse = "1" + std::string(63, '0');
  EXPECT_EQ(scrambled(kGpc, impulse), "1000000000000000001000010000000000001000000000100000001000010000");
  EXPECT_EQ(scrambled(kGpa, impulse), "1000010000100001000010010100001001010000100101100011010100001001");
}

TEST(V34Scrambler, AnyNumberOfBitsAtOnceIsTheSameAsOneAfterAnother) {
  for (const Scrambling s : {kGpc, kGpa, Scrambling{31, 32}, Scrambling{1, 2}}) {
    Scrambler one(s), many(s);
    Descrambler back_one(s), back_many(s);
    Random random(2, s.first);
    for (int n = 0; n <= 64; ++n) {
      uint64_t bits = 0, expected = 0;
      for (int k = 0; k < n; ++k) {
        const auto bit = static_cast<uint64_t>(random.bit());
        bits |= bit << k;
        expected |= static_cast<uint64_t>(one.scramble(static_cast<int>(bit))) << k;
      }
      EXPECT_EQ(many.scramble(bits, n), expected) << int{s.first} << " " << n;
      const uint64_t line = expected ^ (n > 40 ? uint64_t{1} << 33 : 0);  // an error, too
      uint64_t back = 0;
      for (int k = 0; k < n; ++k)
        back |= static_cast<uint64_t>(back_one.descramble(static_cast<int>(line >> k & 1))) << k;
      EXPECT_EQ(back_many.descramble(line, n), back) << int{s.first} << " " << n;
    }
  }
}

TEST(V34Scrambler, DescramblerInvertsItAndRecoversWithin23BitsOfAnError) {
  for (const Scrambling s : {kGpc, kGpa}) {
    Scrambler scrambler(s);
    Descrambler descrambler(s);
    Random random(1, s.first);
    int errors_late = 0;
    int errors_early = 0;
    for (int n = 0; n < 2000; ++n) {
      const int bit = random.bit();
      const int line = scrambler.scramble(bit) ^ (n == 1000);
      const bool wrong = descrambler.descramble(line) != bit;
      (n >= 1000 && n <= 1023 ? errors_early : errors_late) += wrong;
    }
    EXPECT_EQ(errors_early, 3);  // the polynomial has three terms
    EXPECT_EQ(errors_late, 0);
  }
}

}  // namespace
}  // namespace offhook::v34
