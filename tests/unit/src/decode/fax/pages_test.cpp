// SPDX-License-Identifier: MIT
#include "src/decode/fax/pages.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "offhook/decode.h"
#include "src/decode/call/call.h"
#include "tests/unit/src/decode/fax/fax_calls.h"

namespace offhook::decode {
namespace {

using test::Damage;
using test::FaxCall;
using test::Folder;
using test::record_fax;
using test::RecordedFax;

struct Decoded {
  RecordedFax recorded;
  std::shared_ptr<const Call> call;
  std::uint32_t equal = 0;     ///< pages of the TIFF file with every pixel of the page that was sent
  std::uint32_t received = 0;  ///< those of the terminal
  const FaxPages& sent() const { return call->fax.sent; }
};

void write(const std::string& path, const std::vector<std::uint8_t>& octets) {
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(octets.data()), static_cast<std::streamsize>(octets.size()));
}

void add_hum(std::vector<float>& channel, double dbm0) {
  constexpr double kTurn = 2 * 3.14159265358979 * 50 / 8000;
  const double peak = std::pow(10, (dbm0 - 3.14) / 20);
  for (std::size_t k = 0; k < channel.size(); ++k) {
    const double at = kTurn * static_cast<double>(k);
    channel[k] += static_cast<float>(peak * (std::sin(at) + std::sin(3 * at + 1) / 2 + std::sin(5 * at + 2) / 4));
  }
}

/// What is done to the channels of the recording before they are decoded.
enum class Recorded { kBoth, kMixed, kCallerAlone };

/// @param noise_dbm0, hum_dbm0  of each channel of the recording; the hum: 50 Hz with two harmonics, 6 and 12 dB below
/// it
Decoded decode_fax(const FaxCall& call, std::uint32_t pages, std::uint32_t lines, Recorded as = Recorded::kBoth,
                   double noise_dbm0 = -100, double hum_dbm0 = -200) {
  const Folder folder;
  fax::write_test_pages(folder / "sent.tif", pages, lines, 1);
  Decoded d;
  d.recorded = record_fax(call, folder / "sent.tif", folder / "received.tif");
  auto channels = d.recorded.channels;
  std::mt19937_64 random(2);
  std::normal_distribution<float> noise(0, static_cast<float>(0.4926 * std::pow(10, noise_dbm0 / 20)));
  for (auto& channel : channels) {
    for (float& x : channel) x += noise(random);
    add_hum(channel, hum_dbm0);
  }
  if (as == Recorded::kMixed) {
    for (std::size_t k = 0; k < channels[0].size(); ++k) channels[0][k] = (channels[0][k] + channels[1][k]) / 2;
  }
  if (as != Recorded::kBoth) channels.pop_back();
  d.call = decode_samples({channels, 8000, "fax"});
  write(folder / "decoded.tif", fax_tiff(*d.call));
  d.equal = fax::whole_pages(folder / "sent.tif", folder / "decoded.tif");
  d.received = fax::whole_pages(folder / "sent.tif", folder / "received.tif");
  return d;
}

void expect_whole(const Decoded& d, std::uint32_t pages, PageRate rate) {
  EXPECT_TRUE(d.recorded.complete);
  EXPECT_EQ(d.recorded.bit_rate, rate.bit_rate);
  EXPECT_EQ(d.equal, pages);
  ASSERT_EQ(d.sent().pages.size(), pages);
  for (const FaxPage& page : d.sent().pages) {
    EXPECT_TRUE(page.whole());
    EXPECT_EQ(page.format.rate, rate);
  }
}

struct Rate {
  int modems, failed_tests;
  PageRate rate;
};
constexpr Rate kRates[] = {
    {T30_SUPPORT_V17 | T30_SUPPORT_V29 | T30_SUPPORT_V27TER, 0, {PageModem::kV17, 14'400}},
    {T30_SUPPORT_V17 | T30_SUPPORT_V29 | T30_SUPPORT_V27TER, 1, {PageModem::kV17, 12'000}},
    {T30_SUPPORT_V17 | T30_SUPPORT_V29 | T30_SUPPORT_V27TER, 2, {PageModem::kV17, 9600}},
    {T30_SUPPORT_V17 | T30_SUPPORT_V29 | T30_SUPPORT_V27TER, 4, {PageModem::kV17, 7200}},
    {T30_SUPPORT_V29 | T30_SUPPORT_V27TER, 0, {PageModem::kV29, 9600}},
    {T30_SUPPORT_V29 | T30_SUPPORT_V27TER, 1, {PageModem::kV29, 7200}},
    {T30_SUPPORT_V27TER, 0, {PageModem::kV27ter, 4800}},
    {T30_SUPPORT_V27TER, 1, {PageModem::kV27ter, 2400}},
};

class DecodeFaxAtRate : public testing::TestWithParam<Rate> {};

TEST_P(DecodeFaxAtRate, PagesAreEqualWithAndWithoutErrorCorrection) {
  const auto& [modems, failed_tests, rate] = GetParam();
  for (const bool error_correction : {true, false}) {
    SCOPED_TRACE(error_correction);
    const Decoded d =
        decode_fax({.modems = modems, .error_correction = error_correction, .failed_tests = failed_tests}, 2, 120);
    expect_whole(d, 2, rate);
    const auto& pages = d.sent().pages;
    if (pages.size() != 2) continue;
    EXPECT_EQ(pages[0].format.error_correction, error_correction);
    EXPECT_EQ(pages[0].end, error_correction ? "PPS-MPS" : "MPS");
    EXPECT_EQ(pages[1].end, error_correction ? "PPS-EOP" : "EOP");
    EXPECT_EQ(pages[1].response, "MCF");
    // A test follows each DCS. All tests but the last one fail.
    std::vector<FaxCarrier> tests = d.sent().carriers;
    std::erase_if(tests, [](const FaxCarrier& c) { return !c.test; });
    EXPECT_GE(static_cast<int>(tests.size()), failed_tests + 1);
    ASSERT_FALSE(tests.empty());
    EXPECT_EQ(tests.back().wrong_bits, 0u);
    EXPECT_GT(tests.back().bits, 1.35 * rate.bit_rate);
    EXPECT_EQ(d.call->fax.frames.front().name, "CSI");
  }
}

INSTANTIATE_TEST_SUITE_P(All, DecodeFaxAtRate, testing::ValuesIn(kRates), [](const auto& test) {
  std::string name = name_of(test.param.rate.modem);
  std::erase(name, '.');
  return name + "_" + std::to_string(test.param.rate.bit_rate);
});

TEST(DecodeFax, EveryCodingOfSpandspIsRead) {
  constexpr int kOne = T30_SUPPORT_T4_1D_COMPRESSION, kTwo = kOne | T30_SUPPORT_T4_2D_COMPRESSION;
  const struct {
    int compressions;
    bool error_correction;
    PageCoding coding;
  } kCodings[] = {{kOne, false, PageCoding::kOneDimensional},
                  {kOne, true, PageCoding::kOneDimensional},
                  {kTwo, false, PageCoding::kTwoDimensional},
                  {kTwo, true, PageCoding::kTwoDimensional},
                  {kTwo | T30_SUPPORT_T6_COMPRESSION, true, PageCoding::kT6}};
  for (const auto& c : kCodings) {
    const Decoded d = decode_fax({.compressions = c.compressions, .error_correction = c.error_correction}, 1, 200);
    expect_whole(d, 1, {PageModem::kV17, 14'400});
    ASSERT_EQ(d.sent().pages.size(), 1u);
    EXPECT_EQ(d.sent().pages[0].format.coding, c.coding);
  }
}

TEST(DecodeFax, SeveralPagesInOneRecordingOfEitherKind) {
  for (const Recorded as : {Recorded::kBoth, Recorded::kMixed, Recorded::kCallerAlone}) {
    for (const bool error_correction : {true, false}) {
      const Decoded d = decode_fax({.error_correction = error_correction, .noise_dbm0 = -60}, 3, 300, as);
      expect_whole(d, 3, {PageModem::kV17, 14'400});
      ASSERT_EQ(d.sent().pages.size(), 3u);
      EXPECT_EQ(d.sent().pages[0].response, as == Recorded::kCallerAlone ? "" : "MCF");
    }
  }
}

// 28 dB below the signal, and louder than -45.5 dBm0, from where on a live receiver hears a carrier.
TEST(DecodeFax, NoiseDoesNotHideTheEndOfACarrier) {
  for (const Recorded as : {Recorded::kBoth, Recorded::kCallerAlone}) {
    for (const int modems : {T30_SUPPORT_V17 | T30_SUPPORT_V29, int{T30_SUPPORT_V29}, int{T30_SUPPORT_V27TER}}) {
      const Decoded d = decode_fax({.modems = modems}, 2, 100, as, -42);
      EXPECT_EQ(d.equal, 2u);
      EXPECT_EQ(d.sent().pages.size(), 2u);
    }
  }
}

// The hum is 5 dB above the signal.
TEST(DecodeFax, MainsHumDoesNotHideAPage) {
  for (const int modems : {T30_SUPPORT_V17 | T30_SUPPORT_V29, int{T30_SUPPORT_V29}, int{T30_SUPPORT_V27TER}}) {
    SCOPED_TRACE(modems);
    const Decoded d = decode_fax({.modems = modems, .error_correction = false}, 2, 100, Recorded::kBoth, -100, -8);
    EXPECT_EQ(d.equal, 2u);
    EXPECT_EQ(d.sent().pages.size(), 2u);
    EXPECT_FALSE(d.call->fax.cng.empty());
    EXPECT_FALSE(d.call->start_up.answer_tones.empty());
  }
}

TEST(DecodeFax, ABlockOf256FramesIsNotThePage) {
  const Decoded d = decode_fax({.compressions = T30_SUPPORT_T4_1D_COMPRESSION}, 1, 1800);
  expect_whole(d, 1, {PageModem::kV17, 14'400});
  ASSERT_EQ(d.sent().pages.size(), 1u);
  ASSERT_EQ(d.sent().pages[0].blocks.size(), 2u);
  EXPECT_EQ(d.sent().pages[0].blocks[0].frames, 256);
  EXPECT_EQ(d.sent().pages[0].blocks[0].then, "NULL");
}

// The echo of each side is 12 dB below it in the other channel: a frame belongs to the louder one.
TEST(DecodeFax, EchoesAreNotFramesOfTheOtherSide) {
  const Decoded d = decode_fax({.error_correction = false, .echo_db = -12}, 1, 100);
  expect_whole(d, 1, {PageModem::kV17, 14'400});
  for (const FaxFrame& f : d.call->fax.frames) {
    const bool answerers = f.name == "CSI" || f.name == "DIS" || f.name == "CFR" || f.name == "MCF";
    EXPECT_EQ(f.channel, answerers ? 1 : 0) << f.name;
  }
}

TEST(DecodeFax, DamagedLinesAreNamedAndTheOthersAreEqual) {
  const Decoded clean = decode_fax({.compressions = T30_SUPPORT_T4_1D_COMPRESSION, .error_correction = false}, 1, 200);
  const Decoded d = decode_fax({.compressions = T30_SUPPORT_T4_1D_COMPRESSION,
                                .error_correction = false,
                                .damage = {{.frame = "CFR", .after_s = 4, .length_s = 0.004}}},
                               1, 200);
  ASSERT_EQ(d.sent().pages.size(), 1u);
  ASSERT_EQ(clean.sent().pages.size(), 1u);
  const FaxPage &page = d.sent().pages[0], &whole = clean.sent().pages[0];
  EXPECT_EQ(d.equal, 0u);
  EXPECT_FALSE(page.whole());
  EXPECT_GE(page.reading.bad_lines(), 1);
  EXPECT_LE(page.reading.bad_lines(), 3);
  EXPECT_TRUE(page.reading.ended);
  std::vector<LineChanges> a, b;
  read_page(page.bits, PageCoding::kOneDimensional, 1728, [&](const LineChanges& l) { a.push_back(l); });
  read_page(whole.bits, PageCoding::kOneDimensional, 1728, [&](const LineChanges& l) { b.push_back(l); });
  const auto before = static_cast<std::size_t>(page.reading.bad.front().first);
  const std::size_t behind = a.size() - 1 - static_cast<std::size_t>(page.reading.bad.back().second);
  ASSERT_LT(before, a.size());
  EXPECT_TRUE(std::equal(a.begin(), a.begin() + static_cast<std::ptrdiff_t>(before), b.begin()));
  EXPECT_TRUE(std::equal(a.end() - static_cast<std::ptrdiff_t>(behind), a.end(),
                         b.end() - static_cast<std::ptrdiff_t>(behind)));
  EXPECT_GT(before + behind, 195u);
}

// A lost packet of 20 ms. spandsp's own terminal loses the rest of the page.
TEST(DecodeFax, AGapInTheCarrierCostsItsLines) {
  for (const int modems : {T30_SUPPORT_V17 | T30_SUPPORT_V29, int{T30_SUPPORT_V29}, int{T30_SUPPORT_V27TER}}) {
    SCOPED_TRACE(modems);
    const Decoded d = decode_fax({.modems = modems,
                                  .compressions = T30_SUPPORT_T4_1D_COMPRESSION,
                                  .error_correction = false,
                                  .damage = {{.frame = "CFR", .after_s = 4, .length_s = 0.02, .silent = true}}},
                                 1, 200);
    ASSERT_EQ(d.sent().pages.size(), 1u);
    EXPECT_EQ(d.received, 0u);
    const PageReading& r = d.sent().pages[0].reading;
    EXPECT_NEAR(r.lines, 200, 3);
    EXPECT_TRUE(r.ended);
    EXPECT_GE(r.bad_lines(), 1);
    EXPECT_LE(r.bad_lines(), 3);
  }
}

TEST(DecodeFax, FramesThatWereSentAgainMakeThePageWhole) {
  const Decoded d = decode_fax(
      {.damage = {{.frame = "CFR", .after_s = 3, .length_s = 0.02}, {.frame = "CFR", .after_s = 5, .length_s = 0.02}}},
      2, 200);
  expect_whole(d, 2, {PageModem::kV17, 14'400});
  EXPECT_EQ(d.recorded.frames.at("PPR"), 1);
  ASSERT_FALSE(d.sent().pages.empty());
  ASSERT_EQ(d.sent().pages[0].blocks.size(), 1u);
  EXPECT_EQ(
      std::count_if(d.sent().carriers.begin(), d.sent().carriers.end(), [](const FaxCarrier& c) { return !c.test; }),
      3);
}

TEST(DecodeFax, FramesThatNeverCameAreNamed) {
  FaxCall call{.damage = {{.frame = "CFR", .after_s = 4, .length_s = 0.02}}};
  const Folder folder;
  fax::write_test_pages(folder / "sent.tif", 1, 200, 1);
  RecordedFax recorded = record_fax(call, folder / "sent.tif", folder / "received.tif");
  ASSERT_TRUE(recorded.complete);
  const auto whole = decode_samples({recorded.channels, 8000, "fax"});
  const auto& frames = whole->fax.frames;
  const auto ppr = std::find_if(frames.begin(), frames.end(), [](const FaxFrame& f) { return f.name == "PPR"; });
  ASSERT_NE(ppr, frames.end());
  for (auto& channel : recorded.channels) channel.resize(static_cast<std::size_t>((ppr->received.t_end + 0.1) * 8000));
  const auto decoded = decode_samples({recorded.channels, 8000, "fax"});
  ASSERT_EQ(decoded->fax.frames.back().name, "PPR");
  ASSERT_EQ(decoded->fax.sent.pages.size(), 1u);
  const FaxPage& page = decoded->fax.sent.pages[0];
  ASSERT_EQ(page.blocks.size(), 1u);
  const std::vector<int> missing = page.blocks[0].missing();
  ASSERT_EQ(missing.size(), 1u);
  const std::string asked = decoded->fax.frames.back().meaning.at(0);
  EXPECT_NE(asked.find(": " + std::to_string(missing[0]) + ", "), std::string::npos) << asked;
  EXPECT_TRUE(page.reading.broken);  // T.6
  EXPECT_GT(page.reading.lines, 50);
  EXPECT_FALSE(page.whole());
}

}  // namespace
}  // namespace offhook::decode
