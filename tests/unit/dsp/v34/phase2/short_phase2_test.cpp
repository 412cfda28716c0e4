// SPDX-License-Identifier: MIT
//
// Short Phase 2 of V.92 (11/2000) 9.4: ranging alone, the analogue modem choosing from what it knows.
#include <gtest/gtest.h>

#include <cmath>
#include <utility>

#include "tests/unit/dsp/v34/phase2_pair.h"

namespace offhook::v34 {
namespace {

using State = Phase2::State;

Phase2Config digital(bool v92, bool wants) {
  Phase2Config c;
  c.pcm = PcmSide::kDigital;
  c.digital.upstream_3429 = true;
  c.v92 = v92;
  c.short_phase2 = wants;
  return c;
}
Phase2Config analogue(bool v92, bool wants, SymbolRate rate = SymbolRate::k3200, Carrier carrier = Carrier::kHigh) {
  Phase2Config c;
  c.pcm = PcmSide::kAnalogue;
  c.u_info = [](const Info0d&) { return uint8_t{80}; };
  c.v92 = v92;
  c.short_phase2 = wants;
  c.known_rate = rate;
  c.known_carrier = carrier;
  c.known_round_trip_samples = 333;
  return c;
}
bool went_short(const Phase2& p) {
  const auto rows = Phase2::transitions().rows;
  for (size_t k = 0; k < rows.size(); ++k) {
    if (is_of_short_phase2(rows[k]) && (p.taken() >> k & 1) != 0) return true;
  }
  return false;
}

TEST(ShortPhase2, MeasuresTheRoundTripAndTellsWhatIsKnown) {
  for (const int delay : {7, 79, 1199, 4799}) {
    for (const SymbolRate rate : {SymbolRate::k3000, SymbolRate::k3200, SymbolRate::k3429}) {
      SCOPED_TRACE(testing::Message() << delay << " " << int(rate));
      Phase2Pair p(digital(true, true), analogue(true, true, rate));
      p.delay = delay;
      p.start();
      ASSERT_TRUE(p.run_to_end(10));
      EXPECT_TRUE(went_short(p.call));
      EXPECT_TRUE(went_short(p.answer));
      const Phase2Outcome &d = p.call.outcome(), &a = p.answer.outcome();
      EXPECT_TRUE(d.pcm && a.pcm);
      EXPECT_NEAR(d.round_trip_samples, 8 * p.round_trip_ms(), 8);
      EXPECT_EQ(a.round_trip_samples, 333u) << "the analogue modem cannot measure it";
      EXPECT_EQ(d.rx_symbol_rate, rate);
      EXPECT_EQ(a.tx_symbol_rate, rate);
      EXPECT_EQ(d.rx_carrier, Carrier::kHigh);
      EXPECT_EQ(a.tx_carrier, Carrier::kHigh);
      EXPECT_EQ(d.rx_pre_emphasis, 0);
      EXPECT_EQ(a.tx_pre_emphasis, 0);
      EXPECT_EQ(d.info1a_v90.u_info, 80);
      EXPECT_EQ(d.info1a_v90.frequency_offset, kOffsetUnknown);
      // INFO0, 50 ms of tone, the round trip with 40 ms, 10 ms, INFO1a: Figure 9.
      EXPECT_LT(p.seconds(), 0.6 + 3 * p.round_trip_ms() / 1000);
    }
  }
}

// 9.4.2.1.3: 40 +- 1 ms after the received reversal, then 10 ms of the tone, then INFO1a.
TEST(ShortPhase2, ReversesFortyMillisecondsAfterTheFarEnd) {
  Phase2Pair p(digital(true, true), analogue(true, true));
  p.start();
  ASSERT_TRUE(p.run_to_end(10));
  double heard = 0, sent = 0;
  ToneDetector b(kToneBHz), a(kToneAHz);
  for (size_t n = 0; n < p.heard_answer.size(); ++n) {
    if (b.put(p.heard_answer[n]) == ToneEvent::kReversal && b.steady_before_reversal_ms() >= 40)
      heard = b.reversal_time();
    if (a.put(p.sent_answer[n]) == ToneEvent::kReversal && a.steady_before_reversal_ms() >= 40 && sent == 0)
      sent = a.reversal_time();
  }
  EXPECT_NEAR((sent - heard) / 8, 40, 1);
}

TEST(ShortPhase2, IsWhatBothAskFor) {
  for (int n = 0; n < 16; ++n) {
    SCOPED_TRACE(n);
    Phase2Pair p(digital((n & 1) != 0, (n & 2) != 0), analogue((n & 4) != 0, (n & 8) != 0));
    p.start();
    ASSERT_TRUE(p.run_to_end(20));
    EXPECT_EQ(went_short(p.call), n == 15);
    EXPECT_EQ(went_short(p.answer), n == 15);
    EXPECT_TRUE(p.call.outcome().pcm);
    EXPECT_EQ(p.call.outcome().rx_symbol_rate, p.answer.outcome().tx_symbol_rate);
  }
}

TEST(ShortPhase2, ARetrainHasTheFullOne) {
  Phase2Pair p(digital(true, true), analogue(true, true));
  p.start();
  ASSERT_TRUE(p.run_to_end(10));
  const double before = p.seconds();
  p.answer.retrain();
  p.call.retrain();
  ASSERT_TRUE(p.run_to_end(20));
  EXPECT_GT(p.seconds() - before, 1.2) << "with probing";
  EXPECT_GT(p.call.outcome().info1c.probing[int(SymbolRate::k3200)].max_rate, 0);
}

TEST(ShortPhase2, WithoutTheFarEndsReversalTheAnalogueModemTrainsAgainAfter2500Ms) {
  Phase2Pair p(digital(true, true), analogue(true, true));
  p.start();
  ASSERT_TRUE(p.run(5, [&] { return p.answer.state() == State::kFirstTone; }));
  const double from = p.seconds();
  p.mute_call = true;
  ASSERT_TRUE(p.run(5, [&] { return p.answer.state() == State::kRetrain; }));
  EXPECT_NEAR(p.seconds() - from, 2.5, 0.01);
  p.mute_call = false;
  EXPECT_TRUE(p.run_to_end(20));
}

TEST(ShortPhase2, NoRowOfTheTableIsUntested) {
  uint64_t taken = 0;
  const auto call = [&](auto&& what) {
    Phase2Pair p(digital(true, true), analogue(true, true));
    p.start();
    what(p);
    EXPECT_TRUE(p.run_to_end(30)) << "digital in " << int(p.call.state()) << ", analogue in " << int(p.answer.state());
    taken |= p.call.taken() | p.answer.taken();
  };
  call([](Phase2Pair&) {});
  // The analogue modem's last signal is lost, and it trains again.
  for (const auto& [state, then] :
       {std::pair(State::kShortReversed, State::kLostTurn), {State::kShortInfo1, State::kFirstTone}}) {
    call([state, then](Phase2Pair& p) {
      ASSERT_TRUE(p.run(20, [&] { return p.call.state() == state; }));
      p.mute_answer = true;
      const double from = p.seconds();
      ASSERT_TRUE(p.run(20, [&] { return p.call.state() == then; }));
      EXPECT_NEAR(p.seconds() - from, state == State::kShortReversed ? 2.5 : 2.5 - p.round_trip_ms() / 1000 - 0.04,
                  0.03)
          << "2500 ms from the reversal: 9.4.1.2.2, 9.4.1.2.3";
      p.mute_answer = false;
      ASSERT_TRUE(p.answer.done());
      p.answer.retrain();
    });
  }
  call([](Phase2Pair& p) {  // the digital modem's reversal is lost
    ASSERT_TRUE(p.run(20, [&] { return p.answer.state() == State::kFirstTone; }));
    p.mute_call = true;
    ASSERT_TRUE(p.run(20, [&] { return p.answer.state() == State::kRetrain; }));
    p.mute_call = false;
  });
  const auto rows = Phase2::transitions().rows;
  for (size_t k = 0; k < rows.size(); ++k)
    EXPECT_TRUE(!is_of_short_phase2(rows[k]) || (taken >> k & 1)) << k << " " << rows[k].clause;
}

}  // namespace
}  // namespace offhook::v34
