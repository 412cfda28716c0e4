// SPDX-License-Identifier: MIT
//
// Recordings that begin or end in the middle of a call, that have noise or echo, or one direction: what the verdict may
// say of them, and what it may not. The calls are our own pumps'.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <string_view>
#include <vector>

#include "dsp/v22/pump.h"
#include "dsp/v32/pump.h"
#include "hostsim/engine/random.h"
#include "offhook/decode.h"
#include "src/decode/call/call.h"
#include "src/decode/call/verdict.h"
#include "tests/unit/src/decode/recorded_call.h"

namespace offhook::decode {
namespace {

/// The other direction `echo_db` down and 65 ms late, and white noise at `snr_db`.
Recording disturbed(Recording r, double echo_db, double snr_db) {
  constexpr std::size_t kLate = 520;
  const hostsim::Random random(2, 1);
  const std::vector<std::vector<float>> sent = r.channel;
  for (std::size_t c = 0; c < 2; ++c) {
    double power = 0;
    for (const float v : sent[c]) power += static_cast<double>(v) * v / static_cast<double>(sent[c].size());
    const auto noise = static_cast<float>(std::sqrt(power) * std::pow(10, -snr_db / 20));
    const auto echo = static_cast<float>(std::pow(10, -echo_db / 20));
    for (std::size_t i = 0; i < sent[c].size(); ++i)
      r.channel[c][i] +=
          (i < kLate ? 0 : echo * sent[1 - c][i - kLate]) + noise * static_cast<float>(random.normal(2 * i + c));
  }
  return r;
}

/// V.34: data from about 9.5 s on, a retrain after 4 s of them, and 3 s.
RecordedCall& retrained() {
  static RecordedCall call(oh_v34_type());
  [[maybe_unused]] static const bool made = [] {
    EXPECT_TRUE(call.connect());
    call.run(4);
    oh_v34_retrain(call.near().pump_memory());
    call.run(1);
    EXPECT_TRUE(call.data(20));
    call.run(3);
    return true;
  }();
  return call;
}

TEST(DecodeParts, ARetrainEndsNoLinkAndItsFramesAreOneCallsFrames) {
  const Call heard = analyse(retrained().recording());
  const Verdict v = verdict_of(heard);
  EXPECT_EQ(v.retrains, 1);
  ASSERT_EQ(heard.trainings.size(), 2u);
  for (const Verdict::Direction& way : v.directions) {
    const bool call = std::string_view(way.name) == "call to answer";
    std::size_t frames = 0;
    for (const Training& t : heard.trainings)
      for (const Link& link : (call ? t.from_1200 : t.from_2400).links) frames += link.frames.size();
    EXPECT_EQ(way.good_frames, frames);
    EXPECT_TRUE(way.to_the_end);
  }
  // Frames that the retrain cut are sent again, and stand there once.
  for (const auto& [name, octets] : payloads(heard)) {
    if (name.ends_with(".bits")) continue;
    std::size_t right = 0;
    while (right < octets.size() && octets[right] == retrained().byte_to(name == "call.bin", right)) ++right;
    EXPECT_EQ(right, octets.size()) << name;
    EXPECT_GT(right, 10'000u);
  }
}

TEST(DecodeParts, ARecordingThatBeginsInDataModeCountsTheRetrainThatFollows) {
  const double data = retrained().connected_s();
  const Verdict v = verdict_of(analyse(retrained().recording(data + 0.3)));
  EXPECT_EQ(v.technology, "V.34");
  EXPECT_EQ(v.retrains, 1);
  EXPECT_EQ(v.renegotiations, 0);
  for (const Verdict::Direction& way : v.directions) EXPECT_GT(way.good_frames, 20u);
}

// Phase 4 behind Phase 3 is no rate renegotiation.
TEST(DecodeParts, ARecordingThatBeginsInTrainingHasNoRenegotiation) {
  const double data = retrained().connected_s();
  const Verdict v = verdict_of(analyse(retrained().recording(data - 4.5, data + 3.5)));
  EXPECT_EQ(v.technology, "V.34");
  EXPECT_EQ(v.renegotiations, 0);
  EXPECT_EQ(v.retrains, 0);
  for (const Verdict::Direction& way : v.directions) EXPECT_GT(way.good_frames, 20u) << describe(way);
}

// Decisions are guesses then, and guesses can be made to the end.
TEST(DecodeParts, DataInTooMuchNoiseAreNotReadToTheEnd) {
  const double data = retrained().connected_s();
  const Verdict v = verdict_of(analyse(disturbed(retrained().recording(0, data + 3), 60, 26)));
  ASSERT_EQ(v.directions.size(), 2u);
  for (const Verdict::Direction& way : v.directions) {
    EXPECT_EQ(way.bit_rate, 33600);
    EXPECT_FALSE(way.to_the_end);
    EXPECT_TRUE(way.reason.starts_with("its SNR is below ")) << way.reason;
  }
}

// Symbol rate and carrier are said in INFO1a, which the other side may have sent.
TEST(DecodeParts, OneSideAloneOfV34IsReadToItsData) {
  RecordedCall call(oh_v34_type());
  ASSERT_TRUE(call.connect());
  call.run(2);
  for (const bool answer : {false, true}) {
    Recording r = call.recording();
    r.channel.erase(r.channel.begin() + (answer ? 0 : 1));
    r.peak = r.clipped = {0};
    const Call heard = analyse(std::move(r));
    const Verdict v = verdict_of(heard);
    EXPECT_EQ(v.technology, "V.34") << answer;
    ASSERT_EQ(heard.trainings.size(), 1u) << answer;
    const Training::Side& side = answer ? heard.trainings[0].from_2400 : heard.trainings[0].from_1200;
    ASSERT_NE(side.mp(), nullptr) << answer;
    ASSERT_FALSE(side.segments.empty());
    EXPECT_GT(side.segments[0].t_pp, 0);
    EXPECT_GT(side.segments[0].j_repeats, 2);
    ASSERT_EQ(v.directions.size(), 2u);
    EXPECT_EQ(v.directions[answer ? 1 : 0].rate_from, std::string("not read")) << "one MP is no rate";
  }
}

// A tone behind a renegotiation, in one channel, over B1 or up to the next renegotiation: what was lost is said.
TEST(DecodeParts, DataThatCouldNotBeReadAreSaid) {
  RecordedCall call(oh_v34_type());
  ASSERT_TRUE(call.connect());
  call.run(2);
  for (int k = 0; k < 2; ++k) {
    oh_v34_renegotiate(call.near().pump_memory());
    call.run(0.3);
    ASSERT_TRUE(call.data());
    call.run(2);
  }
  const Recording sent = call.recording();
  const Call clean = analyse(sent);
  ASSERT_EQ(clean.trainings.at(0).from_1200.data.size(), 3u);
  const double b1 = clean.trainings[0].from_1200.data[1].t0;
  const Verdict all = verdict_of(clean);
  const auto with_tone = [&](double from_s, double length_s) {
    Recording r = sent;
    for (int n = 0; n < length_s * kRateHz; ++n)
      r.channel[0][static_cast<std::size_t>(from_s * kRateHz) + static_cast<std::size_t>(n)] +=
          static_cast<float>(4000 * std::sin(0.4 * n));
    return verdict_of(analyse(r));
  };
  for (const double tone_s : {0.05, 1.8}) {
    SCOPED_TRACE(tone_s);
    const Verdict v = with_tone(b1, tone_s);
    ASSERT_EQ(v.directions.size(), 2u);
    const Verdict::Direction& way = v.directions[0];
    EXPECT_TRUE(way.to_the_end) << describe(way);
    EXPECT_NEAR(way.hole_s, b1, 0.02);
    if (tone_s < 1) {
      EXPECT_NEAR(way.hole_end_s, b1 + tone_s, 0.02);
      EXPECT_NE(describe(way).find("but not those from"), std::string::npos);
      EXPECT_GE(way.good_frames + 5, all.directions[0].good_frames);
    } else {
      EXPECT_NE(describe(way).find("but not those after"), std::string::npos);
      EXPECT_LT(way.good_frames, 0.8 * static_cast<double>(all.directions[0].good_frames));
    }
    EXPECT_EQ(v.directions[1].hole_s, 0);
  }
  const Verdict v = with_tone(clean.trainings[0].from_1200.data[2].t0, 1.9);
  EXPECT_FALSE(v.directions[0].to_the_end);
  EXPECT_TRUE(v.directions[0].reason.starts_with("B1 does not match")) << v.directions[0].reason;
  EXPECT_NE(v.directions[0].reason.find("bit/s were found up to"), std::string::npos) << v.directions[0].reason;
}

/// V.22bis: 4 s of data, a retrain, 4 s more, and one end hangs up.
Recording v22bis_retrained() {
  RecordedCall call(oh_v22bis_type());
  EXPECT_TRUE(call.connect());
  call.run(4);
  oh_v22bis_retrain(call.near().pump_memory());
  call.run(1);
  EXPECT_TRUE(call.data(20));
  call.run(4);
  call.near().hang_up();
  call.run(3);
  return call.recording();
}

TEST(DecodeParts, RetrainsOfV22bisAreCountedAndS1IsNoData) {
  // The caller's channel keeps the echo when the caller is gone.
  const Recording r = disturbed(v22bis_retrained(), 30, 40);
  const Verdict v = verdict_of(analyse(r));
  EXPECT_EQ(v.technology, "V.22bis");
  EXPECT_EQ(v.retrains, 1);
  ASSERT_EQ(v.directions.size(), 2u);
  for (const Verdict::Direction& way : v.directions) {
    EXPECT_EQ(way.bit_rate, 2400);
    EXPECT_EQ(way.bad_frames, 0);
    EXPECT_TRUE(way.to_the_end) << describe(way);
  }
}

// One direction alone: the other's echo is hardly over the noise, and points of 1200 bit/s are often taken for others.
TEST(DecodeParts, NoiseMakesNoV22bisOfV22) {
  RecordedCall call(oh_v22_type());
  ASSERT_TRUE(call.connect());
  call.run(5);
  for (const std::size_t c : {0u, 1u}) {
    for (const double over_noise_db : {6.0, 8.0, 10.0, 12.0}) {
      Recording r = disturbed(call.recording(), 26, 26 + over_noise_db);
      r.channel = {r.channel[c]};
      r.peak.resize(1);
      r.clipped.resize(1);
      const Verdict v = verdict_of(analyse(r));
      EXPECT_EQ(v.technology, "V.22") << c << ", " << over_noise_db;
      for (const Verdict::Direction& way : v.directions) EXPECT_LE(way.bit_rate, 1200) << way.name;
    }
  }
}

// Half a second before the end 8 samples are heard twice: the points of what is left are of no rate.
TEST(DecodeParts, ASlipMakesNoV22bisOfV22) {
  RecordedCall call(oh_v22_type());
  ASSERT_TRUE(call.connect());
  call.run(5);
  Recording r = disturbed(call.recording(), 32, 42);
  for (std::vector<float>& x : r.channel) {
    const std::vector<float> again(x.end() - 4008, x.end() - 4000);
    x.insert(x.end() - 4000, again.begin(), again.end());
  }
  r.duration_s = static_cast<double>(r.channel[0].size()) / kRateHz;
  const Verdict v = verdict_of(analyse(r));
  EXPECT_EQ(v.technology, "V.22");
  ASSERT_EQ(v.directions.size(), 2u);
  for (const Verdict::Direction& way : v.directions) {
    EXPECT_EQ(way.bit_rate, 1200) << way.name;
    EXPECT_GT(way.good_frames, 3u) << way.name;
  }
}

/// V.32bis: retrains by either end, and a cleardown by the answerer.
const RecordedCall& v32bis_call() {
  static RecordedCall call(oh_v32bis_type());
  [[maybe_unused]] static const bool made = [] {
    EXPECT_TRUE(call.connect());
    call.run(3);
    oh_v32bis_retrain(call.near().pump_memory());
    call.run(1);
    EXPECT_TRUE(call.data(20));
    call.run(2);
    call.far().hang_up();
    call.run(3);
    return true;
  }();
  return call;
}

// One channel of a call: the other side is there as its echo, in which its INFO sequences can still be read.
TEST(DecodeParts, TheSideThatIsThereAsAnEchoAloneWasNotRecorded) {
  for (const double echo_db : {15.0, 25.0, 40.0}) {
    for (std::size_t c = 0; c < 2; ++c) {
      Recording r = disturbed(retrained().recording(), echo_db, 60);
      if (c == 1) r.channel[0].swap(r.channel[1]);
      r.channel.resize(1);
      r.peak.resize(1);
      r.clipped.resize(1);
      const Verdict v = verdict_of(analyse(r));
      EXPECT_EQ(v.technology, "V.34") << echo_db << " dB";
      ASSERT_EQ(v.directions.size(), 2u);
      int not_recorded = 0;
      for (const Verdict::Direction& way : v.directions) {
        EXPECT_EQ(way.reason.find("no S, PP or TRN"), std::string::npos) << way.reason;
        not_recorded += way.reason.find("not recorded") != std::string::npos;
      }
      EXPECT_EQ(not_recorded, 1) << echo_db << " dB, channel " << c;
    }
  }
}

TEST(DecodeParts, OfV32bisTheFirstTrainingMayBeARetrain) {
  const double data = v32bis_call().connected_s();
  for (const auto& [from, retrains] : {std::pair{0.0, 1}, std::pair{data + 0.5, 1}}) {
    const Verdict v = verdict_of(analyse(v32bis_call().recording(from)));
    EXPECT_EQ(v.technology, "V.32bis");
    EXPECT_EQ(v.retrains, retrains) << from;
    EXPECT_EQ(v.cleardowns, 1) << from;
  }
}

// Its own rate signal has rates, and its E has none.
TEST(DecodeParts, WhoIsAskedToClearDownTellsItAlone) {
  Recording r = v32bis_call().recording();
  r.channel.resize(1);
  r.peak.resize(1);
  r.clipped.resize(1);
  const Verdict v = verdict_of(analyse(r));
  EXPECT_EQ(v.cleardowns, 1);
  EXPECT_EQ(v.renegotiations, 0);
  ASSERT_EQ(v.directions.size(), 2u);  // the one that was not recorded, too, with a reason
  EXPECT_FALSE(v.directions[1].reason.empty());
}

TEST(DecodeParts, WithoutARateSignalV32AndV32bisAreNotToldFromEachOther) {
  const double data = v32bis_call().connected_s();
  const Call heard = analyse(v32bis_call().recording(0, data - 4));
  const Verdict v = verdict_of(heard);
  EXPECT_EQ(v.technology, "V.32 or V.32bis");
  ASSERT_EQ(v.directions.size(), 2u);
  for (const Verdict::Direction& way : v.directions) {
    EXPECT_FALSE(way.to_the_end);
    EXPECT_FALSE(way.reason.empty());
    EXPECT_GE(way.channel, 0);
  }
}

// What the receiver adds of its own stays far below a line's noise.
TEST(DecodeParts, SnrOfV32bisIsTheLines) {
  RecordedCall call(oh_v32bis_type());
  ASSERT_TRUE(call.connect());
  call.run(3);
  const Recording clean = call.recording();
  const auto snr_db = [](const Recording& r) { return analyse(r).connection.call.data.at(0).snr_db; };
  EXPECT_GT(snr_db(clean), 70);
  // Of noise over 4000 Hz a matched receiver takes the 2400 Hz of the band.
  EXPECT_NEAR(snr_db(disturbed(clean, 200, 50)), 50 + 10 * std::log10(4000.0 / 2400), 1.5);
}

}  // namespace
}  // namespace offhook::decode
