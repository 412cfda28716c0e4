// SPDX-License-Identifier: MIT
//
// The procedures of V.22bis, step by step: what is checked are the steps that an end takes, how long its signals last
// against the clauses, and that no row of the table is left untaken.
#include "dsp/v22/procedure.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <deque>
#include <functional>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "dsp/v22/modem.h"
#include "dsp/v22/pump.h"
#include "tests/unit/driver/user_modem/pump_pair.h"

namespace offhook::v22 {
namespace {

using testing::ElementsAre;
using Path = std::vector<std::string>;

constexpr int kCaller = 0, kAnswerer = 1;

std::set<const Transition*>& taken() {
  static std::set<const Transition*> all;
  return all;
}

enum class Line { kFarEnd, kFaint, kNoisy, kSilence, kNoise, kTone };

class Pair {
 public:
  explicit Pair(size_t delay = 60, uint32_t caller_rate = 0, uint32_t answerer_rate = 0,
                Standard standard = Standard::kV22bis)
      : modem_{Modem(config(kCaller, caller_rate), best_kernels(), standard),
               Modem(config(kAnswerer, answerer_rate), best_kernels(), standard)} {
    for (auto& line : to_) line.assign(delay, 0);
  }
  Modem& operator[](int end) { return modem_[end]; }
  void hear(int end, Line line) { line_[end] = line; }
  const Path& path(int end) const { return path_[end]; }
  void clear() { path_[0].clear(), path_[1].clear(); }
  Step step(int end) const { return modem_[end].current_step(); }
  /// Time in seconds at which `end` last entered the step.
  double entered(int end, Step step) const { return entered_[end].at(step); }
  oh_pump_status status(int end) const {
    oh_pump_status s;
    modem_[end].status(&s);
    return s;
  }
  /// The end misses this many samples of the line, without a report.
  void slip(int end, size_t samples) {
    for (size_t k = 0; k < samples; ++k) to_[end].pop_front();
  }
  void run(double seconds) {
    for (long n = std::lround(seconds * 8000); n > 0; --n) sample();
  }
  bool run_until(int end, Step step, double seconds = 20) {
    for (long n = std::lround(seconds * 8000); n > 0 && modem_[end].current_step() != step; --n) sample();
    return modem_[end].current_step() == step;
  }
  bool connect() { return run_until(kCaller, Step::kData) && run_until(kAnswerer, Step::kData); }
  void look() {
    for (const int end : {kCaller, kAnswerer}) {
      if (modem_[end].newest_transition() != nullptr) taken().insert(modem_[end].newest_transition());
      const Step now = modem_[end].current_step();
      if (now == seen_[end]) continue;
      path_[end].push_back(info(now).name);
      entered_[end][now] = static_cast<double>(now_) / 8000;
      seen_[end] = now;
    }
  }
  double now() const { return static_cast<double>(now_) / 8000; }
  uint64_t bits(int end) const { return bits_[end].good; }
  uint64_t wrong(int end) const { return bits_[end].bad; }
  /// Bits that the end's port got since keep().
  const std::vector<uint8_t>& got(int end) const { return bits_[end].received; }
  void keep(int end) {
    bits_[end].keep = true;
    bits_[end].received.clear();
  }

 private:
  oh_pump_config config(int end, uint32_t rate) {
    oh_pump_config c{};
    c.format = kLinear8000;
    c.role = end == kCaller ? OH_PUMP_CALL : OH_PUMP_ANSWER;
    c.tx_level_dbm0 = -12;
    c.max_bit_rate = rate;
    bits_[end].tx = end == kCaller ? 0x1234567 : 0x7654321;
    c.port = bits_[end].port();
    return c;
  }
  int16_t received(int end) {
    const int16_t x = to_[end].front();
    to_[end].pop_front();
    switch (line_[end]) {
      case Line::kFarEnd:
        return x;
      case Line::kFaint:
        return static_cast<int16_t>(x / 31);
      case Line::kNoisy:  // 15 dB in 600 Hz
        return static_cast<int16_t>(std::clamp(x + 1860 * normal_(random_), -32767.0, 32767.0));
      case Line::kSilence:
        return 0;
      case Line::kNoise:
        return static_cast<int16_t>(std::clamp(6000 * normal_(random_), -32767.0, 32767.0));
      case Line::kTone:
        return static_cast<int16_t>(
            6000 * std::sin(2 * M_PI * (end == kCaller ? 2400 : 1200) / 8000 * static_cast<double>(now_ % 8000)));
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

  test::BitTester bits_[2];
  Modem modem_[2];
  std::deque<int16_t> to_[2];
  Line line_[2] = {Line::kFarEnd, Line::kFarEnd};
  Path path_[2];
  std::map<Step, double> entered_[2];
  Step seen_[2] = {Step::kSteps, Step::kSteps};
  uint64_t now_ = 0;
  std::mt19937 random_{7};
  std::normal_distribution<double> normal_;
};

void two_of_2400_take_the_steps_of_figure_5() {
  Pair pair;
  ASSERT_TRUE(pair.connect());
  EXPECT_THAT(pair.path(kCaller),
              ElementsAre("listen", "pause", "S1", "SB1", "SB1, S1 over", "SB1 at 2400 bit/s", "data"));
  EXPECT_THAT(pair.path(kAnswerer), ElementsAre("before ANS", "ANS", "after ANS", "USB1", "S1 that answers",
                                                "SB1, S1 over", "SB1 at 2400 bit/s", "data"));
}

void one_of_1200_takes_both_to_the_steps_of_v22() {
  for (const int slow : {kCaller, kAnswerer}) {
    Pair pair(60, slow == kCaller ? 1200 : 0, slow == kAnswerer ? 1200 : 0);
    ASSERT_TRUE(pair.connect()) << slow;
    if (slow == kCaller) {
      EXPECT_THAT(pair.path(kCaller), ElementsAre("listen", "pause", "SB1", "SB1 at 1200 bit/s", "data"));
    } else {
      EXPECT_THAT(pair.path(kCaller), ElementsAre("listen", "pause", "S1", "SB1", "SB1 at 1200 bit/s", "data"));
    }
    EXPECT_THAT(pair.path(kAnswerer),
                ElementsAre("before ANS", "ANS", "after ANS", "USB1", "SB1 at 1200 bit/s", "data"));
    for (const int end : {kCaller, kAnswerer}) EXPECT_EQ(pair.status(end).modulation, OH_MODULATION_V22);
  }
}

void bell_212a_begins_with_its_tone() {
  Pair pair(60, 0, 0, Standard::kBell212a);
  ASSERT_TRUE(pair.connect());
  EXPECT_THAT(pair.path(kCaller), ElementsAre("listen", "pause", "SB1", "SB1 at 1200 bit/s", "data"));
  EXPECT_THAT(pair.path(kAnswerer), ElementsAre("before ANS", "2225 Hz", "SB1 at 1200 bit/s", "data"));
  const auto at_ms = [&](int end, Step step) { return 1000 * pair.entered(end, step); };
  EXPECT_NEAR(at_ms(kCaller, Step::kSb1) - at_ms(kAnswerer, Step::kBellTone), 155 + 456, 20);
  for (const int end : {kCaller, kAnswerer}) EXPECT_EQ(pair.status(end).modulation, OH_MODULATION_BELL212A);
  pair.run(1);
  const uint64_t wrong = pair.wrong(kCaller) + pair.wrong(kAnswerer);
  pair.run(2);
  EXPECT_EQ(pair.wrong(kCaller) + pair.wrong(kAnswerer), wrong);
}

// Clause 6.3.1.1, in milliseconds; the delay of line and filters is the same for both ends of a signal.
void signals_last_as_the_clauses_say() {
  for (const size_t delay : {60u, 1600u}) {
    Pair pair(delay);
    ASSERT_TRUE(pair.connect());
    const auto ms = [&](int end, Step from, Step to) {
      return 1000 * (pair.entered(end, to) - pair.entered(end, from));
    };
    EXPECT_NEAR(ms(kAnswerer, Step::kSilence, Step::kAnswerTone), 2150, 350) << "V.25 4.3";
    EXPECT_NEAR(ms(kAnswerer, Step::kAnswerTone, Step::kAfterTone), 3300, 700) << "V.25 4.3";
    EXPECT_NEAR(ms(kAnswerer, Step::kAfterTone, Step::kUsb1), 75, 20) << "V.25 4.4";
    const double line = 1000. * static_cast<double>(delay) / 8000;
    EXPECT_NEAR(1000 * (pair.entered(kCaller, Step::kS1) - pair.entered(kAnswerer, Step::kUsb1)) - line, 155 + 456, 20);
    EXPECT_NEAR(ms(kCaller, Step::kS1, Step::kSb1), 100, 3);
    EXPECT_NEAR(ms(kAnswerer, Step::kReply, Step::kSb1Timed), 100, 3);
    EXPECT_GE(ms(kCaller, Step::kSb2, Step::kData), 190);
    EXPECT_GE(ms(kAnswerer, Step::kSb2, Step::kData), 190);
    // From the end of the far end's S1, delayed by the line.
    EXPECT_NEAR(1000 * (pair.entered(kCaller, Step::kSb2) - pair.entered(kAnswerer, Step::kSb1Timed)) - line, 600, 10);
    EXPECT_NEAR(1000 * (pair.entered(kAnswerer, Step::kSb2) - pair.entered(kCaller, Step::kSb1)) - line, 600, 10);
  }
}

// Clause 6.3.1.2.
void signals_of_v22_last_as_the_clauses_say() {
  Pair pair(60, 1200, 1200);
  ASSERT_TRUE(pair.connect());
  const double line = 7.5;
  EXPECT_NEAR(1000 * (pair.entered(kAnswerer, Step::kSb1Slow) - pair.entered(kCaller, Step::kSb1)) - line, 270, 40);
  EXPECT_NEAR(1000 * (pair.entered(kCaller, Step::kSb1Slow) - pair.entered(kAnswerer, Step::kSb1Slow)) - line, 270, 40);
  for (const int end : {kCaller, kAnswerer}) {
    EXPECT_NEAR(1000 * (pair.entered(end, Step::kData) - pair.entered(end, Step::kSb1Slow)), 765, 10);
  }
}

void a_retrain_takes_the_steps_of_figure_8() {
  for (const int first : {kCaller, kAnswerer}) {
    Pair pair;
    ASSERT_TRUE(pair.connect());
    pair.run(1);
    pair.clear();
    pair[first].retrain();
    pair.look();
    pair.run(2);
    EXPECT_THAT(pair.path(first), ElementsAre("S1", "SB1", "SB1, S1 over", "SB1 at 2400 bit/s", "data"));
    EXPECT_THAT(pair.path(1 - first), ElementsAre("S1 that answers", "SB1, S1 over", "SB1 at 2400 bit/s", "data"));
    for (const int end : {kCaller, kAnswerer}) EXPECT_EQ(pair.status(end).retrains, 1u);
    const uint64_t wrong = pair.wrong(kCaller) + pair.wrong(kAnswerer);
    pair.run(5);
    EXPECT_LE(pair.wrong(kCaller) + pair.wrong(kAnswerer), wrong + 100) << "as the testers find their place";
  }
}

void two_retrains_at_once_are_one() {
  Pair pair(800);
  ASSERT_TRUE(pair.connect());
  for (const int end : {kCaller, kAnswerer}) pair[end].retrain();
  pair.run(4);
  for (const int end : {kCaller, kAnswerer}) {
    EXPECT_EQ(pair.step(end), Step::kData);
    EXPECT_EQ(pair.status(end).retrains, 1u);
  }
}

// 6.4: S1 continues to be sent, with intervals of 1.2 s plus the duration of S1.
void a_retrain_that_nobody_answers_is_begun_again() {
  Pair pair;
  ASSERT_TRUE(pair.connect());
  pair.hear(kAnswerer, Line::kSilence);
  pair[kCaller].retrain();
  pair.run(4);
  EXPECT_GE(pair.status(kCaller).retrains, 3u);
  EXPECT_EQ(pair.step(kAnswerer), Step::kDropped);
  pair.hear(kAnswerer, Line::kFarEnd);
  pair.run(6);
  EXPECT_EQ(pair.step(kCaller), Step::kData);
  EXPECT_EQ(pair.step(kAnswerer), Step::kData);
}

void a_second_of_silence_is_waited_for_and_a_slip_trained_for() {
  Pair pair;
  ASSERT_TRUE(pair.connect());
  pair.run(1);
  pair.hear(kCaller, Line::kSilence);
  EXPECT_TRUE(pair.run_until(kCaller, Step::kDropped, 0.5));
  pair.run(1);
  pair.hear(kCaller, Line::kFarEnd);
  EXPECT_TRUE(pair.run_until(kCaller, Step::kData, 0.5));
  EXPECT_EQ(pair.status(kCaller).retrains, 0u);

  pair.hear(kCaller, Line::kSilence);
  pair.run(0.5);
  pair.slip(kCaller, 7);
  pair.hear(kCaller, Line::kFarEnd);
  pair.run(4);
  EXPECT_EQ(pair.step(kCaller), Step::kData);
  EXPECT_GE(pair.status(kCaller).retrains, 1u);
}

void at_1200_the_receiver_finds_its_way_alone() {
  Pair pair(60, 1200, 1200);
  ASSERT_TRUE(pair.connect());
  pair.run(1);
  pair.hear(kCaller, Line::kNoise);
  pair.run(2);
  pair.hear(kCaller, Line::kFarEnd);
  pair.run(4);
  EXPECT_GE(pair.status(kCaller).retrains, 1u);
  const uint64_t wrong = pair.wrong(kCaller), bits = pair.bits(kCaller);
  pair.run(5);
  EXPECT_EQ(pair.wrong(kCaller), wrong);
  EXPECT_EQ(pair.bits(kCaller), bits + 6000);
}

void a_tone_phase_or_noise_is_no_far_end() {
  for (const Line line : {Line::kTone, Line::kNoise, Line::kSilence}) {
    Pair pair;
    pair.hear(kAnswerer, line);
    pair.run(20);
    EXPECT_EQ(pair.step(kAnswerer), Step::kUsb1);
    EXPECT_EQ(pair.status(kAnswerer).state, OH_PUMP_CONNECTING);
  }
}

void hang_up_is_silence_and_the_end() {
  Pair pair;
  ASSERT_TRUE(pair.connect());
  pair[kCaller].hang_up();
  pair.look();
  EXPECT_EQ(pair.status(kCaller).state, OH_PUMP_IDLE);
  EXPECT_EQ(pair[kCaller].process(1000), 0);
}

void the_owner_begins_where_v8_ended() {
  for (const int first : {kCaller, kAnswerer}) {
    Pair pair;
    pair.run(0.5);
    pair[first].begin();
    pair[1 - first].begin();
    ASSERT_TRUE(pair.connect());
    EXPECT_LT(pair.entered(kCaller, Step::kData), 3);
  }
}

void who_is_not_answered_fails() {
  Pair pair;
  pair.hear(kAnswerer, Line::kSilence);
  pair.run(50);
  EXPECT_EQ(pair.status(kAnswerer).state, OH_PUMP_FAILED);
  EXPECT_EQ(pair.status(kAnswerer).failure, OH_PUMP_FAILURE_NONE);
  EXPECT_EQ(pair.status(kCaller).state, OH_PUMP_FAILED);
  EXPECT_EQ(pair.status(kCaller).failure, OH_PUMP_NOTHING_IN_COMMON) << "unscrambled ones, but no answer to S1";
}

// The answerer detects the call too late for its S1, so the caller starts again.
void a_caller_that_is_not_heard_begins_again() {
  Pair pair;
  pair.hear(kAnswerer, Line::kSilence);
  ASSERT_TRUE(pair.run_until(kCaller, Step::kSb1));
  pair.run(4);
  EXPECT_EQ(pair.step(kCaller), Step::kSb1);
  pair.run(3);
  pair.hear(kAnswerer, Line::kFarEnd);
  ASSERT_TRUE(pair.connect());
  EXPECT_THAT(pair.path(kCaller), testing::Contains("listen").Times(2));
}

// 6.4: S1 is sent again if the first answer to it was lost.
void s1_that_comes_again_is_answered_again() {
  for (const int deaf : {kCaller, kAnswerer}) {
    Pair pair;
    ASSERT_TRUE(pair.connect());
    pair[deaf].retrain();
    pair.run(0.13);
    pair.hear(deaf, Line::kNoise);  // while the answer arrives
    pair.run(0.4);
    pair.hear(deaf, Line::kFarEnd);
    pair.run(8);
    for (const int end : {kCaller, kAnswerer}) EXPECT_EQ(pair.step(end), Step::kData) << deaf;
    EXPECT_GE(pair.status(deaf).retrains, 2u) << deaf;
  }
}

void a_slip_is_trained_for_by_the_end_that_finds_it() {
  Pair pair;
  ASSERT_TRUE(pair.connect());
  pair.run(1);
  pair.slip(kCaller, 7);
  pair.run(4);
  for (const int end : {kCaller, kAnswerer}) {
    EXPECT_EQ(pair.step(end), Step::kData);
    EXPECT_EQ(pair.status(end).retrains, 1u);
  }
}

// The second end begins after the first one's S1 has arrived, but before it is detected.
void s1_that_comes_during_the_own_is_its_answer() {
  for (const double apart : {0.02, 0.06}) {
    Pair pair;
    ASSERT_TRUE(pair.connect());
    pair[kCaller].retrain();
    pair.run(apart);
    ASSERT_EQ(pair.step(kAnswerer), Step::kData);
    pair[kAnswerer].retrain();
    pair.run(3);
    for (const int end : {kCaller, kAnswerer}) {
      EXPECT_EQ(pair.step(end), Step::kData);
      EXPECT_EQ(pair.status(end).retrains, 1u);
    }
  }
}

void a_training_that_comes_to_nothing_is_begun_again() {
  Pair pair;
  ASSERT_TRUE(pair.run_until(kCaller, Step::kSb1Timed));
  pair.hear(kCaller, Line::kNoise);
  pair.run(4);
  EXPECT_GE(pair.status(kCaller).retrains, 1u);
  pair.hear(kCaller, Line::kFarEnd);
  pair.run(6);
  for (const int end : {kCaller, kAnswerer}) EXPECT_EQ(pair.step(end), Step::kData);
}

/// Two data modes at 2400 bit/s have been lost after half a second, and the third one begins.
void lose_two_data_modes(Pair& pair, int end) {
  ASSERT_TRUE(pair.connect());
  for (int k = 0; k < 2; ++k) {
    pair.run(0.5);
    pair.slip(end, 7);
    ASSERT_TRUE(pair.run_until(end, Step::kS1, 3));
    ASSERT_TRUE(pair.run_until(end, Step::kData, 3) && pair.connect());
  }
  pair.run(0.5);
  pair.clear();
}

/// Both ends receive 1200 bit/s without errors.
void expect_1200(Pair& pair) {
  pair.run(0.5);
  const uint64_t wrong[] = {pair.wrong(kCaller), pair.wrong(kAnswerer)};
  const uint64_t good[] = {pair.bits(kCaller), pair.bits(kAnswerer)};
  pair.run(2);
  for (const int end : {kCaller, kAnswerer}) {
    EXPECT_EQ(pair.step(end), Step::kData);
    EXPECT_EQ(pair.status(end).rx_bit_rate, 1200u);
    EXPECT_EQ(pair.status(end).tx_bit_rate, 1200u);
    EXPECT_EQ(pair.wrong(end), wrong[end]);
    EXPECT_NEAR(static_cast<double>(pair.bits(end) - good[end]), 2400, 4);
  }
}

// 6.6, Figure 9.
void after_three_short_data_modes_1200_is_requested() {
  for (const int asks : {kCaller, kAnswerer}) {
    Pair pair;
    lose_two_data_modes(pair, asks);
    pair.slip(asks, 7);
    pair.run(4);
    EXPECT_THAT(pair.path(asks), ElementsAre("S1", "R1", "R1, S1 over", "SB1 at 1200 bit/s, after R2", "data"));
    EXPECT_THAT(pair.path(1 - asks),
                ElementsAre("S1 that answers", "SB1, S1 over", "R2", "SB1 at 1200 bit/s, after R2", "data"));
    const auto ms = [&](int end, Step from, Step to) {
      return 1000 * (pair.entered(end, to) - pair.entered(end, from));
    };
    EXPECT_NEAR(ms(asks, Step::kS1, Step::kRateAsk), 100, 3);
    EXPECT_NEAR(1000 * (pair.entered(asks, Step::kRateOnes) - pair.entered(1 - asks, Step::kSb1Timed)), 607, 10);
    EXPECT_NEAR(ms(1 - asks, Step::kRateReply, Step::kRateOnes), 600, 10);
    EXPECT_NEAR(ms(1 - asks, Step::kRateOnes, Step::kData), 200, 10);
    expect_1200(pair);
  }
}

// 6.6.1 a
void a_signal_that_is_poor_for_six_seconds_requests_1200() {
  for (const int asks : {kCaller, kAnswerer}) {
    Pair pair;
    ASSERT_TRUE(pair.connect());
    pair.run(1);
    for (int k = 0; k < 20; ++k) {  // one good second of six, or every hit, begins the count again
      pair.hear(asks, k % 6 == 0 ? Line::kFarEnd : Line::kNoisy);
      pair.run(1);
    }
    EXPECT_EQ(pair.status(asks).retrains, 0u);
    EXPECT_EQ(pair.step(asks), Step::kData);
    pair.hear(asks, Line::kFarEnd);
    pair.run(1);
    pair.clear();
    pair.hear(asks, Line::kNoisy);
    pair.run(5.5);
    EXPECT_EQ(pair.step(asks), Step::kData);
    pair.run(6);
    EXPECT_EQ(pair.status(asks).retrains, 1u);
    EXPECT_THAT(pair.path(asks), ElementsAre("S1", "R1", "R1, S1 over", "SB1 at 1200 bit/s, after R2", "data"));
    expect_1200(pair);
    pair.run(20);
    EXPECT_EQ(pair.status(asks).retrains, 1u) << "there is no lower rate";
  }
}

// It agreed, but the answer was not heard, as if it had no 6.6.
void a_far_end_that_stays_at_2400_is_not_asked_again_for_a_poor_signal() {
  Pair pair;
  ASSERT_TRUE(pair.connect());
  pair.hear(kCaller, Line::kNoisy);
  ASSERT_TRUE(pair.run_until(kCaller, Step::kRateTimed, 10));
  pair.hear(kCaller, Line::kNoise);
  ASSERT_TRUE(pair.run_until(kCaller, Step::kSb2, 3));
  pair.hear(kCaller, Line::kFarEnd);
  pair.run(10);
  ASSERT_EQ(pair.step(kCaller), Step::kData);
  ASSERT_EQ(pair.status(kCaller).rx_bit_rate, 2400u);
  const uint32_t retrains = pair.status(kCaller).retrains;
  pair.hear(kCaller, Line::kNoisy);
  pair.run(20);
  EXPECT_EQ(pair.status(kCaller).retrains, retrains);
}

void two_requests_for_1200_at_once_are_one() {
  Pair pair;
  lose_two_data_modes(pair, kCaller);
  lose_two_data_modes(pair, kAnswerer);
  for (const int end : {kCaller, kAnswerer}) pair.slip(end, 7);
  pair.run(4);
  for (const int end : {kCaller, kAnswerer}) EXPECT_EQ(pair.path(end)[1], "R1");
  expect_1200(pair);
}

void a_request_for_1200_that_is_not_heard_is_repeated() {
  Pair pair;
  lose_two_data_modes(pair, kCaller);
  pair.hear(kAnswerer, Line::kSilence);
  pair.slip(kCaller, 7);
  pair.run(4);
  EXPECT_THAT(pair.path(kCaller), testing::Contains("R1").Times(testing::Ge(2)));
  pair.hear(kAnswerer, Line::kFarEnd);
  pair.run(6);
  expect_1200(pair);
}

// The far end is at 1200 bit/s already when S1 comes again.
void an_answer_to_a_request_for_1200_that_is_lost_is_requested_again() {
  Pair pair;
  lose_two_data_modes(pair, kCaller);
  pair.slip(kCaller, 7);
  ASSERT_TRUE(pair.run_until(kCaller, Step::kRateAsk, 3));
  pair.hear(kCaller, Line::kSilence);
  ASSERT_TRUE(pair.run_until(kAnswerer, Step::kRateOnes, 3));
  ASSERT_TRUE(pair.run_until(kCaller, Step::kS1, 3));
  pair.hear(kCaller, Line::kFarEnd);
  pair.run(6);
  expect_1200(pair);
}

// The far end agrees, but this end does not hear it, and continues at 2400 bit/s.
void after_r2_that_is_not_heard_the_next_retrain_requests_1200() {
  Pair pair;
  lose_two_data_modes(pair, kCaller);
  pair.slip(kCaller, 7);
  ASSERT_TRUE(pair.run_until(kCaller, Step::kRateTimed, 3));
  pair.hear(kCaller, Line::kNoise);
  ASSERT_TRUE(pair.run_until(kCaller, Step::kSb2, 3));
  pair.hear(kCaller, Line::kFarEnd);
  pair.run(10);
  for (const int end : {kCaller, kAnswerer}) EXPECT_EQ(pair.step(end), Step::kData);
  pair.slip(kCaller, 7);
  pair.run(4);
  expect_1200(pair);
}

void scrambled_ones_at_1200_that_do_not_come_are_trained_for_again() {
  Pair pair;
  lose_two_data_modes(pair, kCaller);
  pair.slip(kCaller, 7);
  ASSERT_TRUE(pair.run_until(kAnswerer, Step::kRateOnes, 5));
  pair.hear(kAnswerer, Line::kNoise);
  EXPECT_TRUE(pair.run_until(kAnswerer, Step::kS1, 4));
  pair.hear(kAnswerer, Line::kFarEnd);
  pair.run(10);
  for (const int end : {kCaller, kAnswerer}) EXPECT_EQ(pair.step(end), Step::kData);
}

void a_signal_that_comes_back_with_s1_is_a_retrain() {
  Pair pair;
  ASSERT_TRUE(pair.connect());
  pair.hear(kCaller, Line::kSilence);
  ASSERT_TRUE(pair.run_until(kCaller, Step::kDropped, 0.5));
  pair.hear(kCaller, Line::kFarEnd);
  pair[kAnswerer].retrain();
  pair.clear();
  pair.run(3);
  EXPECT_EQ(pair.path(kCaller).front(), "S1 that answers");
  for (const int end : {kCaller, kAnswerer}) EXPECT_EQ(pair.step(end), Step::kData);
}

void at_1200_noise_after_silence_is_sought_through() {
  Pair pair(60, 1200, 1200);
  ASSERT_TRUE(pair.connect());
  pair.hear(kCaller, Line::kSilence);
  ASSERT_TRUE(pair.run_until(kCaller, Step::kDropped, 0.5));
  pair.hear(kCaller, Line::kNoise);
  pair.run(2);
  pair.hear(kCaller, Line::kFarEnd);
  pair.run(4);
  const uint64_t wrong = pair.wrong(kCaller);
  pair.run(3);
  EXPECT_EQ(pair.step(kCaller), Step::kData);
  EXPECT_EQ(pair.wrong(kCaller), wrong);
}

void a_far_end_that_is_thirty_db_louder_is_trained_for() {
  Pair pair;
  pair.hear(kCaller, Line::kFaint);
  ASSERT_TRUE(pair.connect());
  pair.run(1);
  pair.hear(kCaller, Line::kFarEnd);
  EXPECT_TRUE(pair.run_until(kCaller, Step::kS1, 3));
  ASSERT_TRUE(pair.connect());
  pair.run(1);
  const uint64_t wrong = pair.wrong(kCaller);
  pair.run(3);
  EXPECT_EQ(pair.wrong(kCaller), wrong);
}

/// Data arrive without errors in both directions.
void expect_data(Pair& pair) {
  pair.run(0.2);
  const uint64_t wrong[] = {pair.wrong(kCaller), pair.wrong(kAnswerer)};
  const uint64_t good[] = {pair.bits(kCaller), pair.bits(kAnswerer)};
  pair.run(1);
  for (const int end : {kCaller, kAnswerer}) {
    EXPECT_EQ(pair.step(end), Step::kData);
    EXPECT_EQ(pair.wrong(end), wrong[end]);
    EXPECT_GE(pair.bits(end) - good[end], 1190u);
    EXPECT_EQ(pair.status(end).retrains, 0u);
  }
}

// 7.1: data return completely, the far end's port gets only its descrambler's memory, and the call continues.
void loop_2_sends_data_back_whole() {
  for (const int asks : {kCaller, kAnswerer}) {
    for (const uint32_t rate : {2400u, 1200u}) {
      for (const size_t delay : {60u, 4000u}) {
        Pair pair(delay, rate, rate);
        const int grants = 1 - asks;
        ASSERT_TRUE(pair.connect());
        pair.run(1);
        ASSERT_TRUE(pair[grants].loop(OH_LOOP_ALLOW));
        pair.clear();
        ASSERT_TRUE(pair[asks].loop(OH_LOOP_REMOTE));
        EXPECT_EQ(pair[asks].loop_state(), OH_LOOP_ASKED);
        const double line = static_cast<double>(delay) / 8000, asked = pair.now();
        pair.run(line + 0.05);
        pair.keep(grants);
        ASSERT_TRUE(pair.run_until(asks, Step::kLoopTest, 4)) << rate;
        EXPECT_THAT(pair.path(asks), ElementsAre("loop 2: initiation", "loop 2: ones", "loop 2: test"));
        EXPECT_THAT(pair.path(grants), ElementsAre("loop 2: reversals", "loop 2: looped"));
        EXPECT_NEAR(pair.entered(grants, Step::kLoopGrant) - asked - line, 0.1925, 0.0385) << "7.1.1";
        EXPECT_NEAR(pair.entered(asks, Step::kLoopOnes) - pair.entered(grants, Step::kLoopGrant) - line, 0.2695,
                    0.0385);
        EXPECT_EQ(pair[asks].loop_state(), OH_LOOP_TESTING);
        EXPECT_EQ(pair[grants].loop_state(), OH_LOOP_LOOPED);
        EXPECT_EQ(pair.status(grants).state, OH_PUMP_TRAINING);
        EXPECT_THAT(pair.got(grants), testing::Each(1)) << "a start-stop receiver is idle";

        pair.run(2 * line + 0.5);
        pair.keep(grants);
        const uint64_t wrong = pair.wrong(asks), good = pair.bits(asks), sent = pair.status(grants).bits_sent;
        pair.run(45);  // longer than the time limit of a training
        EXPECT_EQ(pair.wrong(asks), wrong) << rate;
        EXPECT_NEAR(static_cast<double>(pair.bits(asks) - good), 45. * rate, 8);
        EXPECT_TRUE(pair.got(grants).empty());
        EXPECT_EQ(pair.status(grants).bits_sent, sent);

        pair.clear();
        ASSERT_TRUE(pair[asks].loop(OH_LOOP_END));
        const double ended = pair.now();
        pair.run(2 * line + 1);
        EXPECT_THAT(pair.path(asks), ElementsAre("loop 2: end", "loop 2: ones after the end", "data"));
        EXPECT_THAT(pair.path(grants), ElementsAre("dropped", "data"));
        EXPECT_NEAR(pair.entered(asks, Step::kLoopAfter) - ended, 0.077, 0.01) << "7.1.2";
        EXPECT_NEAR(pair.entered(grants, Step::kData) - ended - 0.077 - line, 0.155, 0.05) << "7.1.2";
        EXPECT_EQ(pair[asks].loop_state(), OH_LOOP_NONE);
        EXPECT_EQ(pair[grants].loop_state(), OH_LOOP_NONE);
        expect_data(pair);
      }
    }
  }
}

void a_loop_that_is_not_allowed_is_refused_and_the_call_continues() {
  for (const uint32_t rate : {2400u, 1200u}) {
    Pair pair(60, rate, rate);
    ASSERT_TRUE(pair.connect());
    pair.run(1);
    EXPECT_FALSE(pair[kCaller].loop(OH_LOOP_END));
    ASSERT_TRUE(pair[kAnswerer].loop(OH_LOOP_ALLOW));
    ASSERT_TRUE(pair[kAnswerer].loop(OH_LOOP_REFUSE));
    ASSERT_TRUE(pair[kCaller].loop(OH_LOOP_REMOTE));
    EXPECT_FALSE(pair[kCaller].loop(OH_LOOP_REMOTE)) << "one at a time";
    pair.run(0.1);
    pair.keep(kAnswerer);
    pair.run(1.8);
    EXPECT_EQ(pair.step(kAnswerer), Step::kData);
    EXPECT_THAT(pair.got(kAnswerer), testing::Each(1));
    pair.run(1);
    EXPECT_EQ(pair[kCaller].loop_state(), OH_LOOP_REFUSED);
    expect_data(pair);
  }
}

void a_loop_ends_before_it_is_granted() {
  Pair pair;
  ASSERT_TRUE(pair.connect());
  pair.run(1);
  ASSERT_TRUE(pair[kAnswerer].loop(OH_LOOP_ALLOW));
  ASSERT_TRUE(pair[kCaller].loop(OH_LOOP_REMOTE));
  ASSERT_TRUE(pair.run_until(kAnswerer, Step::kLoopGrant, 1));
  ASSERT_TRUE(pair[kCaller].loop(OH_LOOP_END));
  pair.run(1);
  EXPECT_EQ(pair[kCaller].loop_state(), OH_LOOP_NONE);
  expect_data(pair);
}

void a_loop_whose_ones_do_not_come_back_is_ended() {
  Pair pair;
  ASSERT_TRUE(pair.connect());
  pair.run(1);
  ASSERT_TRUE(pair[kAnswerer].loop(OH_LOOP_ALLOW));
  ASSERT_TRUE(pair[kCaller].loop(OH_LOOP_REMOTE));
  ASSERT_TRUE(pair.run_until(kCaller, Step::kLoopOnes, 2));
  pair.hear(kCaller, Line::kSilence);
  ASSERT_TRUE(pair.run_until(kCaller, Step::kLoopDrop, 3));
  pair.hear(kCaller, Line::kFarEnd);
  pair.run(1);
  EXPECT_EQ(pair[kCaller].loop_state(), OH_LOOP_REFUSED);
  EXPECT_EQ(pair[kAnswerer].loop_state(), OH_LOOP_NONE);
  expect_data(pair);
}

void a_local_loop_sends_back_what_the_far_end_sends() {
  Pair pair;
  ASSERT_TRUE(pair.connect());
  pair.run(1);
  ASSERT_TRUE(pair[kAnswerer].loop(OH_LOOP_LOCAL));
  EXPECT_EQ(pair[kAnswerer].loop_state(), OH_LOOP_LOOPED);
  pair.run(0.3);
  pair.keep(kAnswerer);
  const uint64_t wrong = pair.wrong(kCaller), good = pair.bits(kCaller);
  pair.run(2);
  EXPECT_EQ(pair.wrong(kCaller), wrong);
  EXPECT_NEAR(static_cast<double>(pair.bits(kCaller) - good), 4800, 8);
  EXPECT_TRUE(pair.got(kAnswerer).empty());
  ASSERT_TRUE(pair[kAnswerer].loop(OH_LOOP_END));
  expect_data(pair);
}

void a_retrain_or_a_lost_signal_ends_a_loop() {
  Pair retrained;
  ASSERT_TRUE(retrained.connect());
  retrained.run(1);
  ASSERT_TRUE(retrained[kAnswerer].loop(OH_LOOP_LOCAL));
  retrained[kCaller].retrain();
  retrained.run(3);
  for (const uint32_t rate : {2400u, 1200u}) {
    Pair lost(60, rate, rate);
    ASSERT_TRUE(lost.connect());
    lost.run(1);
    ASSERT_TRUE(lost[kAnswerer].loop(OH_LOOP_LOCAL));
    lost.hear(kAnswerer, Line::kNoise);
    lost.run(1);
    lost.hear(kAnswerer, Line::kFarEnd);
    lost.run(6);
    for (Pair* pair : {&retrained, &lost}) {
      EXPECT_EQ((*pair)[kAnswerer].loop_state(), OH_LOOP_NONE);
      for (const int end : {kCaller, kAnswerer}) EXPECT_EQ(pair->step(end), Step::kData);
    }
  }
}

void bell_212a_has_no_loops() {
  Pair pair(60, 0, 0, Standard::kBell212a);
  ASSERT_TRUE(pair.connect());
  for (const auto order : {OH_LOOP_REMOTE, OH_LOOP_LOCAL, OH_LOOP_ALLOW, OH_LOOP_END})
    EXPECT_FALSE(pair[kCaller].loop(order));
}

const std::pair<const char*, std::function<void()>> kProcedures[] = {
    {"AFarEndThatIsThirtyDbLouderIsTrainedFor", a_far_end_that_is_thirty_db_louder_is_trained_for},
    {"TwoOf2400TakeTheStepsOfFigure5", two_of_2400_take_the_steps_of_figure_5},
    {"OneOf1200TakesBothToTheStepsOfV22", one_of_1200_takes_both_to_the_steps_of_v22},
    {"Bell212aBeginsWithItsTone", bell_212a_begins_with_its_tone},
    {"SignalsLastAsTheClausesSay", signals_last_as_the_clauses_say},
    {"SignalsOfV22LastAsTheClausesSay", signals_of_v22_last_as_the_clauses_say},
    {"ARetrainTakesTheStepsOfFigure8", a_retrain_takes_the_steps_of_figure_8},
    {"TwoRetrainsAtOnceAreOne", two_retrains_at_once_are_one},
    {"ARetrainThatNobodyAnswersIsBegunAgain", a_retrain_that_nobody_answers_is_begun_again},
    {"ASecondOfSilenceIsWaitedForAndASlipTrainedFor", a_second_of_silence_is_waited_for_and_a_slip_trained_for},
    {"At1200TheReceiverFindsItsWayAlone", at_1200_the_receiver_finds_its_way_alone},
    {"ATonePhaseOrNoiseIsNoFarEnd", a_tone_phase_or_noise_is_no_far_end},
    {"HangUpIsSilenceAndTheEnd", hang_up_is_silence_and_the_end},
    {"TheOwnerBeginsWhereV8Ended", the_owner_begins_where_v8_ended},
    {"WhoIsNotAnsweredFails", who_is_not_answered_fails},
    {"ACallerThatIsNotHeardBeginsAgain", a_caller_that_is_not_heard_begins_again},
    {"S1ThatComesAgainIsAnsweredAgain", s1_that_comes_again_is_answered_again},
    {"ASlipIsTrainedForByTheEndThatFindsIt", a_slip_is_trained_for_by_the_end_that_finds_it},
    {"S1ThatComesDuringTheOwnIsItsAnswer", s1_that_comes_during_the_own_is_its_answer},
    {"ATrainingThatComesToNothingIsBegunAgain", a_training_that_comes_to_nothing_is_begun_again},
    {"AfterThreeShortDataModes1200IsRequested", after_three_short_data_modes_1200_is_requested},
    {"ASignalThatIsPoorForSixSecondsRequests1200", a_signal_that_is_poor_for_six_seconds_requests_1200},
    {"AFarEndThatStaysAt2400IsNotAskedAgainForAPoorSignal",
     a_far_end_that_stays_at_2400_is_not_asked_again_for_a_poor_signal},
    {"TwoRequestsFor1200AtOnceAreOne", two_requests_for_1200_at_once_are_one},
    {"ARequestFor1200ThatIsNotHeardIsRepeated", a_request_for_1200_that_is_not_heard_is_repeated},
    {"AnAnswerToARequestFor1200ThatIsLostIsRequestedAgain",
     an_answer_to_a_request_for_1200_that_is_lost_is_requested_again},
    {"AfterR2ThatIsNotHeardTheNextRetrainRequests1200", after_r2_that_is_not_heard_the_next_retrain_requests_1200},
    {"ScrambledOnesAt1200ThatDoNotComeAreTrainedForAgain",
     scrambled_ones_at_1200_that_do_not_come_are_trained_for_again},
    {"ASignalThatComesBackWithS1IsARetrain", a_signal_that_comes_back_with_s1_is_a_retrain},
    {"At1200NoiseAfterSilenceIsSoughtThrough", at_1200_noise_after_silence_is_sought_through},
    {"Loop2SendsDataBackWhole", loop_2_sends_data_back_whole},
    {"ALoopThatIsNotAllowedIsRefusedAndTheCallContinues", a_loop_that_is_not_allowed_is_refused_and_the_call_continues},
    {"ALoopEndsBeforeItIsGranted", a_loop_ends_before_it_is_granted},
    {"ALoopWhoseOnesDoNotComeBackIsEnded", a_loop_whose_ones_do_not_come_back_is_ended},
    {"ALocalLoopSendsBackWhatTheFarEndSends", a_local_loop_sends_back_what_the_far_end_sends},
    {"ARetrainOrALostSignalEndsALoop", a_retrain_or_a_lost_signal_ends_a_loop},
    {"Bell212aHasNoLoops", bell_212a_has_no_loops},
};

class V22Procedure : public testing::TestWithParam<std::pair<const char*, std::function<void()>>> {};
TEST_P(V22Procedure, Holds) {
  GetParam().second();
}
INSTANTIATE_TEST_SUITE_P(Clauses, V22Procedure, testing::ValuesIn(kProcedures),
                         [](const auto& test) { return std::string(test.param.first); });

TEST(V22Procedures, TakeEveryTransitionOfTheTable) {
  taken().clear();
  for (const auto& [name, procedure] : kProcedures) procedure();
  for (const Transition& t : transitions()) {
    EXPECT_TRUE(taken().contains(&t)) << (t.from == kAny ? "any"
                                                         : info(static_cast<Step>(std::countr_zero(t.from))).name)
                                      << ", event " << static_cast<int>(t.event) << ", " << t.clause;
  }
}

}  // namespace
}  // namespace offhook::v22
