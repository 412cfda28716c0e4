// SPDX-License-Identifier: MIT
// The time-outs of clause 12, measured, and the rows of the procedure's table.
#include <gtest/gtest.h>

#include "tests/unit/dsp/v34/half_duplex/session_pair.h"
#include "tests/unit/dsp/v34/phase2_pair.h"

namespace offhook::v34 {
namespace {

using State = HalfDuplexState;
constexpr double kSymbolMs = 1000. / kControlSymbolHz;

TEST(V34HalfDuplexTimeOuts, V34_12_3_3_SIsAwaitedFor2000Ms) {
  HalfDuplexPair p;
  p.recipient->begin(p.outcome);
  p.mute_source = true;
  p.source->begin(p.outcome);
  EXPECT_NEAR(p.ms_until_left(*p.recipient, State::kFarS), 2000, 1);
  EXPECT_EQ(p.recipient->outcome(), HalfDuplexOutcome::kRepeatInfoh);
}

TEST(V34HalfDuplexTimeOuts, V34_12_4_3_2_SourceAwaitsPphFor3sAfterItsOwn) {
  HalfDuplexPair p;
  p.mute_recipient = true;
  p.begin();
  ASSERT_TRUE(p.run(5, [&] { return p.source->state() == State::kSendPph; }));
  EXPECT_NEAR(p.ms_until_left(*p.source, State::kSendPph), 70 + kPphSymbols * kSymbolMs + 3000, 5);
  EXPECT_EQ(p.source->state(), State::kAc);
}

TEST(V34HalfDuplexTimeOuts, V34_12_4_3_3_SourceAwaitsMphFor3sAfterPph) {
  HalfDuplexPair p;
  p.begin();
  ASSERT_TRUE(p.run(5, [&] { return p.source->state() == State::kExchange; }));
  p.mute_recipient = true;
  EXPECT_NEAR(p.ms_until_left(*p.source, State::kExchange), 3000, 1);
  EXPECT_EQ(p.source->state(), State::kAc);
}

TEST(V34HalfDuplexTimeOuts, V34_12_4_3_4_And_12_4_4_3_EIsAwaitedFor3sAfterMph) {
  for (const bool of_source : {true, false}) {
    HalfDuplexPair p;
    const HalfDuplexSession& end = of_source ? *p.source : *p.recipient;
    p.begin();
    ASSERT_TRUE(p.run(5, [&] { return end.far_mph().max_rate != 0; }));
    (of_source ? p.mute_recipient : p.mute_source) = true;
    EXPECT_NEAR(p.ms_until_left(end, State::kExchange), 3000, 1);
    EXPECT_EQ(end.state(), State::kAc);
  }
}

TEST(V34HalfDuplexTimeOuts, V34_12_4_4_1_RecipientAwaitsPphFor3sAfterTrn) {
  HalfDuplexPair p;
  p.begin();
  ASSERT_TRUE(p.run(5, [&] { return p.recipient->state() == State::kAwaitPph; }));
  p.mute_source = true;
  EXPECT_NEAR(p.ms_until_left(*p.recipient, State::kAwaitPph), 3000, 1);
  EXPECT_EQ(p.recipient->state(), State::kAc);
}

TEST(V34HalfDuplexTimeOuts, V34_12_4_4_2_RecipientAwaitsMphFor3sAfterItsPph) {
  HalfDuplexPair p;
  p.begin();
  ASSERT_TRUE(p.run(5, [&] { return p.recipient->state() == State::kExchange; }));
  p.mute_source = true;
  EXPECT_NEAR(p.ms_until_left(*p.recipient, State::kExchange), 3000 + kPphSymbols * kSymbolMs, 5);
  EXPECT_EQ(p.recipient->state(), State::kAc);
}

TEST(V34HalfDuplexTimeOuts, V34_12_6_1_5_SourceAwaitsShFor3sAfterItsOwn) {
  HalfDuplexPair p;
  p.begin();
  ASSERT_TRUE(p.reach_control());
  ASSERT_TRUE(p.reach_page());
  p.source->turn();
  ASSERT_TRUE(p.run(1, [&] { return p.source->state() == State::kSendSh; }));
  p.mute_recipient = true;
  EXPECT_NEAR(p.ms_until_left(*p.source, State::kSendSh), 70 + (kShSymbols + kShBarSymbols) * kSymbolMs + 3000, 5);
  EXPECT_EQ(p.source->state(), State::kAc);
}

TEST(V34HalfDuplexTimeOuts, V34_12_6_2_4_RecipientAwaitsShFor3s) {
  HalfDuplexPair p;
  p.begin();
  ASSERT_TRUE(p.reach_control());
  ASSERT_TRUE(p.reach_page());
  p.mute_source = true;
  p.recipient->turn();
  EXPECT_NEAR(p.ms_until_left(*p.recipient, State::kAwaitSh), 3000, 1);
  EXPECT_EQ(p.recipient->state(), State::kAc);
}

TEST(V34HalfDuplexTimeOuts, V34_12_6_1_6_And_12_6_2_5_EIsAwaitedFor3sAfterSh) {
  for (const bool of_source : {true, false}) {
    HalfDuplexPair p;
    p.begin();
    ASSERT_TRUE(p.reach_control());
    ASSERT_TRUE(p.reach_page());
    p.source->turn();
    const HalfDuplexSession& end = of_source ? *p.source : *p.recipient;
    // The source's S-bar-h has ended before its ALT and the far end's Sh; the recipient's comes after this.
    int64_t sent = 0;
    ASSERT_TRUE(p.run(1, [&] { return p.source->state() == State::kSendSh; }));
    if (of_source) sent = p.now + static_cast<int64_t>(8 * (70 + (kShSymbols + kShBarSymbols) * kSymbolMs));
    ASSERT_TRUE(p.run(1, [&] { return end.state() == State::kResync; }));
    if (!of_source) sent = p.now + static_cast<int64_t>(8 * (kShSymbols + kShBarSymbols) * kSymbolMs);
    (of_source ? p.mute_recipient : p.mute_source) = true;
    ASSERT_GT(p.ms_until_left(end, State::kResync), 0);
    EXPECT_NEAR(static_cast<double>(p.now - sent) / 8, 3000, 6);
    EXPECT_EQ(end.state(), State::kAc);
  }
}

// After each of these the control channel is trained again (12.8).
TEST(V34HalfDuplexTimeOuts, ALostControlChannelComesBack) {
  for (const bool of_source : {true, false}) {
    for (const State state : {State::kExchange, State::kControl}) {
      HalfDuplexPair p(of_source);
      p.begin();
      ASSERT_TRUE(p.run(8, [&] { return (of_source ? p.source : p.recipient)->state() == state; }));
      (of_source ? p.mute_recipient : p.mute_source) = true;
      p.run(3.5, [] { return false; });
      p.mute_recipient = p.mute_source = false;
      if (state == State::kControl) p.source->retrain_control();
      ASSERT_TRUE(p.reach_control(12)) << of_source << static_cast<int>(state);
    }
  }
}

// --- the table

TEST(V34HalfDuplexTransitions, EveryRowIsTakenInACall) {
  uint64_t taken = 0;
  const auto finish = [&taken](const HalfDuplexPair& p) { taken |= p.source->taken() | p.recipient->taken(); };
  const auto lost_in = [&](bool of_source, State state, bool page) {
    HalfDuplexPair p;
    p.begin();
    HalfDuplexSession& end = of_source ? *p.source : *p.recipient;
    if (page) {
      ASSERT_TRUE(p.reach_control());
      ASSERT_TRUE(p.reach_page());
      if (state == State::kAwaitSh) p.recipient->turn();
      p.source->turn();
    }
    ASSERT_TRUE(p.run(8, [&] { return end.state() == state; })) << static_cast<int>(state);
    (of_source ? p.mute_recipient : p.mute_source) = true;
    ASSERT_TRUE(p.run(5, [&] { return end.state() != state; })) << static_cast<int>(state);
    p.mute_source = p.mute_recipient = false;
    p.reach_control(12);
    finish(p);
  };
  lost_in(false, State::kFarS, false);
  lost_in(false, State::kFarTrn, false);
  lost_in(false, State::kAwaitPph, false);
  for (const bool of_source : {true, false}) lost_in(of_source, State::kExchange, false);
  lost_in(true, State::kSendPph, false);
  lost_in(true, State::kSendSh, true);
  lost_in(false, State::kAwaitSh, true);
  for (const bool of_source : {true, false}) lost_in(of_source, State::kResync, true);
  for (const bool of_source : {true, false}) {
    for (const int what : {0, 1, 2, 3}) {
      HalfDuplexPair p(of_source);
      p.begin();
      ASSERT_TRUE(p.reach_control());
      HalfDuplexSession& end = of_source ? *p.source : *p.recipient;
      if (what == 0) end.retrain_control();
      if (what == 1) end.retrain_primary();
      if (what == 2) end.change(9600, false);
      if (what != 0) p.reach_page();
      if (what > 1) p.source->turn();
      p.reach_control();
      finish(p);
    }
  }
  {
    HalfDuplexPair p;  // the recipient's tones instead of PPh, and later
    for (const bool at_once : {true, false}) {
      p.begin();
      if (!at_once) {
        ASSERT_TRUE(p.reach_control());
      }
      DpskModulator tone(phase2_signal(kDpskAnswerHz, -22, -7));
      tone.tone();
      p.run(2.5, [&] {
        if (at_once && p.source->state() != State::kSendPph) return false;
        for (float& x : p.to_source) x = 0;
        p.to_source.front() = tone.next([] { return -1; });
        return p.source->state() == State::kEnded;
      });
      EXPECT_EQ(p.source->outcome(), at_once ? HalfDuplexOutcome::kRepeatInfoh : HalfDuplexOutcome::kRetrain);
      finish(p);
    }
  }
  const auto& rows = HalfDuplexSession::transitions().rows;
  ASSERT_LE(rows.size(), 64u);
  for (size_t k = 0; k < rows.size(); ++k) {
    EXPECT_TRUE((taken >> k & 1) != 0) << "row " << k << ", " << rows[k].clause << ", from " << rows[k].from
                                       << ", event " << static_cast<int>(rows[k].event);
  }
}

// --- Phase 2

Phase2Config half(HalfDuplex side) {
  Phase2Config c;
  c.half = side;
  return c;
}

// The caller is the source, or the recipient.
struct HalfPhase2 : Phase2Pair {
  explicit HalfPhase2(bool from_caller)
      : Phase2Pair(half(from_caller ? HalfDuplex::kSource : HalfDuplex::kRecipient),
                   half(from_caller ? HalfDuplex::kRecipient : HalfDuplex::kSource)),
        source_calls(from_caller) {}
  Phase2& source() { return source_calls ? call : answer; }
  Phase2& recipient() { return source_calls ? answer : call; }
  void mute_source(bool mute) { (source_calls ? mute_call : mute_answer) = mute; }
  void mute_recipient(bool mute) { (source_calls ? mute_answer : mute_call) = mute; }
  double ms_until(const std::function<bool()>& what) {
    const double from = seconds();
    return run(10, what) ? (seconds() - from) * 1000 : -1;
  }
  bool source_calls;
};

TEST(V34HalfDuplexPhase2, EitherEndIsTheSource) {
  for (const bool source_calls : {true, false}) {
    HalfPhase2 p(source_calls);
    p.start();
    ASSERT_TRUE(p.run_to_end());
    const Phase2Outcome &s = p.source().outcome(), &r = p.recipient().outcome();
    EXPECT_EQ(s.infoh, r.infoh);
    EXPECT_EQ(s.tx_symbol_rate, r.rx_symbol_rate);
    EXPECT_EQ(s.tx_carrier, r.rx_carrier);
    EXPECT_NEAR(r.round_trip_samples, 160, 12);
  }
}

// 12.2.1.4.2, 12.2.2.3.2: waits 2000 ms for the reversal; then the source's tone starts a new attempt.
TEST(V34HalfDuplexPhase2, RecipientAwaitsTheReversalFor2000Ms) {
  for (const bool source_calls : {true, false}) {
    HalfPhase2 p(source_calls);
    p.start();
    ASSERT_TRUE(p.run(5, [&] { return p.recipient().state() == Phase2State::kHalfReversed; }));
    // The source detects no reversal, and continues its tone (12.2.1.3.2, 12.2.2.4.2).
    p.mute_recipient(true);
    EXPECT_NEAR(p.ms_until([&] { return p.recipient().state() == Phase2State::kFirstTone; }), 2000, 2);
    p.mute_recipient(false);
    EXPECT_TRUE(p.run_to_end());
  }
}

// 12.2.1.3.3, 12.2.2.4.3: 2700 ms from the source's reversal.
TEST(V34HalfDuplexPhase2, SourceAwaitsTheToneFor2700Ms) {
  for (const bool source_calls : {true, false}) {
    HalfPhase2 p(source_calls);
    p.start();
    ASSERT_TRUE(p.run(5, [&] { return p.source().state() == Phase2State::kProbe; }));
    p.mute_recipient(true);
    EXPECT_NEAR(p.ms_until([&] { return p.source().state() == Phase2State::kFirstTone; }), 2700 - 10, 2);
    // The recipient has chosen meanwhile, and waits for S: 12.3.3.
    EXPECT_TRUE(p.recipient().done());
    p.mute_recipient(false);
    p.recipient().repeat_infoh();
    EXPECT_TRUE(p.run_to_end());
  }
}

// 12.2.1.4.3, 12.2.2.3.3: INFOh is sent after 2000 ms without the source's tone.
TEST(V34HalfDuplexPhase2, RecipientSendsInfohAfter2000MsWithoutATone) {
  for (const bool source_calls : {true, false}) {
    HalfPhase2 p(source_calls);
    p.start();
    ASSERT_TRUE(p.run(5, [&] { return p.recipient().state() == Phase2State::kHalfTone; }));
    p.mute_source(true);
    EXPECT_NEAR(p.ms_until([&] { return p.recipient().state() == Phase2State::kInfo1; }), 2000, 2);
    EXPECT_TRUE(p.run(2, [&] { return p.source().done(); }));
  }
}

// 12.2.1.3.4, 12.2.2.4.4: the source continues its tone, and treats the recipient's as the next attempt.
TEST(V34HalfDuplexPhase2, SourceAwaitsInfohAgain) {
  for (const bool source_calls : {true, false}) {
    HalfPhase2 p(source_calls);
    p.start();
    ASSERT_TRUE(p.run(5, [&] { return p.source().state() == Phase2State::kAwaitInfoh; }));
    p.mute_recipient(true);
    p.run(2.5, [] { return false; });
    EXPECT_EQ(p.source().state(), Phase2State::kAwaitInfoh);
    p.mute_recipient(false);
    p.recipient().repeat_infoh();
    EXPECT_TRUE(p.run_to_end(5));
  }
}

}  // namespace
}  // namespace offhook::v34
