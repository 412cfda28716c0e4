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
  EXPECT_NEAR(heard.connection.answer.clock_ppm, 80, 15);
  for (const Connection::Side* side : {&heard.connection.call, &heard.connection.answer}) {
    ASSERT_EQ(side->data.size(), 1u);
    EXPECT_EQ(side->data[0].bit_rate, 2400u);
    EXPECT_GT(side->links[0].frames.size(), 1u);
    EXPECT_EQ(side->links[0].bad_frames, 0);
  }
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
