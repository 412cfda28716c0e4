// SPDX-License-Identifier: MIT
//
// The digital modem's signals of Phase 3 and 4, octet by octet, against what follows from the text of V.90 (09/98): the
// vectors of TV12, worked out apart from this source.
#include "dsp/v90/pcm/downstream.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace offhook::v90 {
namespace {

using Signal = Downstream::Signal;

constexpr oh_bit_port kOnes = {[](void*) { return 1; }, [](void*, int) {}, nullptr};

class Transmitter {
 public:
  explicit Transmitter(uint8_t u_info) : tx_(Law::kMu) { tx_.set_u_info(u_info); }
  Downstream& operator*() { return tx_; }
  std::vector<Pcm> rest() {
    std::vector<Pcm> out;
    while (tx_.ready(kOnes, false)) out.push_back(tx_.next());
    return out;
  }

 private:
  Downstream tx_;
};

std::string signs(const std::vector<Pcm>& symbols) {
  std::string text;
  for (const Pcm& p : symbols) text += p.positive ? '1' : '0';
  return text;
}
std::string bits_of(const std::string& hex) {
  std::string text;
  for (const char c : hex) {
    const int digit = c <= '9' ? c - '0' : c - 'A' + 10;
    for (int k = 3; k >= 0; --k) text += (digit >> k & 1) != 0 ? '1' : '0';
  }
  return text;
}

TEST(V90Downstream, SdIsSixtyFourTimesSixOctetsAndItsReverseEightTimes) {
  constexpr uint8_t kSix[] = {0xAC, 0xFF, 0xAC, 0x2C, 0x7F, 0x2C};  // UINFO 67
  Transmitter t(67);
  for (const Signal s : {Signal::kSd, Signal::kSdBar}) {
    (*t).start(s);
    const std::vector<Pcm> sent = t.rest();
    ASSERT_EQ(sent.size(), s == Signal::kSd ? 384u : 48u);
    for (size_t k = 0; k < sent.size(); ++k)
      ASSERT_EQ(octet_of(Law::kMu, sent[k]) ^ (s == Signal::kSd ? 0 : 0x80), kSix[k % 6]) << k;
  }
}

TEST(V90Downstream, SignsOfTrn1dJdAndJdPrimeAreTheChainOf842And845) {
  Transmitter t(67);
  (*t).start(Signal::kTrn1d, kLeastTrn1d);
  const std::vector<Pcm> trn = t.rest();
  ASSERT_EQ(trn.size(), 2040u);
  EXPECT_EQ(signs(trn).substr(0, 64), bits_of("FFFFC1FFF003FC1F")) << "scrambled ones, not differential";
  EXPECT_EQ(signs(trn).substr(2016), "001111100010101110101110");
  for (const Pcm& p : trn) ASSERT_EQ(p.ucode, 67);
  (*t).start_jd(
      {.rates = (1u << Cp::kMaxDrn) - 1, .points16 = false, .points16_renegotiation = false, .look_ahead = 1});
  EXPECT_EQ(signs(t.rest()), bits_of("0E7DBED6FE3797C535"));
  (*t).start(Signal::kJdPrime);
  EXPECT_EQ(signs(t.rest()), "001000010011");
}

TEST(V90Downstream, RIsThreeSignsOfEachKindAndItsReverseFourFramesOfTheOpposite) {
  Transmitter t(79);
  constexpr uint8_t kLargest[] = {91, 90, 89, 88, 87, 86};
  (*t).start_r(kLargest, kRSymbols);
  const std::vector<Pcm> r = t.rest();
  ASSERT_EQ(r.size(), 384u);
  for (size_t k = 0; k < r.size(); ++k) ASSERT_EQ(r[k], (Pcm{kLargest[k % 6], k % 6 < 3})) << k;
  (*t).start(Signal::kRBar);
  const std::vector<Pcm> bar = t.rest();
  ASSERT_EQ(bar.size(), 24u);
  for (size_t k = 0; k < bar.size(); ++k) ASSERT_EQ(bar[k], (Pcm{kLargest[k % 6], k % 6 >= 3})) << k;
}

TEST(V90Downstream, TheDilRepeatsItsSegmentsAsWholeFrames) {
  Dil dil{};
  dil.segments = 2;
  dil.ucode[0] = 5, dil.ucode[1] = 40;
  for (uint8_t& h : dil.length) h = 1;
  for (uint8_t& u : dil.reference) u = 67;
  dil.training_length = dil.sign_length = 1;
  dil.training[0] = dil.sign[0] = 1;
  Transmitter t(67);
  for (const int segment : {0, 1, 0}) {
    (*t).start_dil(dil, segment);
    const std::vector<Pcm> sent = t.rest();
    ASSERT_EQ(sent.size(), 12u);
    for (const Pcm& p : sent) EXPECT_EQ(p, (Pcm{dil.ucode[segment], true}));
  }
}

}  // namespace
}  // namespace offhook::v90
