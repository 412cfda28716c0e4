// SPDX-License-Identifier: MIT
#include "dsp/v34/coding/framing.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/unit/dsp/v34/parameter_sets.h"
#include "tests/unit/dsp/v34/printed_tables.h"

namespace offhook::v34 {
namespace {

SymbolRate named(int symbol_rate) {
  constexpr int kNames[] = {2400, 2743, 2800, 3000, 3200, 3429};
  for (int s = 0; s < kSymbolRates; ++s) {
    if (kNames[s] == symbol_rate) return static_cast<SymbolRate>(s);
  }
  ADD_FAILURE() << "no symbol rate " << symbol_rate;
  return SymbolRate::k2400;
}

int pattern(int ones, int length) {
  int p = 0;
  for (int i = 0; i < length; ++i) p = 2 * p + switching_pattern(ones, length, i);
  return p;
}

TEST(V34Framing, EqualsEveryRowOfPrintedTables8And10) {
  int rows = 0;
  for (const PrintedRow& row : kPrintedRows) {
    SCOPED_TRACE(std::to_string(row.symbol_rate) + " " + std::to_string(row.sum_rate));
    const bool aux = row.sum_rate % 2400 != 0;
    const SymbolRate s = named(row.symbol_rate);
    const uint32_t primary = row.sum_rate - (aux ? kAuxBitRate : 0u);
    ASSERT_TRUE(is_supported(s, primary));
    const Framing minimum = make_framing(s, primary, aux, false);
    const Framing expanded = make_framing(s, primary, aux, true);
    EXPECT_EQ(minimum.bits, row.b);
    EXPECT_EQ(pattern(minimum.high_frames, minimum.mapping_frames), row.pattern);
    EXPECT_EQ(minimum.shell_bits, row.k);
    EXPECT_EQ(minimum.rings, row.m_minimum);
    EXPECT_EQ(expanded.rings, row.m_expanded);
    EXPECT_EQ(minimum.points(), row.l_minimum);
    EXPECT_EQ(expanded.points(), row.l_expanded);
    EXPECT_EQ(expanded.precoder_scale, row.b < 56 ? 1 : 2);
    ++rows;
  }
  EXPECT_EQ(rows, 130);
  EXPECT_EQ(all_parameter_sets().size(), 260u);  // each row, minimum and expanded
}

TEST(V34Framing, SupportsExactlyTheRatesOfTable10) {
  int supported = 0;
  for (int s = 0; s < kSymbolRates; ++s) {
    for (uint32_t rate = 0; rate <= 40000; rate += 100) supported += is_supported(static_cast<SymbolRate>(s), rate);
  }
  EXPECT_EQ(supported, 65);
  EXPECT_FALSE(is_supported(SymbolRate::k2743, 2400));
  EXPECT_FALSE(is_supported(SymbolRate::k3200, 33600));
}

TEST(V34Framing, SymbolRatesAndCarriersAreTheRatiosOfTables1And2) {
  const double rate[] = {2400, 2742.857, 2800, 3000, 3200, 3428.571};
  const double low[] = {1600, 1645.714, 1680, 1800, 1828.571, 1959.184};
  const double high[] = {1800, 1828.571, 1866.667, 2000, 1920, 1959.184};
  for (int s = 0; s < kSymbolRates; ++s) {
    const auto r = static_cast<SymbolRate>(s);
    EXPECT_NEAR(symbol_rate_hz(r), rate[s], 5e-4);
    EXPECT_NEAR(carrier_hz(r, Carrier::kLow), low[s], 5e-4);
    EXPECT_NEAR(carrier_hz(r, Carrier::kHigh), high[s], 5e-4);
  }
}

TEST(V34Framing, SuperframeLasts280Milliseconds) {
  for (const SymbolRateTraits& t : kSymbolRateTraits) {
    EXPECT_EQ(8 * t.mapping_frames * t.data_frames * 100 * t.of_2400.den, 28 * 2400 * t.of_2400.num);
  }
}

TEST(V34Framing, AuxiliaryPatternIsTable9AndPrimaryRateIsExact) {
  const int printed[] = {0x6DB, 0x56B, 0x15AB, 0x2AAB, 0x5555, 0x1555};
  for (int s = 0; s < kSymbolRates; ++s) {
    EXPECT_EQ(pattern(kSymbolRateTraits[s].aux_bits, kSymbolRateTraits[s].mapping_frames), printed[s]);
  }
  for (const ParameterSet& set : all_parameter_sets()) {
    const Framing f = set.framing();
    int primary = 0;
    int aux = 0;
    for (int i = 0; i < f.mapping_frames; ++i) {
      primary += f.primary_bits(i);
      aux += f.is_aux(i);
    }
    EXPECT_EQ(primary + aux, f.frame_bits) << set;
    EXPECT_EQ(primary * f.data_frames * 25, static_cast<int>(set.bit_rate) * 7) << set;  // bits in 0.28 s
    EXPECT_EQ(aux * f.data_frames, set.aux ? 56 : 0) << set;                             // 200 bit/s for 0.28 s
    EXPECT_TRUE(f.is_high(f.mapping_frames - 1)) << set;
    EXPECT_LE(f.bits, kMaxMappingFrameBits);
    EXPECT_LE(f.rings, kMaxRings);
  }
}

// Table 12, read from the rendered page: J = 7 has 14 bits (the text layer of the document has two more).
TEST(V34Framing, BitInversionFollowsTable12AndStartsOneDataFrameEarly) {
  for (const auto& [s, printed] : {std::pair{SymbolRate::k2743, std::string("0111011111111010")},
                                   std::pair{SymbolRate::k3000, std::string("01110111111110")},
                                   std::pair{SymbolRate::k2400, std::string("01110111111110")}}) {
    const Framing f = make_framing(s, 9600, false, false);
    FramePosition at(f);
    EXPECT_EQ(at.in_data_frame(), 0);
    const std::string expected = printed.substr(printed.size() - 2) + printed + printed;  // B1, two superframes
    std::string got;
    int elsewhere = 0;
    for (int i = 0; i < f.mapping_frames * (1 + 2 * f.data_frames); ++i, at.advance()) {
      for (int j = 0; j < 4; ++j) {
        if ((4 * i + j) % (2 * f.mapping_frames) == 0) {
          got += at.bit_inversion(j) ? '1' : '0';
        } else {
          elsewhere += at.bit_inversion(j);
        }
      }
    }
    EXPECT_EQ(got, expected);
    EXPECT_EQ(elsewhere, 0);
  }
}

}  // namespace
}  // namespace offhook::v34
