// SPDX-License-Identifier: MIT
#include "src/decode/fax/page_coding.h"

#include <gtest/gtest.h>
#include <tiffio.h>

#include <algorithm>
#include <random>

#include "tests/unit/src/decode/fax/fax_calls.h"

namespace offhook::decode {
namespace {

using Page = std::vector<LineChanges>;

// Lines of runs of all lengths, some of them like the line above.
Page random_page(int width, int lines, std::uint32_t seed) {
  std::mt19937 random(seed);
  const auto below = [&](int n) { return static_cast<int>(random() % static_cast<std::uint32_t>(n)); };
  Page page;
  for (int k = 0; k < lines; ++k) {
    LineChanges line;
    if (k > 0 && below(3) == 0) {
      for (const std::uint16_t at : page.back()) {
        const int moved = std::clamp(at + below(9) - 4, 0, width - 1);
        if (line.empty() || moved > line.back()) line.push_back(static_cast<std::uint16_t>(moved));
      }
    } else if (below(5) > 0) {
      const int longest = 1 << (1 + below(12));
      for (int at = below(longest) / 2; at < width; at += 1 + below(longest))
        line.push_back(static_cast<std::uint16_t>(at));
    }
    page.push_back(std::move(line));
  }
  return page;
}

std::vector<std::uint8_t> pixels(const LineChanges& line, int width) {
  std::vector<std::uint8_t> octets(static_cast<std::size_t>(width + 7) / 8);
  for (std::size_t k = 0; k < line.size(); k += 2) {
    const int end = k + 1 < line.size() ? line[k + 1] : width;
    for (int at = line[k]; at < end; ++at)
      octets[static_cast<std::size_t>(at) / 8] |= static_cast<std::uint8_t>(0x80 >> at % 8);
  }
  return octets;
}

BitString to_bits(const std::vector<std::uint8_t>& highest_first) {
  BitString bits;
  for (const std::uint8_t octet : highest_first) {
    for (int k = 7; k >= 0; --k) bits.add(octet >> k & 1);
  }
  return bits;
}

/// As libtiff codes it. @param options  of T.4
BitString coded_by_libtiff(const Page& page, int width, int compression, std::uint32_t options) {
  const test::Folder folder;
  const std::string path = folder / "coded.tif";
  TIFF* t = TIFFOpen(path.c_str(), "w");
  TIFFSetField(t, TIFFTAG_IMAGEWIDTH, width);
  TIFFSetField(t, TIFFTAG_IMAGELENGTH, static_cast<int>(page.size()));
  TIFFSetField(t, TIFFTAG_BITSPERSAMPLE, 1);
  TIFFSetField(t, TIFFTAG_SAMPLESPERPIXEL, 1);
  TIFFSetField(t, TIFFTAG_COMPRESSION, compression);
  if (compression == COMPRESSION_CCITT_T4) TIFFSetField(t, TIFFTAG_GROUP3OPTIONS, options);
  TIFFSetField(t, TIFFTAG_PHOTOMETRIC, PHOTOMETRIC_MINISWHITE);
  TIFFSetField(t, TIFFTAG_ROWSPERSTRIP, static_cast<int>(page.size()));
  for (std::size_t k = 0; k < page.size(); ++k)
    TIFFWriteScanline(t, pixels(page[k], width).data(), static_cast<std::uint32_t>(k), 0);
  TIFFClose(t);
  t = TIFFOpen(path.c_str(), "r");
  std::vector<std::uint8_t> strip(TIFFRawStripSize(t, 0));
  TIFFReadRawStrip(t, 0, strip.data(), static_cast<tmsize_t>(strip.size()));
  TIFFClose(t);
  return to_bits(strip);
}

Page lines_of(const BitString& bits, PageCoding coding, int width, PageReading& reading) {
  Page page;
  reading = read_page(bits, coding, width, [&](const LineChanges& line) { page.push_back(line); });
  return page;
}

void add(BitString& bits, const char* code) {
  for (; *code != 0; ++code) bits.add(*code == '1');
}
void add_rtc(BitString& bits, bool two_dimensional) {
  for (int k = 0; k < 6; ++k) add(bits, two_dimensional ? "0000000000011" : "000000000001");
}

TEST(PageCoding, ReadsWhatLibtiffWrites) {
  for (const int width : {8, 864, 1728, 2432, 4864, 14'592}) {
    SCOPED_TRACE(width);
    const Page page = random_page(width, 60, static_cast<std::uint32_t>(width));
    PageReading r;
    EXPECT_EQ(lines_of(coded_by_libtiff(page, width, COMPRESSION_CCITT_T6, 0), PageCoding::kT6, width, r), page);
    EXPECT_TRUE(r.ended);
    EXPECT_FALSE(r.broken);
    for (const std::uint32_t fill : {0u, std::uint32_t{GROUP3OPT_FILLBITS}}) {
      BitString one = coded_by_libtiff(page, width, COMPRESSION_CCITT_T4, fill);
      add_rtc(one, false);
      EXPECT_EQ(lines_of(one, PageCoding::kOneDimensional, width, r), page);
      EXPECT_TRUE(r.ended);
      BitString two = coded_by_libtiff(page, width, COMPRESSION_CCITT_T4, fill | GROUP3OPT_2DENCODING);
      add_rtc(two, true);
      EXPECT_EQ(lines_of(two, PageCoding::kTwoDimensional, width, r), page);
      EXPECT_TRUE(r.ended);
      EXPECT_TRUE(r.bad.empty());
    }
  }
}

TEST(PageCoding, ReadsWhatItWrites) {
  for (std::uint32_t seed = 0; seed < 20; ++seed) {
    const Page page = random_page(1728, 200, seed);
    T6Writer writer(1728);
    for (const LineChanges& line : page) writer.add(line);
    PageReading r;
    EXPECT_EQ(lines_of(to_bits(writer.finish()), PageCoding::kT6, 1728, r), page);
    EXPECT_TRUE(r.ended);
  }
}

TEST(PageCoding, AWrongBitOfT4CostsItsLine) {
  const Page page = random_page(1728, 100, 7);
  BitString good = coded_by_libtiff(page, 1728, COMPRESSION_CCITT_T4, 0);
  add_rtc(good, false);
  PageReading r;
  int named = 0, unseen = 0;
  for (std::size_t at = 100; at + 200 < good.size; at += 997) {
    BitString bits = good;
    bits.octets[at / 8] ^= static_cast<std::uint8_t>(1 << at % 8);
    const Page read = lines_of(bits, PageCoding::kOneDimensional, 1728, r);
    if (r.bad.empty()) {
      ++unseen;  // two runs of the same sum
      EXPECT_LE(
          std::count_if(read.begin(), read.end(),
                        [&](const LineChanges& l) { return l != page[static_cast<std::size_t>(&l - read.data())]; }),
          1);
      continue;
    }
    ++named;
    EXPECT_LE(r.bad_lines(), 2);
    EXPECT_TRUE(r.ended);
    const auto first = static_cast<std::size_t>(r.bad.front().first);
    EXPECT_TRUE(std::equal(read.begin(), read.begin() + static_cast<std::ptrdiff_t>(first), page.begin()));
  }
  EXPECT_GT(named, 10 * unseen);
}

// In two dimensions a line that refers to a damaged one is damaged, up to the next line of one dimension.
TEST(PageCoding, LinesThatReferToADamagedOneAreDamaged) {
  BitString bits;
  const auto eol = [&](bool one) { add(bits, one ? "0000000000011" : "0000000000010"); };
  const auto white_line = [&] {
    add(bits,
        "010011011"
        "00110101");
  };  // 1728 + 0
  eol(true), white_line();
  eol(true), add(bits, "0111");  // 2 pixels
  eol(false), add(bits, "1");    // as the line above
  eol(false), add(bits, "1");
  eol(true), white_line();
  eol(false), add(bits, "1");
  add_rtc(bits, true);
  PageReading r;
  EXPECT_EQ(lines_of(bits, PageCoding::kTwoDimensional, 1728, r).size(), 6u);
  EXPECT_EQ(r.bad, (std::vector<std::pair<int, int>>{{1, 3}}));
  EXPECT_TRUE(r.ended);
}

TEST(PageCoding, RunsOfLengthZeroEndWithTheirLine) {
  BitString bits;
  add(bits, "000000000001");
  for (int k = 0; k < 100'000; ++k) add(bits, k % 2 == 0 ? "00110101" : "0000110111");
  add(bits, "000000000001");
  PageReading r;
  const Page page = lines_of(bits, PageCoding::kOneDimensional, 1728, r);
  EXPECT_EQ(page, Page(1));
  EXPECT_EQ(r.bad_lines(), 1);
}

TEST(PageCoding, LinesAreLimited) {
  BitString bits;
  for (int k = 0; k < 2 * kMostPageLines; ++k) bits.add(1);
  EXPECT_EQ(read_page(bits, PageCoding::kT6, 1728).lines, kMostPageLines);
}

TEST(PageCoding, NothingIsNoPage) {
  for (const PageCoding coding : {PageCoding::kOneDimensional, PageCoding::kTwoDimensional, PageCoding::kT6}) {
    EXPECT_EQ(read_page({}, coding, 1728).lines, 0);
    EXPECT_FALSE(read_page({}, coding, 1728).ended);
  }
}

}  // namespace
}  // namespace offhook::decode
