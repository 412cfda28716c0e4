// SPDX-License-Identifier: MIT
//
// The procedures of V.32bis, step by step: two modems over a line of pure delay. What is checked are the steps that an
// end takes, against the Recommendation's figures, and that no row of the table is left untaken.
#include "dsp/v32/procedure.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <deque>
#include <functional>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "dsp/v32/modem.h"
#include "tests/unit/driver/user_modem/pump_pair.h"

namespace offhook::v32 {
namespace {

using testing::ElementsAre;
using testing::ElementsAreArray;
using Path = std::vector<std::string>;

constexpr int kCaller = 0, kAnswerer = 1;

/// All transitions that any pair in this process has made.
std::set<const Transition*>& taken() {
  static std::set<const Transition*> all;
  return all;
}

enum class Line { kFarEnd, kNoisy, kSilence, kNoise, kSteady, kRecorded };

class Pair {
 public:
  explicit Pair(size_t delay = 60) : modem_{Modem(config(kCaller)), Modem(config(kAnswerer))} {
    for (auto& line : to_) line.assign(delay, 0);
  }
  Modem& operator[](int end) { return modem_[end]; }
  /// The signal that `end` receives from now on. kNoisy: the far end with an SNR of 18 dB; kSteady: a repetition of the
  /// far end's last 40 samples, such as AA and AC; kRecorded: those at the time of record().
  void hear(int end, Line line) {
    line_[end] = line;
    since_ = now_;
  }
  void record() { std::memcpy(recorded_, last_, sizeof recorded_); }
  /// Names of the steps that `end` has entered since clear().
  const Path& path(int end) const { return path_[end]; }
  void clear() { path_[0].clear(), path_[1].clear(); }
  Step step(int end) const { return modem_[end].current_step(); }
  /// Instruments of this kind that `end` has reported.
  int shown(int end, oh_instrument what) const { return shown_[end].counts[what]; }
  uint64_t retrains(int end) const {
    oh_pump_status s;
    modem_[end].status(&s);
    return s.retrains;
  }

  void run(double seconds) {
    for (int n = 0; n < static_cast<int>(seconds * 8000); ++n) sample();
  }
  bool run_until(int end, Step step, double seconds = 20) {
    for (int n = 0; n < static_cast<int>(seconds * 8000) && modem_[end].current_step() != step; ++n) sample();
    return modem_[end].current_step() == step;
  }
  bool connect() { return run_until(kCaller, Step::kData) && run_until(kAnswerer, Step::kData); }
  /// After a command, because its transition also counts.
  void look() {
    for (const int end : {kCaller, kAnswerer}) {
      if (modem_[end].newest_transition() != nullptr) taken().insert(modem_[end].newest_transition());
      const Step now = modem_[end].current_step();
      if (now != seen_[end]) path_[end].push_back(info(now).name);
      seen_[end] = now;
    }
  }

 private:
  oh_pump_config config(int end) {
    oh_pump_config c{};
    c.format = kLinear8000;
    c.role = end == kCaller ? OH_PUMP_CALL : OH_PUMP_ANSWER;
    c.tx_level_dbm0 = -12;
    bits_[end].tx = end == kCaller ? 0x1234567 : 0x7654321;
    c.port = bits_[end].port();
    observers_[end].user = &shown_[end];
    observers_[end].instrument = [](void* user, oh_instrument what, float) {
      ++static_cast<Shown*>(user)->counts[what];
    };
    c.observer = &observers_[end];
    return c;
  }
  int16_t received(int end) {
    if (line_[end] == Line::kFarEnd || line_[end] == Line::kNoisy) {
      for (int k = 39; k > 0; --k) last_[end][k] = last_[end][k - 1];
      last_[end][0] = to_[end].front();
    }
    to_[end].pop_front();
    switch (line_[end]) {
      case Line::kFarEnd:
        return last_[end][0];
      case Line::kNoisy:
        return static_cast<int16_t>(last_[end][0] + 510 * normal_(random_));
      case Line::kSilence:
        return 0;
      case Line::kNoise:
        return static_cast<int16_t>(std::clamp(30000 * normal_(random_), -32767.0, 32767.0));
      case Line::kSteady:
        return last_[end][39 - (now_ - since_) % 40];
      case Line::kRecorded:
        return recorded_[end][39 - (now_ - since_) % 40];
    }
    return 0;
  }
  void sample() {
    int16_t tx[2];
    for (const int end : {kCaller, kAnswerer}) tx[end] = modem_[end].process(received(end));
    for (const int end : {kCaller, kAnswerer}) to_[1 - end].push_back(tx[end]);
    ++now_;
    look();
  }

  struct Shown {
    int counts[OH_INSTRUMENT_SLIPS + 1] = {};
  };
  test::BitTester bits_[2];
  Shown shown_[2];
  oh_pump_observer observers_[2]{};
  Modem modem_[2];
  std::deque<int16_t> to_[2];
  int16_t last_[2][40]{}, recorded_[2][40]{};
  Line line_[2] = {Line::kFarEnd, Line::kFarEnd};
  Path path_[2];
  Step seen_[2] = {Step::kV8, Step::kV8};
  uint64_t now_ = 0, since_ = 0;
  std::mt19937 random_{7};
  std::normal_distribution<double> normal_;
};

const Path kCallerTrains = {"AA", "AA turns", "CC", "wait for S", "S2", "S-bar2", "TRN2", "R2", "E", "data"};
const Path kAnswererTrains = {"CA",     "CA turns",    "AC again", "pause",  "S1",   "S-bar1", "TRN1", "R1",
                              "hear S", "wait for R2", "S3",       "S-bar3", "TRN3", "R3",     "E",    "data"};

Path after(Path first, const Path& then) {
  first.insert(first.end(), then.begin(), then.end());
  return first;
}

// ---- start-up: clause 6

void starts_with_v8() {
  Pair pair;
  ASSERT_TRUE(pair.connect());
  EXPECT_THAT(pair.path(kCaller), ElementsAreArray(kCallerTrains));
  EXPECT_THAT(pair.path(kAnswerer), ElementsAreArray(after({"AC after V.8"}, kAnswererTrains)));
}

void starts_with_the_answer_tone_alone() {
  Pair pair;
  pair[kCaller].without_v8();
  pair[kAnswerer].without_v8();
  ASSERT_TRUE(pair.connect());
  EXPECT_THAT(pair.path(kCaller), ElementsAreArray(after({"ANS"}, kCallerTrains)));
  EXPECT_THAT(pair.path(kAnswerer), ElementsAreArray(after({"ANS", "after ANS", "AC"}, kAnswererTrains)));
}

void starts_where_one_end_has_no_v8() {
  Pair caller;
  caller[kAnswerer].without_v8();
  ASSERT_TRUE(caller.connect());
  EXPECT_THAT(caller.path(kCaller), ElementsAreArray(after({"ANS"}, kCallerTrains)));
  Pair answerer;
  answerer[kCaller].without_v8();
  ASSERT_TRUE(answerer.connect());
  EXPECT_THAT(answerer.path(kCaller), ElementsAreArray(after({"ANS"}, kCallerTrains)));
}

void answerer_that_hears_no_menu_goes_on_with_ac() {
  Pair pair;
  pair.hear(kAnswerer, Line::kSilence);
  EXPECT_TRUE(pair.run_until(kAnswerer, Step::kAc));
}

// 6, Note 1; A.2.1.1; A.2.2: an end that begins at once is detected by one that waits for V.8 or an answer tone.
void tones_before_their_time_are_answered() {
  for (const bool v8 : {true, false}) {
    for (const int first : {kCaller, kAnswerer}) {
      SCOPED_TRACE(testing::Message() << v8 << first);
      Pair pair;
      pair[first].begin(false);
      if (!v8) pair[1 - first].without_v8();
      ASSERT_TRUE(pair.connect());
      EXPECT_EQ(pair.retrains(kCaller) + pair.retrains(kAnswerer), 0u);
    }
  }
}

void v8_without_v32bis_ends_in_nothing_in_common() {
  oh_pump_config c{};
  c.format = kLinear8000;
  c.role = OH_PUMP_ANSWER;
  c.tx_level_dbm0 = -12;
  v8::V8 far(v8::data_call(c, v8::kV34));
  test::BitTester bits;
  c.role = OH_PUMP_CALL;
  c.port = bits.port();
  Modem caller(c);
  int16_t rx = 0;
  for (int n = 0; n < 20 * 8000 && !caller.ended(); ++n) rx = static_cast<int16_t>(far.process(caller.process(rx)));
  taken().insert(caller.newest_transition());
  EXPECT_EQ(caller.current_step(), Step::kNothingInCommon);
  oh_pump_status s;
  caller.status(&s);
  EXPECT_EQ(s.failure, OH_PUMP_NOTHING_IN_COMMON);
}

// 6, Note 5
void nobody_answers_after_v8_and_the_answer_tone_comes_once() {
  Pair pair;
  pair[kAnswerer].begin(true);
  pair.look();
  pair.hear(kAnswerer, Line::kSilence);
  pair.run(30);
  EXPECT_THAT(pair.path(kAnswerer), ElementsAre("AC after V.8", "ANS", "after ANS", "AC"));
}

void without_data_for_a_minute_the_connection_fails() {
  Pair pair;
  pair.hear(kCaller, Line::kSilence);
  pair.hear(kAnswerer, Line::kSilence);
  pair.run(61);
  EXPECT_EQ(pair.step(kCaller), Step::kFailed);
  EXPECT_EQ(pair.step(kAnswerer), Step::kFailed);
}

// 6, Note 6: noise that begins after R2 leaves no rate, as R3 then states; in the first training and in a retrain.
void without_a_rate_r3_ends_the_connection() {
  for (const bool had_data : {false, true}) {
    SCOPED_TRACE(had_data);
    Pair pair;
    if (had_data) {
      ASSERT_TRUE(pair.connect());
      pair[kCaller].retrain();
    }
    ASSERT_TRUE(pair.run_until(kAnswerer, Step::kTrn3));
    pair.run(1.2);
    pair.hear(kAnswerer, Line::kNoise);
    pair.run(3);
    const Step end = had_data ? Step::kReleased : Step::kNothingInCommon;
    EXPECT_EQ(pair.step(kAnswerer), end) << info(pair.step(kAnswerer)).name;
    EXPECT_EQ(pair.step(kCaller), end) << info(pair.step(kCaller)).name;
  }
}

// ---- retrain: clause 7

void retrains_begin_with_the_tones() {
  for (const int first : {kCaller, kAnswerer}) {
    SCOPED_TRACE(first);
    Pair pair;
    ASSERT_TRUE(pair.connect());
    pair.clear();
    pair[first].retrain();
    pair.look();
    ASSERT_TRUE(pair.run_until(1 - first, first == kCaller ? Step::kAc : Step::kAa));
    ASSERT_TRUE(pair.connect());
    const Path heard = {"wait for R4"};  // AA and AC begin as R4's preamble does
    EXPECT_THAT(pair.path(kCaller), ElementsAreArray(first == kCaller ? kCallerTrains : after(heard, kCallerTrains)));
    EXPECT_THAT(pair.path(kAnswerer),
                ElementsAreArray(after(first == kCaller ? after(heard, {"AC"}) : Path{"AC"}, kAnswererTrains)));
  }
}

void a_lost_signal_is_a_retrain() {
  for (const int end : {kCaller, kAnswerer}) {
    Pair pair;
    ASSERT_TRUE(pair.connect());
    pair.clear();
    pair.hear(end, Line::kSilence);
    pair.run(1);
    EXPECT_THAT(pair.path(end), ElementsAre(end == kCaller ? "AA" : "AC"));
  }
}

/// The next step when the awaited event does not occur: the line changes in one step, and the end leaves that step.
void a_step_that_waits_in_vain_is_a_retrain() {
  const struct {
    int end;
    Step step;
    Line line;
    Path then;
  } cases[] = {
      {kCaller, Step::kCc, Line::kSteady, {"quiet", "AA"}},
      {kCaller, Step::kWaitS, Line::kSilence, {"AA"}},
      {kCaller, Step::kR2, Line::kSilence, {"AA"}},
      {kCaller, Step::kE, Line::kSilence, {"AA"}},
      {kAnswerer, Step::kCa, Line::kSteady, {"quiet", "AC"}},
      {kAnswerer, Step::kAcAgain, Line::kSteady, {"quiet", "AC"}},
      {kAnswerer, Step::kR1, Line::kSilence, {"AC"}},
      {kAnswerer, Step::kHearS, Line::kSilence, {"wait for R2", "AC"}},
      {kAnswerer, Step::kWaitR2, Line::kSilence, {"AC"}},
      {kAnswerer, Step::kR3, Line::kSilence, {"AC"}},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(testing::Message() << c.end << info(c.step).name);
    Pair pair;
    ASSERT_TRUE(pair.run_until(c.end, c.step));
    pair.clear();
    pair.hear(c.end, c.line);
    for (size_t n = 0; n < c.then.size(); ++n) {
      const Step before = pair.step(c.end);
      for (int ms = 0; ms < 10'000 && pair.step(c.end) == before; ++ms) pair.run(0.001);
    }
    EXPECT_THAT(pair.path(c.end), ElementsAreArray(c.then));
    EXPECT_EQ(pair.retrains(c.end), 1u);
  }
}

// ---- renegotiation and cleardown: clause 8

void renegotiates_from_either_end() {
  for (const int first : {kCaller, kAnswerer}) {
    Pair pair;
    ASSERT_TRUE(pair.connect());
    pair.clear();
    pair[first].renegotiate(7200);
    pair.look();
    pair.run(1);
    EXPECT_THAT(pair.path(first), ElementsAre("R4", "R5", "E again", "data"));
    EXPECT_THAT(pair.path(1 - first), ElementsAre("wait for R4", "R5", "E again", "data"));
  }
}

// The caller receives AC, as in a preamble, in place of B1.
void a_preamble_before_data_restarts_the_wait_for_them() {
  Pair pair;
  ASSERT_TRUE(pair.run_until(kCaller, Step::kAaTurns));
  pair.record();
  ASSERT_TRUE(pair.run_until(kCaller, Step::kE));
  pair.run(0.08);  // E has come
  pair.hear(kCaller, Line::kRecorded);
  pair.run(0.04);
  EXPECT_EQ(pair.step(kCaller), Step::kE);
  EXPECT_EQ(pair[kCaller].newest_transition()->event, Event::kPreamble);
}

// A far end that did not answer one is trained with from then on, even if only the noise requires another rate.
void a_renegotiation_without_answer_is_a_retrain_and_the_last_one() {
  for (const bool answered : {true, false}) {
    SCOPED_TRACE(answered);
    Pair pair;
    ASSERT_TRUE(pair.connect());
    pair[kCaller].renegotiate(0);
    pair.look();
    EXPECT_EQ(pair.step(kCaller), Step::kR4);
    if (!answered) {
      pair.hear(kCaller, Line::kSilence);
      ASSERT_TRUE(pair.run_until(kCaller, Step::kAa));
      EXPECT_STREQ(pair[kCaller].newest_transition()->clause, "8, Note 3");
      pair.hear(kCaller, Line::kFarEnd);
    }
    ASSERT_TRUE(pair.connect());
    pair.run(1);
    ASSERT_EQ(pair.step(kCaller), Step::kData);
    pair.clear();
    pair.hear(kCaller, Line::kNoisy);
    pair.run(4);
    ASSERT_FALSE(pair.path(kCaller).empty());
    EXPECT_EQ(pair.path(kCaller).front(), answered ? "R4" : "AA");
  }
}

void clears_down_from_either_end() {
  for (const int first : {kCaller, kAnswerer}) {
    Pair pair;
    ASSERT_TRUE(pair.connect());
    pair.clear();
    pair[first].hang_up();
    pair.look();
    for (const Step step : {Step::kR4Clear, Step::kR5Clear, Step::kEClear}) {  // once is enough
      ASSERT_TRUE(pair.run_until(first, step)) << info(step).name;
      pair[first].hang_up();
      pair.look();
      EXPECT_EQ(pair.step(first), step);
    }
    pair.run(1);
    EXPECT_THAT(pair.path(first),
                ElementsAre("R4 without rates", "R5 known, without rates", "E without rate", "released"));
    EXPECT_THAT(pair.path(1 - first), ElementsAre("wait for R4", "R5", "E without rate, requested", "released"));
  }
}

void a_cleardown_that_nobody_answers_ends_by_itself() {
  for (const Line line : {Line::kSilence, Line::kRecorded}) {
    Pair pair;
    ASSERT_TRUE(pair.run_until(kCaller, Step::kAaTurns));
    pair.record();
    ASSERT_TRUE(pair.connect());
    pair[kCaller].hang_up();
    pair.look();
    pair.hear(kCaller, line);
    const double limit_s = line == Line::kRecorded ? 0.5 : 4;  // AC is a retrain
    EXPECT_TRUE(pair.run_until(kCaller, Step::kReleased, limit_s));
  }
}

void hanging_up_without_data_is_silence_at_once() {
  for (const Step step : {Step::kAa, Step::kTrn2, Step::kE}) {
    Pair pair;
    ASSERT_TRUE(pair.run_until(kCaller, step));
    pair[kCaller].hang_up();
    pair.look();
    EXPECT_EQ(pair.step(kCaller), Step::kReleased);
    EXPECT_EQ(pair[kCaller].process(1000), 0);
  }
}

const std::vector<std::pair<const char*, std::function<void()>>> kProcedures = {
    {"StartsWithV8", starts_with_v8},
    {"StartsWithTheAnswerToneAlone", starts_with_the_answer_tone_alone},
    {"StartsWhereOneEndHasNoV8", starts_where_one_end_has_no_v8},
    {"AnswererThatHearsNoMenuGoesOnWithAc", answerer_that_hears_no_menu_goes_on_with_ac},
    {"TonesBeforeTheirTimeAreAnswered", tones_before_their_time_are_answered},
    {"V8WithoutV32bisEndsInNothingInCommon", v8_without_v32bis_ends_in_nothing_in_common},
    {"NobodyAnswersAfterV8AndTheAnswerToneComesOnce", nobody_answers_after_v8_and_the_answer_tone_comes_once},
    {"WithoutDataForAMinuteTheConnectionFails", without_data_for_a_minute_the_connection_fails},
    {"WithoutARateR3EndsTheConnection", without_a_rate_r3_ends_the_connection},
    {"RetrainsBeginWithTheTones", retrains_begin_with_the_tones},
    {"ALostSignalIsARetrain", a_lost_signal_is_a_retrain},
    {"AStepThatWaitsInVainIsARetrain", a_step_that_waits_in_vain_is_a_retrain},
    {"RenegotiatesFromEitherEnd", renegotiates_from_either_end},
    {"APreambleBeforeDataRestartsTheWaitForThem", a_preamble_before_data_restarts_the_wait_for_them},
    {"ARenegotiationWithoutAnswerIsARetrain", a_renegotiation_without_answer_is_a_retrain_and_the_last_one},
    {"ClearsDownFromEitherEnd", clears_down_from_either_end},
    {"ACleardownThatNobodyAnswersEndsByItself", a_cleardown_that_nobody_answers_ends_by_itself},
    {"HangingUpWithoutDataIsSilenceAtOnce", hanging_up_without_data_is_silence_at_once},
};

class V32bisProcedure : public testing::TestWithParam<std::pair<const char*, std::function<void()>>> {};
TEST_P(V32bisProcedure, Holds) {
  GetParam().second();
}
INSTANTIATE_TEST_SUITE_P(Clauses, V32bisProcedure, testing::ValuesIn(kProcedures),
                         [](const auto& test) { return std::string(test.param.first); });

TEST(V32bisProcedures, TakeEveryTransitionOfTheTable) {
  taken().clear();
  for (const auto& [name, procedure] : kProcedures) procedure();
  for (const Transition& t : transitions()) {
    EXPECT_TRUE(taken().contains(&t)) << "row " << &t - transitions().data() << ": "
                                      << (t.from == kAny ? "any"
                                                         : info(static_cast<Step>(std::countr_zero(t.from))).name)
                                      << ", event " << static_cast<int>(t.event) << ", clause " << t.clause;
  }
}

// 6.1: the caller's S lasts for the time that the answerer needs to detect it, plus a round trip.
TEST(V32bisProcedures, TheCallersSLastsARoundTripLonger) {
  const auto samples_of_s = [](size_t delay) {
    Pair pair(delay);
    EXPECT_TRUE(pair.run_until(kCaller, Step::kS2));
    int n = 0;
    for (; pair.step(kCaller) == Step::kS2; ++n) pair.run(1. / 8000);
    return n;
  };
  constexpr size_t kShort = 60, kLong = 600;
  constexpr double kTwoSymbols = 2 * kSymbol;
  const int of_short = samples_of_s(kShort), of_long = samples_of_s(kLong);
  EXPECT_NEAR(of_long - of_short, 2 * (kLong - kShort), kTwoSymbols);
  EXPECT_NEAR(of_short, 2 * kShort + (64 + 256) * kSymbol, 10 * kSymbol);
}

TEST(V32bisProcedures, EachInstrumentIsShownTenTimesASecondOfData) {
  Pair pair;
  ASSERT_TRUE(pair.connect());
  for (const int end : {kCaller, kAnswerer}) {
    SCOPED_TRACE(end);
    int before[OH_INSTRUMENT_RETRAIN_CAUSE];
    const auto all = {OH_INSTRUMENT_SNR, OH_INSTRUMENT_CLOCK, OH_INSTRUMENT_CARRIER, OH_INSTRUMENT_PATH_METRIC};
    for (const oh_instrument what : all) before[what] = pair.shown(end, what);
    pair.run(2);
    for (const oh_instrument what : all) EXPECT_EQ(pair.shown(end, what) - before[what], 20) << what;
  }
}

TEST(V32bisProcedures, StateAClauseForEachTransition) {
  for (const Transition& t : transitions()) EXPECT_STRNE(t.clause, "");
}

}  // namespace
}  // namespace offhook::v32
