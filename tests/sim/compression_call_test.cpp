// SPDX-License-Identifier: MIT
//
// V.42bis and V.44 in whole calls: the file arrives, in fewer octets and less time; a recording of the line shows it.
#include <gtest/gtest.h>

#include "dsp/link/lapm.h"
#include "offhook/decode.h"
#include "src/decode/call/call.h"
#include "tests/sim/calls.h"

namespace offhook {
namespace {

/// Words in random order, as in a text.
std::vector<std::uint8_t> text(std::size_t bytes) {
  constexpr std::array<std::string_view, 16> kWords = {"the ",  "modem ", "hears ", "a ",   "line ",   "late ",
                                                       "and ",  "sends ", "again ", "of ",  "frames ", "which ",
                                                       "came ", "twice ", "or ",    ".\r\n"};
  const hostsim::Random random(3, 4);
  std::vector<std::uint8_t> out;
  for (std::uint64_t i = 0; out.size() < bytes; ++i) {
    const std::string_view word = kWords[random.word(i) % kWords.size()];
    out.insert(out.end(), word.begin(), word.end());
  }
  out.resize(bytes);
  return out;
}

constexpr std::uint32_t kBoth = OH_LAPM_COMPRESS_SENT | OH_LAPM_COMPRESS_RECEIVED;
enum class Compression { kV42bis, kV44 };

hostsim::Scenario compressed(oh_modulation modem, const char* context, Compression compression = Compression::kV42bis) {
  hostsim::Scenario s = test::scenario(context);
  s.modem = modem;
  (compression == Compression::kV44 ? s.link.v44 : s.link.compression) = kBoth;
  return s;
}

void expect_the_gain(oh_modulation modem, std::size_t bytes, Compression compression) {
  const auto file = text(bytes);
  hostsim::Scenario plain = compressed(modem, "DPC");
  plain.link.compression = plain.link.v44 = 0;
  const auto without = test::run(plain, file).result;
  ASSERT_TRUE(without.completed) << without.transfer.failure;
  EXPECT_EQ(without.transfer.compression, 0);
  EXPECT_EQ(without.transfer.octets_carried, file.size());
  for (const char* context : {"DPC", "RES 2/8"}) {
    const auto r = test::run(compressed(modem, context, compression), file).result;
    ASSERT_TRUE(r.completed) << context << ": " << r.transfer.failure;
    EXPECT_TRUE(r.transfer.intact);
    EXPECT_EQ(r.transfer.bytes_delivered, file.size());
    EXPECT_EQ(r.transfer.compression, OH_LAPM_COMPRESS_SENT | OH_LAPM_COMPRESS_RECEIVED);
    EXPECT_LT(r.transfer.octets_carried, file.size() / 2);
    EXPECT_LT(r.transfer_s, 0.6 * without.transfer_s) << context;
    std::printf("%zu bytes in %lu octets, %.2f s instead of %.2f s (%s)\n", file.size(),
                static_cast<unsigned long>(r.transfer.octets_carried), r.transfer_s, without.transfer_s, context);
  }
}

TEST(V42bisCall, TextTakesLessThanHalfOverV22bis) {
  expect_the_gain(OH_MODULATION_V22BIS, 6000, Compression::kV42bis);
}

TEST(V42bisCall, TextTakesLessThanHalfOverV34) {
  expect_the_gain(OH_MODULATION_V34, 60'000, Compression::kV42bis);
}

TEST(V44Call, TextTakesLessThanHalfOverV22bis) {
  expect_the_gain(OH_MODULATION_V22BIS, 6000, Compression::kV44);
}

TEST(V44Call, TextTakesLessThanHalfOverV34) {
  expect_the_gain(OH_MODULATION_V34, 60'000, Compression::kV44);
}

TEST(V42bisCall, ANoisyFileComesByteForByteAndCostsNoMoreThanAPercent) {
  const auto file = test::random_file(4000);
  for (const Compression compression : {Compression::kV42bis, Compression::kV44}) {
    const auto r = test::run(compressed(OH_MODULATION_V22BIS, "DPC", compression), file).result;
    ASSERT_TRUE(r.completed) << r.transfer.failure;
    EXPECT_TRUE(r.transfer.intact);
    // V.44 begins in compressed mode, with 9 bits for each of the characters before its first test.
    const std::size_t before_first_test = compression == Compression::kV44 ? 256 / 8 : 0;
    EXPECT_LT(r.transfer.octets_carried, file.size() * 101 / 100 + before_first_test);
  }
}

/// The result of `offhook decode` for a recording of the line: each direction's bytes.
std::string heard_of(const hostsim::Scenario& s, const std::vector<std::uint8_t>& file) {
  decode::Recording recording;
  recording.file_rate_hz = decode::kRateHz;
  recording.channel.resize(2);
  const auto tap = [&](std::span<const std::int16_t> received, std::span<const std::int16_t> sent) {
    recording.channel[0].insert(recording.channel[0].end(), received.begin(), received.end());
    recording.channel[1].insert(recording.channel[1].end(), sent.begin(), sent.end());
  };
  const hostsim::CostProfile profile = config::load_profile(s.cost_profile);
  hostsim::Call call(
      s, profile,
      hostsim::make_sampled_connection(s, {hostsim::near_type(s), hostsim::near_type(s), file, tap}, nullptr), nullptr);
  while (call.advance(call.now() + 1'000'000'000)) {
  }
  EXPECT_TRUE(call.result().completed);
  // V.42's last frames are also recorded.
  for (auto& channel : recording.channel) channel.resize(channel.size() + decode::kRateHz);
  recording.duration_s = static_cast<double>(recording.channel[0].size()) / decode::kRateHz;
  recording.peak = recording.clipped = {0, 0};
  const decode::Call heard = decode::analyse(std::move(recording));
  std::string all = decode::to_text(heard);
  for (const auto& [name, octets] : decode::payloads(heard)) {
    all += name + ": " + std::to_string(octets.size()) + (octets == file ? ", the file" : "") + "\n";
  }
  return all;
}

TEST(V42bisCall, ARecordingOfTheLineShowsTheFile) {
  for (const auto modem : {OH_MODULATION_V22BIS, OH_MODULATION_V34}) {
    // The near end's echo is as loud as the far end.
    const std::string heard = heard_of(compressed(modem, "INT"), text(8000));
    EXPECT_NE(heard.find("answer.bin: 8000, the file"), std::string::npos) << heard;
  }
}

}  // namespace
}  // namespace offhook
