// SPDX-License-Identifier: MIT
//
// V.8bis made here, heard by the decoder: signals, messages and their fields.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <numbers>
#include <random>

#include "dsp/link/hdlc.h"
#include "dsp/v8/fsk.h"
#include "offhook/decode.h"
#include "src/decode/call/call.h"
#include "src/decode/presentation/json.h"
#include "src/decode/presentation/v8bis_fields.h"
#include "src/decode/start_up/v8bis_messages.h"

namespace offhook::decode {
namespace {

using Octets = std::vector<std::uint8_t>;
using testing::HasSubstr;
using Json = nlohmann::ordered_json;

struct Line {
  Recording recording;
  explicit Line(double seconds, double noise = 0) {
    std::mt19937 random(1);
    std::normal_distribution<float> gauss(0, static_cast<float>(noise));
    recording.channel.resize(2);
    recording.duration_s = seconds;
    for (auto& channel : recording.channel) {
      channel.resize(static_cast<std::size_t>(seconds * kRateHz));
      if (noise > 0)
        for (float& x : channel) x = gauss(random);
    }
  }
  void tone(int channel, double t0, double t1, double hz, double amplitude) {
    auto& x = recording.channel[static_cast<std::size_t>(channel)];
    for (auto i = static_cast<std::size_t>(t0 * kRateHz); i < static_cast<std::size_t>(t1 * kRateHz); ++i)
      x[i] += static_cast<float>(amplitude * std::sin(2 * std::numbers::pi * hz * static_cast<double>(i) / kRateHz));
  }
  // Segments 1 and 2; the tones off by `offset_hz`.
  void signal(int channel, double t0, double segment1_s, bool responding, int hz, double amplitude = 1000,
              double offset_hz = 0) {
    const double t1 = t0 + segment1_s;
    tone(channel, t0, t1, (responding ? 1529 : 1375) + offset_hz, amplitude * 0.7);
    tone(channel, t0, t1, (responding ? 2225 : 2002) + offset_hz, amplitude * 0.5);
    tone(channel, t1, t1 + 0.1, hz + offset_hz, amplitude);
  }
  // 100 ms of mark, two flags, the frame, a flag (7.2.3). @param flip  a bit of the frame that the line inverts
  void message(int channel, double t0, bool high_band, const Octets& octets, int flip = -1, double gain = 1) {
    std::uint8_t buffer[v8bis::kMaxOctets + v42::kMaxFcs];
    v42::HdlcSender hdlc;
    hdlc.init(buffer);
    std::vector<int> bits(30, 1);
    while (hdlc.flags() < 2 || !hdlc.ready()) bits.push_back(hdlc.next());
    std::copy(octets.begin(), octets.end(), hdlc.buffer());
    hdlc.load(octets.size(), false);
    const std::size_t frame = bits.size();
    const auto flags = hdlc.flags();
    while (hdlc.flags() == flags) bits.push_back(hdlc.next());
    if (flip >= 0) bits[frame + static_cast<std::size_t>(flip)] ^= 1;
    bits.push_back(1);  // of which one sample is sent
    v8::FskModulator modulator(high_band ? v8::Channel::kHigh : v8::Channel::kLow, -15);
    auto& x = recording.channel[static_cast<std::size_t>(channel)];
    std::size_t at = 0, i = static_cast<std::size_t>(t0 * kRateHz);
    for (; at < bits.size(); ++i) x[i] += static_cast<float>(gain) * modulator.next([&] { return bits[at++]; });
  }
  std::vector<V8bisMessage> messages() const { return v8bis_messages(recording, v8bis_signals(recording)); }
};

// Tables 1 and 2; and the 285 ms that CRe and MRe of 11/2000 may have. 15 dB of SNR, 7 Hz of offset.
TEST(DecodeV8bis, EverySignalIsNamedAndTimed) {
  const struct {
    const char* name;
    int hz;
    bool responding;
    double segment1_s;
  } all[] = {{"MRe", 650, false, 0.4},   {"MRd", 1150, false, 0.4},  {"MRd", 1150, true, 0.4},
             {"CRe", 400, false, 0.4},   {"CRe", 400, false, 0.285}, {"CRd", 1900, false, 0.4},
             {"CRd", 1900, true, 0.392}, {"ESi", 980, false, 0.4},   {"ESr", 1650, true, 0.408}};
  for (const auto& s : all) {
    SCOPED_TRACE(s.name);
    for (const double offset : {-7.0, 0.0, 7.0}) {
      Line line(2, 126);
      line.signal(1, 0.6037, s.segment1_s, s.responding, s.hz, 1000, offset);
      const auto heard = v8bis_signals(line.recording);
      ASSERT_EQ(heard.size(), 1u);
      EXPECT_STREQ(heard[0].name, s.name);
      EXPECT_EQ(heard[0].responding, s.responding);
      EXPECT_EQ(heard[0].channel, 1);
      EXPECT_NEAR(heard[0].t0, 0.6037, 0.003);
      EXPECT_NEAR(heard[0].t_segment2, 0.6037 + s.segment1_s, 0.003);
      EXPECT_NEAR(heard[0].t1, 0.7037 + s.segment1_s, 0.003);
      EXPECT_NEAR(heard[0].amplitude, 1000, 100);
    }
  }
}

TEST(DecodeV8bis, WhatTheTablesDoNotHaveIsNoSignal) {
  Line line(6, 30);
  line.signal(0, 0.2, 0.4, true, 400);    // a responding station has no CRe
  line.signal(0, 1.0, 0.15, false, 400);  // too short
  line.tone(0, 1.6, 2.0, 1375, 1000);     // one tone of two
  line.tone(0, 2.0, 2.1, 400, 1000);
  line.tone(0, 2.5, 3.0, 1375, 1000);  // nothing follows
  line.tone(0, 2.5, 3.0, 2002, 1000);
  line.tone(1, 0.5, 1.0, 1336, 1000);  // DTMF
  line.tone(1, 0.5, 1.0, 941, 1000);
  std::mt19937 random(2);
  for (std::size_t i = 12000; i < 40000; ++i)
    line.recording.channel[1][i] += static_cast<float>(random() % 4000) - 2000;
  EXPECT_TRUE(v8bis_signals(line.recording).empty());
}

TEST(DecodeV8bis, ASignalIsHeardOnceWhereItsEchoIsTooAndInPieces) {
  Line line(3);
  line.signal(0, 0.5, 0.4, false, 400);
  line.signal(1, 0.6, 0.4, false, 400, 60);
  line.signal(1, 1.5, 0.4, true, 1900);
  for (std::size_t i = 12800; i < 13600; ++i) line.recording.channel[1][i] = 0;  // 100 ms of segment 1 lost
  const auto heard = v8bis_signals(line.recording);
  ASSERT_EQ(heard.size(), 2u);
  EXPECT_STREQ(heard[0].name, "CRe");
  EXPECT_EQ(heard[0].channel, 0);
  EXPECT_STREQ(heard[1].name, "CRd");
  EXPECT_EQ(heard[1].channel, 1);
}

const Octets kCl = {0x12, 0xC1, 0x80, 0x80, 0x81, 0xC6, 0x09, 0xB5, 0x02, 0x00, 0x94, 0x81, 0x83, 0x03, 0x47, 0x85};

TEST(DecodeV8bis, AMessageOfOurOwnIsRead) {
  for (const bool high : {false, true}) {
    Line line(2, 20);
    line.message(1, 0.5, high, kCl);
    line.message(0, 0.55, high, kCl, -1, 0.03);  // its echo
    const auto heard = line.messages();
    ASSERT_EQ(heard.size(), 1u);
    EXPECT_EQ(heard[0].octets, kCl);
    EXPECT_EQ(heard[0].channel, 1);
    EXPECT_EQ(heard[0].high_band, high);
    EXPECT_TRUE(heard[0].fcs_good);
    EXPECT_FALSE(heard[0].malformed);
    EXPECT_NEAR(heard[0].t, 0.5 + 38 / 300., 0.01);  // from the last opening flag on
  }
}

// 7.2.9, 9.8: a damaged frame is shown where a message has to come, in data it would be chance.
TEST(DecodeV8bis, AFrameWithABadCheckSequenceIsShownAfterASignalOnly) {
  for (const bool signal : {false, true}) {
    Line line(3);
    if (signal) line.signal(0, 0.2, 0.4, false, 400);
    line.message(1, 1, true, {0x11, 0x89, 0x80, 0x80, 0x80}, 9);
    const auto heard = line.messages();
    ASSERT_EQ(heard.size(), signal ? 1u : 0u);
    if (!signal) continue;
    EXPECT_FALSE(heard[0].fcs_good);
    EXPECT_EQ(heard[0].octets, (Octets{0x11, 0x8B, 0x80, 0x80, 0x80}));
  }
}

V8bisMessage message(const Octets& octets) {
  V8bisMessage m;
  m.octets = octets;
  m.malformed = v8bis::parse(octets.data(), static_cast<int>(octets.size()), &m.message);
  return m;
}

TEST(DecodeV8bis, FieldsAreInWords) {
  const V8bisFields cl = v8bis_fields(message(kCl));
  EXPECT_EQ(cl.identification, "V.8, non-standard field");
  EXPECT_EQ(cl.standard, "data: V.42, V.42bis");
  EXPECT_THAT(cl.non_standard, HasSubstr("B5 00 94): 81 83 03 47 85"));
  EXPECT_EQ(cl.malformed, "");
  const V8bisFields tree =
      v8bis_fields(message({0x13, 0x8A, 0x81, 0xC1, 0x80, 0xA5, 0x01, 0x30, 0xC2, 0x43, 0x41, 0xC4, 0xC9}));
  EXPECT_EQ(tree.identification, "short V.8, transmit ACK(1); network type: cellular access");
  EXPECT_EQ(tree.standard,
            "data: transparent data, V.34, V.32bis, V.22bis; H.324 multimedia terminal: video, audio, data: PPP; "
            "analogue telephony: voice, reserved 4");
  EXPECT_EQ(v8bis_fields(message({0x2D, 0x29})).identification, "QC2: analogue, UQTS 78, LAPM");
  EXPECT_EQ(v8bis_fields(message({0x11, 0xC1, 0x80, 0x80, 0x80})).malformed,
            "octet 6: expected the non-standard field");
  EXPECT_EQ(message({0x16}).type(), "message type 6");
}

TEST(DecodeV8bis, JsonHasTheFieldsWithTheTreesOwnNames) {
  const auto json = [](const Octets& octets) {
    Call call;
    call.start_up.v8bis = {message(octets)};
    return json_of(call)["v8bis"]["messages"][0];
  };
  const Json j = json(kCl);
  EXPECT_EQ(j["name"], "CL");
  EXPECT_EQ(j["revision"], 1);
  EXPECT_EQ(j["identification"], Json::parse(R"({"parameters": ["V.8", "non-standard field"], "fields": []})"));
  EXPECT_EQ(j["standard"], Json::parse(R"({"parameters": [], "fields": [
      {"name": "data", "parameters": ["V.42", "V.42bis"], "fields": []}]})"));
  ASSERT_EQ(j["non_standard"].size(), 1u);
  EXPECT_EQ(j["non_standard"][0]["country_code"], "B5");
  EXPECT_EQ(j["non_standard"][0]["country"], "United States");
  EXPECT_EQ(j["non_standard"][0]["provider_code"], "00 94");
  EXPECT_EQ(j["non_standard"][0]["octets"], "81 83 03 47 85");
  EXPECT_FALSE(j.contains("malformed"));
  EXPECT_EQ(json({0x11})["malformed"]["octet"], 2);
  EXPECT_FALSE(json({0x14}).contains("standard"));
}

TEST(DecodeV8bis, TimelineTextAndPageShowSignalsAndFields) {
  Line line(3);
  line.signal(0, 0.2, 0.4, false, 400);
  line.message(1, 1, true, kCl);
  const Call call = analyse(line.recording);
  for (const std::string& shown : {to_text(call), to_html(call)}) {
    for (const char* word : {"V.8bis CRe", "V.8bis CL", "data: V.42, V.42bis", "B5 00 94"})
      EXPECT_THAT(shown, HasSubstr(word));
  }
  EXPECT_EQ(json_of(call)["v8bis"]["signals"][0]["name"], "CRe");
}

}  // namespace
}  // namespace offhook::decode
