// SPDX-License-Identifier: MIT
// INFOh, MPh, PPh and the control channel's mapping, against vectors that tests/checklist/v34_half_duplex_vectors.py
// computes from the text.
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "dsp/v34/half_duplex/control_reader.h"
#include "dsp/v34/half_duplex/control_transmitter.h"
#include "dsp/v34/half_duplex/mph.h"
#include "dsp/v34/phase2/info.h"

namespace offhook::v34 {
namespace {

constexpr std::string_view kVectors[] = {
#include "vectors.inc"
};

template <class T>
std::string text(const T& sequence) {
  uint8_t bits[192]{};
  encode(sequence, bits);
  std::string out;
  int n = 0;
  if constexpr (requires { sequence.bits(); }) {
    n = sequence.bits();
  } else {
    n = T::kBits;
  }
  for (int k = 0; k < n; ++k) out += static_cast<char>('0' + bits[k]);
  return out;
}

constexpr InfoH kInfoh{5, 100, Carrier::kHigh, 10, SymbolRate::k3000, true};
constexpr Mph kMph0{false, 14, true, TrellisCode::k64, false, true, 0x3FFF, true, {}};
constexpr Mph kMph1{
    true, 9, true, TrellisCode::k64, true, true, 0x1FFE, true, {{{0x1234, -2}, {0x4000, -0x8000}, {77, -12345}}}};

TEST(V34HalfDuplexSequences, InfohIsThatOfTheText) {
  EXPECT_EQ(text(InfoH{0, 43, Carrier::kLow, 0, SymbolRate::k3429, false}), kVectors[0]);
  EXPECT_EQ(text(kInfoh), kVectors[1]);
}

TEST(V34HalfDuplexSequences, MphIsThatOfTheText) {
  EXPECT_EQ(text(kMph0), kVectors[2]);
  EXPECT_EQ(text(Mph{false, 1, false, TrellisCode::k16, true, false, 1, false, {}}), kVectors[3]);
  EXPECT_EQ(text(kMph1), kVectors[4]);
}

TEST(V34HalfDuplexSequences, PphIsFlatAndThatOfTheFormula) {
  std::string out;
  for (int k = 0; k < kPphSymbols; ++k) out += static_cast<char>('0' + pph_phase(k));
  EXPECT_EQ(out, kVectors[5]);
  for (int bin = 0; bin < kPphPeriod; ++bin) {
    Complex sum;
    for (int k = 0; k < kPphPeriod; ++k) {
      const SinCos w = sincos_turns(64 - static_cast<double>(bin * k) / kPphPeriod);
      sum += pph_symbol(k) * Complex{static_cast<float>(w.cos), static_cast<float>(w.sin)};
    }
    EXPECT_NEAR(norm(sum), kPphPeriod, 1e-4) << bin;
  }
}

// Quadrants clockwise from the first, and labels in the quarter.
std::string mapped(Scrambling s, TrainingPoints points, const std::vector<uint8_t>& bits) {
  TrainingEncoder encoder(s, points);
  std::string out;
  for (size_t k = 0; k < bits.size(); k += static_cast<size_t>(training_bits(points))) {
    const Point p = encoder.sequence(&bits[k]);
    const int z = quadrant(p);
    out += (k > 0 ? " " : "") + std::to_string(z) + "/" + std::to_string(quarter_label(rotate_cw(p, -z), 4));
  }
  return out;
}

TEST(V34HalfDuplexSequences, ControlChannelIsMappedAsTheTextSays) {
  std::vector<uint8_t> alternations;
  for (int k = 0; k < 48; ++k) alternations.push_back(k & 1);
  EXPECT_EQ(mapped(kGpc, TrainingPoints::k4, alternations), kVectors[6]);
  EXPECT_EQ(mapped(kGpa, TrainingPoints::k4, alternations), kVectors[7]);
  std::vector<uint8_t> bits;
  for (int k = 0; k < 6; ++k) bits.insert(bits.end(), {1, 0, 0, 1, 1, 1, 0, 1, 0, 0, 1, 1});
  EXPECT_EQ(mapped(kGpc, TrainingPoints::k16, bits), kVectors[8]);
}

TEST(V34HalfDuplexSequences, EveryDamagedBitIsNoticed) {
  uint8_t bits[192]{};
  encode(kInfoh, bits);
  InfoH info;
  ASSERT_TRUE(decode(bits, &info));
  EXPECT_EQ(info, kInfoh);
  for (int k = 4; k < InfoH::kBits - 4; ++k) {
    bits[k] ^= 1;
    EXPECT_FALSE(decode(bits, &info)) << k;
    bits[k] ^= 1;
  }
  encode(kMph1, bits);
  Mph mph;
  ASSERT_TRUE(decode(bits, &mph));
  EXPECT_EQ(text(mph), kVectors[4]);
  for (int k = 0; k < Mph::kBitsType1 - 1; ++k) {
    if (k == 18) continue;  // the type: another length
    bits[k] ^= 1;
    EXPECT_FALSE(decode(bits, &mph)) << k;
    bits[k] ^= 1;
  }
}

TEST(V34HalfDuplexSequences, RatesFollowFromBothMph) {
  const auto mph = [](uint8_t rate, uint16_t mask, bool fast, bool asymmetric) {
    return Mph{false, rate, fast, TrellisCode::k16, false, false, mask, asymmetric, {}};
  };
  // 12.4.1.3: the highest enabled rate that neither end exceeds.
  EXPECT_EQ(resolve_rates(mph(14, 0x3FFF, true, true), mph(9, 0x3FFF, true, true)).primary, 9);
  EXPECT_EQ(resolve_rates(mph(14, 0x3FFF, true, true), mph(9, 0x00FE, true, true)).primary, 8);
  EXPECT_EQ(resolve_rates(mph(1, 0x3FFF, true, true), mph(9, 0x00FE, true, true)).primary, 0);
  // Table 23, bits 27 and 50: each end chooses the other's rate, or the lower rate applies to both.
  EXPECT_EQ(resolve_rates(mph(9, 0x1FF, true, true), mph(9, 0x1FF, false, true)), (HalfDuplexRates{9, false, true}));
  EXPECT_EQ(resolve_rates(mph(9, 0x1FF, true, false), mph(9, 0x1FF, false, true)), (HalfDuplexRates{9, false, false}));
  EXPECT_EQ(resolve_rates(mph(9, 0x1FF, true, false), mph(9, 0x1FF, true, true)), (HalfDuplexRates{9, true, true}));
}

}  // namespace
}  // namespace offhook::v34
