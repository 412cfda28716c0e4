// SPDX-License-Identifier: MIT
//
// One message each way by V.8 bis (QC2 and QCA2 of V.92 9.2): signals and frames against the text and against values of
// tests/checklist/v92_quick_connect_vectors.py, and both ends over lines with delay, noise and echo.
#include "dsp/v8/v8bis_exchange.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "dsp/blocks/level.h"
#include "dsp/v8/answer_tone.h"
#include "dsp/v8/v8.h"
#include "dsp/v90/coding/quick_connect.h"

namespace offhook::v8bis {
namespace {

#include "tests/unit/dsp/v8/v8bis_quick_vectors.inc"

using State = ExchangeState;

constexpr uint8_t kQc2[] = {0x2D, 0x09}, kQca2[] = {0x2D, 0xC2};

ExchangeConfig config(bool calls) {
  ExchangeConfig c;
  c.calls = calls;
  for (size_t k = 0; k < 2; ++k) c.message[k] = calls ? kQc2[k] : kQca2[k];
  c.understands = calls ? [](const uint8_t* far, int) { return far[1] == kQca2[1]; }
                        : [](const uint8_t* far, int) { return far[1] == kQc2[1]; };
  return c;
}

/// Two ends, a line with delay, noise and echo.
struct Pair {
  void run(
      double seconds, const std::function<bool()>& done = [] { return false; }) {
    for (const auto end = now() + static_cast<size_t>(seconds * 8000); now() < end && !done();) {
      const size_t n = now();
      const auto heard = [&](const std::vector<float>& far, const std::vector<float>& own, bool muted) {
        const float there = n > delay && !muted ? gain * far[n - delay] : 0;
        return there + (n > 8 ? 0.2f * own[n - 8] : 0) + noise_rms * normal(random);
      };
      const float a = heard(sent_answer, sent_call, mute_answer), b = heard(sent_call, sent_answer, mute_call);
      sent_call.push_back(call.process(a));
      sent_answer.push_back(answer.process(b));
    }
  }
  size_t now() const { return sent_call.size(); }
  bool ended() const { return call.state() == State::kAgreed && answer.state() == State::kAgreed; }

  Exchange call{config(true)}, answer{config(false)};
  size_t delay = 80;
  float gain = 0.5f, noise_rms = 1;
  bool mute_call = false, mute_answer = false;
  std::vector<float> sent_call, sent_answer;
  std::mt19937 random{1};
  std::normal_distribution<float> normal;
};

double power(const std::vector<float>& x, size_t from, size_t n) {
  double sum = 0;
  for (size_t k = from; k < from + n; ++k) sum += static_cast<double>(x[k]) * x[k];
  return sum / static_cast<double>(n);
}

// Amplitude of a tone, by correlation over whole samples.
double amplitude(const std::vector<float>& x, size_t from, size_t n, double hz) {
  double re = 0, im = 0;
  for (size_t k = 0; k < n; ++k) {
    const double w = 2 * M_PI * hz * static_cast<double>(k) / 8000;
    re += static_cast<double>(x[from + k]) * std::cos(w);
    im += static_cast<double>(x[from + k]) * std::sin(w);
  }
  return 2 * std::hypot(re, im) / static_cast<double>(n);
}

TEST(V8bisExchange, BothMessagesComeOverLinesThatDiffer) {
  for (const size_t delay : {1u, 80u, 1200u, 2400u}) {
    for (const float gain : {1.f, 0.1f}) {
      for (const float noise : {1.f, 40.f}) {
        Pair p;
        p.delay = delay;
        p.gain = gain;
        p.noise_rms = noise * gain;
        p.run(5, [&] { return p.ended(); });
        ASSERT_TRUE(p.ended()) << delay << " " << gain << " " << noise;
        EXPECT_EQ(p.answer.far()[0], kQc2[0]);
        EXPECT_EQ(p.answer.far()[1], kQc2[1]);
        EXPECT_EQ(p.call.far()[1], kQca2[1]);
        EXPECT_LT(p.now(), 9000u + 4 * delay) << "400 ms of silence, 50 ms of CRe, two messages";
      }
    }
  }
}

// V.8 bis 7.1: the tones, durations and level; 10.2.2: 400 ms of silence, here 500 ms until the end of segment 1.
TEST(V8bisExchange, CreIsThatOfTables1And2) {
  Pair p;
  p.mute_answer = true;
  p.run(1.5);
  const std::vector<float>& x = p.sent_answer;
  size_t begin = 0;
  while (x[begin] == 0) ++begin;
  EXPECT_NEAR(static_cast<double>(begin) / 8, 400, 1);
  size_t end = begin;
  for (size_t k = begin; k < x.size(); ++k) end = x[k] != 0 ? k + 1 : end;
  EXPECT_NEAR(static_cast<double>(end - begin) / 8, 500, 10);
  const double peak = dbm0_to_peak(-12 - 13.5);
  for (const double hz : {1375., 2002.}) EXPECT_NEAR(amplitude(x, begin, 3200, hz), peak / std::sqrt(2), 0.02 * peak);
  EXPECT_NEAR(amplitude(x, begin + 3200, 800, 400), peak, 0.01 * peak);
  for (const double from : {0., 3200.}) {
    const double level = mean_square_to_dbm0(power(x, begin + static_cast<size_t>(from), 800));
    EXPECT_GE(level, -12 - 15);
    EXPECT_LE(level, -12 - 12);
  }
}

// V.8 bis 7.2.4, 7.2.5: 100 ms of mark, flags, information, check sequence, flag.
TEST(V8bisExchange, MessagesAreTheBitsOfTheVectors) {
  Pair p;
  p.run(5, [&] { return p.ended(); });
  p.run(0.1);
  for (const bool by_call : {true, false}) {
    const std::vector<float>& x = by_call ? p.sent_call : p.sent_answer;
    const std::string expected = by_call ? kQc2Bits : kQca2Bits;
    const v8::Channel channel = by_call ? v8::Channel::kHigh : v8::Channel::kLow;
    const double one = v8::fsk_hz(channel, 1), zero = v8::fsk_hz(channel, 0);
    const auto length = static_cast<size_t>(std::lround(static_cast<double>(expected.size()) * 8000 / 300));
    size_t end = x.size();
    while (end > 0 && x[end - 1] == 0) --end;
    ASSERT_GE(end, length);
    const size_t begin = end - length;
    for (size_t k = 0; k < expected.size(); ++k) {
      const auto at = begin + static_cast<size_t>(std::lround(static_cast<double>(k) * 8000 / 300));
      const bool is_one = amplitude(x, at, 26, one) > amplitude(x, at, 26, zero);
      ASSERT_EQ(is_one, expected[k] == '1') << (by_call ? "QC2 " : "QCA2 ") << k;
    }
    const size_t mark = begin - static_cast<size_t>(0.01 * 8000);
    if (by_call) {
      for (size_t k = mark; k < begin - 2; ++k) ASSERT_EQ(x[k], 0) << "the preamble has 100 ms";
    }
  }
}

// V.92 9.2.1.2: "the initial 50 ms of signal CRe"; Figure 5: at least 50 ms.
TEST(V8bisExchange, QC2BeginsAfter50msOfCre) {
  Pair p;
  p.delay = 1;
  p.run(5, [&] { return p.call.state() == State::kSend; });
  const double ms = static_cast<double>(p.now()) / 8 - 400;
  EXPECT_GE(ms, 50);
  EXPECT_LE(ms, 75);
}

// 9.2.3.2: "shall terminate transmission of CRe".
TEST(V8bisExchange, CreEndsWhenQC2HasCome) {
  Pair p;
  p.delay = 1;
  p.run(5, [&] { return p.answer.state() == State::kAcknowledge; });
  EXPECT_LT(p.now(), 400u * 8 + kSegment1 + kSegment2 + 300u * 8);
}

// 9.2.1.2: nothing 1 s after QC2; 9.2.3.2: no signal 3 s after CRe.
TEST(V8bisExchange, WithoutAnAnswerTheTimesAreThoseOfTheText) {
  Pair p;
  p.mute_call = true;
  p.run(5, [&] { return p.call.state() == State::kAwait; });
  const size_t sent = p.now();
  p.run(5, [&] { return p.call.state() == State::kListen; });
  EXPECT_NEAR(static_cast<double>(p.now() - sent) / 8, 1000, 1);
  p.run(5, [&] { return p.answer.state() == State::kAlone; });
  EXPECT_NEAR(static_cast<double>(p.now()) / 8, 400 + 500 + 3000, 2);
}

TEST(V8bisExchange, OtherMessagesAndOtherTonesAreIgnored) {
  ExchangeConfig other = config(true);
  other.message[1] = 0x88;
  Exchange call(other);
  Exchange answer(config(false));
  float heard = 0;
  for (int n = 0; n < 5 * 8000; ++n) heard = 0.5f * answer.process(0.5f * call.process(heard));
  EXPECT_EQ(answer.state(), State::kAlone);

  Exchange listens(config(true));
  v8::AnsamGenerator ansam(-12, true);
  for (int n = 0; n < 4 * 8000; ++n) listens.process(ansam.next());
  v8::FskModulator jm(v8::Channel::kHigh, -12);
  int bit = 0;
  for (int n = 0; n < 4 * 8000; ++n) listens.process(jm.next([&bit] { return bit++ % 3 == 0 ? 1 : 0; }));
  EXPECT_EQ(listens.state(), State::kListen);
}

TEST(V8bisExchange, NoRowOfTheTableIsUntested) {
  uint64_t taken = 0;
  for (const int muted : {0, 1, 2, 3}) {
    Pair p;
    p.mute_call = (muted & 1) != 0;
    p.mute_answer = (muted & 2) != 0;
    p.run(6);
    taken |= p.call.taken() | p.answer.taken();
  }
  const auto rows = Exchange::transitions().rows;
  for (size_t k = 0; k < rows.size(); ++k) EXPECT_TRUE(taken >> k & 1) << k << " " << rows[k].clause;
}

// The whole of Tables 3, 5, 12 and 14: octets and bits on the line.
TEST(V8bisExchange, IdentificationFieldsAreThoseOfTheVectors) {
  for (const IdentificationVector& v : kIdentifications) {
    uint8_t octets[2];
    v90::encode_qc2({v.acknowledge, v.digital, v.lapm, v.uqts, v.level}, 2, octets);
    EXPECT_EQ(octets[0], v.octets[0]);
    EXPECT_EQ(octets[1], v.octets[1]) << v.acknowledge << v.digital << v.lapm << int{v.uqts} << " " << v.level;
    v90::QuickConnect qc{};
    ASSERT_TRUE(v90::decode_qc2(v.octets, 2, &qc));
    EXPECT_EQ(qc, (v90::QuickConnect{v.acknowledge, v.digital, v.lapm, v.uqts, v.level}));
  }
}

}  // namespace
}  // namespace offhook::v8bis
