// SPDX-License-Identifier: MIT
#include "dsp/v34/coding/trellis.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/unit/dsp/v34/random.h"

namespace offhook::v34 {
namespace {

constexpr TrellisCode kCodes[] = {TrellisCode::k16, TrellisCode::k32, TrellisCode::k64};

// Y0 for the given inputs (Y4..Y1 as a number) from state 0, then zeros up to `length`.
std::string output(TrellisCode code, const std::vector<int>& inputs, size_t length) {
  int state = 0;
  std::string out;
  for (size_t n = 0; n < length; ++n) {
    out += static_cast<char>('0' + trellis_output(state));
    state = trellis_next(code, state, n < inputs.size() ? inputs[n] : 0);
  }
  return out;
}

TEST(V34Trellis, InputBitsAreThoseOfPrintedTable13) {
  const char* printed[8] = {"0000 0000 0001 0001 1000 1000 1001 1001", "0011 0010 0010 0011 1011 1010 1010 1011",
                            "0101 0101 0100 0100 1101 1101 1100 1100", "0110 0111 0111 0110 1110 1111 1111 1110",
                            "1000 1000 1001 1001 0000 0000 0001 0001", "1011 1010 1010 1011 0011 0010 0010 0011",
                            "1101 1101 1100 1100 0101 0101 0100 0100", "1110 1111 1111 1110 0110 0111 0111 0110"};
  for (int s0 = 0; s0 < 8; ++s0) {
    for (int s1 = 0; s1 < 8; ++s1) {
      EXPECT_EQ(trellis_input(s0, s1), std::stoi(std::string(printed[s0] + 5 * s1, 4), nullptr, 2)) << s0 << " " << s1;
    }
  }
}

// Computed from Figures 10 to 12, independent of this code.
TEST(V34Trellis, EncodersAreThoseOfFigures10To12) {
  const std::vector<int> mixed = {5, 10, 3, 12, 15, 0, 9, 6, 1, 14, 7, 8};
  EXPECT_EQ(output(TrellisCode::k16, {15}, 16), "0111100010011010");
  EXPECT_EQ(output(TrellisCode::k16, {1}, 12), "010011010111");
  EXPECT_EQ(output(TrellisCode::k16, {2}, 12), "001101011110");
  EXPECT_EQ(output(TrellisCode::k16, mixed, 16), "0100111100110001");
  EXPECT_EQ(output(TrellisCode::k32, {15}, 16), "0111101111011110");
  EXPECT_EQ(output(TrellisCode::k32, {1}, 12), "000100001000");
  EXPECT_EQ(output(TrellisCode::k32, {2}, 12), "010010100101");
  EXPECT_EQ(output(TrellisCode::k32, mixed, 16), "0011000001100101");
  EXPECT_EQ(output(TrellisCode::k64, {15}, 16), "0111110010111110");
  EXPECT_EQ(output(TrellisCode::k64, {1}, 12), "001101000001");
  EXPECT_EQ(output(TrellisCode::k64, {2}, 12), "010101010101");
  EXPECT_EQ(output(TrellisCode::k64, mixed, 16), "0001111001101000");
}

TEST(V34Trellis, UnusedInputsDoNotMatter) {
  for (int state = 0; state < 16; ++state) {
    for (int y = 0; y < 16; ++y) {
      EXPECT_EQ(trellis_next(TrellisCode::k16, state, y), trellis_next(TrellisCode::k16, state, y & 3));
    }
  }
  for (int state = 0; state < 32; ++state) {
    for (int y = 0; y < 16; ++y) {
      EXPECT_EQ(trellis_next(TrellisCode::k32, state, y), trellis_next(TrellisCode::k32, state, y & 11));
    }
  }
}

// The important property of the codes: a modem that locks with an error of 90 degrees still sees valid sequences. The
// test fails if a single tap or AND gate of Figure 12 is moved.
TEST(V34Trellis, SequencesStayValidWhenTurnedByQuarters) {
  for (const TrellisCode code : kCodes) {
    Random random(5, static_cast<uint32_t>(code));
    for (int trial = 0; trial < 20; ++trial) {
      TrellisEncoder encoder(code);
      std::vector<Point> sent;
      for (int m = 0; m < 80; ++m) {
        Point pair[2];
        do {
          for (Point& p : pair) {
            p = {static_cast<int16_t>(2 * static_cast<int>(random.below(16)) - 15),
                 static_cast<int16_t>(2 * static_cast<int>(random.below(16)) - 15)};
          }
        } while (((subset_label(pair[0]) ^ subset_label(pair[1])) & 1) != encoder.output());
        encoder.put(pair[0], pair[1]);
        sent.insert(sent.end(), {pair[0], pair[1]});
      }
      for (int turns = 1; turns < 4; ++turns) {
        int valid_starts = 0;
        for (int start = 0; start < trellis_states(code); ++start) {
          int state = start;
          bool valid = true;
          for (size_t n = 0; n < sent.size() && valid; n += 2) {
            const int s0 = subset_label(rotate_cw(sent[n], turns));
            const int s1 = subset_label(rotate_cw(sent[n + 1], turns));
            valid = ((s0 ^ s1) & 1) == trellis_output(state);
            state = trellis_next(code, state, trellis_input(s0, s1));
          }
          valid_starts += valid;
        }
        EXPECT_EQ(valid_starts, 1) << trellis_states(code) << " states, " << turns;
      }
    }
  }
}

}  // namespace
}  // namespace offhook::v34
