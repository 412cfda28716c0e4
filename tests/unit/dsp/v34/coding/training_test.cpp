// SPDX-License-Identifier: MIT
#include "dsp/v34/coding/training.h"

#include <gtest/gtest.h>

#include <complex>
#include <numbers>
#include <string>
#include <vector>

#include "dsp/v34/coding/framing.h"
#include "dsp/v34/session/mp.h"

namespace offhook::v34 {
namespace {

char quadrant_digit(Point p) {
  return static_cast<char>('0' + quadrant(p));
}
char label_digit(Point p) {
  return static_cast<char>('0' + quarter_label(rotate_cw(p, -quadrant(p)), 4));
}

struct Digits {
  std::string quadrants;
  std::string labels;
};

Digits trn(TrainingEncoder* encoder, int symbols) {
  Digits d;
  for (int n = 0; n < symbols; ++n) {
    const Point p = encoder->trn();
    d.quadrants += quadrant_digit(p);
    d.labels += label_digit(p);
  }
  return d;
}

Digits sequence(TrainingEncoder* encoder, TrainingPoints points, const std::vector<uint8_t>& bits) {
  Digits d;
  for (size_t k = 0; k < bits.size(); k += static_cast<size_t>(training_bits(points))) {
    const Point p = encoder->sequence(&bits[k]);
    d.quadrants += quadrant_digit(p);
    d.labels += label_digit(p);
  }
  return d;
}

std::vector<uint8_t> bits_of(uint16_t pattern) {
  std::vector<uint8_t> bits;
  for (int k = 15; k >= 0; --k) bits.push_back(pattern >> k & 1);
  return bits;
}

constexpr Mp kMp{false, 12, 11, false, TrellisCode::k64, true, true, false, 0xFFF, true, {}};

std::vector<uint8_t> mp_bits() {
  std::vector<uint8_t> bits(Mp::kBitsType0);
  encode(kMp, bits.data());
  return bits;
}

TEST(V34Training, TrnStartsAsWorkedOutFrom10138) {
  TrainingEncoder call4(kGpc, TrainingPoints::k4);
  EXPECT_EQ(trn(&call4, 16).quadrants, "3333333330023333");
  TrainingEncoder answer4(kGpa, TrainingPoints::k4);
  EXPECT_EQ(trn(&answer4, 16).quadrants, "3310033100312330");
  TrainingEncoder call16(kGpc, TrainingPoints::k16);
  const Digits c = trn(&call16, 16);
  EXPECT_EQ(c.quadrants, "3333303330003303");
  EXPECT_EQ(c.labels, "3333023330033023");
  TrainingEncoder answer16(kGpa, TrainingPoints::k16);
  const Digits a = trn(&answer16, 16);
  EXPECT_EQ(a.quadrants, "3103032320320203");
  EXPECT_EQ(a.labels, "3031013010101101");
  TrainingEncoder again(kGpc, TrainingPoints::k16);
  EXPECT_EQ(again.trn(), (Point{3, -3}));
}

TEST(V34Training, JAndJPrimeContinueFromTrn) {
  const std::pair<Scrambling, std::vector<std::string>> cases[] = {{kGpc, {"2123110011321023", "11131221"}},
                                                                   {kGpa, {"3100321331031330", "13100203"}}};
  for (const auto& [scrambling, expected] : cases) {
    TrainingEncoder encoder(scrambling, TrainingPoints::k4);
    trn(&encoder, 512);
    std::string j = sequence(&encoder, TrainingPoints::k4, bits_of(kSequenceJ4)).quadrants;
    j += sequence(&encoder, TrainingPoints::k4, bits_of(kSequenceJ4)).quadrants;
    EXPECT_EQ(j, expected[0]);
    EXPECT_EQ(sequence(&encoder, TrainingPoints::k4, bits_of(kSequenceJPrime)).quadrants, expected[1]);
  }
}

TEST(V34Training, MpContinuesFromTrn) {
  TrainingEncoder call(kGpc, TrainingPoints::k4);
  trn(&call, 512);
  EXPECT_EQ(sequence(&call, TrainingPoints::k4, mp_bits()).quadrants, "11000112211322213132121310031311222312211302");
  TrainingEncoder answer(kGpa, TrainingPoints::k16);
  trn(&answer, 512);
  const Digits d = sequence(&answer, TrainingPoints::k16, mp_bits());
  EXPECT_EQ(d.quadrants, "2030010201213322203020");
  EXPECT_EQ(d.labels, "1013230011220103131100");
}

TEST(V34Training, ReceiverReadsMpAndEAtAnyRotation) {
  for (const TrainingPoints points : {TrainingPoints::k4, TrainingPoints::k16}) {
    for (int turns = 0; turns < 4; ++turns) {
      TrainingEncoder encoder(kGpa, points);
      TrainingDecoder decoder(kGpa, points);
      std::vector<Point> line;
      for (int n = 0; n < 64; ++n) line.push_back(encoder.trn());
      std::vector<uint8_t> bits = mp_bits();
      const std::vector<uint8_t> again = mp_bits();
      bits.insert(bits.end(), again.begin(), again.end());
      bits.insert(bits.end(), kSequenceEBits, 1);
      for (size_t k = 0; k < bits.size(); k += static_cast<size_t>(training_bits(points))) {
        line.push_back(encoder.sequence(&bits[k]));
      }
      MpReceiver receiver;
      int found = 0;
      int ones = 0;
      for (const Point p : line) {
        uint8_t out[4];
        decoder.sequence(rotate_cw(p, turns), out);
        for (int k = 0; k < training_bits(points); ++k) {
          Mp mp;
          found += receiver.put(out[k], &mp) && mp.rate_mask == kMp.rate_mask;
          ones = out[k] != 0 ? ones + 1 : 0;
        }
      }
      EXPECT_EQ(found, 1);  // the start of the first one is lost, because TRN does not send changes of the quadrant
      EXPECT_EQ(ones, kSequenceEBits);
    }
  }
}

TEST(V34Training, SAlternatesAndReverses) {
  EXPECT_EQ(s_symbol(126), (Point{1, 1}));
  EXPECT_EQ(s_symbol(127), (Point{-1, 1}));
  EXPECT_EQ(s_bar_symbol(0), (Point{-1, -1}));
  EXPECT_EQ(s_bar_symbol(1), (Point{1, -1}));
}

TEST(V34Training, PpIsThatOf101AndHasAnIdealAutocorrelation) {
  const std::vector<int> printed = {0, 0, 0, 0, 4, 5,  6, 7, 0, 2, 4, 6, 0, 3, 6, 9, 4, 8, 0, 4,  0, 5,  10, 3,
                                    0, 6, 0, 6, 4, 11, 6, 1, 0, 8, 4, 0, 0, 9, 6, 3, 4, 2, 0, 10, 0, 11, 10, 9};
  std::vector<std::complex<double>> x;
  for (int i = 0; i < kPpPeriod; ++i) {
    EXPECT_EQ(pp_phase(i), printed[static_cast<size_t>(i)]) << i;
    EXPECT_EQ(pp_phase(i), pp_phase(i + 5 * kPpPeriod));
    x.push_back(std::polar(1.0, pp_phase(i) * std::numbers::pi / 6));
  }
  for (size_t lag = 1; lag < x.size(); ++lag) {
    std::complex<double> sum = 0;
    for (size_t i = 0; i < x.size(); ++i) sum += x[i] * std::conj(x[(i + lag) % x.size()]);
    EXPECT_LT(std::abs(sum), 1e-9) << lag;
  }
}

// Durations in ms on which the time-outs of clause 11 depend.
TEST(V34Training, SegmentsLastAsLongAsTheRecommendationImplies) {
  struct Row {
    SymbolRate symbol_rate;
    double pp, j, mp0_4, mp0_16, mp1_4, e_4, b1;
  };
  const Row rows[] = {{SymbolRate::k2400, 120, 3.33, 18.33, 9.17, 39.17, 4.17, 40},
                      {SymbolRate::k2743, 105, 2.92, 16.04, 8.02, 34.27, 3.65, 35},
                      {SymbolRate::k3200, 90, 2.5, 13.75, 6.88, 29.38, 3.12, 40},
                      {SymbolRate::k3429, 84, 2.33, 12.83, 6.42, 27.42, 2.92, 35}};
  for (const Row& row : rows) {
    const double t = 1000 / symbol_rate_hz(row.symbol_rate);
    const int four = training_bits(TrainingPoints::k4);
    const int sixteen = training_bits(TrainingPoints::k16);
    EXPECT_NEAR(kPpSymbols * t, row.pp, 0.006);
    EXPECT_NEAR(kSequenceJBits / four * t, row.j, 0.006);
    EXPECT_NEAR(Mp::kBitsType0 / four * t, row.mp0_4, 0.006);
    EXPECT_NEAR(Mp::kBitsType0 / sixteen * t, row.mp0_16, 0.006);
    EXPECT_NEAR(Mp::kBitsType1 / four * t, row.mp1_4, 0.006);
    EXPECT_NEAR(kSequenceEBits / four * t, row.e_4, 0.006);
    EXPECT_NEAR(make_framing(row.symbol_rate, 9600, false, false).symbols_per_data_frame() * t, row.b1, 0.006);
  }
}

}  // namespace
}  // namespace offhook::v34
