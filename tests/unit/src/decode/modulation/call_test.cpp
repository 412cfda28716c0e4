// SPDX-License-Identifier: MIT
//
// Calls of our own V.32bis pumps under V.42, recorded and decoded: renegotiations, retrains, cleardown.
#include "src/decode/call/call.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <vector>

#include "dsp/v32/pump.h"
#include "hostsim/engine/random.h"
#include "offhook/decode.h"
#include "src/decode/modulation/v32bis.h"
#include "src/decode/presentation/json.h"
#include "tests/unit/src/decode/recorded_call.h"

namespace offhook::decode {
namespace {

using Kind = Change::Kind;

class V32bisCall : public RecordedCall {
 public:
  explicit V32bisCall(std::uint32_t max_bit_rate = 0) : RecordedCall(oh_v32bis_type(), max_bit_rate) {}
};

/// Everything that was sent has been read: nothing bad, nothing missing.
void expect_all_read(const Connection::Side& side, std::size_t data_modes) {
  ASSERT_EQ(side.links.size(), data_modes);
  for (const Link& link : side.links) {
    EXPECT_EQ(link.bad_frames, 0);
    EXPECT_EQ(link.gaps, 0);
    EXPECT_GT(link.frames.size(), 5u);
  }
}

std::vector<const RateSignalHeard*> named(const Connection::Side& side, const std::string& name) {
  std::vector<const RateSignalHeard*> found;
  for (const RateSignalHeard& r : side.rate_signals) {
    if (r.name == name) found.push_back(&r);
  }
  return found;
}

// To 9600 by the caller, to 4800 by the answerer.
const Recording& renegotiated() {
  static const Recording recording = [] {
    V32bisCall call;
    EXPECT_TRUE(call.connect());
    call.run(2);
    oh_v32bis_renegotiate(call.near().pump_memory(), 9600);
    call.run(2);
    oh_v32bis_renegotiate(call.far().pump_memory(), 4800);
    call.run(3);
    return call.recording();
  }();
  return recording;
}

TEST(DecodeV32bisCall, RenegotiationsAreSeenAndNoByteIsMissedAcrossThem) {
  const Connection found = find_v32bis(renegotiated());
  ASSERT_STREQ(found.modulation, "V.32bis");
  ASSERT_EQ(found.changes.size(), 2u);
  EXPECT_EQ(found.changes[0].kind, Kind::kRenegotiation);
  EXPECT_STREQ(found.changes[0].by, "call");
  EXPECT_EQ(found.changes[0].bit_rate, 9600u);
  EXPECT_STREQ(found.changes[1].by, "answer");
  EXPECT_EQ(found.changes[1].bit_rate, 4800u);
  for (const Connection::Side* side : {&found.call, &found.answer}) {
    expect_all_read(*side, 3);
    EXPECT_EQ(side->data.at(1).bit_rate, 9600u);
    EXPECT_EQ(side->data.at(2).bit_rate, 4800u);
    for (const DataHeard& d : side->data) EXPECT_EQ(d.b1_errors, 0);
    EXPECT_EQ(named(*side, "E").size(), 3u);
  }
  // The answerer's R1 and R3, the caller's R2; then who began has R4, with the rate wanted and all below it.
  EXPECT_EQ(named(found.answer, "R1").at(0)->signal.rates, 31 | 1 << v32::kPlain9600);
  EXPECT_EQ(named(found.call, "R2").size(), 1u);
  EXPECT_EQ(named(found.answer, "R3").at(0)->signal.rates, 1 << 4);
  EXPECT_EQ(named(found.call, "R4").at(0)->signal.rates & 31, 0b00111);
  EXPECT_EQ(named(found.answer, "R5").at(0)->signal.rates & 31, 0b11111);
  EXPECT_EQ(named(found.answer, "R4").at(0)->signal.rates & 31, 0b00001);
  EXPECT_EQ(named(found.call, "R5").at(0)->signal.rates & 31, 0b11111);
}

TEST(DecodeV32bisCall, TimelineAndJsonTellOfThem) {
  const Call call = analyse(renegotiated());
  const std::string text = to_text(call);
  EXPECT_THAT(text, testing::HasSubstr("rate renegotiation: by the call modem, 9600 bit/s then"));
  EXPECT_THAT(text, testing::HasSubstr("R4: 4800, 7200, 9600 bit/s"));
  EXPECT_THAT(text, testing::HasSubstr("AA: reversal at"));
  EXPECT_THAT(to_html(call), testing::HasSubstr("rate renegotiation"));
  const auto j = json_of(call);
  ASSERT_EQ(j["changes"].size(), 2u);
  EXPECT_EQ(j["changes"][0]["name"], "rate renegotiation");
  EXPECT_EQ(j["changes"][0]["by"], "call");
  EXPECT_EQ(j["changes"][0]["bit_rate"], 9600);
  const auto& r = j["connection"]["answer_to_call"]["rate_signals"];
  EXPECT_EQ(r[0]["name"], "R1");
  EXPECT_EQ(r[0]["bits"], "0000111111111001");  // Table 5, B0 first
  EXPECT_EQ(r[0]["bit_rates"], nlohmann::ordered_json({4800, 7200, 9600, 12000, 14400}));
}

TEST(DecodeV32bisCall, OneDirectionAloneDoesNotTellWhoBegan) {
  for (const std::size_t c : {0u, 1u}) {
    Recording one = renegotiated();
    one.channel = {one.channel[c]};
    const Connection found = find_v32bis(one);
    expect_all_read(c == 0 ? found.call : found.answer, 3);
    ASSERT_EQ(found.changes.size(), 2u);
    EXPECT_EQ(found.changes[0].by, nullptr);
    EXPECT_EQ(named(c == 0 ? found.call : found.answer, "R4 or R5").size(), 2u);
  }
}

// The two-wire line of a real recording: gain, noise, offset, and the other direction's echo.
TEST(DecodeV32bisCall, EchoNoiseAndLevelAreBorne) {
  Recording line = renegotiated();
  const hostsim::Random random(3, 1);
  const std::vector<float> sent[2] = {line.channel[0], line.channel[1]};
  constexpr std::size_t kLate = 320;
  for (std::size_t c = 0; c < 2; ++c) {
    for (std::size_t i = 0; i < sent[c].size(); ++i) {
      const float echo = i < kLate ? 0 : 0.1f * sent[1 - c][i - kLate];  // 20 dB down
      line.channel[c][i] = 0.2f * (sent[c][i] + echo) + 10 * static_cast<float>(random.normal(2 * i + c));
    }
  }
  const Connection found = analyse(line).connection;
  expect_all_read(found.call, 3);
  expect_all_read(found.answer, 3);
  EXPECT_EQ(found.changes.size(), 2u);
}

// A burst louder than the data is no end of them.
TEST(DecodeV32bisCall, DataGoOnAfterABurstOfNoise) {
  V32bisCall call;
  ASSERT_TRUE(call.connect());
  call.run(5);
  Recording r = call.recording();
  const hostsim::Random random(4, 1);
  const auto begin = static_cast<std::size_t>((call.connected_s() + 2) * kRateHz);
  for (std::size_t i = begin; i < begin + kRateHz / 2; ++i)
    r.channel[0][i] += static_cast<float>(8000 * random.normal(i));
  const Connection found = find_v32bis(r);
  ASSERT_EQ(found.call.data.size(), 1u);
  EXPECT_NEAR(found.call.data[0].t1, r.duration_s, 0.05);
  EXPECT_GT(found.call.links[0].frames.back().t, r.duration_s - 0.5);
  EXPECT_TRUE(found.changes.empty());
}

TEST(DecodeV32bisCall, RetrainsOfEitherEndAndWhatFollows) {
  V32bisCall call;
  ASSERT_TRUE(call.connect());
  call.run(2);
  oh_v32bis_retrain(call.near().pump_memory());
  call.run(1);
  ASSERT_TRUE(call.data(20));
  call.run(2);
  oh_v32bis_retrain(call.far().pump_memory());
  call.run(1);
  ASSERT_TRUE(call.data(20));
  call.run(2);
  const Connection found = find_v32bis(call.recording());
  ASSERT_EQ(found.changes.size(), 2u);
  EXPECT_EQ(found.changes[0].kind, Kind::kRetrain);
  EXPECT_STREQ(found.changes[0].by, "call");
  EXPECT_EQ(found.changes[1].kind, Kind::kRetrain);
  EXPECT_STREQ(found.changes[1].by, "answer");
  for (const Connection::Side* side : {&found.call, &found.answer}) {
    ASSERT_EQ(side->data.size(), 3u);
    for (const Link& link : side->links) EXPECT_GT(link.frames.size(), 15u);
    const bool answer = side == &found.answer;
    EXPECT_EQ(std::count_if(side->signals.begin(), side->signals.end(),
                            [](const Connection::Signal& s) { return s.what == "TRN"; }),
              answer ? 6 : 3);
    EXPECT_EQ(named(*side, answer ? "R3" : "R2").size(), 3u);
    // Start-up and two retrains, each with its reversals (6.1, 6.2).
    std::vector<std::string> tones;
    for (const Connection::Signal& s : side->signals) {
      if (s.what == (answer ? "AC" : "AA")) tones.push_back(s.detail);
    }
    ASSERT_EQ(tones.size(), 3u);
    for (const std::string& t : tones) EXPECT_EQ(std::count(t.begin(), t.end(), ','), answer ? 1 : 0) << t;
  }
}

TEST(DecodeV32bisCall, CleardownOfEitherEnd) {
  for (const bool caller : {true, false}) {
    V32bisCall call;
    ASSERT_TRUE(call.connect());
    call.run(2);
    (caller ? call.near() : call.far()).hang_up();
    call.run(3);
    const Connection found = find_v32bis(call.recording());
    ASSERT_EQ(found.changes.size(), 1u);
    EXPECT_EQ(found.changes[0].kind, Kind::kCleardown);
    EXPECT_STREQ(found.changes[0].by, caller ? "call" : "answer");
    for (const Connection::Side* side : {&found.call, &found.answer}) {
      ASSERT_EQ(side->data.size(), 1u);
      EXPECT_EQ(side->links[0].bad_frames, 0);
      const RateSignalHeard& last = side->rate_signals.back();
      EXPECT_EQ(last.name, "E");
      EXPECT_EQ(last.signal.rates, 0);
      EXPECT_GE(last.count, 6);
    }
  }
}

// V.32: no renegotiation, 9600 bit/s with trellis coding or without, 4800.
TEST(DecodeV32bisCall, V32ModemsAreRead) {
  const struct {
    bool trellis;
    std::uint32_t max, rate;
    const char* words;
  } cases[] = {{true, 0, 9600, "4800, 9600 bit/s (V.32)"},
               {false, 0, 9600, "4800, 9600 bit/s without trellis coding (V.32)"},
               {true, 4800, 4800, "4800 bit/s (V.32)"}};
  for (const auto& c : cases) {
    V32bisCall call(c.max);
    oh_v32bis_only_v32(call.far().pump_memory(), c.trellis);
    ASSERT_TRUE(call.connect());
    call.run(3);
    const Connection found = find_v32bis(call.recording());
    ASSERT_STREQ(found.modulation, "V.32");
    expect_all_read(found.call, 1);
    expect_all_read(found.answer, 1);
    EXPECT_EQ(found.call.data[0].bit_rate, c.rate);
    EXPECT_TRUE(std::any_of(found.answer.signals.begin(), found.answer.signals.end(), [&](const Connection::Signal& s) {
      return s.what == "R1" && s.detail.starts_with(c.words);
    })) << c.words;
  }
}

}  // namespace
}  // namespace offhook::decode
