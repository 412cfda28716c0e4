// SPDX-License-Identifier: MIT
//
// What the digital modem sends in Phases 3 and 4, read from the levels that a route with a pad and a robbed bit gives
// it: each signal is found at its own symbol, and the payload comes back.
#include "dsp/v90/pcm/downstream_reader.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "dsp/v90/pcm/downstream.h"

namespace offhook::v90 {
namespace {

using Found = DownstreamReader::Found;
using Signal = Downstream::Signal;
using Trust = PcmReceiver::Trust;

constexpr uint8_t kUInfo = 67;
constexpr int kRobbed = 4;  // the interval whose octets end with a one

float arrives(Pcm p, int interval) {
  uint8_t octet = octet_of(Law::kMu, p);
  if (interval == kRobbed) octet |= 1;
  return 0.9f * static_cast<float>(linear_of(Law::kMu, pcm_of(Law::kMu, octet)));
}

/// All Ucodes from 1 on, twelve symbols each, of both signs.
Dil dil() {
  Dil d{};
  d.segments = kUcodes - 1;
  for (int n = 0; n < d.segments; ++n) d.ucode[n] = static_cast<uint8_t>(n + 1);
  for (uint8_t& h : d.length) h = 1;
  for (uint8_t& u : d.reference) u = kUInfo;
  d.training_length = 1, d.training[0] = 1;
  d.sign_length = 12, d.sign[0] = 0xC7, d.sign[1] = 0x01;
  return d;
}

struct Bits {
  std::mt19937 random{7};
  std::vector<uint8_t> sent, received;
  oh_bit_port port() {
    return {[](void* user) {
              auto& b = *static_cast<Bits*>(user);
              b.sent.push_back(static_cast<uint8_t>(b.random() & 1));
              return static_cast<int>(b.sent.back());
            },
            [](void* user, int bit) { static_cast<Bits*>(user)->received.push_back(static_cast<uint8_t>(bit)); }, this};
  }
};

class Route {
 public:
  Route() : reader(Law::kMu, kUInfo, bits.port()) {
    tx.set_u_info(kUInfo);
    reader.begin_two_levels();
  }
  struct Event {
    int symbol;  ///< of the signal
    Found found;
    friend bool operator==(const Event&, const Event&) = default;
  };
  /// What was started, to its end, or for so many symbols. @return what was found
  std::vector<Event> send(int most = 1 << 30) {
    std::vector<Event> events;
    for (int n = 0; n < most && tx.ready(bits.port(), true); ++n) {
      const Pcm p = tx.next();
      const int interval = static_cast<int>(symbols_++ % kFrameIntervals);
      const float level = arrives(p, interval) + 3 * noise_(random_);
      last = reader.put(level, interval);
      wrong += last.trust == Trust::kAll && std::abs(last.reference - arrives(p, interval)) > 40;
      if (last.found != Found::kNone) events.push_back({n, last.found});
    }
    return events;
  }

  Bits bits;
  Downstream tx{Law::kMu};
  DownstreamReader reader;
  DownstreamReader::Result last{};
  int wrong = 0;

 private:
  int64_t symbols_ = 0;
  std::mt19937 random_{3};
  std::normal_distribution<float> noise_;
};

using Events = std::vector<Route::Event>;

void choose(const LearntLevels& levels, bool data, FrameParameters* p) {
  Cp cp{};
  ConstellationLimits limits;
  limits.max_power = 23;
  limits.least_distance = 150;
  if (data) {
    EXPECT_GT(choose_rate(levels, limits, &cp), 0);
  } else {
    EXPECT_GT(choose_training(levels, limits, 12, &cp), 0);
  }
  EXPECT_TRUE(frame_parameters(cp, Law::kMu, p));
}

/// To the end of the DIL's second pass.
void learn(Route* route, const Dil& d) {
  route->reader.begin_dil(d);
  for (int pass = 0; pass < DilLearner::kPasses; ++pass) {
    for (int segment = 0; segment < d.segments; ++segment) {
      route->tx.start_dil(d, segment);
      const bool end = pass + 1 == DilLearner::kPasses && segment + 1 == d.segments;
      EXPECT_EQ(route->send(), end ? Events({{11, Found::kLearnt}}) : Events{});
      EXPECT_EQ(route->last.trust, pass == 0 ? Trust::kNone : Trust::kTiming);
    }
  }
}

TEST(V90DownstreamReader, FindsJdWithItsLastBitAndTheEndOfJdPrime) {
  Route route;
  float two[kFrameIntervals];
  for (int i = 0; i < kFrameIntervals; ++i) two[i] = std::abs(arrives({kUInfo, true}, i));
  route.reader.set_two_levels(two);
  route.tx.start(Signal::kTrn1d, kLeastTrn1d);
  EXPECT_EQ(route.send(), Events{});
  const Jd jd{.rates = 0x1fff, .points16 = true, .points16_renegotiation = false, .look_ahead = 2};
  const int last_bit = Jd::kBits - Jd::kFillBits - 1;
  route.tx.start_jd(jd);
  EXPECT_EQ(route.send(), Events{}) << "TRN1d is not differential: the descrambler settles in the first one";
  for (int k = 0; k < 2; ++k) {
    route.tx.start_jd(jd);
    EXPECT_EQ(route.send(), Events({{last_bit, Found::kJd}}));
    EXPECT_EQ(route.reader.jd(), jd);
  }
  route.tx.start(Signal::kJdPrime);
  EXPECT_EQ(route.send(), Events({{kJdPrimeBits - 1, Found::kJdPrime}}));
  EXPECT_EQ(route.wrong, 0);
}

TEST(V90DownstreamReader, LearnsTheLevelOfEachUcodeInEachIntervalAndFindsRBehindIt) {
  Route route;
  const Dil d = dil();
  learn(&route, d);
  for (int i = 0; i < kFrameIntervals; ++i) {
    EXPECT_LT(route.reader.levels().level[i][0], 0) << "was not sent";
    for (int u = 1; u < kUcodes; ++u)
      EXPECT_NEAR(route.reader.levels().level[i][u], arrives({static_cast<uint8_t>(u), true}, i), 8) << i << ' ' << u;
  }
  route.tx.start_dil(d, 0);  // a third pass is begun, and broken off
  EXPECT_EQ(route.send(), Events{});
  const uint8_t u_info[kFrameIntervals] = {kUInfo, kUInfo, kUInfo, kUInfo, kUInfo, kUInfo};
  route.tx.start_r(u_info, kRSymbols);
  EXPECT_EQ(route.send(), Events({{17, Found::kR}})) << "three frames are no chance";
  route.tx.start(Signal::kRBar);
  EXPECT_EQ(route.send(), Events({{kRBarSymbols - 1, Found::kRBar}}));
}

TEST(V90DownstreamReader, WithoutADilTheLevelsAreTheLaws) {
  Route route;
  route.reader.assume_levels();
  for (int u = 0; u < kUcodes; ++u)
    EXPECT_EQ(route.reader.levels().level[3][u], static_cast<float>(linear_of(Law::kMu, u)));
  route.reader.begin_dil(Dil{});
  const uint8_t u_info[kFrameIntervals] = {kUInfo, kUInfo, kUInfo, kUInfo, kUInfo, kUInfo};
  route.tx.start_r(u_info, kRSymbols);
  EXPECT_EQ(route.send(), Events({{17, Found::kR}}));
}

TEST(V90DownstreamReader, ReadsMpEdB1dAndDataAndFindsRInThem) {
  Route route;
  learn(&route, dil());
  const LearntLevels levels = route.reader.levels();
  FrameParameters training, data;
  choose(levels, false, &training);
  choose(levels, true, &data);
  route.reader.begin_frames(training, levels, false);
  route.tx.begin_frames(training);
  route.tx.start(Signal::kTrn2d, kLeastTrn2d);
  EXPECT_EQ(route.send(), Events{});
  Mp mp{};
  mp.drn = 13;
  mp.trellis = v34::TrellisCode::k32;
  mp.rate_mask = 0x0fff;
  const int d = training.bits();
  for (int k = 0; k < 2; ++k) {
    mp.acknowledge = k == 1;
    route.tx.start_mp(mp);
    // The last bit is a fill bit; with the one before it the CRC is whole.
    EXPECT_EQ(route.send(), Events({{(mp.bits() - 2) / d * kFrameIntervals + 5, Found::kMp}}));
    EXPECT_EQ(route.reader.mp().drn, 13);
    EXPECT_EQ(route.reader.mp().acknowledge, mp.acknowledge);
    EXPECT_EQ(route.reader.mp().rate_mask, mp.rate_mask);
  }
  route.tx.start(Signal::kEd);
  EXPECT_EQ(route.send(), Events({{kEdFrames * kFrameIntervals - 1, Found::kEd}}));

  route.reader.begin_frames(data, levels, true);
  route.tx.begin_frames(data);
  EXPECT_GE(route.reader.decision_distance(), 75 * 0.95f);
  route.tx.start(Signal::kB1d);
  EXPECT_EQ(route.send(), Events({{kB1dFrames * kFrameIntervals - 1, Found::kB1d}}));
  route.reader.deliver(true);
  route.tx.start(Signal::kData);
  EXPECT_EQ(route.send(6000), Events{});
  EXPECT_EQ(route.wrong, 0);
  EXPECT_EQ(route.reader.bits_received(), static_cast<uint64_t>(1000 * data.bits()));
  EXPECT_EQ(route.bits.received.size(), static_cast<size_t>(1000 * data.bits()));
  EXPECT_EQ(route.bits.received, route.bits.sent);
  uint8_t largest[kFrameIntervals];
  for (int i = 0; i < kFrameIntervals; ++i) largest[i] = data.points.ucode[i][0];
  route.tx.start_r(largest, kRSymbols);
  EXPECT_EQ(route.send(), Events({{17, Found::kR}}));
  const size_t before = route.bits.received.size();
  EXPECT_LE(before, static_cast<size_t>(1002 * data.bits())) << "two frames of R may be data, the third is none";
  route.tx.start(Signal::kRBar);
  EXPECT_EQ(route.send(), Events({{kRBarSymbols - 1, Found::kRBar}}));
  EXPECT_EQ(route.bits.received.size(), before);

  // Silence, then R of the largest points.
  route.reader.begin_silence();
  route.tx.start(Signal::kSilence, 600);
  EXPECT_EQ(route.send(), Events{});
  route.tx.start_r(largest, kRSymbols);
  EXPECT_EQ(route.send(), Events({{17, Found::kR}}));
  route.tx.start(Signal::kRBar);
  EXPECT_EQ(route.send(), Events({{kRBarSymbols - 1, Found::kRBar}}));
}

}  // namespace
}  // namespace offhook::v90
