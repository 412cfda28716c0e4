// SPDX-License-Identifier: MIT
//
// Time-outs of Phases 3 and 4 (V.34 11.3.2, 11.4.2), at symbol level.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "dsp/v34/session/session.h"
#include "tests/unit/dsp/v34/symbol_line.h"

namespace offhook::v34 {
namespace {

class V34TimeOut : public testing::TestWithParam<uint32_t> {
 protected:
  double rtd() const { return GetParam(); }
  SymbolLine make() { return SymbolLine({}, {}, 4 * GetParam(), 200, 1); }
};

TEST_P(V34TimeOut, CallGetsNoJ) {  // C12, 11.3.2.1.1
  SymbolLine line = make();
  line.cut[1] = true;
  EXPECT_NEAR(time_to_end(line, line.c(), 10000), 2800 + 2 * rtd(), 1);
  EXPECT_EQ(line.c().outcome(), Outcome::kRepeatInfo1);
}

TEST_P(V34TimeOut, CallGetsNoSAfterItsJ) {  // C15, 11.4.2.1.1
  SymbolLine line = make();
  ASSERT_TRUE(line.run_until([&] { return line.c().state() == Session::State::kTrainFar; }, 10000));
  line.cut[1] = true;
  ASSERT_TRUE(line.run_until([&] { return line.c().signal() == Signal::kJ; }, 10000));
  EXPECT_NEAR(time_to_end(line, line.c(), 10000), 600 + rtd(), 1);
  EXPECT_EQ(line.c().outcome(), Outcome::kRepeatInfo1WithMarks);
}

TEST_P(V34TimeOut, CallGetsNoE) {  // C16 to C18, 11.4.2.1.2
  SymbolLine line = make();
  ASSERT_TRUE(line.run_until([&] { return line.c().signal() == Signal::kJPrime; }, 10000));
  line.cut[1] = true;
  ASSERT_TRUE(line.run_until([&] { return line.c().signal() == Signal::kTrn; }, 10000));
  EXPECT_NEAR(time_to_end(line, line.c(), 40000), 2500 + 2 * rtd(), 1);
  EXPECT_EQ(line.c().outcome(), Outcome::kRetrain);
}

// C16, 11.4.1.1.2: whatever a call modem requests, its TRN of Phase 4 ends after 2000 ms.
TEST_P(V34TimeOut, CallEndsTrnOfPhase4After2000ms) {
  SessionConfig call;
  call.phase4_trn_ms = 3000;
  SymbolLine line(call, {}, 4 * GetParam(), 200, 1);
  ASSERT_TRUE(line.run_until([&] { return line.c().signal() == Signal::kJPrime; }, 20000));
  line.cut[1] = true;
  ASSERT_TRUE(line.run_until([&] { return line.c().signal() == Signal::kTrn; }, 10000));
  const double from = line.now_ms();
  ASSERT_TRUE(line.run_until([&] { return line.c().signal() != Signal::kTrn; }, 10000));
  EXPECT_EQ(line.c().signal(), Signal::kMp);
  EXPECT_LE(line.now_ms() - from, 2000);
  EXPECT_GT(line.now_ms() - from, 1998);
}

TEST_P(V34TimeOut, AnswerGetsNoSAfterItsJ) {  // A13, 11.3.2.2.1
  SymbolLine line = make();
  line.cut[0] = true;
  ASSERT_TRUE(line.run_until([&] { return line.a().signal() == Signal::kJ; }, 10000));
  EXPECT_NEAR(time_to_end(line, line.a(), 10000), 600 + rtd(), 1);
  EXPECT_EQ(line.a().outcome(), Outcome::kRepeatInfo1WithMarks);
}

TEST_P(V34TimeOut, AnswerGetsNoJ) {  // A14, 11.3.2.2.2
  SymbolLine line = make();
  ASSERT_TRUE(line.run_until([&] { return line.a().state() == Session::State::kFarTrn; }, 10000));
  line.cut[0] = true;
  ASSERT_TRUE(line.run_until([&] { return line.a().signal() == Signal::kSilence; }, 10000));
  EXPECT_NEAR(time_to_end(line, line.a(), 10000), 2600 + 2 * rtd(), 1);
  EXPECT_EQ(line.a().outcome(), Outcome::kRepeatInfo1WithMarks);
}

TEST_P(V34TimeOut, AnswerGetsNoJPrime) {  // A15, 11.4.2.2.1
  SymbolLine line = make();
  ASSERT_TRUE(line.run_until([&] { return line.a().state() == Session::State::kFinal; }, 10000));
  line.cut[0] = true;
  ASSERT_TRUE(line.run_until([&] { return line.a().signal() == Signal::kSBar; }, 10000));
  EXPECT_NEAR(time_to_end(line, line.a(), 10000), 100 + rtd(), 1);
  EXPECT_EQ(line.a().outcome(), Outcome::kRepeatInfo1);
}

TEST_P(V34TimeOut, AnswerGetsNoE) {  // A16 to A18, 11.4.2.2.2
  SymbolLine line = make();
  ASSERT_TRUE(line.run_until([&] { return line.answer().reader.training().points() == TrainingPoints::k16; }, 10000));
  line.cut[0] = true;
  double sent = 0;
  SymbolLine again = make();
  ASSERT_TRUE(again.run_until([&] { return again.a().state() == Session::State::kFinal; }, 10000));
  ASSERT_TRUE(again.run_until([&] { return again.a().signal() == Signal::kTrn; }, 10000));
  sent = again.now_ms();  // the same line, the same instants
  time_to_end(line, line.a(), 40000);
  EXPECT_NEAR(line.now_ms() - sent, 2500 + 3 * rtd(), 1);
  EXPECT_EQ(line.a().outcome(), Outcome::kRetrain);
}

// Not from the Recommendation, which has no exception, but required by live modems.
TEST_P(V34TimeOut, WhoseMpStillComesIsGivenTwoSecondsAndTwoRoundTripsMore) {
  SymbolLine line = make();
  ASSERT_TRUE(line.run_until([&] { return line.c().signal() == Signal::kJPrime; }, 10000));
  ASSERT_TRUE(line.run_until([&] { return line.c().signal() == Signal::kTrn; }, 10000));
  const double sent = line.now_ms();
  ASSERT_TRUE(line.run_until([&] { return line.a().signal() == Signal::kTrn; }, 10000));
  line.run_ms(rtd() / 2 + 50);  // the answer modem has received J'
  line.cut[0] = true;           // so that it receives neither MP nor MP'
  time_to_end(line, line.c(), 40000);
  EXPECT_NEAR(line.now_ms() - sent, 4500 + 4 * rtd(), 1);
  EXPECT_EQ(line.c().outcome(), Outcome::kRetrain);
}

// A J sent before the far end was received requested
// sixteen points, for which the line's SNR is too low.
TEST(V34Session, SaysThatNoMpCouldBeReadOfATraining) {
  for (const double snr_db : {8.0, 40.0}) {
    SymbolLine line({}, {}, 160, 40, 1);
    ASSERT_TRUE(
        line.run_until([&] { return line.c().signal() == Signal::kTrn && line.a().signal() == Signal::kTrn; }, 20000));
    EXPECT_FALSE(line.a().missed_mp()) << "J' is on its way";
    line.run_ms(50);
    EXPECT_TRUE(line.a().missed_mp()) << "so far";
    line.set_snr(snr_db);
    ASSERT_TRUE(line.run_until([&] { return line.a().live() || line.a().state() == Session::State::kEnded; }, 40000));
    EXPECT_EQ(line.a().missed_mp(), snr_db < 20);
  }
}

INSTANTIATE_TEST_SUITE_P(RoundTrip, V34TimeOut, testing::Values(0, 600));

TEST(V34Session, WithCircuitMultiplicationEquipmentItWaits30sForE) {  // V34-RN-5, 11.4.2
  SessionConfig c;
  c.far_cme = true;
  SymbolLine line(c, c, 0, 200, 1);
  ASSERT_TRUE(line.run_until([&] { return line.c().signal() == Signal::kJPrime; }, 10000));
  line.cut[1] = true;
  ASSERT_TRUE(line.run_until([&] { return line.c().signal() == Signal::kTrn; }, 10000));
  EXPECT_NEAR(time_to_end(line, line.c(), 40000), 30000, 1);
}

}  // namespace
}  // namespace offhook::v34
