// SPDX-License-Identifier: MIT
//
// Rate renegotiation and cleardown of two ends against each other, at symbol level.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "dsp/v34/session/session.h"
#include "tests/unit/dsp/v34/symbol_line.h"

namespace offhook::v34 {
namespace {

TEST(V34Renegotiation, EitherEndChangesTheRateAndDataGoOn) {  // V34-RN-1, -2, -3
  for (const bool by_call : {true, false}) {
    SymbolLine line({}, {}, 160, 45, 1);
    ASSERT_TRUE(line.connect());
    const RatePair before = line.c().rates();
    line.run_ms(300);
    line.call().signals.clear();
    line.answer().signals.clear();
    (by_call ? line.c() : line.a()).renegotiate(8);
    ASSERT_TRUE(line.run_until([&] { return !line.c().live() && !line.a().live(); }, 1000));
    const size_t sent[2] = {line.call().sent.size(), line.answer().sent.size()};
    ASSERT_TRUE(line.connect(3000)) << by_call;
    const RatePair r = line.c().rates();
    EXPECT_EQ(by_call ? r.answer_to_call : r.call_to_answer, 8);
    EXPECT_EQ(by_call ? r.call_to_answer : r.answer_to_call, before.call_to_answer);
    EXPECT_EQ(line.a().rates(), r);
    using enum Signal;
    const std::vector<Signal> signals = {kS, kSBar, kTrn, kMp, kE, kSilence};
    for (std::vector<Signal>* s : {&line.call().signals, &line.answer().signals}) {
      if (!s->empty() && s->front() == kSilence) s->erase(s->begin());
      EXPECT_EQ(*s, signals);
    }
    EXPECT_EQ(line.call().reader.training().points(), TrainingPoints::k4);
    EXPECT_EQ(line.c().renegotiations(), 1u);
    EXPECT_EQ(line.a().renegotiations(), 1u);
    line.run_ms(600);
    expect_intact(line, sent[0], sent[1]);
  }
}

TEST(V34Renegotiation, BothAtOnce) {  // V34-RN-6
  for (const double apart_ms : {0.0, 3.0, 15.0, 30.0, 60.0}) {
    SymbolLine line({}, {}, 160, 45, 1);
    ASSERT_TRUE(line.connect());
    line.run_ms(300);
    line.c().renegotiate();
    line.run_ms(apart_ms);
    line.a().renegotiate();
    ASSERT_TRUE(line.run_until([&] { return !line.c().live() && !line.a().live(); }, 1000));
    ASSERT_TRUE(line.connect(5000)) << apart_ms;
    const size_t sent[2] = {line.call().sent.size(), line.answer().sent.size()};
    line.run_ms(600);
    expect_intact(line, sent[0], sent[1]);
  }
}

TEST(V34Renegotiation, PrecoderIsKeptWhenNoNewOneIsSent) {  // V34-9.6.2-5
  const PrecoderCoefficients h = {{{-9830, 3277}, {4915, -1638}, {-820, 16}}};
  SymbolLine line({}, {}, 160, 45, 1);
  line.call().quality = LineQuality{1e4, h};
  ASSERT_TRUE(line.connect());
  line.run_ms(300);
  line.call().quality = LineQuality{1e4, {}};
  line.c().renegotiate(8);
  ASSERT_TRUE(line.run_until([&] { return !line.c().live(); }, 1000));
  ASSERT_TRUE(line.connect(3000));
  EXPECT_FALSE(line.c().own_mp().type1);
  EXPECT_TRUE(line.a().tx_parameters().precoding());
  const size_t sent[2] = {line.call().sent.size(), line.answer().sent.size()};
  line.run_ms(600);
  expect_intact(line, sent[0], sent[1]);
}

TEST(V34Renegotiation, WithoutAnAnswerItRetrains) {  // V34-RN-5
  for (const bool cme : {false, true}) {
    SessionConfig c;
    c.far_cme = cme;
    SymbolLine line(c, c, 1200, 200, 1);
    ASSERT_TRUE(line.connect());
    line.run_ms(200);
    line.cut[0] = line.cut[1] = true;
    line.c().renegotiate();
    ASSERT_TRUE(line.run_until([&] { return line.c().signal() == Signal::kTrn; }, 1000));
    EXPECT_NEAR(time_to_end(line, line.c(), 40000), cme ? 30000 : 2500 + 2 * 300, 1);
    EXPECT_EQ(line.c().outcome(), Outcome::kRetrain);
  }
}

TEST(V34Renegotiation, ResponderWithoutEndRetrains) {  // V34-RN-5
  SymbolLine line({}, {}, 1200, 200, 1);
  ASSERT_TRUE(line.connect());
  line.run_ms(200);
  line.c().renegotiate();
  ASSERT_TRUE(line.run_until([&] { return line.a().signal() == Signal::kS; }, 1000));
  line.cut[0] = true;
  ASSERT_TRUE(line.run_until([&] { return line.a().signal() == Signal::kTrn; }, 1000));
  EXPECT_NEAR(time_to_end(line, line.a(), 40000), 2500 + 3 * 300, 1);
  EXPECT_EQ(line.a().outcome(), Outcome::kRetrain);
}

// S would last 40 ms, and an end that is silent may not receive it either; the tone of a retrain lasts until it does.
TEST(V34Renegotiation, InSilenceItIsARetrainInstead) {  // 11.5
  for (const bool silent : {true, false}) {
    SymbolLine line({}, {}, 160, 45, 1);
    ASSERT_TRUE(line.connect());
    line.run_ms(300);
    line.call().signals.clear();
    line.cut[1] = true;  // a lost receiver gets no points, but may get something
    if (silent) line.call().power = 0.05f;
    ASSERT_TRUE(line.run_until([&] { return line.c().state() != Session::State::kData; }, 1000));
    EXPECT_EQ(line.c().outcome(), silent ? Outcome::kRetrain : Outcome::kNone);
    EXPECT_EQ(line.c().renegotiations(), silent ? 0u : 1u);
    line.run_ms(10);
    EXPECT_EQ(std::ranges::count(line.call().signals, Signal::kS), silent ? 0 : 1);
  }
}

// 3429 symbols/s have 4800 bit/s and more (Table 10). A request for 2400 is an error, but not a cleardown.
TEST(V34Renegotiation, ForARateThatTheSymbolRateHasNotBothRetrain) {
  for (const bool by_call : {true, false}) {
    SessionConfig c;
    c.tx_symbol_rate = c.rx_symbol_rate = SymbolRate::k3429;
    SymbolLine line(c, c, 160, 45, 1);
    ASSERT_TRUE(line.connect());
    line.run_ms(300);
    (by_call ? line.c() : line.a()).renegotiate(1);
    const auto ended = [](const Session& h) { return h.state() == Session::State::kEnded; };
    ASSERT_TRUE(line.run_until([&] { return ended(line.c()) && ended(line.a()); }, 9000));
    EXPECT_EQ(line.c().outcome(), Outcome::kRetrain);
    EXPECT_EQ(line.a().outcome(), Outcome::kRetrain);
  }
}

TEST(V34Cleardown, EndsTheConnectionAtBothEnds) {  // V34-CD-1, V34-CD-2
  for (const uint32_t delay : {0u, 160u, 4800u}) {
    for (const bool by_call : {true, false}) {
      SymbolLine line({}, {}, delay, 45, 1);
      ASSERT_TRUE(line.connect());
      line.run_ms(300);
      line.call().signals.clear();
      line.answer().signals.clear();
      (by_call ? line.c() : line.a()).cleardown();
      ASSERT_TRUE(line.run_until(
          [&] { return line.c().state() == Session::State::kEnded && line.a().state() == Session::State::kEnded; },
          9000));
      EXPECT_EQ(line.c().outcome(), Outcome::kReleased);
      EXPECT_EQ(line.a().outcome(), Outcome::kReleased);
      EXPECT_EQ(std::ranges::count(line.call().signals, Signal::kE), 0);
      EXPECT_EQ(std::ranges::count(line.answer().signals, Signal::kE), 0);
      // 11.7: both rates in the initiator's MP are zero; each end has sent MP' and received the other's.
      const Mp& asked = (by_call ? line.a() : line.c()).far_mp();
      EXPECT_EQ(asked.max_call_to_answer, 0);
      EXPECT_EQ(asked.max_answer_to_call, 0);
      EXPECT_TRUE(line.c().far_mp().acknowledge);
      EXPECT_TRUE(line.a().far_mp().acknowledge);
    }
  }
}

}  // namespace
}  // namespace offhook::v34
