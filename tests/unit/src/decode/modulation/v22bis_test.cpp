// SPDX-License-Identifier: MIT
//
// V.22bis as spandsp sends it, over a line with noise, clock difference and offset, and nothing at all.
#include "src/decode/modulation/v22bis.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "driver/user_modem/modem.h"
#include "dsp/v22/pump.h"
#include "hostsim/channel/line.h"
#include "hostsim/engine/random.h"
#include "offhook/decode.h"
#include "src/decode/call/call.h"
#include "src/decode/call/verdict.h"

namespace offhook::decode {
namespace {

/// What both ends send, tapped at the calling end: its own signal, and what comes from the line.
class Tapped : private hostsim::FarEnd {
 public:
  Tapped(const hostsim::LineConfig& config, std::uint32_t bit_rate)
      : near_(config_of(OH_PUMP_CALL, bit_rate)), far_(config_of(OH_PUMP_ANSWER, bit_rate)), line_(config, 1, *this) {
    near_.start();
    far_.start();
    recording.name = "tapped";
    recording.file_rate_hz = kRateHz;
    recording.channel.resize(2);
  }
  void run(double seconds) {
    constexpr std::size_t kBlock = hostsim::Line::kFarBlock;
    for (std::size_t i = 0; i < static_cast<std::size_t>(seconds * kRateHz); i += kBlock) {
      std::int16_t sent[kBlock];
      near_.process(heard_, sent, kBlock);
      line_.exchange(sent, heard_, kBlock);
      recording.channel[0].insert(recording.channel[0].end(), sent, sent + kBlock);
      recording.channel[1].insert(recording.channel[1].end(), heard_, heard_ + kBlock);
    }
    recording.duration_s = static_cast<double>(recording.channel[0].size()) / kRateHz;
  }
  Recording recording;

 private:
  static modem::Modem::Config config_of(oh_pump_role role, std::uint32_t max_bit_rate) {
    modem::Modem::Config c{};
    c.pump = oh_v22bis_type();
    c.role = role;
    c.max_bit_rate = max_bit_rate;
    return c;
  }
  void process(const std::int16_t* rx, std::int16_t* tx, std::size_t n) override { far_.process(rx, tx, n); }
  modem::Modem near_, far_;
  hostsim::Line line_;
  std::int16_t heard_[hostsim::Line::kFarBlock] = {};
};

TEST(DecodeV22bis, ReadsBothDirectionsOverANoisyLineWithEcho) {
  hostsim::LineConfig line;
  line.noise_dbm0 = -45;
  line.clock_ppm = 80;
  line.near_echo_db = 12;
  Tapped call(line, 2400);
  call.run(15);
  const Call heard = analyse(std::move(call.recording));
  printf("%s\n", to_text(heard).c_str());
  ASSERT_STREQ(heard.modulation(), "V.22bis");
  EXPECT_EQ(heard.connection.call.channel, 0);
  EXPECT_EQ(heard.connection.answer.channel, 1);
  EXPECT_EQ(heard.start_up.answer_tones.size(), 1u);
  EXPECT_NEAR(heard.connection.answer.clock_ppm, 80, 1);
  EXPECT_NEAR(heard.connection.call.clock_ppm, 0, 1);
  for (const Connection::Side* side : {&heard.connection.call, &heard.connection.answer}) {
    ASSERT_EQ(side->data.size(), 1u);
    EXPECT_EQ(side->data[0].bit_rate, 2400u);
    EXPECT_GT(side->links[0].frames.size(), 1u);
    EXPECT_EQ(side->links[0].bad_frames, 0);
  }
}

// A recorder that loses 10 samples of one channel, three quarters of a symbol: what is read on is not passed over in
// silence.
TEST(DecodeV22bis, SaysWhereSamplesWereLost) {
  Tapped call(hostsim::LineConfig{}, 2400);
  call.run(15);
  constexpr double kLostS = 11;
  std::vector<float>& x = call.recording.channel[1];
  x.erase(x.begin() + static_cast<long>(kLostS * kRateHz), x.begin() + static_cast<long>(kLostS * kRateHz) + 10);
  x.resize(call.recording.channel[0].size());
  const Call heard = analyse(std::move(call.recording));
  ASSERT_EQ(heard.connection.answer.data.size(), 1u);
  ASSERT_EQ(heard.connection.answer.data[0].spoilt.size(), 1u);
  EXPECT_NEAR(heard.connection.answer.data[0].spoilt[0].first, kLostS, 0.1);
  EXPECT_TRUE(heard.connection.call.data[0].spoilt.empty());
  EXPECT_NE(describe(verdict_of(heard).directions[1]).find("damaged at 11.0 s"), std::string::npos);
}

// At 5 dB the points cannot be told: what is known is the answer tone, and that something follows it.
TEST(DecodeV22bis, WithTooMuchNoiseIsNotNamedAsAnotherSignal) {
  Tapped call(hostsim::LineConfig{}, 2400);
  call.run(15);
  const hostsim::Random random(5, 0);
  double power = 0;
  for (std::size_t c = 0; c < 2; ++c) {
    std::vector<float>& x = call.recording.channel[c];
    for (std::size_t i = x.size() / 2; i < x.size(); ++i) power += static_cast<double>(x[i]) * x[i];
    const double rms = std::sqrt(power / (static_cast<double>(x.size()) / 2) * std::pow(10, -0.5));
    for (std::size_t i = 0; i < x.size(); ++i) x[i] += static_cast<float>(rms * random.normal(2 * i + c));
    power = 0;
  }
  EXPECT_EQ(verdict_of(analyse(std::move(call.recording))).technology, "ANS, then an unidentified signal");
}

// Two tones of 1100 Hz, as a calling fax machine sends them, and then a modem: its training and data are more evidence.
TEST(DecodeV22bis, FaxTonesBeforeItAreNoFaxCall) {
  Tapped call(hostsim::LineConfig{}, 2400);
  call.run(15);
  Recording r = std::move(call.recording);
  std::vector<float> tones(8 * kRateHz);
  for (std::size_t n = 0; n < tones.size(); ++n) {
    const double in_period = std::fmod(static_cast<double>(n) / kRateHz, 3.5);
    if (in_period < 0.5)
      tones[n] = static_cast<float>(3000 * std::sin(2 * 3.14159265 * 1100 / kRateHz * static_cast<double>(n)));
  }
  r.channel[0].insert(r.channel[0].begin(), tones.begin(), tones.end());
  r.channel[1].insert(r.channel[1].begin(), tones.size(), 0.f);
  r.duration_s += 8;
  const Call heard = analyse(std::move(r));
  const Verdict v = verdict_of(heard);
  EXPECT_EQ(v.technology, "V.22bis");
  EXPECT_FALSE(heard.is_fax());
  EXPECT_GT(v.scores.sum_of("fax"), 1);  // it is still a rival
  EXPECT_GT(v.directions.at(0).good_frames, 1u);
}

TEST(DecodeV22bis, Reads1200BitPerSecond) {
  Tapped call(hostsim::LineConfig{}, 1200);
  call.run(15);
  const Call heard = analyse(std::move(call.recording));
  printf("%s\n", to_text(heard).c_str());
  ASSERT_STREQ(heard.modulation(), "V.22");  // there is no S1
  for (const Connection::Side* side : {&heard.connection.call, &heard.connection.answer}) {
    ASSERT_EQ(side->data.size(), 1u);
    EXPECT_EQ(side->data[0].bit_rate, 1200u);
    EXPECT_GT(side->links[0].frames.size(), 1u);
  }
}

TEST(DecodeV22bis, NoiseAndSilenceAreNone) {
  Recording noise;
  noise.channel.resize(2);
  noise.channel[0].resize(8 * kRateHz);
  const hostsim::Random random(5, 0);
  for (std::size_t i = 0; i < noise.channel[0].size(); ++i) {
    noise.channel[0][i] = 2000 * static_cast<float>(random.normal(i));
  }
  noise.channel[1].assign(8 * kRateHz, 0.f);
  EXPECT_EQ(find_v22bis(noise).modulation, nullptr);
}

}  // namespace
}  // namespace offhook::decode
