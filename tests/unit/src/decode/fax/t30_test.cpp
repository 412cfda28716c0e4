// SPDX-License-Identifier: MIT
#include "src/decode/fax/t30.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace offhook::decode {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Not;

using Octets = std::vector<std::uint8_t>;

Octets frame(std::uint8_t field, const Octets& rest) {
  Octets all = {0xFF, 0x13, field};
  all.insert(all.end(), rest.begin(), rest.end());
  return all;
}

/// A DIS or DCS with these bits, and those that announce further octets.
Octets capabilities(std::uint8_t field, std::initializer_list<int> bits) {
  int last = 24;
  for (const int n : bits) last = std::max(last, n);
  Octets octets(static_cast<std::size_t>(last + 7) / 8);
  for (std::size_t k = 2; k + 1 < octets.size(); ++k) octets[k] = 0x80;
  for (const int n : bits) octets[static_cast<std::size_t>(n - 1) / 8] |= static_cast<std::uint8_t>(1 << (n - 1) % 8);
  return frame(field, octets);
}
constexpr std::uint8_t kDis = 0x80, kDcs = 0x83;

std::vector<std::string> words(const Octets& f) {
  return fax_meaning(fax_frame_name(f[2]), f);
}

TEST(T30, ADcsOfSpandspInWords) {
  const Octets dcs = frame(kDcs, {0x00, 0x22, 0xF8, 0x44});
  EXPECT_THAT(words(dcs), ElementsAre("V.17 14400", "receive", "standard, 3.85 lines/mm", "T.6 (MMR)", "215 mm",
                                      "unlimited length", "0 ms per line", "error correction", "frames of 256 octets"));
  const PageFormat f = page_format(dcs);
  EXPECT_EQ(f.rate, (PageRate{PageModem::kV17, 14'400}));
  EXPECT_EQ(f.coding, PageCoding::kT6);
  EXPECT_TRUE(f.error_correction);
  EXPECT_EQ(f.width, 1728);
  EXPECT_EQ(f.y_dpi, 98);
}

TEST(T30, EveryBitOfDisAndDcsHasAWord) {
  for (const std::uint8_t field : {kDis, kDcs}) {
    const std::vector<std::string> none = words(capabilities(field, {24, 128}));
    for (int n = 1; n <= 127; ++n) {
      if (n % 8 == 0 && n > 16) continue;  // an octet follows
      if (n == 8) continue;
      if (n == 28 && field == kDcs) continue;  // says something with bit 27 only
      SCOPED_TRACE(n);
      EXPECT_NE(words(capabilities(field, {24, n, 128})), none);
    }
  }
}

TEST(T30, BitsThatNothingAnnouncesAreNotThere) {
  Octets dis = capabilities(kDis, {27, 78});
  EXPECT_THAT(words(dis), Contains("JBIG (T.85)"));
  dis[3 + 3] &= 0x7F;  // bit 32
  EXPECT_THAT(words(dis), Not(Contains("JBIG (T.85)")));
  EXPECT_THAT(words(dis), Contains("error correction"));
  dis.resize(5);
  EXPECT_THAT(words(dis), IsEmpty());
}

TEST(T30, WidthAndResolutionFollowFromTheirBits) {
  const struct {
    std::initializer_list<int> bits;
    int width;
    double x_dpi, y_dpi;
  } kFormats[] = {{{15}, 1728, 204, 196},         {{15, 44}, 1728, 200, 200}, {{15, 18}, 2432, 204, 196},
                  {{15, 17}, 2048, 204, 196},     {{41}, 1728, 204, 391},     {{42}, 2592, 300, 300},
                  {{43}, 3456, 408, 391},         {{43, 44}, 3456, 400, 400}, {{105}, 5184, 600, 600},
                  {{106, 18}, 14592, 1200, 1200}, {{107}, 2592, 300, 600}};
  for (const auto& f : kFormats) {
    SCOPED_TRACE(f.width);
    const PageFormat got = page_format(capabilities(kDcs, f.bits));
    // Bits 17 and 18: 01 is 303 mm, 10 is 255 mm.
    EXPECT_EQ(got.width, f.width);
    EXPECT_EQ(got.x_dpi, f.x_dpi);
    EXPECT_EQ(got.y_dpi, f.y_dpi);
  }
}

TEST(T30, WhatIsNotAPageInBlackAndWhiteHasNoCoding) {
  EXPECT_FALSE(page_format(capabilities(kDcs, {27, 78})).coding);
  EXPECT_FALSE(page_format(capabilities(kDcs, {27, 68})).coding);
  EXPECT_FALSE(page_format(capabilities(kDcs, {27, 53})).coding);
  EXPECT_FALSE(page_format(capabilities(kDcs, {13})).rate);  // V.33
}

TEST(T30, OtherFramesInWords) {
  Octets number(20, ' ');
  number[17] = '1';
  number[18] = ' ';
  number[19] = '+';
  EXPECT_THAT(words(frame(0x43, number)), ElementsAre("+ 1"));
  EXPECT_THAT(words(frame(0xBF, {0x2F, 1, 2, 11})),
              ElementsAre("page 2, block 3, 12 frames", "EOP: that was the last page"));
  EXPECT_THAT(words(frame(0xBF, {0x00, 0, 0, 255})),
              ElementsAre("page 1, block 1, 256 frames", "another block of the page follows"));
  EXPECT_THAT(words(frame(0xBF, {0x2F})), IsEmpty());
  EXPECT_THAT(words(frame(0xBC, {0b1110, 0, 1})), ElementsAre("send frames of the page again: 1-3, 16"));
  std::vector<std::uint8_t> rest(32, 0xFF);  // bits beyond the last frame of a short block are set
  rest[0] = 0b00000010;
  EXPECT_THAT(words(frame(0xBC, rest)), ElementsAre("send frames of the page again: 1, all from 8 on"));
  EXPECT_THAT(words(frame(0x12, {0x00, 0x04})), ElementsAre("the page continues at V.29 9600"));
  EXPECT_THAT(words(frame(0x8C, {})), ElementsAre("the page is confirmed"));
  EXPECT_THAT(words(frame(0x20, {})), IsEmpty());
  EXPECT_THAT(words(frame(0x20, {0xB5})), ElementsAre("United States"));
}

}  // namespace
}  // namespace offhook::decode
