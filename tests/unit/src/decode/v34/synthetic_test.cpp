// SPDX-License-Identifier: MIT
//
// A direction made by our own encoder, heard by the decoder.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "dsp/v34/session/data_mode.h"
#include "hostsim/channel/channel.h"
#include "src/decode/line/link.h"
#include "src/decode/line/recording.h"
#include "src/decode/v34/data_mode.h"
#include "src/decode/v34/training.h"
#include "tests/unit/src/decode/frame_source.h"
#include "tests/unit/src/decode/line_signal.h"

namespace offhook::decode {
namespace {

constexpr v34::SymbolRate kRate = v34::SymbolRate::k3200;
constexpr std::uint32_t kBitRate = 26400;

struct Sent {
  std::vector<float> line;
  double offset_hz = 0;
  v34::DataParameters parameters;
  v34::Mp mp;
  v34::EncoderStart start;
};

// S, S-bar, PP, TRN, J, J' and, where `fresh_trn`, TRN again; MP with sixteen points, E, B1, and frames.
// @param start  where the encoder stands before B1; all zero by the Recommendation. Missing mapping frames are faint.
Sent send(bool fresh_trn, double offset_hz = 2, const v34::EncoderStart& start = {}) {
  Sent s;
  s.start = start;
  s.mp = {};
  s.mp.type1 = true;
  s.mp.max_call_to_answer = s.mp.max_answer_to_call = kBitRate / 2400;
  s.mp.trellis = v34::TrellisCode::k32;
  s.mp.nonlinear = s.mp.acknowledge = true;
  s.mp.rate_mask = 0x3FFF;
  s.mp.precoder.h[0] = {3000, -500};
  s.mp.precoder.h[1] = {-1200, 300};
  s.parameters = {{make_framing(kRate, kBitRate, false, false), kGpc, s.mp.trellis, s.mp.precoder}, true, kBitRate};
  const float four = 1 / std::numbers::sqrt2_v<float>, sixteen = 1 / std::sqrt(10.f);
  std::vector<Cf> y;
  for (int i = 0; i < 128; ++i) y.push_back(scaled(v34::s_symbol(i), four));
  for (int i = 0; i < 16; ++i) y.push_back(scaled(v34::s_bar_symbol(i), four));
  for (int i = 0; i < v34::kPpSymbols; ++i) y.push_back(Cf(std::polar(1.0, std::numbers::pi * v34::pp_phase(i) / 6)));
  v34::TrainingEncoder encoder(kGpc, v34::TrainingPoints::k4);
  for (int i = 0; i < 1500; ++i) y.push_back(scaled(encoder.trn(), four));
  const auto bits = [&](std::uint32_t pattern, int n) {
    std::vector<std::uint8_t> b;
    for (int k = n - 1; k >= 0; --k) b.push_back(pattern >> k & 1);
    return b;
  };
  const auto put = [&](const std::vector<std::uint8_t>& b, std::size_t per_symbol, float scale) {
    for (std::size_t k = 0; k + per_symbol <= b.size(); k += per_symbol)
      y.push_back(scaled(encoder.sequence(&b[k]), scale));
  };
  for (int i = 0; i < 30; ++i) put(bits(v34::kSequenceJ16, 16), 2, four);
  put(bits(v34::kSequenceJPrime, 16), 2, four);
  encoder = v34::TrainingEncoder(kGpc, v34::TrainingPoints::k16);
  if (fresh_trn) {
    for (int i = 0; i < 600; ++i) y.push_back(scaled(encoder.trn(), sixteen));
  }
  std::vector<std::uint8_t> mp(v34::Mp::kBitsType1);
  encode(s.mp, mp.data());
  for (int i = 0; i < 6; ++i) put(mp, 4, sixteen);
  put(std::vector<std::uint8_t>(v34::kSequenceEBits, 1), 4, sixteen);
  v34::DataTransmitter data(s.parameters);
  FrameSource source;
  const v34::DataPort port{source.port(), {}};
  if (start.quadrant == 0 && start.trellis_state == 0 && start.frame == 0) {
    for (int i = 0; i < 4000; ++i) {
      const Complex c = data.next(port, true);
      y.emplace_back(c.re, c.im);
    }
  } else {
    v34::Encoder coder(s.parameters.coding, start);
    const qam::NonlinearEncoder nonlinear(v34::kNonlinearTheta, s.parameters.mean_energy());
    const float scale = 1 / std::sqrt(s.parameters.transmitted_energy());
    for (int i = 0; i < start.frame * v34::kSymbolsPerMappingFrame; ++i)
      y.emplace_back(0.03f, i % 2 == 0 ? 0.1f : -0.05f);
    for (int f = start.frame; f < 500; ++f) {
      std::uint8_t primary[v34::kMaxMappingFrameBits];
      for (int k = 0; k < coder.primary_bits(); ++k)
        primary[k] = f < s.parameters.coding.framing.mapping_frames
                         ? 1
                         : static_cast<std::uint8_t>(oh_port_get_bit(&port.primary));
      v34::Encoder::Symbol symbols[v34::kSymbolsPerMappingFrame];
      coder.frame(primary, 0, symbols);
      for (const auto& symbol : symbols) {
        float re = static_cast<float>(symbol.x.re) / 128, im = static_cast<float>(symbol.x.im) / 128;
        nonlinear.encode(&re, &im);
        y.emplace_back(scale * re, scale * im);
      }
    }
  }
  s.line = modulate(y, kRate, v34::Carrier::kLow, 80, offset_hz);
  s.offset_hz = offset_hz;
  return s;
}

// Of the one direction that send() makes.
Direction direction_sent() {
  Direction d{};
  d.rate = kRate;
  d.carrier = v34::Carrier::kLow;
  d.scrambling = kGpc;
  return d;
}

// @param other_channel  what the other direction's channel of the recording holds, or empty
// @param most_gaps  frames that may be lost
void expect_heard(const Sent& s, const std::vector<float>& other_channel = {}, int most_gaps = 0) {
  const Direction d = direction_sent();
  const Baseband line(s.line, carrier_hz(kRate, d.carrier), symbol_rate_hz(kRate));
  const Baseband other_line(other_channel, carrier_hz(kRate, d.carrier), symbol_rate_hz(kRate));
  const Baseband* const other = other_channel.empty() ? nullptr : &other_line;
  const auto segments = follow(line, other, d, find_anchors(line, d, 0, 1e9));
  ASSERT_FALSE(segments.empty());
  const Segment& first = segments.front();
  EXPECT_GT(first.t_pp, 0);
  EXPECT_NEAR(first.t_s, 40 / 3200.0, 1e-3);
  EXPECT_NEAR(first.trn_symbols, 1500, 3);
  EXPECT_NEAR(first.clock_ppm, 80, 8);
  EXPECT_NEAR(first.frequency_offset_hz, s.offset_hz + 80e-6 * carrier_hz(kRate, d.carrier), 0.1);
  EXPECT_EQ(first.j_points, 16);
  EXPECT_GE(first.j_repeats, 28);
  EXPECT_GT(first.t_j_prime, 0);
  const Segment& last = segments.back();
  ASSERT_FALSE(last.mp.empty());
  EXPECT_GE(last.mp[0].count, 5);  // the descrambler needs the first to settle
  EXPECT_EQ(last.mp[0].mp.precoder.h[1].re, -1200);
  ASSERT_GT(last.t_e_end, 0);
  const V34DataHeard data =
      read_data(line, other, d, s.parameters, last.at_data, static_cast<double>(s.line.size()) - 300);
  EXPECT_GT(data.b1_match, 0.99);
  EXPECT_EQ(data.b1_errors, 0);
  EXPECT_EQ(data.b1_start.frame, s.start.frame);
  EXPECT_EQ(data.b1_start.trellis_state, s.start.trellis_state);
  const Link link = read_link(data);
  EXPECT_GT(link.frames.size(), 100u);
  EXPECT_LE(link.gaps, most_gaps);
  if (link.gaps > 0) return;
  for (std::size_t k = 0; k < link.payload.size(); ++k) {
    ASSERT_EQ(link.payload[k], static_cast<std::uint8_t>(k));
  }
}

TEST(DecodeSynthetic, ADirectionOfOurOwnIsReadFromSToTheFramesOfItsData) {
  expect_heard(send(true));
}

TEST(DecodeSynthetic, MpIsReadWithThePhase3EqualizerWhereNoFreshTrnIsSent) {
  expect_heard(send(false));
}

// Some senders leave the trellis encoder where it stands, and some begin B1 a mapping frame late.
TEST(DecodeSynthetic, B1MayBeginInAnyStateOfTheEncoder) {
  for (const v34::EncoderStart& start : {v34::EncoderStart{1, 0, 0}, {0, 19, 0}, {1, 6, 1}}) {
    SCOPED_TRACE(testing::Message() << start.quadrant << ", " << start.trellis_state << ", " << start.frame);
    expect_heard(send(true, 2, start));
  }
}

TEST(DecodeSynthetic, ACarrierMayBeSevenHertzOff) {
  for (const double offset_hz : {-7.0, 7.0}) {
    SCOPED_TRACE(offset_hz);
    expect_heard(send(true, offset_hz));
  }
}

// The band edges come 8 ms late and up to 25 dB weaker: no symbol of a known sequence stands out, and the equaliser has
// to be long.
TEST(DecodeSynthetic, TheLineMayDisperseOverManySymbols) {
  Sent s = send(true);
  const auto filter = hostsim::design_channel(hostsim::channel_characteristic("v56bis-ad6-edd3")).in_phase;
  const std::vector<float> x = s.line;
  for (std::size_t n = 0; n < x.size(); ++n) {
    s.line[n] = 0;
    for (std::size_t k = 0; k < filter.size(); ++k) {
      const std::size_t at = n + hostsim::kChannelDelay - k;
      if (at < x.size()) s.line[n] += filter[k] * x[at];
    }
  }
  expect_heard(s);
}

// A retrain: the sender goes silent in mid-frame, and then sends a tone.
TEST(DecodeSynthetic, DataEndWhereTheSenderGoesSilent) {
  Sent s = send(true);
  const std::size_t silent = s.line.size() - 3000, tone = silent + 560;
  for (std::size_t n = silent; n < s.line.size(); ++n)
    s.line[n] =
        n < tone ? 0
                 : static_cast<float>(2000 * std::sin(2 * std::numbers::pi * 1200 / kRateHz * static_cast<double>(n)));
  const Direction d = direction_sent();
  const Baseband line(s.line, carrier_hz(kRate, d.carrier), symbol_rate_hz(kRate));
  const auto segments = follow(line, nullptr, d, find_anchors(line, d, 0, 1e9));
  ASSERT_FALSE(segments.empty());
  const V34DataHeard data =
      read_data(line, nullptr, d, s.parameters, segments.back().at_data, static_cast<double>(s.line.size()) - 300);
  EXPECT_TRUE(data.silence_after);
  EXPECT_FALSE(data.lost);
  EXPECT_NEAR(data.t1, seconds(silent), 0.01);
  const Link link = read_link(data);
  EXPECT_GT(link.frames.size(), 50u);
  EXPECT_EQ(link.bad_frames, 0u);
}

TEST(DecodeSynthetic, TheOtherDirectionMayEchoLoudly) {
  Sent s = send(true);
  std::vector<Cf> far;
  v34::TrainingEncoder encoder(kGpa, v34::TrainingPoints::k4);
  const std::size_t delay = 40;
  for (std::size_t i = 0; far.size() * 2 < s.line.size(); ++i)
    far.push_back(scaled(encoder.trn(), std::numbers::sqrt2_v<float> / 2));
  std::vector<float> other = modulate(far, kRate, v34::Carrier::kLow, -50, 0);
  other.resize(s.line.size());
  for (std::size_t n = delay; n < s.line.size(); ++n) s.line[n] += 0.1f * other[n - delay];  // 20 dB down
  expect_heard(s, other, 10);  // at 26400 bit/s what is left of the echo costs some of 150 frames
}

}  // namespace
}  // namespace offhook::decode
