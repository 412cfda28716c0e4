// SPDX-License-Identifier: MIT
//
// The analogue modem of V.90, made by our own encoders, heard by the decoder: CPt, CP and CP' in Phase 4 and in a rate
// renegotiation, on lines and by modems that differ.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "dsp/v90/coding/cp.h"
#include "hostsim/channel/g711.h"
#include "src/decode/call/call.h"
#include "src/decode/presentation/json.h"
#include "src/decode/v34/trainings.h"
#include "tests/unit/dsp/v34/random.h"
#include "tests/unit/src/decode/line_signal.h"

namespace offhook::decode {
namespace {

/// What it sends while it hears DIL.
enum class DuringDil { kSilence, kScrFromZero, kScrGoingOn };

struct Sender {
  v34::SymbolRate rate = v34::SymbolRate::k3200;
  v34::Carrier carrier = v34::Carrier::kLow;
  v34::TrainingPoints phase4 = v34::TrainingPoints::k4, renegotiation = v34::TrainingPoints::k4;
  DuringDil during_dil = DuringDil::kScrFromZero;
  bool dil = true;
  int cpts = 4;
  int sets = 6;
  bool renegotiates = true;
  int later_drn = 11;  // of the renegotiation; 0: cleardown
};

struct Line {
  double ppm = 0, offset_hz = 0, snr_db = 60;
  float echo = 0;  // of the digital modem, by amplitude
  bool a_law = false;
};

v90::Cp request(bool data_mode, int drn, int sets) {
  v90::Cp cp{};
  cp.data_mode = data_mode;
  cp.drn = static_cast<std::uint8_t>(drn);
  cp.shaping_bits = 1;
  cp.look_ahead = 1;
  cp.a_law = true;
  cp.upstream_mask = 0xFFF;
  cp.trn1d_ratio = 8190;
  cp.a1 = 64;
  cp.codec_differs = sets > 1;
  for (int i = 0; i < v90::kFrameIntervals; ++i) cp.interval[i] = static_cast<std::uint8_t>(i % sets);
  for (int i = 0; i < sets; ++i) {
    for (int u = 20 + i; u < 90; u += data_mode ? 3 : 9) {
      cp.constellation[i].add(u);
      if (cp.codec_differs) cp.codec[i].add(u + 1);
    }
  }
  return cp;
}

class Upstream {
 public:
  explicit Upstream(v34::TrainingPoints points) : random_(7, 1) { begin(points); }

  void begin(v34::TrainingPoints points) { encoder_ = {kGpa, points}, points_ = points; }
  void silence(int n) { y.resize(y.size() + static_cast<std::size_t>(n)); }
  void s(int n) {
    for (int i = 0; i < n; ++i) y.push_back(scaled(v34::s_symbol(i), kFour));
    for (int i = 0; i < 16; ++i) y.push_back(scaled(v34::s_bar_symbol(i), kFour));
  }
  void pp_trn() {
    for (int i = 0; i < v34::kPpSymbols; ++i) y.push_back(Cf(std::polar(1.0, std::numbers::pi * v34::pp_phase(i) / 6)));
    trn(2000);
  }
  void trn(int n) {
    for (int i = 0; i < n; ++i) y.push_back(scaled(encoder_.trn(), scale()));
  }
  void bits(const std::vector<std::uint8_t>& b) {
    const auto n = static_cast<std::size_t>(v34::training_bits(points_));
    for (std::size_t k = 0; k + n <= b.size(); k += n) y.push_back(scaled(encoder_.sequence(&b[k]), scale()));
  }
  void ones(int n) { bits(std::vector<std::uint8_t>(static_cast<std::size_t>(n), 1)); }
  void anything(int n) {
    std::vector<std::uint8_t> b;
    for (int k = 0; k < n; ++k) b.push_back(static_cast<std::uint8_t>(random_.bit()));
    bits(b);
  }
  void cp(const v90::Cp& cp, int times) {
    std::vector<std::uint8_t> b(v90::Cp::kMaxBits);
    b.resize(static_cast<std::size_t>(encode(cp, b.data())));
    for (int i = 0; i < times; ++i) bits(b);
  }
  // Points of a dense square.
  void data(int n) {
    const auto axis = [&] { return (static_cast<float>(random_.below(16)) - 7.5f) / 6.52f; };
    for (int i = 0; i < n; ++i) {
      const float re = axis();
      y.emplace_back(re, axis());
    }
  }

  std::vector<Cf> y;

 private:
  static constexpr float kFour = 1 / std::numbers::sqrt2_v<float>;
  float scale() const { return points_ == v34::TrainingPoints::k4 ? kFour : 1 / std::sqrt(10.f); }
  v34::TrainingEncoder encoder_;
  v34::TrainingPoints points_ = v34::TrainingPoints::k4;
  v34::Random random_;
};

std::vector<Cf> send(const Sender& s) {
  Upstream u(v34::TrainingPoints::k4);
  u.silence(200);
  u.s(128);
  u.pp_trn();
  u.anything(2 * 900);  // J_a
  u.silence(800);
  u.s(700);
  if (s.dil) {
    if (s.during_dil == DuringDil::kSilence) u.silence(1500);
    if (s.during_dil == DuringDil::kScrFromZero) u.begin(s.phase4), u.trn(1500);
    if (s.during_dil == DuringDil::kScrGoingOn) u.begin(s.phase4), u.anything(200), u.ones(5000);
    u.s(128);
  }
  u.begin(s.phase4);
  u.cp(request(false, 16, s.sets), s.cpts);
  u.ones(1000);
  v90::Cp cp = request(true, 14, s.sets);
  u.cp(cp, 2);
  cp.acknowledge = true;
  u.cp(cp, 2);
  u.ones(v34::kSequenceEBits);
  u.data(1500);
  if (!s.renegotiates) return u.y;
  u.s(128);
  u.begin(s.renegotiation);
  u.anything(100);  // the scrambler goes on from data mode
  u.ones(600);
  cp = request(true, s.later_drn, s.sets);
  u.cp(cp, 2);
  cp.acknowledge = true;
  u.cp(cp, 2);
  u.ones(v34::kSequenceEBits);
  u.data(800);
  return u.y;
}

Recording over(const std::vector<Cf>& symbols, const Sender& s, const Line& line) {
  Recording r;
  r.channel.resize(2);
  auto& x = r.channel[1];
  x = modulate(symbols, s.rate, s.carrier, line.ppm, line.offset_hz);
  v34::Random random(3, 5);
  std::vector<float>& other = r.channel[0];
  float slow = 0;
  for (std::size_t n = 0; n < x.size(); ++n) {  // PCM: a level a sample
    const float level = random.bit() ? 3000.f : -3000.f;
    slow += 0.02f * (level - slow);
    other.push_back(level - slow);
  }
  const double noise = 1414 * std::pow(10, -line.snr_db / 20);
  for (std::size_t n = 0; n < x.size(); ++n) {
    x[n] += static_cast<float>(noise * random.gaussian());
    if (n >= 300) x[n] += line.echo * (other[n - 300] - 0.4f * other[n - 298]);
    if (line.a_law) {
      const auto linear = static_cast<std::int16_t>(std::lround(std::clamp(x[n], -32000.f, 32000.f)));
      x[n] = hostsim::a_law_decode(hostsim::a_law_encode(linear));
    }
  }
  r.duration_s = static_cast<double>(x.size()) / kRateHz;
  return r;
}

StartUp start_up(const Sender& s) {
  StartUp up;
  up.channel_1200 = 0;
  up.channel_2400 = 1;
  InfoHeard info1d;
  v34::Info1c c{};
  c.probing[static_cast<int>(s.rate)] = {s.carrier, 0, 12};
  info1d.info = c;
  InfoHeard info1a;
  info1a.info = v34::Info1aV90{0, 79, s.rate, 0};
  info1d.bits.resize(v34::Info1c::kBits);
  encode(c, info1d.bits.data());
  info1a.bits.resize(v34::Info1aV90::kBits);
  encode(std::get<v34::Info1aV90>(info1a.info), info1a.bits.data());
  up.info = {info1d, info1a};
  return up;
}

void expect_heard(const Sender& s, const Line& line) {
  const auto trainings = find_trainings(over(send(s), s, line), start_up(s));
  ASSERT_EQ(trainings.size(), 1u);
  const Training::Side& side = trainings[0].from_2400;
  std::string heard;
  for (const CpHeard* h : side.cps()) {
    heard +=
        std::string(h->cp.data_mode ? "CP" : "CPt") + (h->cp.acknowledge ? "'" : "") + std::to_string(h->cp.drn) + " ";
  }
  EXPECT_EQ(heard, s.renegotiates ? "CPt16 CP14 CP'14 CP11 CP'11 " : "CPt16 CP14 CP'14 ");
  ASSERT_NE(side.cp(), nullptr);
  EXPECT_EQ(side.cp()->cp.drn, 14);
  v90::Cp cp = request(true, 14, s.sets);
  cp.acknowledge = true;
  EXPECT_EQ(side.cp()->cp, cp);
  EXPECT_EQ(side.cp()->count, 2);
  EXPECT_EQ(side.cp()->points, s.phase4 == v34::TrainingPoints::k4 ? 4 : 16);
  int started = 0;
  for (const Segment& p : side.segments) started += p.t_e_end > 0;
  EXPECT_EQ(started, s.renegotiates ? 2 : 1);
}

TEST(DecodeV90, CpIsReadWhateverIsSentDuringDil) {
  for (const auto during : {DuringDil::kSilence, DuringDil::kScrFromZero, DuringDil::kScrGoingOn}) {
    SCOPED_TRACE(static_cast<int>(during));
    expect_heard({.during_dil = during}, {});
  }
}

TEST(DecodeV90, CpIsReadWithFourPointsAndWithSixteen) {
  using enum v34::TrainingPoints;
  expect_heard({.phase4 = k16, .during_dil = DuringDil::kScrFromZero}, {});
  expect_heard({.phase4 = k16, .renegotiation = k16, .during_dil = DuringDil::kSilence}, {});
  expect_heard({.phase4 = k4, .renegotiation = k16, .during_dil = DuringDil::kScrGoingOn}, {});
}

TEST(DecodeV90, CpIsReadAtEverySymbolRateAndCarrier) {
  using v34::Carrier, v34::SymbolRate;
  for (const auto& [rate, carrier] : {std::pair{SymbolRate::k3000, Carrier::kLow},
                                      {SymbolRate::k3000, Carrier::kHigh},
                                      {SymbolRate::k3200, Carrier::kHigh},
                                      {SymbolRate::k3429, Carrier::kLow}}) {
    SCOPED_TRACE(symbol_rate_hz(rate));
    expect_heard({.rate = rate, .carrier = carrier, .during_dil = DuringDil::kSilence, .renegotiates = false}, {});
  }
}

TEST(DecodeV90, OneCptAloneIsRead) {
  expect_heard({.during_dil = DuringDil::kSilence, .cpts = 1}, {});
}

TEST(DecodeV90, OneConstellationAndNoDil) {
  expect_heard({.dil = false, .sets = 1}, {});
}

TEST(DecodeV90, AfterDataModeANewRateAndACleardownAreToldApart) {
  for (const int drn : {11, 0}) {
    SCOPED_TRACE(drn);
    const Sender s{.during_dil = DuringDil::kSilence, .later_drn = drn};
    Call call;
    call.recording = over(send(s), s, {});
    call.start_up = start_up(s);
    call.start_up.call_channel = 1;
    call.start_up.answer_channel = 0;
    call.trainings = find_trainings(call.recording, call.start_up);
    const auto j = json_of(call);
    EXPECT_EQ(j["trainings"][0]["downstream"]["bit_rate"], 45333);
    ASSERT_EQ(j["changes"].size(), 1u);
    EXPECT_EQ(j["changes"][0]["channel"], 1);
    EXPECT_EQ(j["changes"][0]["by"], "call");
    EXPECT_EQ(j["changes"][0]["name"], drn > 0 ? "rate renegotiation" : "cleardown");
    const auto& segments = j["trainings"][0]["upstream"]["segments"];
    EXPECT_EQ(segments.back()["name"], j["changes"][0]["name"]);
    EXPECT_EQ(segments.back()["cp"].back()["bit_rate"], drn > 0 ? 41333 : 0);
  }
}

// V.92's Quick Connect sends no INFO1d.
TEST(DecodeV90, WithoutInfo1dBit33OfInfo1aChoosesTheCarrier) {
  constexpr Direction kNothingHeard;  // every member has a value, or this does not compile
  EXPECT_EQ(kNothingHeard.carrier, v34::Carrier::kLow);
  for (const auto carrier : {v34::Carrier::kLow, v34::Carrier::kHigh}) {
    Sender s{.during_dil = DuringDil::kSilence, .renegotiates = false};
    s.carrier = carrier;
    StartUp up = start_up(s);
    up.info.erase(up.info.begin());
    up.info.front().bits[33] = carrier == v34::Carrier::kHigh;
    const auto trainings = find_trainings(over(send(s), s, {}), up);
    ASSERT_EQ(trainings.size(), 1u);
    EXPECT_EQ(trainings[0].from_1200.direction.rate, v34::SymbolRate::k2400);
    EXPECT_EQ(trainings[0].from_2400.direction.carrier, carrier);
    ASSERT_NE(trainings[0].from_2400.cp(), nullptr);
    EXPECT_EQ(trainings[0].from_2400.cp()->cp.drn, 14);
  }
}

TEST(DecodeV90, LinesMayBeBad) {
  expect_heard({.during_dil = DuringDil::kSilence}, {.ppm = 160, .offset_hz = 7, .snr_db = 32});
  expect_heard({.during_dil = DuringDil::kSilence}, {.ppm = -160, .offset_hz = -7, .snr_db = 25, .a_law = true});
  expect_heard({.during_dil = DuringDil::kSilence}, {.ppm = 55, .snr_db = 32, .echo = 0.1f});
  expect_heard({}, {.ppm = 55, .offset_hz = -3, .snr_db = 25, .echo = 0.1f, .a_law = true});
}

}  // namespace
}  // namespace offhook::decode
