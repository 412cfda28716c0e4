// SPDX-License-Identifier: MIT
//
// Captures of an independent modem, both ends, against that modem's own trace and against what was sent through it.
// They are not part of the project: without them every test here is skipped.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <regex>
#include <sstream>
#include <string>

#include "src/decode/call/call.h"
#include "tests/recordings.h"

namespace offhook::decode {
namespace {

const std::filesystem::path kCaptures = recordings() / "captures";

// The recording, the traces of both modems for V.34, and what they sent.
std::string absent_capture(const std::string& name) {
  std::vector<std::string> files = {name + ".wav", "payload_call.bin", "payload_answer.bin"};
  if (name.starts_with("v34")) files.insert(files.end(), {name + ".call.log", name + ".answer.log"});
  return absent(kCaptures, files);
}

#define NEEDS_CAPTURE(name) \
  if (const std::string lacks = absent_capture(name); !lacks.empty()) GTEST_SKIP() << lacks << " is not on this machine"

std::string contents(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

const Call& decoded(const std::string& name) {
  static std::map<std::string, Call> done;
  const auto [at, fresh] = done.try_emplace(name);
  if (fresh) at->second = analyse(read_recording(kCaptures / (name + ".wav")));
  return at->second;
}

// The last line of a trace with `key`, its numbers in hexadecimal.
std::vector<unsigned> traced(const std::string& trace, const std::string& key) {
  const std::size_t at = trace.rfind(key);
  std::vector<unsigned> values;
  if (at == std::string::npos) return values;
  std::string line = trace.substr(at + key.size(), trace.find('\n', at) - at - key.size());
  std::replace(line.begin(), line.end(), ',', ' ');
  std::istringstream in(line);
  for (std::string word; in >> word;) values.push_back(static_cast<unsigned>(std::stoul(word, nullptr, 16)));
  return values;
}

class DecodeCaptures : public testing::TestWithParam<const char*> {};

TEST_P(DecodeCaptures, InfoEqualsTheModemsOwnTrace) {
  NEEDS_CAPTURE(GetParam());
  const Call& call = decoded(GetParam());
  const std::string name = GetParam();
  // What the call modem says it received came from the answerer, and the other way round. Octets hold the bits after
  // the frame sync in order of time; those of the CRC are not compared.
  const struct {
    const char *end, *key, *type;
    std::size_t octets;
  } kRows[] = {{".call.log", "rxinfo0 ", "INFO0a", 2},
               {".answer.log", "rxinfo0 ", "INFO0c", 2},
               {".answer.log", "rxinfo1c ", "INFO1c", 9},
               {".call.log", "rxinfo1a ", "INFO1a", 4}};
  for (const auto& row : kRows) {
    const auto want = traced(contents(kCaptures / (name + row.end)), row.key);
    ASSERT_GE(want.size(), row.octets) << row.key;
    const auto heard = std::find_if(call.start_up.info.begin(), call.start_up.info.end(),
                                    [&](const InfoHeard& i) { return std::string(i.type()) == row.type; });
    ASSERT_NE(heard, call.start_up.info.end()) << row.type;
    for (std::size_t k = 0; k < 8 * row.octets; ++k) {
      ASSERT_EQ(want[k / 8] >> (7 - k % 8) & 1, heard->bits[12 + k]) << row.type << " bit " << 12 + k;
    }
  }
}

TEST_P(DecodeCaptures, MpAndRatesEqualTheModemsOwnTrace) {
  NEEDS_CAPTURE(GetParam());
  const Call& call = decoded(GetParam());
  const std::string name = GetParam();
  ASSERT_EQ(call.trainings.size(), 1u);
  const Training& t = call.trainings[0];
  for (const bool answer : {false, true}) {
    const std::string trace = contents(kCaptures / (name + (answer ? ".answer.log" : ".call.log")));
    std::smatch match;
    ASSERT_TRUE(std::regex_search(trace, match, std::regex("Link: DP is V.34, rate: rx (\\d+), tx (\\d+)")));
    const int c2a = 2400 * t.rates.call_to_answer, a2c = 2400 * t.rates.answer_to_call;
    EXPECT_EQ(std::stoi(match[answer ? 1 : 2]), c2a);
    EXPECT_EQ(std::stoi(match[answer ? 2 : 1]), a2c);
    // Words of 16 bits between start bits, the first in time lowest.
    const auto mp = traced(trace, "MP1 sequence,");
    const MpHeard* heard = (answer ? t.from_1200 : t.from_2400).mp();
    ASSERT_NE(heard, nullptr);
    ASSERT_EQ(mp.size(), 10u);
    for (std::size_t k = 0; k < 160; ++k) {
      ASSERT_EQ(mp[k / 16] >> k % 16 & 1, heard->bits[18 + k / 16 * 17 + k % 16])
          << (answer ? "call's" : "answer's") << k;
    }
  }
}

TEST_P(DecodeCaptures, PayloadOfBothDirectionsComesByteForByte) {
  NEEDS_CAPTURE(GetParam());
  const Call& call = decoded(GetParam());
  const Training& t = call.trainings.at(0);
  for (const bool answer : {false, true}) {
    const Training::Side& side = answer ? t.from_2400 : t.from_1200;
    ASSERT_EQ(side.links.size(), 1u);
    const Link& link = side.links[0];
    EXPECT_EQ(side.data[0].b1_errors, 0);
    EXPECT_EQ(link.bad_frames, 0);
    EXPECT_EQ(link.gaps, 0);
    EXPECT_TRUE(link.v42bis);
    const auto has = [&](const char* kind) {
      return std::any_of(link.frames.begin(), link.frames.end(), [&](const LapmFrame& f) { return f.kind == kind; });
    };
    EXPECT_TRUE(has("XID"));
    EXPECT_TRUE(has(answer ? "UA" : "SABME"));
    const std::string sent = contents(kCaptures / (answer ? "payload_answer.bin" : "payload_call.bin"));
    const std::string came(link.payload.begin(), link.payload.end());
    ASSERT_LE(came.size(), sent.size());
    EXPECT_TRUE(sent.starts_with(came));
    // The one at 33 600 bit/s ends before the first octet was sent.
    if (std::string(GetParam()) != "v34_33600") {
      EXPECT_GT(came.size(), 1000u);
    }
  }
}

TEST(DecodeCaptures, V22bisPayloadOfBothDirectionsComesByteForByte) {
  NEEDS_CAPTURE("v22bis_2400");
  const Call& call = decoded("v22bis_2400");
  ASSERT_STREQ(call.modulation(), "V.22bis");
  EXPECT_EQ(call.start_up.call_channel, 0);
  for (const bool answer : {false, true}) {
    const Connection::Side& side = answer ? call.connection.answer : call.connection.call;
    ASSERT_EQ(side.links.size(), 1u);
    EXPECT_EQ(side.data[0].bit_rate, 2400u);
    EXPECT_GT(side.data[0].snr_db, 35);
    const Link& link = side.links[0];
    EXPECT_EQ(link.bad_frames, 0);
    EXPECT_EQ(link.gaps, 0);
    EXPECT_TRUE(link.v42bis);
    const std::string sent = contents(kCaptures / (answer ? "payload_answer.bin" : "payload_call.bin"));
    const std::string came(link.payload.begin(), link.payload.end());
    EXPECT_TRUE(sent.starts_with(came));
    EXPECT_GT(came.size(), 1500u);
  }
}

// The recording ends before the first octet was sent: what V.42 said, and nothing after it but flags.
TEST(DecodeCaptures, V32bisIsReadWithoutAnError) {
  NEEDS_CAPTURE("v32bis_14400");
  const Call& call = decoded("v32bis_14400");
  ASSERT_STREQ(call.modulation(), "V.32bis");
  for (const bool answer : {false, true}) {
    const Connection::Side& side = answer ? call.connection.answer : call.connection.call;
    EXPECT_EQ(side.channel, answer ? 1 : 0);
    ASSERT_EQ(side.data.size(), 1u);
    EXPECT_EQ(side.data[0].bit_rate, 14400u);
    EXPECT_GT(side.data[0].snr_db, 50);
    EXPECT_GT(side.data[0].bits.size(), 300'000u);
    EXPECT_EQ(side.links[0].bad_frames, 0);
    EXPECT_EQ(side.links[0].frames.size(), 2u);
    EXPECT_EQ(side.links[0].frames.at(1).kind, answer ? "UA" : "SABME");
  }
}

// Two modems of shops on a real line.
TEST(DecodeCaptures, ARealV32bisCallIsRead) {
  const std::filesystem::path wav = recordings() / "calls/banksia-mymodem144-V32bis-14400-14400.wav";
  if (!std::filesystem::exists(wav)) GTEST_SKIP() << wav << " is not on this machine";
  const Call call = analyse(read_recording(wav));
  ASSERT_STREQ(call.modulation(), "V.32bis");
  for (const Connection::Side* side : {&call.connection.call, &call.connection.answer}) {
    ASSERT_EQ(side->data.size(), 1u);
    EXPECT_EQ(side->data[0].bit_rate, 14400u);
    EXPECT_GE(side->links[0].frames.size(), 10u);
    EXPECT_NE(side->links[0].detection, nullptr);
  }
}

INSTANTIATE_TEST_SUITE_P(V34, DecodeCaptures, testing::Values("v34_24000_snr30", "v34_28800_snr34", "v34_33600"),
                         [](const auto& row) { return std::string(row.param); });

}  // namespace
}  // namespace offhook::decode
