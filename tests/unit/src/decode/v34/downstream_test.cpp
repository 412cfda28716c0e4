// SPDX-License-Identifier: MIT
//
// The digital modem of V.90, made by our own encoders, heard by the decoder on the analogue line.
#include "src/decode/v34/downstream.h"

#include <gtest/gtest.h>

#include <optional>
#include <utility>

#include "dsp/v90/coding/data_frame.h"
#include "dsp/v90/pcm/downstream.h"
#include "src/decode/line/link.h"
#include "src/decode/line/recording.h"
#include "src/decode/v34/law_conversion.h"
#include "tests/unit/dsp/v34/random.h"
#include "tests/unit/src/decode/frame_source.h"
#include "tests/unit/src/decode/v34/dil_from.h"

namespace offhook::decode {
namespace {

using Signal = v90::Downstream::Signal;

constexpr v90::Law kLaw = v90::Law::kA, kOtherLaw = v90::Law::kMu;
constexpr int kFramesOfData = 1500;

struct Network {
  int robbed_interval = -1;                  // where the last bit of each octet is lost
  bool two_wires = false;                    // the other direction's echo
  double noise = 4;                          // RMS, as int16
  int dropped_octets = 0;                    // by a slip, in the middle of the first data
  bool two_constellations = false;           // the last interval has one of its own
  std::optional<Conversion> other_law = {};  // the octets are converted on their way
  int dil_from = 0;                          // the first Ucode that the DIL asks for
  bool dense = false;                        // the data use each Ucode from 64 to 95 but one
  int jds = 6;                               // before Jd'
  double ppm = 0;                            // of the network's clock, in Sent::wide
};

struct Sent {
  std::vector<float> line, other;
  std::vector<std::int16_t> wide;  // the line at 16 000 Hz, by another clock
  DownstreamAsked asked;
  v90::Mp mp{};
  v90::Jd jd{};
};

v90::Cp request(bool data_mode, int drn, const std::vector<int>& ucodes) {
  v90::Cp cp{};
  cp.data_mode = data_mode;
  cp.drn = static_cast<std::uint8_t>(drn);
  cp.shaping_bits = 1;
  cp.look_ahead = 1;
  cp.a_law = kLaw == v90::Law::kA;
  cp.upstream_mask = 0x1FFF;
  cp.trn1d_ratio = 8192;
  cp.a1 = 64;
  for (const int u : ucodes) cp.constellation[0].add(u);
  return cp;
}

class Digital {
 public:
  Digital(Sent& sent, const Network& network) : s_(sent), network_(network) {
    tx_.set_u_info(kUInfo);
    if (network.dense) {
      cp_.constellation[0] = {};
      // 95 arrives where 94 does by the nearest value, 79 where 78 does by the tables.
      const int left_out = network.other_law == Conversion::kTables ? 79 : 95;
      for (int u = 64; u < 96; ++u) {
        if (u != left_out) cp_.constellation[0].add(u);
      }
      for (const int u : {4, 20, 30, 40, 50}) cp_.constellation[0].add(u);
    }
    if (!network.two_constellations) return;
    for (int u = 0; u < v90::kUcodes; ++u) {
      if (cp_.constellation[0].has(u)) cp_.constellation[1].add(u < 80 ? u + 1 : u);
    }
    cp_.interval[5] = 1;
  }

  void send(Signal signal, int symbols = 0) {
    tx_.start(signal, symbols);
    rest();
  }
  void rest(bool live = false, int symbols = -1) {
    for (int k = 0; k != symbols && tx_.ready(source_.port(), live); ++k) put(tx_.next());
  }
  void put(v90::Pcm p) {
    if (dropped_ > 0) {
      --dropped_;
      return;
    }
    if (at_++ % v90::kFrameIntervals == network_.robbed_interval) p.ucode |= 1;
    v90::Law law = kLaw;
    if (network_.other_law) {
      p.ucode = static_cast<std::uint8_t>(converted_ucode(*network_.other_law, law, p.ucode));
      law = kOtherLaw;
    }
    s_.line.push_back(static_cast<float>(linear_of(law, p)));
  }
  double now() const { return seconds(s_.line.size()); }

  void start_up() {
    s_.line.assign(1600, 0.f);
    s_.asked = {kLaw, kUInfo, 0.05, 60, {}, dil_from(network_.dil_from, 1), {}};
    send(Signal::kSd);
    send(Signal::kSdBar);
    send(Signal::kTrn1d, 2400);
    s_.jd = {0x3FFFFF, false, true, 1};
    for (int k = 0; k < network_.jds; ++k) {
      tx_.start_jd(s_.jd);
      rest();
    }
    send(Signal::kJdPrime);
    for (int pass = 0; pass < 3; ++pass) {
      for (int k = 0; k < s_.asked.dil->segments; ++k) {
        tx_.start_dil(*s_.asked.dil, k);
        rest();
        if (pass == 2 && k == 40) break;
      }
    }
    s_.asked.s_s = {now() - 0.02};
    std::uint8_t ri[v90::kFrameIntervals];
    std::fill(std::begin(ri), std::end(ri), kUInfo);
    tx_.start_r(ri, 2400);
    rest(false, 1200);
    s_.asked.cps.push_back({cpt_, now()});
    rest();
    finish();
  }
  // From R-bar on, up to the end of data.
  void finish() {
    v90::FrameParameters p;
    send(Signal::kRBar);
    ASSERT_TRUE(frame_parameters(cpt_, kLaw, &p));
    tx_.begin_frames(p);
    send(Signal::kTrn2d, 9000);
    s_.asked.cps.push_back({cp_, now()});
    s_.mp.drn = 12;
    s_.mp.type1 = true;
    s_.mp.rate_mask = 0x1FFF;
    s_.mp.precoder.h[0] = {1000, -2000};
    for (int k = 0; k < 10; ++k) {
      s_.mp.acknowledge = k >= 6;
      tx_.start_mp(s_.mp);
      rest();
    }
    send(Signal::kEd);
    send(Signal::kDrain);
    ASSERT_TRUE(frame_parameters(cp_, kLaw, &p));
    tx_.begin_frames(p);
    send(Signal::kB1d);
    tx_.start(Signal::kData);
    rest(true, kFramesOfData / 2 * v90::kFrameIntervals);
    dropped_ = std::exchange(network_.dropped_octets, 0);
    rest(true, kFramesOfData / 2 * v90::kFrameIntervals);
  }
  void renegotiate() {
    send(Signal::kDrain);
    v90::FrameParameters p;
    ASSERT_TRUE(frame_parameters(cp_, kLaw, &p));
    std::uint8_t rd[v90::kFrameIntervals];
    for (int i = 0; i < v90::kFrameIntervals; ++i) rd[i] = p.points.ucode[i][0];
    tx_.start_r(rd, v90::kRSymbols);
    rest();
    finish();
  }
  // Through the line card's filters and the loop.
  void arrive() {
    constexpr float kLine[] = {0.03f, -0.12f, 0.8f, 0.35f, -0.2f, 0.1f, -0.04f};
    constexpr std::size_t kEchoLag = 37;
    v34::Random random(11, 3);
    const std::vector<float> x = s_.line;
    s_.other.resize(x.size());
    for (float& v : s_.other) v = static_cast<float>(1500 * random.gaussian());
    for (std::size_t n = 0; n < x.size(); ++n) {
      auto y = static_cast<float>(network_.noise * random.gaussian());
      for (std::size_t k = 0; k < std::size(kLine) && k <= n; ++k) y += kLine[k] * x[n - k];
      if (network_.two_wires && n > kRateHz) y += 0.02f * s_.other[n - kEchoLag];
      s_.line[n] = y;
    }
    arrive_wide(x);
  }
  // The same at two samples a symbol, through a filter that ends at 4800 Hz.
  void arrive_wide(const std::vector<float>& x) {
    constexpr long kReach = 24;  // symbols
    v34::Random random(11, 4);
    const auto other = [&](long n) {
      return n >= 0 && n < static_cast<long>(s_.other.size()) ? s_.other[static_cast<std::size_t>(n)] : 0.f;
    };
    for (std::size_t m = 0; m < 2 * x.size(); ++m) {
      const double t = static_cast<double>(m) / 2 * (1 + 1e-6 * network_.ppm) + 0.3;
      double y = network_.noise * random.gaussian();
      const long from = std::max(0L, static_cast<long>(t) - kReach);
      const long to = std::min(static_cast<long>(x.size()), static_cast<long>(t) + kReach);
      for (long n = from; n < to; ++n) y += x[static_cast<std::size_t>(n)] * smooth(t - static_cast<double>(n));
      const auto k = static_cast<long>(m / 2) - 9;
      if (network_.two_wires) y += m % 2 == 0 ? 0.3 * other(k) : 0.15 * (other(k) + other(k + 1));
      s_.wide.push_back(static_cast<std::int16_t>(std::lround(0.4 * y)));
    }
  }

 private:
  // 12 dB down at 4000 Hz, as a line card's filter is.
  static double smooth(double t) { return 0.5 * pulse(t) + 0.25 * (pulse(t - 0.5) + pulse(t + 0.5)); }
  // A raised cosine.
  static double pulse(double t) {
    constexpr double kPi = 3.14159265358979, kRollOff = 0.2;
    if (std::abs(t) < 1e-9) return 1;
    const double d = 1 - 4 * kRollOff * kRollOff * t * t, sinc = std::sin(kPi * t) / (kPi * t);
    return std::abs(d) < 1e-6 ? sinc * kPi / 4 : sinc * std::cos(kPi * kRollOff * t) / d;
  }

  Sent& s_;
  Network network_;
  v90::Downstream tx_{kLaw};
  FrameSource source_;
  int at_ = 0, dropped_ = 0;
  v90::Cp cpt_ = request(false, 9, {40, 66, 80, 86});
  v90::Cp cp_ = request(true, 16, {4,  12, 20, 30, 36, 40, 44, 48, 50, 52, 56, 58, 62, 64,  66,  68,  70,  72,
                                   74, 76, 78, 80, 82, 84, 86, 88, 90, 92, 94, 96, 98, 100, 102, 104, 106, 108});
};

Sent call(const Network& network, bool renegotiates = false) {
  Sent s;
  Digital digital(s, network);
  digital.start_up();
  if (renegotiates) digital.renegotiate();
  digital.arrive();
  return s;
}

void expect_heard(const Sent& s, std::size_t data_modes, const DownstreamHeard& heard) {
  EXPECT_EQ(heard.stopped, "");
  EXPECT_NEAR(heard.t_trn1d, (1600 + v90::kSdSymbols + v90::kSdBarSymbols) / 8000.0, 1e-3);
  EXPECT_LT(heard.training_db, -40);
  ASSERT_TRUE(heard.jd);
  EXPECT_EQ(*heard.jd, s.jd);
  EXPECT_GT(heard.t_jd_end, 0);
  ASSERT_EQ(heard.mp.size(), 2 * data_modes);
  EXPECT_GE(heard.mp[0].count, 5);
  EXPECT_FALSE(heard.mp[0].mp.acknowledge);
  EXPECT_TRUE(heard.mp[1].mp.acknowledge);
  EXPECT_EQ(heard.mp[1].mp.drn, s.mp.drn);
  EXPECT_EQ(heard.mp[1].mp.precoder.h[0].im, -2000);
  ASSERT_EQ(heard.data.size(), data_modes);
  std::vector<Link> links;
  for (const DataHeard& d : heard.data) {
    EXPECT_EQ(d.bit_rate, 48000u);
    links.push_back(read_link(d, links.empty() ? nullptr : &links.back()));
    EXPECT_GT(links.back().frames.size(), 200u);
    EXPECT_EQ(links.back().bad_frames, 0);
    EXPECT_EQ(links.back().gaps, 0);
    for (std::size_t k = 1; k < links.back().payload.size(); ++k)
      ASSERT_EQ(links.back().payload[k], static_cast<std::uint8_t>(links.back().payload[k - 1] + 1));
  }
}

void expect_heard(const Sent& s, std::size_t data_modes) {
  expect_heard(s, data_modes, read_downstream({.own = s.line, .other = s.other}, s.asked));
}

DownstreamHeard read_wide(const Sent& s) {
  return read_downstream({.own = s.line, .other = s.other, .wide = s.wide, .train_s = 0, .train_end_s = 0.19}, s.asked);
}

constexpr int kJdsToFollow = 60;  // half a second: its clock settles, and the taps are fitted again

TEST(DecodeDownstream, At16000HzTheRecorderMayHaveAnyClock) {
  for (const double ppm : {0., 85., -120.}) {
    SCOPED_TRACE(ppm);
    const Sent s = call({.noise = 2, .jds = kJdsToFollow, .ppm = ppm}, true);
    const DownstreamHeard heard = read_wide(s);
    expect_heard(s, 2, heard);
    ASSERT_TRUE(heard.clock_ppm);
    EXPECT_NEAR(*heard.clock_ppm, ppm, 3);
  }
}

// As a good recorder with 8000 samples/s has it: flat to 3.8 kHz, nothing from 4 kHz on.
std::vector<float> at_8000(const Sent& s) {
  constexpr double kPi = 3.14159265358979, kCutoff = 3900.0 / kWideRateHz;
  constexpr long kReach = 256;
  std::vector<float> taps;
  for (long k = -kReach; k <= kReach; ++k) {
    const double at = kPi * static_cast<double>(k), u = 2 * kCutoff * at;
    const double window = 0.42 + 0.5 * std::cos(at / kReach) + 0.08 * std::cos(2 * at / kReach);
    taps.push_back(static_cast<float>(2 * kCutoff * (k == 0 ? 1 : std::sin(u) / u) * window));
  }
  std::vector<float> line(s.other.size());
  for (long n = 0; n < static_cast<long>(line.size()); ++n) {
    for (long k = std::max(-kReach, -2 * n); k <= kReach && 2 * n + k < static_cast<long>(s.wide.size()); ++k)
      line[static_cast<std::size_t>(n)] +=
          taps[static_cast<std::size_t>(k + kReach)] * s.wide[static_cast<std::size_t>(2 * n + k)];
  }
  return line;
}

constexpr int kJdsAt8000 = 4 * kJdsToFollow;  // as in a call: only the taps that are fitted again are exact

TEST(DecodeDownstream, At8000HzTheRecorderMayHaveAnotherClock) {
  for (const double ppm : {60., -110.}) {
    SCOPED_TRACE(ppm);
    Sent s = call({.noise = 1, .jds = kJdsAt8000, .ppm = ppm}, true);
    s.line = at_8000(s);
    const DownstreamHeard heard = read_downstream({.own = s.line, .other = s.other}, s.asked);
    expect_heard(s, 2, heard);
    ASSERT_TRUE(heard.clock_ppm);
    EXPECT_NEAR(*heard.clock_ppm, ppm, 3);
  }
}

TEST(DecodeDownstream, At16000HzTheEchoIsLearntWhileTheAnalogueModemTrains) {
  const Sent s = call({.two_wires = true, .noise = 2, .jds = kJdsToFollow, .ppm = 40});
  expect_heard(s, 1, read_wide(s));
  // Without that time it stays.
  const DownstreamHeard left = read_downstream({.own = s.line, .other = s.other, .wide = s.wide}, s.asked);
  EXPECT_TRUE(left.data.empty() || read_link(left.data[0]).frames.size() < 20);
}

TEST(DecodeDownstream, AConstantOffsetOfTheRecorderIsTakenOff) {
  Sent s = call({});
  for (float& v : s.line) v += 60;
  expect_heard(s, 1);
}

TEST(DecodeDownstream, WhatFollowsLostLevelsIsNoData) {
  Sent s = call({});
  v34::Random random(5, 9);
  const std::size_t from = s.line.size() - 9000;
  for (std::size_t k = from; k < s.line.size(); ++k) s.line[k] = static_cast<float>(3000 * random.gaussian());
  const DownstreamHeard heard = read_downstream({.own = s.line, .other = s.other}, s.asked);
  EXPECT_EQ(heard.stopped, "the levels can no longer be distinguished");
  EXPECT_LT(heard.t_lost, seconds(from) + 0.2);
  ASSERT_EQ(heard.data.size(), 1u);
  EXPECT_LE(heard.data[0].t1, heard.t_lost);
}

TEST(DecodeDownstream, ADigitalModemIsReadFromTrn1dToTheFramesOfItsData) {
  expect_heard(call({}), 1);
}

TEST(DecodeDownstream, ARenegotiationIsReadAndTheDataBehindIt) {
  expect_heard(call({}, true), 2);
}

TEST(DecodeDownstream, TheOtherDirectionsEchoIsTakenOff) {
  expect_heard(call({.two_wires = true}), 1);
}

// All but one of the intervals as they were sent: what the DIL has shown of the other one is used.
TEST(DecodeDownstream, RobbedBitsAreLearntFromTheDil) {
  const Sent s = call({.robbed_interval = 4});
  expect_heard(s, 1);
  EXPECT_GT(read_downstream({.own = s.line, .other = s.other}, s.asked).learnt, 120 * v90::kFrameIntervals);
}

// The DIL shows it from Ucode 88 on; below, others lie half a step from where they were sent.
TEST(DecodeDownstream, ThatTheNetworkConvertsToTheOtherLawIsSeenFromPartOfTheLevels) {
  expect_heard(call({.other_law = Conversion::kNearest, .dil_from = 88, .dense = true}), 1);
}

TEST(DecodeDownstream, ANetworkThatConvertsByTheTablesIsToldFromOneThatTakesTheNearestValue) {
  expect_heard(call({.other_law = Conversion::kTables, .dil_from = 88, .dense = true}), 1);
}

TEST(DecodeDownstream, WhatTheDilDoesNotShowIsAsSentWhereTheRestIs) {
  expect_heard(call({.dil_from = 88, .dense = true}), 1);
}

// Robbed bits stay where they are when the data frames move.
TEST(DecodeDownstream, AfterASlipTheLevelsOfTheDilAreUsedInTheIntervalsThatTheyAreInThen) {
  const Sent s = call({.robbed_interval = 4, .dropped_octets = 2, .two_constellations = true}, true);
  const DownstreamHeard heard = read_downstream({.own = s.line, .other = s.other}, s.asked);
  EXPECT_EQ(heard.stopped, "");
  ASSERT_EQ(heard.data.size(), 2u);
  EXPECT_GT(read_link(heard.data[0]).frames.size(), 180u);  // on behind the slip
  const Link after = read_link(heard.data[1]);
  EXPECT_GT(after.frames.size(), 200u);
  EXPECT_EQ(after.bad_frames, 0);
}

TEST(DecodeDownstream, WhatIsNoDigitalModemIsSaidToBeNone) {
  Sent s = call({});
  v34::Random random(5, 9);
  for (float& v : s.line) v = static_cast<float>(2000 * random.gaussian());
  const DownstreamHeard heard = read_downstream({.own = s.line, .other = s.other}, s.asked);
  EXPECT_EQ(heard.stopped, "TRN1d was not found");
  EXPECT_TRUE(heard.data.empty());
}

TEST(DecodeDownstream, WithoutCptNothingBehindTheDilIsRead) {
  Sent s = call({});
  s.asked.cps.clear();
  const DownstreamHeard heard = read_downstream({.own = s.line, .other = s.other}, s.asked);
  EXPECT_TRUE(heard.jd);
  EXPECT_TRUE(heard.mp.empty());
}

}  // namespace
}  // namespace offhook::decode
