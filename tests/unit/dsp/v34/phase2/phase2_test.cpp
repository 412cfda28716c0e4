// SPDX-License-Identifier: MIT
// Phase 2 against a peer that falls silent, and what it sends, in time and level: checklist sections 7 and 9.
#include "dsp/v34/phase2/phase2.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "dsp/blocks/level.h"
#include "tests/unit/dsp/v34/phase2_pair.h"

namespace offhook::v34 {
namespace {

using State = Phase2::State;

std::unique_ptr<Phase2Pair> pair_with_delay(int round_trip_ms, Phase2Config call = {}, Phase2Config answer = {}) {
  auto pair = std::make_unique<Phase2Pair>(call, answer);
  pair->delay = round_trip_ms * 4 - 1;
  pair->start();
  return pair;
}

class Phase2TimeOut : public testing::TestWithParam<int> {
 protected:
  /// Runs until the end is in `state`, and from then on loses the other end's signal. @return the time in ms until it
  /// leaves the state.
  double ms_in(Phase2Pair& pair, bool call_end, State state) {
    Phase2& end = call_end ? pair.call : pair.answer;
    if (!pair.run(20, [&] { return end.state() == state; })) return -1;
    (call_end ? pair.mute_answer : pair.mute_call) = true;
    const double from = pair.seconds();
    if (!pair.run(20, [&] { return end.state() != state; })) return -1;
    return (pair.seconds() - from) * 1000;
  }
};

// Checklist V34-11-4, table 9.1: state C5 has no time-out.
TEST_P(Phase2TimeOut, V34_11_4_C5_KeepsSendingToneB) {
  auto p = pair_with_delay(GetParam());
  ASSERT_TRUE(p->run(20, [&] { return p->call.state() == State::kFirstTone; }));
  p->mute_answer = true;
  EXPECT_FALSE(p->run(10, [&] { return p->call.state() != State::kFirstTone; }));
  ToneDetector b(kToneBHz);
  for (size_t n = p->sent_call.size() - 8000; n < p->sent_call.size(); ++n) b.put(p->sent_call[n]);
  EXPECT_GT(b.steady_ms(), 900);
}

// C6: 2000 ms after the first reversal; silence until tone A, then B and C5.
TEST_P(Phase2TimeOut, V34_11_4_C6_WaitsForToneAThenBeginsAgain) {
  auto p = pair_with_delay(GetParam());
  double reversal = 0;
  ASSERT_TRUE(p->run(20, [&] { return p->call.state() == State::kFirstTurn; }));
  ToneDetector a(kToneAHz);
  for (const float x : p->heard_call) {
    if (a.put(x) == ToneEvent::kReversal) reversal = a.reversal_time() / 8;
  }
  p->mute_answer = true;
  ASSERT_TRUE(p->run(20, [&] { return p->call.state() == State::kLostTurn; }));
  EXPECT_NEAR(p->seconds() * 1000 - reversal, 2000, 2);
  EXPECT_FALSE(p->run(1, [&] { return p->call.state() != State::kLostTurn; }));
  for (size_t n = p->sent_call.size() - 4000; n < p->sent_call.size(); ++n) ASSERT_EQ(p->sent_call[n], 0);
  p->mute_answer = false;
  ASSERT_TRUE(p->run(10, [&] { return p->call.state() == State::kFirstTone; }));
  EXPECT_TRUE(p->run_to_end());
}

// C8: 900 ms and the round trip after the second reversal it continues as if A had been reversed.
TEST_P(Phase2TimeOut, V34_11_4_C8_ProbesWithoutTheThirdReversal) {
  auto p = pair_with_delay(GetParam());
  ASSERT_TRUE(p->run(20, [&] { return p->call.state() == State::kHear; }));
  double reversal = 0;
  ToneDetector a(kToneAHz);
  for (const float x : p->heard_call) {
    if (a.put(x) == ToneEvent::kReversal) reversal = a.reversal_time() / 8;
  }
  ASSERT_TRUE(p->run(20, [&] { return p->call.state() == State::kSecondTone; }));
  p->mute_answer = true;
  ASSERT_TRUE(p->run(20, [&] { return p->call.state() == State::kSecondTurn; }));
  EXPECT_NEAR(p->seconds() * 1000 - reversal, 900 + p->round_trip_ms(), 2);
  const double turn = p->seconds() * 1000;
  ASSERT_TRUE(p->run(1, [&] { return p->call.state() == State::kProbe; }));
  EXPECT_NEAR(p->seconds() * 1000 - turn, 50, 2);  // 40 ms, then 10 ms of reversed B
}

// C9: 650 ms and the round trip after L2 began, a retrain.
TEST_P(Phase2TimeOut, V34_11_4_C9_Retrains) {
  auto p = pair_with_delay(GetParam());
  EXPECT_NEAR(ms_in(*p, true, State::kProbe), 160 + 650 + p->round_trip_ms(), 2);
  EXPECT_EQ(p->call.state(), State::kRetrain);
  EXPECT_EQ(p->call.retrains(), 1u);
  p->mute_answer = false;
  EXPECT_TRUE(p->run_to_end(30));
}

// C10: 700 ms and the round trip after the end of INFO1c it waits for A or INFOMARKSa; A means a retrain.
TEST_P(Phase2TimeOut, V34_11_4_C10_WaitsForToneAOrMarks) {
  auto p = pair_with_delay(GetParam());
  ASSERT_TRUE(p->run(20, [&] { return p->call.state() == State::kInfo1; }));
  p->mute_call = true;  // the answer modem continues with tone A
  const double from = p->seconds();
  ASSERT_TRUE(p->run(20, [&] { return p->call.state() != State::kInfo1; }));
  // INFO1c lasts 109 bits and a reference point.
  EXPECT_NEAR((p->seconds() - from) * 1000, 110 / 0.6 + 700 + p->round_trip_ms(), 10);
  EXPECT_EQ(p->call.state(), State::kNoInfo1);
  ASSERT_TRUE(p->run(1, [&] { return p->call.state() == State::kRetrain; }));
  p->mute_call = false;
  EXPECT_TRUE(p->run_to_end(30));
}

// Checklist RT-2; 11.5.1.2: more than 50 ms of tone A bring a call modem without INFO1a into a retrain.
TEST_P(Phase2TimeOut, V34_RT_2_WithoutInfo1aToneAOf49msIsNoRetrainAndOf60msIs) {
  for (const double ms : {40., 49., 60., 80.}) {
    auto p = pair_with_delay(GetParam());
    ASSERT_TRUE(p->run(20, [&] { return p->call.state() == State::kInfo1; }));
    p->mute_call = p->mute_answer = true;  // the answer modem continues with tone A
    ASSERT_TRUE(p->run(20, [&] { return p->call.state() == State::kNoInfo1; }));
    p->run(0.1, [] { return false; });
    p->mute_answer = false;
    p->run(ms / 1000, [] { return false; });
    p->mute_answer = true;
    EXPECT_EQ(p->run(0.1, [&] { return p->call.state() == State::kRetrain; }), ms > 50) << ms;
  }
}

// A6: 2000 ms after its own reversal it waits for B again.
TEST_P(Phase2TimeOut, V34_11_4_A6_WaitsForToneBAgain) {
  auto p = pair_with_delay(GetParam());
  EXPECT_NEAR(ms_in(*p, false, State::kReversed), 2000, 2);
  EXPECT_EQ(p->answer.state(), State::kFirstTone);
  p->mute_call = false;
  EXPECT_TRUE(p->run_to_end(30));
}

// A8: 600 ms and the round trip after L2 began it sends A and waits for B.
TEST_P(Phase2TimeOut, V34_11_4_A8_SendsToneAAndWaitsForB) {
  auto p = pair_with_delay(GetParam());
  EXPECT_NEAR(ms_in(*p, false, State::kProbe), 160 + 600 + p->round_trip_ms(), 2);
  EXPECT_EQ(p->answer.state(), State::kFirstTone);
  p->run(0.3, [] { return false; });
  ToneDetector a(kToneAHz);
  for (size_t n = p->sent_answer.size() - 2000; n < p->sent_answer.size(); ++n) a.put(p->sent_answer[n]);
  EXPECT_GT(a.steady_ms(), 200);
  p->mute_call = false;
  EXPECT_TRUE(p->run_to_end(30));
}

// A10: 2000 ms and twice the round trip after B was seen without INFO1c, a retrain.
TEST_P(Phase2TimeOut, V34_11_4_A10_Retrains) {
  auto p = pair_with_delay(GetParam());
  ASSERT_TRUE(p->run(20, [&] { return p->answer.state() == State::kSecondTone; }));
  const double seen = p->seconds();
  ASSERT_TRUE(p->run(20, [&] { return p->answer.state() == State::kThirdTone; }));
  p->mute_call = true;
  ASSERT_TRUE(p->run(20, [&] { return p->answer.state() != State::kThirdTone; }));
  EXPECT_NEAR((p->seconds() - seen) * 1000, 2000 + 2 * p->round_trip_ms(), 2);
  EXPECT_EQ(p->answer.state(), State::kRetrain);
  EXPECT_EQ(p->answer.retrains(), 1u);
  p->mute_call = false;
  EXPECT_TRUE(p->run_to_end(30));
}

// Recovery of Phases 3 and 4 (11.3.2, 11.4.2): INFO1 is exchanged again, with marks from either end or both.
TEST_P(Phase2TimeOut, V34_11_4_Info1IsRepeatedAfterMarks) {
  for (const bool call_sends_marks : {false, true}) {
    auto p = pair_with_delay(GetParam());
    ASSERT_TRUE(p->run_to_end());
    const Info1c info1c = p->call.outcome().info1c;
    p->call.repeat_info1(call_sends_marks);
    p->answer.repeat_info1(true);
    const auto from = static_cast<size_t>(p->now);
    ASSERT_TRUE(p->run_to_end());
    EXPECT_EQ(p->answer.outcome().info1c, info1c);
    EXPECT_EQ(p->call.outcome().info1a, p->answer.outcome().info1a);
    // 70 +- 5 ms of silence before the marks.
    size_t first = from;
    while (p->sent_answer[first] == 0 || first < from + 80) ++first;
    EXPECT_NEAR(static_cast<double>(first - from) / 8, 70, 5);
    EXPECT_EQ(p->call.retrains() + p->answer.retrains(), 0u);
  }
}

TEST_P(Phase2TimeOut, V34_11_4_MarksAreLeftForARetrainWhenTheFarEndSendsItsTone) {
  auto p = pair_with_delay(GetParam());
  ASSERT_TRUE(p->run_to_end());
  p->call.retrain();
  p->answer.repeat_info1(true);
  ASSERT_TRUE(p->run_to_end(30));
  EXPECT_NEAR(p->call.outcome().round_trip_samples / 8., p->round_trip_ms(), 1);
}

INSTANTIATE_TEST_SUITE_P(RoundTrip, Phase2TimeOut, testing::Values(20, 600),
                         [](const auto& test) { return std::to_string(test.param) + "ms"; });

// Checklist A8, V90-9.2A-4; 11.2.1.2.6, V.90 9.2.2.1.5: after L2 tone A for 50 ms, its reversal, 10 ms more, silence.
TEST(Phase2, V34_A8_ToneAAfterL2Has50msBeforeItsReversalAnd10After) {
  for (const bool v90 : {false, true}) {
    Phase2Config call, answer;
    if (v90) {
      call.pcm = PcmSide::kDigital;
      answer.pcm = PcmSide::kAnalogue;
      answer.u_info = [](const Info0d&) { return uint8_t{80}; };
    }
    auto p = pair_with_delay(20, call, answer);
    ASSERT_TRUE(p->run(20, [&] { return p->answer.state() == State::kSecondTone; }));
    const size_t from = p->sent_answer.size();  // after L2, nothing is sent from here on
    p->run(0.3, [] { return false; });
    const std::vector<float>& x = p->sent_answer;
    size_t begin = from, end = x.size(), reversal = 0;
    while (x[begin] == 0) ++begin;
    for (size_t n = begin, quiet = 0; n < end; ++n) {
      quiet = x[n] == 0 ? quiet + 1 : 0;
      if (quiet == 40) end = n + 1 - quiet;
    }
    EXPECT_NEAR(static_cast<double>(end - begin) / 8, 50 + 10, 1.7) << v90;  // both edges are shaped
    // 2400 Hz relative to its phase 5 ms earlier; the guard tone also has whole periods in 5 ms.
    const auto phasor = [&](size_t n) {
      std::complex<double> sum = 0;
      for (size_t k = n; k < n + 40; ++k)
        sum +=
            static_cast<double>(x[k]) * std::polar(1., -2 * 3.14159265358979324 * 2400 * static_cast<double>(k) / 8000);
      return sum;
    };
    // The mean over 40 samples is smallest when the reversal is in their middle.
    for (size_t n = begin + 160; n + 60 < end; ++n) {
      if (reversal == 0 || std::abs(phasor(n)) < std::abs(phasor(reversal))) reversal = n;
    }
    EXPECT_NEAR(static_cast<double>(end - (reversal + 20)) / 8, 10, 0.8) << v90;
    EXPECT_NEAR(static_cast<double>(reversal + 20 - begin) / 8, 50, 0.8) << v90;
  }
}

// Checklist V90-9.2D-5, of the digital modem, and C9, of V.34's call modem: the answer to L2, in samples of the line.
// 9.2.1.1.7: L2 for at most 550 ms and a round trip; if tone A comes, INFO1d. 9.2.1.2.5: without tone A for 650 ms and
// a round trip a retrain, which is 70 +- 5 ms of silence and tone B (9.5.1.1).
class Phase2AfterL2 : public testing::TestWithParam<std::tuple<int, bool>> {
 protected:
  static std::unique_ptr<Phase2Pair> pair() {
    const auto& [round_trip_ms, v90] = GetParam();
    Phase2Config call, answer;
    if (v90) {
      call.pcm = PcmSide::kDigital;
      answer.pcm = PcmSide::kAnalogue;
      answer.u_info = [](const Info0d&) { return uint8_t{80}; };
    }
    auto p = pair_with_delay(round_trip_ms, call, answer);
    EXPECT_TRUE(p->run(20, [&] { return p->call.state() == State::kProbe; }));
    return p;
  }
  static double ms_of(size_t sample) { return static_cast<double>(sample) / 8; }
  /// First sample from `from` on that begins `ms` ms without a signal.
  static size_t silence(const std::vector<float>& sent, size_t from, double ms) {
    size_t quiet = 0;
    for (size_t n = from; n < sent.size(); ++n) {
      quiet = sent[n] == 0 ? quiet + 1 : 0;
      if (ms_of(quiet) >= ms) return n + 1 - quiet;
    }
    return sent.size();
  }
  static size_t sound(const std::vector<float>& sent, size_t from) {
    while (from < sent.size() && sent[from] == 0) ++from;
    return from;
  }
  static bool info1_in(const std::vector<float>& sent, size_t from) {
    DpskReceiver receiver(kDpskCallHz);
    InfoDetector<Info1c> info1;
    DpskDecision decision;
    bool found = false;
    for (size_t n = from; n < sent.size(); ++n) found |= receiver.put(sent[n], &decision) && info1.put(decision);
    return found;
  }
};

TEST_P(Phase2AfterL2, WithoutToneAItRetrainsAfter650msAndARoundTrip) {
  auto p = pair();
  p->mute_answer = true;
  const size_t l2 = p->sent_call.size() + 160 * 8;  // L1 has 160 ms: 10.1.2.4/V.34
  p->run(6, [] { return false; });
  const size_t l2_end = silence(p->sent_call, l2, 20);
  EXPECT_GT(ms_of(l2_end - l2), 540 + p->round_trip_ms()) << "L2 lasts until tone A comes, or until its limit";
  EXPECT_LE(ms_of(l2_end - l2), 550 + p->round_trip_ms() + 0.5);
  const size_t tone = sound(p->sent_call, l2_end + 80);
  EXPECT_NEAR(ms_of(tone - l2), 650 + p->round_trip_ms() + 70, 5);
  EXPECT_FALSE(info1_in(p->sent_call, l2));
  ToneDetector b(kToneBHz);
  for (size_t n = tone; n < p->sent_call.size(); ++n) b.put(p->sent_call[n]);
  EXPECT_GT(b.steady_ms(), 2000);
}

TEST_P(Phase2AfterL2, ToneAThatComesLateStillBringsInfo1) {
  auto p = pair();
  const size_t l2 = p->sent_call.size() + 160 * 8;
  p->mute_answer = true;
  p->run(0.16 + 0.55 + p->round_trip_ms() / 1000, [] { return false; });  // L2 has reached its time limit
  p->mute_answer = false;
  p->run(1, [] { return false; });
  EXPECT_TRUE(info1_in(p->sent_call, l2));
  EXPECT_LT(ms_of(silence(p->sent_call, l2, 0.5) - l2), 700 + p->round_trip_ms());
  EXPECT_EQ(p->call.retrains(), 0u);
}

INSTANTIATE_TEST_SUITE_P(RoundTrip, Phase2AfterL2, testing::Combine(testing::Values(20, 250, 600), testing::Bool()),
                         [](const auto& test) {
                           return (std::get<1>(test.param) ? "Digital" : "Call") +
                                  std::to_string(std::get<0>(test.param)) + "ms";
                         });

// Checklist V34-11-1: every answering reversal is sent 40 +- 1 ms after the received one, at the terminals, even if
// card and driver delay the samples by a known time.
TEST(Phase2, V34_11_1_TurnRoundIs40msWhateverTheDelayOfCardAndDriver) {
  for (const uint16_t io_delay : {uint16_t{0}, uint16_t{96}, uint16_t{192}}) {
    Phase2Config config;
    config.io_delay_samples = io_delay;
    auto p = pair_with_delay(100, config, config);
    // The terminals are io_delay samples after the output.
    ASSERT_TRUE(p->run_to_end());
    for (const bool call : {true, false}) {
      std::vector<double> in, out;
      ToneDetector far(call ? kToneAHz : kToneBHz), own(call ? kToneBHz : kToneAHz);
      const auto &heard = call ? p->heard_call : p->heard_answer, &sent = call ? p->sent_call : p->sent_answer;
      for (size_t n = 0; n < heard.size(); ++n) {
        if (far.put(heard[n]) == ToneEvent::kReversal && far.steady_before_reversal_ms() > 38)
          in.push_back(far.reversal_time());
        if (own.put(sent[n]) == ToneEvent::kReversal && own.steady_before_reversal_ms() > 38)
          out.push_back(own.reversal_time());
      }
      int answered = 0;
      for (const double t : in) {
        for (const double u : out) {
          const double turn_ms = (u + io_delay - t) / 8;
          if (turn_ms < 0 || turn_ms > 80) continue;
          EXPECT_NEAR(turn_ms, 40, 1) << (call ? "call" : "answer") << " at " << t / 8000;
          ++answered;
        }
      }
      EXPECT_EQ(answered, call ? 2 : 1);
    }
    // The round trip is also that of the terminals: the delay of the samples minus the delay of both ends.
    EXPECT_NEAR(p->call.outcome().round_trip_samples, 800 - 2 * io_delay, 8);
    EXPECT_NEAR(p->answer.outcome().round_trip_samples, 800 - 2 * io_delay, 8);
  }
}

double tone_dbm0(const std::vector<float>& x, size_t from, size_t count, int hz) {
  std::complex<double> sum = 0;
  for (size_t n = from; n < from + count; ++n) {
    sum += static_cast<double>(x[n]) * std::polar(1., -2 * M_PI * hz * static_cast<double>(n) / 8000);
  }
  return mean_square_to_dbm0(2 * std::norm(sum) / static_cast<double>(count * count));
}
double level_dbm0(const std::vector<float>& x, size_t from, size_t count) {
  double sum = 0;
  for (size_t n = from; n < from + count; ++n) sum += static_cast<double>(x[n]) * static_cast<double>(x[n]);
  return mean_square_to_dbm0(sum / static_cast<double>(count));
}

// Checklist V34-10.1.2.1-1, -10.1.2.2-1, -10.1.2.4-2 and V34-RT-5: levels and lengths of the sent signals, before and
// after a retrain.
TEST(Phase2, V34_10_1_2_LevelsAndLengthsOfTonesAndProbingSignals) {
  auto p = pair_with_delay(20);
  for (int attempt = 0; attempt < 2; ++attempt) {
    size_t tone_b = 0, tone_a = 0, l_call = 0, l_answer = 0;
    ASSERT_TRUE(p->run(20, [&] {
      const auto now = static_cast<size_t>(p->now);
      if (tone_b == 0 && p->call.state() == State::kFirstTone) tone_b = now + 160;
      if (tone_a == 0 && p->answer.state() == State::kThirdTone) tone_a = now + 160;
      if (l_call == 0 && p->call.state() == State::kProbe) l_call = now;
      if (l_answer == 0 && p->answer.state() == State::kProbe) l_answer = now;
      return p->done();
    }));
    EXPECT_NEAR(tone_dbm0(p->sent_call, tone_b, 160, 1200), -12, 0.1);
    EXPECT_NEAR(level_dbm0(p->sent_call, tone_b, 160), -12, 0.1) << "no guard tone";
    EXPECT_NEAR(tone_dbm0(p->sent_answer, tone_a, 160, 2400), -13, 0.1);
    EXPECT_NEAR(tone_dbm0(p->sent_answer, tone_a, 160, 1800), -19, 0.1) << "guard tone";
    for (const bool call : {true, false}) {
      const auto& x = call ? p->sent_call : p->sent_answer;
      const size_t l1 = (call ? l_call : l_answer) - 1, l2 = l1 + 1280;  // the step is detected one sample late
      EXPECT_NEAR(level_dbm0(x, l1 + 160, 960), -6, 0.1) << "L1";
      EXPECT_NEAR(level_dbm0(x, l2 + 2, 1600), -12, 0.1) << "L2";
      EXPECT_NEAR(level_dbm0(x, l1 + 1120, 160), -6, 0.1) << "to its end";
    }
    p->call.retrain();
    p->answer.retrain();
  }
}

// A live answer modem mistakes noise of -46 dBm0 for our tone after 385 ms of its L2; restarts when the tone comes.
TEST(Phase2, TheCallModemsToneComesEarlyInL2WhereThereIsNoise) {
  const auto ms_of_l2 = [](double noise_dbm0) {
    auto p = pair_with_delay(20);
    p->normal = std::normal_distribution<float>(0, static_cast<float>(dbm0_to_rms(noise_dbm0)));
    EXPECT_TRUE(p->run(20, [&] { return p->answer.state() == State::kProbe; }));
    const double l2_heard = p->seconds() * 1000 + 160 + p->round_trip_ms() / 2;
    EXPECT_TRUE(p->run(20, [&] { return p->call.state() == State::kHear; }));
    EXPECT_TRUE(p->run(20, [&] { return p->call.state() != State::kHear; }));
    const double tone = p->seconds() * 1000 - l2_heard;
    EXPECT_TRUE(p->run_to_end());
    return tone;
  };
  EXPECT_LT(ms_of_l2(-46), 385 - 20) << "a round trip earlier at the far end";
  EXPECT_GT(ms_of_l2(-46), 128 + 64) << "two windows, the second half over the first";
  EXPECT_GT(ms_of_l2(-50), 385) << "all windows";
}

// Checklist V34-10.1.2.1-1: the guard tone has no reversal, tone A turns by 180 degrees, within 1 ms (-10.1.2.2-1).
TEST(Phase2, V34_10_1_2_1_ToneAIsReversedAndTheGuardToneIsNot) {
  DpskModulator modulator(phase2_signal(kDpskAnswerHz, -12, -7));
  std::vector<float> x;
  modulator.tone();
  for (int n = 0; n < 3200; ++n) {
    if (n == 1600) modulator.reverse();
    x.push_back(modulator.next([] { return -1; }));
  }
  const auto phase = [&](size_t from, int hz) {
    std::complex<double> sum = 0;
    for (size_t n = from; n < from + 160; ++n) {
      sum += static_cast<double>(x[n]) * std::polar(1., -2 * M_PI * hz * static_cast<double>(n) / 8000);
    }
    return std::arg(sum);
  };
  EXPECT_NEAR(std::abs(std::remainder(phase(1440, 2400) - phase(1608, 2400), 2 * M_PI)), M_PI, 0.01);
  EXPECT_NEAR(std::abs(std::remainder(phase(1440, 1800) - phase(1608, 1800), 2 * M_PI)), 0, 0.01);
}

// Checklist V34-INFO-3, -4, -5: for pairs of modems with random capabilities, both support the choice.
TEST(Phase2, V34_INFO_3_4_5_ChoicesAgreeWithTheCapabilitiesOfBoth) {
  std::mt19937 random(5);
  const auto flip = [&] { return static_cast<bool>(random() & 1); };
  for (int n = 0; n < 150; ++n) {
    Phase2Config config[2];
    for (Phase2Config& c : config) {
      Info0& i = c.capabilities;
      i = {flip(),
           flip(),
           flip(),
           flip(),
           flip(),
           flip(),
           flip(),
           flip(),
           flip(),
           static_cast<uint8_t>(random() % 6),
           false,
           flip(),
           TransmitClock::kInternal,
           false};
      i.low_carrier_3000 |= !i.high_carrier_3000;
      i.low_carrier_3200 |= !i.high_carrier_3200;
      c.md_length = static_cast<uint8_t>(random() % 128);
    }
    auto p = pair_with_delay(20, config[0], config[1]);
    if (n % 3 == 1) p->normal = std::normal_distribution<float>(0, 60);
    ASSERT_TRUE(p->run_to_end()) << n;
    const Phase2Outcome &c = p->call.outcome(), &a = p->answer.outcome();
    ASSERT_EQ(c.info1a, a.info1a);
    const Info0 &call = config[0].capabilities, &answer = config[1].capabilities;
    const auto check = [&](SymbolRate s, Carrier carrier, int rate, const Info0& from, const Info0& to) {
      if (s == SymbolRate::k2743) {
        EXPECT_TRUE(from.supports_2743 && to.supports_2743);
      }
      if (s == SymbolRate::k2800) {
        EXPECT_TRUE(from.supports_2800 && to.supports_2800);
      }
      if (s == SymbolRate::k3429) {
        EXPECT_TRUE(from.supports_3429 && to.supports_3429 && from.may_transmit_3429);
      }
      if (s == SymbolRate::k3000) {
        EXPECT_TRUE(carrier == Carrier::kLow ? from.low_carrier_3000 : from.high_carrier_3000);
      }
      if (s == SymbolRate::k3200) {
        EXPECT_TRUE(carrier == Carrier::kLow ? from.low_carrier_3200 : from.high_carrier_3200);
      }
      EXPECT_GE(rate, 1);
      EXPECT_LE(rate * 2400, traits(s).max_bit_rate);
      if (!from.supports_1664_points) {
        EXPECT_LE(rate, 12);
      }
    };
    check(c.tx_symbol_rate, c.tx_carrier, c.tx_projected_rate, call, answer);
    check(a.tx_symbol_rate, a.tx_carrier, a.tx_projected_rate, answer, call);
    const int apart = std::abs(static_cast<int>(c.tx_symbol_rate) - static_cast<int>(a.tx_symbol_rate));
    EXPECT_LE(apart, std::min(call.max_rate_difference, answer.max_rate_difference));
    for (const ProbingResult& r : c.info1c.probing) {
      if (!answer.supports_1664_points) {
        EXPECT_LE(r.max_rate, 12);
      }
    }
    // Whether the far end can reduce its power or not.
    EXPECT_EQ(c.info1c.min_power_reduction + c.info1c.extra_power_reduction, 0);
    EXPECT_EQ(c.info1a.min_power_reduction + c.info1a.extra_power_reduction, 0);
    EXPECT_EQ(c.far_md_length, std::min<int>(config[1].md_length, 45));  // 11.3.1.1.6
    EXPECT_EQ(a.far_md_length, std::min<int>(config[0].md_length, 45));
  }
}

// Checklist V34-10.1.2.3.6-1: INFOMARKS are continuous ones, a turn of 180 degrees every 1/600 s, with no other tone
// than the answer modem's guard tone. Decoded here by the phase at the middles of the symbols, without code of dsp/.
TEST(Phase2, V34_10_1_2_3_6_1_InfomarksTurnByHalfATurnEachSymbol) {
  for (const bool call : {true, false}) {
    SCOPED_TRACE(call ? "call" : "answer");
    auto p = pair_with_delay(20);
    ASSERT_TRUE(p->run_to_end());
    (call ? p->mute_answer : p->mute_call) = true;  // nothing answers the marks
    (call ? p->call : p->answer).repeat_info1(true);
    const auto from = static_cast<size_t>(p->now);
    p->run(0.5, [] { return false; });
    const std::vector<float>& sent = call ? p->sent_call : p->sent_answer;
    const double hz = call ? 1200 : 2400;
    // The middle half of two symbols; the guard tone, 600 Hz away, is at a zero of the window.
    const auto symbol_at = [&](double t) {
      std::complex<double> sum = 0;
      for (auto n = static_cast<size_t>(t - 19); static_cast<double>(n) < t + 20; ++n) {
        const double d = (static_cast<double>(n) - t) / 40;
        if (std::abs(d) < 0.5)
          sum += (0.5 + 0.5 * std::cos(2 * M_PI * d)) * static_cast<double>(sent[n]) *
                 std::polar(1., -2 * M_PI * hz * static_cast<double>(n) / 8000);
      }
      return sum;
    };
    constexpr double kSymbol = 8000. / 600;
    const double begin = static_cast<double>(from) + 0.1 * 8000;  // 70 ms of silence, plus the beginning
    double middle = begin;
    for (double t = begin; t < begin + kSymbol; t += 0.5)
      if (std::abs(symbol_at(t)) > std::abs(symbol_at(middle))) middle = t;
    int turns = 0;
    for (double t = middle; t + kSymbol + 20 < static_cast<double>(sent.size()); t += kSymbol, ++turns)
      EXPECT_NEAR(std::abs(std::arg(symbol_at(t + kSymbol) / symbol_at(t))), M_PI, 0.2) << turns;
    EXPECT_GT(turns, 200);
  }
}

// Checklist V34-LL-1: the ends are switched on at different times, in either order; no Phase 1.
TEST(Phase2, V34_LL_1_TheEndsMayBeginTenSecondsApart) {
  for (const bool call_first : {true, false}) {
    Phase2Pair p;
    (call_first ? p.call : p.answer).start();
    p.run(10, [] { return false; });
    (call_first ? p.answer : p.call).start();
    EXPECT_TRUE(p.run_to_end()) << "call in " << int(p.call.state()) << ", answer in " << int(p.answer.state());
  }
}

/// A far end that sends INFO0 one after the other, and its tone when none are left.
struct FarInfo0 {
  /// @param of_call  it is the far end of a call modem
  explicit FarInfo0(bool of_call)
      : modulator(phase2_signal(of_call ? kDpskAnswerHz : kDpskCallHz, -12, -7)),
        receiver(of_call ? kDpskCallHz : kDpskAnswerHz),
        bits(Info0::kBits) {
    encode(kAllCapabilities, bits.data());
    send(1);
  }
  void send(size_t times) {
    at = 0;
    left = times * bits.size();
    modulator.bits();
  }
  float next() {
    return modulator.next([this] { return left == 0 ? -1 : (--left, static_cast<int>(bits[at++ % bits.size()])); });
  }
  /// @return whether an INFO0 ends with this sample
  bool hears(float sample) {
    DpskDecision decision;
    return receiver.put(sample, &decision) && detector.put(decision);
  }
  void finish() { left = std::min(left, bits.size() - at % bits.size()); }

  DpskModulator modulator;
  DpskReceiver receiver;
  InfoDetector<Info0> detector;
  std::vector<uint8_t> bits;
  size_t at = 0, left = 0;  // bits
};

// A far end that treats each repetition as a sign of its own loss, a round trip later: two INFO0, then its tone.
// Without a limit for the whole series, both ends repeat endlessly.
TEST(Phase2, AFarEndThatRepeatsInfo0AfterEachOfOursGetsOurTone) {
  constexpr size_t kRoundTrip = 10400, kSeconds = 12;  // beyond the time in which repetitions are not answered
  for (const bool call : {true, false}) {
    SCOPED_TRACE(call ? "call" : "answer");
    Phase2Config config;
    config.role = call ? OH_PUMP_CALL : OH_PUMP_ANSWER;
    Phase2 end(config);
    FarInfo0 far(call);
    std::vector<float> sent(kRoundTrip);
    far.send(3);
    end.start();
    double last_s = 0;
    int found = 0;
    for (size_t n = 0; n < kSeconds * 8000; ++n) {
      sent.push_back(end.process(0.3f * far.next()));
      if (!far.hears(sent[n])) continue;
      last_s = static_cast<double>(n) / 8000;
      ++found;
      if (far.left == 0) far.send(2);
    }
    EXPECT_GE(found, 3);
    EXPECT_LT(last_s, 6);
  }
}

// A far end that repeats INFO0 because nothing has come from this end for 400 ms, over a round trip of 500 to 900 ms.
// This end's INFO0 is on its way, so a second one would only be taken for something else, such as a reversal.
TEST(Phase2, AFarEndThatRepeatsInfo0BeforeItCanHaveHeardOursIsNotAnswered) {
  for (const size_t round_trip_ms : {500, 700, 900}) {
    for (const bool call : {true, false}) {
      SCOPED_TRACE(testing::Message() << round_trip_ms << " ms, " << (call ? "call" : "answer"));
      Phase2Config config;
      config.role = call ? OH_PUMP_CALL : OH_PUMP_ANSWER;
      Phase2 end(config);
      FarInfo0 far(call);
      constexpr size_t kPatience = 3200, kSeconds = 3;
      const size_t one_way = round_trip_ms * 4;
      std::vector<float> from_far(one_way), from_end(one_way);
      int found = 0;
      for (size_t n = 0; n < kSeconds * 8000; ++n) {
        if (n == one_way) end.start();  // Phase 1 ends at the far end first
        if (n == kPatience + far.bits.size() * 8000 / kDpskBaud) far.send(100);
        from_far.push_back(far.next());
        from_end.push_back(end.process(0.3f * from_far[n]));
        if (!far.hears(from_end[n])) continue;
        ++found;
        far.finish();  // received: then the tone
      }
      EXPECT_EQ(found, 1);
    }
  }
}

/// The answer modem sends INFO0 once more, 75 ms after the first. @pre a one-way delay of 0.3 s or more
void repeat_info0(Phase2Pair* p) {
  p->run(0.3, [] { return false; });
  FarInfo0 again(true);
  for (size_t n = p->sent_answer.size() - 1100; n < p->sent_answer.size(); ++n) p->sent_answer[n] = again.next();
}

/// INFO1a is not received after an INFO1d without V.90.
void lose_info1a_after_refusal(Phase2Pair& p) {
  p.delay = 2799;
  p.start();
  repeat_info0(&p);
  ASSERT_TRUE(p.run(20, [&] { return p.call.state() == State::kInfo1; }));
  p.mute_answer = true;
  ASSERT_TRUE(p.run(20, [&] { return p.call.state() == State::kRetrain; }));
  p.mute_answer = false;
  p.answer.retrain();  // as its Phase 3 does when it hears tone B
}

// The digital modem refuses V.90 if the round trip is too long for it and the far end does not wait that long: it has
// repeated INFO0 before it can have heard the digital modem's. A patient far end keeps V.90.
TEST(Phase2, OverALongRoundTripAnImpatientAnalogueModemGetsV34) {
  struct Case {
    bool repeats;
    uint32_t longest_trip;
    bool pcm;
  };
  for (const Case& c : {Case{true, 5000, false}, Case{false, 5000, true}, Case{true, 6000, true}}) {
    SCOPED_TRACE(testing::Message() << c.repeats << ", " << c.longest_trip << " samples");
    Phase2Config digital, analogue;
    digital.pcm = PcmSide::kDigital;
    digital.longest_pcm_trip = c.longest_trip;
    analogue.pcm = PcmSide::kAnalogue;
    analogue.u_info = [](const Info0d&) { return uint8_t{80}; };
    Phase2Pair p(digital, analogue);
    p.delay = 2799;
    p.start();
    if (c.repeats) repeat_info0(&p);
    ASSERT_TRUE(p.run_to_end(30));
    EXPECT_EQ(p.call.refuses_pcm(), !c.pcm);
    EXPECT_EQ(p.call.outcome().pcm, c.pcm);
    EXPECT_EQ(p.answer.outcome().pcm, c.pcm);
    const auto& probing = p.call.outcome().info1c.probing;
    for (int s = 0; s < kSymbolRates; ++s)
      EXPECT_EQ(probing[s].max_rate > 0, c.pcm || (kUpstreamRates >> s & 1) == 0) << s;
  }
}

// A far end may take a second of silence in a retrain for a lost line. Over a round trip that leaves no time for L2,
// the call modem sends its tone after L1, and keeps what it knows of the line.
TEST(Phase2, InARetrainTheCallModemIsNotSilentForASecondIfTheRoundTripLetsIt) {
  for (const int one_way_ms : {5, 150, 250, 350}) {
    Phase2Pair p;
    p.delay = one_way_ms * 8 - 1;
    p.start();
    ASSERT_TRUE(p.run_to_end(30));
    const auto before = p.call.outcome().rx_symbol_rate;
    p.call.retrain();
    p.answer.retrain();
    ASSERT_TRUE(p.run(20, [&] { return p.call.state() == State::kHear; }));
    const int64_t silent_from = p.now;
    ASSERT_TRUE(p.run(20, [&] { return p.call.state() == State::kSecondTone; }));
    EXPECT_LT(static_cast<double>(p.now - silent_from) / 8 + 50 + p.round_trip_ms(), 1000) << one_way_ms;
    ASSERT_TRUE(p.run_to_end(30));
    EXPECT_EQ(p.call.outcome().rx_symbol_rate, before);
  }
}

// A far end that repeats INFO0 without acknowledgement until it receives this end's tone: INFO0 is not repeated
// endlessly.
TEST(Phase2, AFarEndThatRepeatsInfo0WithoutEndGetsOurTone) {
  for (const bool call : {true, false}) {
    SCOPED_TRACE(call ? "call" : "answer");
    Phase2Config config;
    config.role = call ? OH_PUMP_CALL : OH_PUMP_ANSWER;
    Phase2 end(config);
    DpskModulator far(phase2_signal(call ? kDpskAnswerHz : kDpskCallHz, -12, -7));
    std::vector<uint8_t> bits(Info0::kBits);
    encode(kAllCapabilities, bits.data());
    size_t at = 0;
    far.bits();
    ToneDetector tone(call ? kToneBHz : kToneAHz);
    end.start();
    float longest_ms = 0;
    for (int n = 0; n < 8 * 8000; ++n) {
      const float rx = far.next([&] { return static_cast<int>(bits[at++ % bits.size()]); });
      tone.put(end.process(0.3f * rx));
      longest_ms = std::max(longest_ms, tone.unbroken_ms());
    }
    EXPECT_GT(longest_ms, 2500);
  }
}

// --- the table

TEST(Phase2Transitions, EveryRowIsTakenInACall) {
  uint64_t taken = 0;
  const auto call = [&](auto&& what, Phase2Config caller = {}, Phase2Config answerer = {}) {
    Phase2Pair p(caller, answerer);
    what(p);
    EXPECT_TRUE(p.run_to_end(30)) << "call in " << int(p.call.state()) << ", answer in " << int(p.answer.state());
    taken |= p.call.taken() | p.answer.taken();
  };
  // From `state` of an end on, the other end is not received until the end is in another state.
  const auto lost = [&](bool call_end, State state) {
    call([&](Phase2Pair& p) {
      Phase2& end = call_end ? p.call : p.answer;
      p.start();
      ASSERT_TRUE(p.run(20, [&] { return end.state() == state; }));
      (call_end ? p.mute_answer : p.mute_call) = true;
      ASSERT_TRUE(p.run(20, [&] { return end.state() != state; }));
      p.mute_answer = p.mute_call = false;
    });
  };
  Phase2Config digital, analogue;
  digital.pcm = PcmSide::kDigital;
  analogue.pcm = PcmSide::kAnalogue;
  analogue.u_info = [](const Info0d&) { return uint8_t{80}; };
  call([](Phase2Pair& p) { p.start(); }, digital, analogue);
  for (const bool by_call : {true, false}) {
    call([&](Phase2Pair& p) {  // one end is switched on later
      (by_call ? p.call : p.answer).start();
      p.run(10, [] { return false; });
      (by_call ? p.answer : p.call).start();
    });
    call([&](Phase2Pair& p) {  // INFO0 of one end is lost, but its tone is not
      p.start();
      (by_call ? p.mute_answer : p.mute_call) = true;
      p.run(0.15, [] { return false; });
      (by_call ? p.mute_answer : p.mute_call) = false;
    });
    call([&](Phase2Pair& p) {  // INFO1 is repeated
      p.start();
      ASSERT_TRUE(p.run_to_end());
      p.call.repeat_info1(by_call);
      p.answer.repeat_info1(true);
    });
  }
  for (const bool source_calls : {true, false}) {
    Phase2Config source, recipient;
    source.half = HalfDuplex::kSource;
    recipient.half = HalfDuplex::kRecipient;
    const Phase2Config &caller = source_calls ? source : recipient, &answerer = source_calls ? recipient : source;
    const auto half = [&](State state, bool of_source, double muted_s) {
      call(
          [&](Phase2Pair& p) {
            p.start();
            const Phase2& end = of_source == source_calls ? p.call : p.answer;
            ASSERT_TRUE(p.run(20, [&] { return end.state() == state; }));
            (of_source == source_calls ? p.mute_answer : p.mute_call) = true;
            p.run(muted_s, [] { return false; });
            p.mute_answer = p.mute_call = false;
            Phase2& hears = source_calls ? p.answer : p.call;
            if (hears.done()) hears.repeat_infoh();
          },
          caller, answerer);
    };
    half(State::kHalfReversed, false, 2.1);
    half(State::kHalfTone, false, 2.1);
    half(State::kProbe, true, 3);
    half(State::kAwaitInfoh, true, 2.1);
  }
  call([&](Phase2Pair& p) {  // a retrain before INFO0 has arrived
    p.call.retrain();
    p.answer.start();
  });
  call([&](Phase2Pair& p) {  // INFO0 is repeated, but not received
    p.mute_call = true;
    p.start();
    ASSERT_TRUE(p.run(20, [&] { return p.answer.state() == State::kInfo0 && p.now > 8000; }));
    p.mute_call = false;
    ASSERT_TRUE(p.run(20, [&] { return p.call.state() == State::kInfo0Again; }));
    p.mute_call = p.mute_answer = true;
    p.run(4, [] { return false; });
    p.mute_call = p.mute_answer = false;
  });
  Phase2Config refusing = digital;
  refusing.longest_pcm_trip = 1;
  call(lose_info1a_after_refusal, refusing, analogue);
  for (const State s : {State::kRoundTrip, State::kSecondTone, State::kProbe}) lost(true, s);
  for (const State s : {State::kReversed, State::kProbe, State::kThirdTone}) lost(false, s);
  call([&](Phase2Pair& p) {  // INFO1c is lost: tone A continues, and brings the call modem into a retrain
    p.start();
    ASSERT_TRUE(p.run(20, [&] { return p.call.state() == State::kInfo1; }));
    p.mute_call = true;
    ASSERT_TRUE(p.run(20, [&] { return p.call.state() == State::kRetrain; }));
    p.mute_call = false;
  });

  const auto rows = Phase2::transitions().rows;
  for (size_t k = 0; k < rows.size(); ++k)
    EXPECT_TRUE(is_of_short_phase2(rows[k]) || (taken >> k & 1)) << "row " << k << ", clause " << rows[k].clause;
}

TEST(Phase2Transitions, WhatIsHeardWhenIdleOrDoneChangesNothing) {
  Phase2Pair p;
  p.call.start();
  p.run(1, [] { return false; });
  EXPECT_EQ(p.answer.state(), State::kIdle);
  EXPECT_EQ(p.answer.taken(), 0u);
  p.answer.start();
  ASSERT_TRUE(p.run_to_end());
  const uint64_t taken = p.answer.taken();
  p.call.retrain();
  p.run(2, [] { return false; });
  EXPECT_EQ(p.answer.state(), State::kDone);
  EXPECT_EQ(p.answer.taken(), taken);
}

}  // namespace
}  // namespace offhook::v34
