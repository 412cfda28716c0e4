// SPDX-License-Identifier: MIT
#include "dsp/v34/coding/parser.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/unit/dsp/v34/parameter_sets.h"
#include "tests/unit/dsp/v34/random.h"

namespace offhook::v34 {
namespace {

// The position of the only one among the primary bits of mapping frame i.
std::string place_of(const Framing& f, int i, int bit) {
  std::vector<uint8_t> bits(static_cast<size_t>(f.primary_bits(i)));
  bits[static_cast<size_t>(bit)] = 1;
  MappingFrame frame;
  parse(f, i, FrameBits::packed(bits.data(), f.primary_bits(i)), 0, &frame);
  std::string place;
  const auto add = [&](uint32_t field, const std::string& name) {
    for (int k = 0; k < 32; ++k) {
      if (field >> k & 1) place += name + std::to_string(k);
    }
  };
  add(frame.shell, "S");
  for (int j = 0; j < 4; ++j) {
    const auto& g = frame.group[j];
    const std::string n = std::to_string(j);
    add(g.i1, "I1." + n + ":");
    add(g.i2, "I2." + n + ":");
    add(g.i3, "I3." + n + ":");
    for (int k = 0; k < 2; ++k) add(g.q[k], "Q" + n + std::to_string(k) + ":");
  }
  return place;
}

std::vector<std::string> order(const Framing& f, int i) {
  std::vector<std::string> places;
  for (int bit = 0; bit < f.primary_bits(i); ++bit) places.push_back(place_of(f, i, bit));
  return places;
}

TEST(V34Parser, OrderOfBitsInAHighFrameIsThatOf931) {
  const Framing f = make_framing(SymbolRate::k3000, 19200, false, false);  // b = 52, K = 24, q = 2
  ASSERT_TRUE(f.is_high(14));
  std::vector<std::string> expected;
  for (int k = 0; k < 24; ++k) expected.push_back(std::string("S").append(std::to_string(k)));
  for (int j = 0; j < 4; ++j) {
    const std::string n = std::to_string(j);
    for (const char* name : {"I1.", "I2.", "I3."}) expected.push_back(std::string(name).append(n).append(":0"));
    for (const char* k : {"0:0", "0:1", "1:0", "1:1"}) expected.push_back(std::string("Q").append(n).append(k));
  }
  EXPECT_EQ(order(f, 14), expected);
}

TEST(V34Parser, LowFrameLeavesOutTheLastShellBit) {
  const Framing f = make_framing(SymbolRate::k3000, 19200, false, false);
  ASSERT_FALSE(f.is_high(0));
  const std::vector<std::string> places = order(f, 0);
  ASSERT_EQ(places.size(), 51u);
  EXPECT_EQ(places[22], "S22");
  EXPECT_EQ(places[23], "I1.0:0");
}

TEST(V34Parser, OneShellBitMeansNoneInLowFrames) {
  const Framing f = make_framing(SymbolRate::k3000, 4800, false, false);  // b = 13, K = 1, pattern 3DEF
  ASSERT_EQ(f.shell_bits, 1);
  ASSERT_FALSE(f.is_high(0));
  ASSERT_TRUE(f.is_high(1));
  EXPECT_EQ(order(f, 0).front(), "I1.0:0");
  EXPECT_EQ(order(f, 1).front(), "S0");
  EXPECT_EQ(order(f, 0).size(), 12u);
}

TEST(V34Parser, EightNineElevenAndTwelveBitFramesOf932) {
  using V = std::vector<std::string>;
  const Framing f98 = make_framing(SymbolRate::k2400, 2400, true, false);     // 9 and 8 bits
  const Framing f1211 = make_framing(SymbolRate::k3429, 4800, false, false);  // 12 and 11 bits
  Framing f9 = f98;
  f9.aux = false;
  const auto low = [](const Framing& f) { return f.is_high(0) ? 1 : 0; };
  const int low9 = low(f9);
  const int high9 = f9.mapping_frames - 1;
  ASSERT_FALSE(f9.is_high(low9));
  EXPECT_EQ(order(f9, low9), (V{"I1.0:0", "I2.0:0", "I1.1:0", "I2.1:0", "I1.2:0", "I2.2:0", "I1.3:0", "I2.3:0"}));
  EXPECT_EQ(order(f9, high9),
            (V{"I1.0:0", "I2.0:0", "I3.0:0", "I1.1:0", "I2.1:0", "I1.2:0", "I2.2:0", "I1.3:0", "I2.3:0"}));
  ASSERT_FALSE(f1211.is_high(0));
  EXPECT_EQ(order(f1211, 0), (V{"I1.0:0", "I2.0:0", "I3.0:0", "I1.1:0", "I2.1:0", "I3.1:0", "I1.2:0", "I2.2:0",
                                "I3.2:0", "I1.3:0", "I2.3:0"}));
  EXPECT_EQ(order(f1211, 14).back(), "I3.3:0");
}

TEST(V34Parser, AuxiliaryBitTakesThePlaceOfI1) {
  const Framing f = make_framing(SymbolRate::k3200, 28800, true, true);
  int i = 0;
  while (!f.is_aux(i)) ++i;
  MappingFrame frame;
  parse(f, i, FrameBits{}, 1, &frame);
  EXPECT_EQ(frame.group[0].i1, 1);
  EXPECT_EQ(order(f, i)[f.shell_bits], "I2.0:0");
  parse(f, i - 1, FrameBits{}, 1, &frame);  // 3200 sends aux only in every second frame
  EXPECT_EQ(frame.group[0].i1, 0);
}

TEST(V34Parser, DeparserInvertsItForEveryParameterSet) {
  for (const ParameterSet& set : all_parameter_sets()) {
    const Framing f = set.framing();
    Random random(4, static_cast<uint32_t>(set.bit_rate));
    for (int i = 0; i < f.mapping_frames; ++i) {
      std::vector<uint8_t> bits(static_cast<size_t>(f.primary_bits(i)));
      for (uint8_t& b : bits) b = static_cast<uint8_t>(random.bit());
      const uint8_t aux = static_cast<uint8_t>(random.bit());
      MappingFrame frame;
      parse(f, i, FrameBits::packed(bits.data(), f.primary_bits(i)), aux, &frame);
      std::vector<uint8_t> back(bits.size());
      uint8_t aux_back = aux;
      deparse(f, i, frame, &aux_back).unpack(back.data(), f.primary_bits(i));
      ASSERT_EQ(back, bits) << set << " frame " << i;
      ASSERT_EQ(aux_back, aux) << set << " frame " << i;
    }
  }
}

}  // namespace
}  // namespace offhook::v34
