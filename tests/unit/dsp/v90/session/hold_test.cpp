// SPDX-License-Identifier: MIT
//
// Modem-on-hold's procedure (V.92 9.10 with Amendment 1 and Corrigendum 1), one end at a time, against a far end that
// sends what a script says: every time that the text gives, and every row of the table.
#include "dsp/v90/session/hold.h"

#include <gtest/gtest.h>

#include <functional>
#include <vector>

#include "dsp/v34/phase2/phase2.h"

namespace offhook::v90 {
namespace {

constexpr int kMs = 8;
constexpr uint32_t kRoundTrip = 100 * kMs;

HoldConfig config(bool digital, uint8_t grant = 0) {
  HoldConfig c;
  c.digital = digital;
  c.grant = grant;
  c.round_trip_samples = kRoundTrip;
  return c;
}

/// The far end of a hold: tone, sequences, answer tone or silence.
class Far {
 public:
  explicit Far(bool digital)
      : modulator_(v34::phase2_signal(digital ? v34::kToneBHz : v34::kToneAHz, -12, -7)), ansam_(-12, true) {}
  void tone() { modulator_.tone(), sends_ansam_ = false; }
  void reverse() { modulator_.reverse(); }
  void silence() { modulator_.silence(), sends_ansam_ = false; }
  void answer_tone() { modulator_.silence(), sends_ansam_ = true; }
  void send(const HoldMessage& message) {
    encode(message, bits_);
    if (!modulator_.sends_bits()) at_ = 0, modulator_.bits();
  }
  float next() {
    const float x = modulator_.next([this] { return bits_[at_++ % HoldMessage::kBits]; });
    return sends_ansam_ ? x + ansam_.next() : x;
  }

 private:
  DpskModulator modulator_;
  v8::AnsamGenerator ansam_;
  bool sends_ansam_ = false;
  uint8_t bits_[HoldMessage::kBits]{};
  int at_ = 0;
};

/// What one end sends, as the other would hear it.
class Heard {
 public:
  explicit Heard(bool digital)
      : dpsk_(digital ? v34::kToneBHz : v34::kToneAHz), tone_(digital ? v34::kToneBHz : v34::kToneAHz) {}
  void put(float x) {
    ++now_;
    if (x != 0 && first_sound_ < 0) first_sound_ = now_;
    if (x != 0) last_sound_ = now_;
    DpskDecision decision;
    if (dpsk_.put(x, &decision) && detector_.put(decision)) {
      messages_.push_back(detector_.found().info);
      if (first_message_ < 0) first_message_ = now_;
    }
    tone_.put(x);
    if (tone_.unbroken_ms() > longest_tone_ms_) longest_tone_ms_ = tone_.unbroken_ms();
  }
  int first_sound() const { return first_sound_; }
  int last_sound() const { return last_sound_; }
  float longest_tone_ms() const { return longest_tone_ms_; }
  int first_message() const { return first_message_; }
  const std::vector<HoldMessage>& messages() const { return messages_; }

 private:
  DpskReceiver dpsk_;
  v34::InfoDetector<HoldMessage> detector_;
  ToneDetector tone_;
  int now_ = 0, first_sound_ = -1, last_sound_ = -1, first_message_ = -1;
  float longest_tone_ms_ = 0;
  std::vector<HoldMessage> messages_;
};

/// One end, a far end and a little noise.
class Line {
 public:
  Line(bool digital, uint8_t grant = 0) : hold(config(digital, grant)), far(!digital), heard(digital) {}
  void run(int ms) {
    until(ms, [] { return false; });
  }
  /// @return the milliseconds after which it was so, or -1: it was not within so many
  int until(int ms, const std::function<bool()>& so) {
    for (int n = 0; n < ms * kMs; ++n) {
      if (so()) return n / kMs;
      heard.put(hold.process(far.next() + 5 * static_cast<float>(normal())));
      ++samples;
    }
    return so() ? ms : -1;
  }
  int until_state(Hold::State state, int ms) {
    return until(ms, [this, state] { return hold.state() == state; });
  }
  /// To where the initiating sequence is sent, the far end answering with RT as a retrain's responder.
  void initiate(const HoldMessage& message) {
    hold.initiate(message);
    run(70 + 54 + 70);
    far.tone();
    ASSERT_GE(until_state(Hold::State::kInitiate, 500), 0);
  }
  /// A far end's initiating sequence, after RT.
  void be_asked(const HoldMessage& message) {
    far.tone();
    run(150);
    far.send(message);
  }

  Hold hold;
  Far far;
  Heard heard;
  int samples = 0;

 private:
  double normal() {
    double sum = -6;
    for (int k = 0; k < 12; ++k) sum += uniform();
    return sum;
  }
  double uniform() {
    state_ = state_ * 1664525 + 1013904223;
    return state_ / 4294967296.;
  }
  uint32_t state_ = 1;
};

constexpr HoldMessage kRequest = hold_message(HoldSignal::kRequest);
constexpr HoldMessage kReconnect = hold_message(HoldSignal::kReconnect);
constexpr HoldMessage kClearAcknowledge = hold_message(HoldSignal::kClearAcknowledge);
constexpr HoldMessage kClearRequest{HoldSignal::kClearRequest, static_cast<uint8_t>(ClearReason::kIncomingCall)};
constexpr HoldMessage kGranted{HoldSignal::kAcknowledge, 1};  // 10 s

class V92HoldProcedure : public ::testing::TestWithParam<bool> {};

TEST_P(V92HoldProcedure, LeavesDataBySilenceOf70MsAndAtLeast50OfRt) {
  Line line(GetParam());
  line.initiate(kRequest);
  EXPECT_GE(line.heard.first_sound(), 65 * kMs);
  EXPECT_LE(line.heard.first_sound(), 75 * kMs);
  EXPECT_GE(line.heard.longest_tone_ms(), 50);
  line.run(500);
  ASSERT_GE(line.heard.messages().size(), 5u);
  for (const HoldMessage& m : line.heard.messages()) EXPECT_EQ(m, kRequest);
}

TEST_P(V92HoldProcedure, SendsNoSequenceBeforeTheFarEndsRtAndRetrainsAfterTwoSecondsAndARoundTrip) {
  Line line(GetParam());
  line.hold.initiate(kRequest);
  const int ended = line.until_state(Hold::State::kEnded, 5000);
  EXPECT_NEAR(ended, 70 + 2000 + 100, 2);
  EXPECT_EQ(line.hold.outcome(), HoldOutcome::kRetrain);
  EXPECT_TRUE(line.heard.messages().empty());
}

TEST_P(V92HoldProcedure, RetrainsWhenNothingAnswersItsSequences) {
  for (const HoldMessage& message : {kRequest, kReconnect, kClearRequest}) {
    Line line(GetParam());
    line.initiate(message);
    const int ended = line.until_state(Hold::State::kEnded, 5000);
    EXPECT_GE(ended, 2100);
    EXPECT_LE(ended, 2100 + 67 + 10);  // the sequence is completed
    EXPECT_EQ(line.hold.outcome(), HoldOutcome::kRetrain);
  }
}

TEST_P(V92HoldProcedure, GrantedSendsRtUntilAnsamAndIsThenSilent) {
  Line line(GetParam());
  line.initiate(kRequest);
  line.run(100);
  line.far.send(kGranted);
  ASSERT_GE(line.until_state(Hold::State::kLeave, 300), 0);
  EXPECT_EQ(line.hold.granted(), 1);
  line.run(300);
  EXPECT_GE(line.heard.longest_tone_ms(), 100);
  line.far.answer_tone();
  ASSERT_GE(line.until_state(Hold::State::kAway, 1000), 0);
  line.run(5);
  const int silent = line.heard.last_sound();
  line.run(500);
  EXPECT_EQ(line.heard.last_sound(), silent);
  line.hold.resume();
  EXPECT_EQ(line.hold.outcome(), HoldOutcome::kCall);
}

TEST_P(V92HoldProcedure, IsAwayForNoLongerThanT1) {
  Line line(GetParam());
  line.initiate(kRequest);
  line.far.send(kGranted);
  ASSERT_GE(line.until_state(Hold::State::kAway, 6000), 0);  // no ANSam comes
  line.far.silence();
  EXPECT_NEAR(line.until_state(Hold::State::kEnded, 11000), 10000, 5);
  EXPECT_EQ(line.hold.outcome(), HoldOutcome::kReleased);
}

TEST_P(V92HoldProcedure, EndsWhatItHoldsByACallWithoutModulations) {
  Line line(GetParam());
  line.initiate(kRequest);
  line.far.send(kGranted);
  ASSERT_GE(line.until_state(Hold::State::kAway, 6000), 0);
  line.hold.clear();
  EXPECT_EQ(line.hold.outcome(), HoldOutcome::kClear);
}

TEST_P(V92HoldProcedure, IgnoresAReservedT1) {
  Line line(GetParam());
  line.initiate(kRequest);
  line.far.send({HoldSignal::kAcknowledge, 14});
  EXPECT_LT(line.until_state(Hold::State::kLeave, 1000), 0);
  line.far.send(kGranted);
  EXPECT_GE(line.until_state(Hold::State::kLeave, 500), 0);
}

TEST_P(V92HoldProcedure, DeniedAsksForAFastReconnectAndCallsAfterOneSecondOfAnsam) {
  for (const DenyReason why : {DenyReason::kForNow, DenyReason::kForEver}) {
    Line line(GetParam());
    line.initiate(kRequest);
    line.far.send({HoldSignal::kDeny, static_cast<uint8_t>(why)});
    ASSERT_GE(line.until(300, [&line] { return line.hold.denied(); }), 0);
    EXPECT_EQ(line.hold.denied_for_ever(), why == DenyReason::kForEver);
    line.run(300);
    EXPECT_EQ(line.heard.messages().back(), kReconnect);
    line.far.answer_tone();
    const int ended = line.until_state(Hold::State::kEnded, 2000);
    EXPECT_GE(ended, 1000);
    EXPECT_EQ(line.hold.outcome(), HoldOutcome::kCall);
  }
}

TEST_P(V92HoldProcedure, ClearedDisconnectsOnceItIsAcknowledged) {
  Line line(GetParam());
  line.initiate(kClearRequest);
  line.run(200);
  EXPECT_EQ(line.heard.messages().back(), kClearRequest);
  line.far.send(kClearAcknowledge);
  ASSERT_GE(line.until_state(Hold::State::kEnded, 300), 0);
  EXPECT_EQ(line.hold.outcome(), HoldOutcome::kReleased);
}

TEST_P(V92HoldProcedure, GrantsUntilRtOf100MsAndSendsAnsamWithin80MsOfTheLastMhack) {
  Line line(GetParam(), 3);
  line.be_asked(kRequest);
  ASSERT_GE(line.until_state(Hold::State::kRespond, 400), 0);
  EXPECT_GE(line.heard.longest_tone_ms(), 45);  // of RT, 5 ms being the detector's
  line.run(1000);
  EXPECT_EQ(line.hold.state(), Hold::State::kRespond);
  ASSERT_GE(line.heard.messages().size(), 10u);
  for (const HoldMessage& m : line.heard.messages()) EXPECT_EQ(m, (HoldMessage{HoldSignal::kAcknowledge, 3}));
  line.far.tone();
  const int left = line.until_state(Hold::State::kFinish, 300);
  EXPECT_GE(left, 95);
  EXPECT_LE(left, 130);
  ASSERT_GE(line.until_state(Hold::State::kBeforeAnswer, 100), 0);
  EXPECT_LE(line.until_state(Hold::State::kEnded, 200), 80);
  EXPECT_EQ(line.hold.outcome(), HoldOutcome::kAnswer);
  EXPECT_TRUE(line.hold.holds());
  // From the end of the first MHack, which began 50 ms of RT after it was asked.
  const int passed = line.samples - line.heard.first_message();
  EXPECT_NEAR(static_cast<double>(line.hold.answer_tone_samples()), 30. * 8000 - passed, 30 * kMs);
}

TEST_P(V92HoldProcedure, GrantsUntilTwoSecondsOfSilenceOtherwise) {
  Line line(GetParam(), kHoldWithoutLimit);
  line.be_asked(kRequest);
  line.run(500);
  line.far.silence();
  const int left = line.until_state(Hold::State::kFinish, 3000);
  EXPECT_NEAR(left, 2000, 80);  // since the last sequence, of which one comes in 67 ms
  ASSERT_GE(line.until_state(Hold::State::kEnded, 300), 0);
  EXPECT_EQ(line.hold.outcome(), HoldOutcome::kAnswer);
  EXPECT_EQ(line.hold.answer_tone_samples(), 0u);
}

TEST_P(V92HoldProcedure, DisconnectsWhenItIsAskedForLongerThanT1) {
  Line line(GetParam(), 1);
  line.be_asked(kRequest);
  ASSERT_GE(line.until_state(Hold::State::kEnded, 11000), 9900);
  EXPECT_EQ(line.hold.outcome(), HoldOutcome::kReleased);
}

TEST_P(V92HoldProcedure, DeniesAndDoesWhatTheFarEndChooses) {
  struct Choice {
    HoldMessage message;
    HoldOutcome outcome;
  };
  for (const Choice& choice :
       {Choice{kClearAcknowledge, HoldOutcome::kReleased}, Choice{kReconnect, HoldOutcome::kAnswer}}) {
    Line line(GetParam());
    line.be_asked(kRequest);
    line.run(3000);  // MHnack's time-out runs from the last MHreq
    EXPECT_EQ(line.heard.messages().back().signal, HoldSignal::kDeny);
    line.far.send(choice.message);
    ASSERT_GE(line.until_state(Hold::State::kEnded, 500), 0);
    EXPECT_EQ(line.hold.outcome(), choice.outcome);
    EXPECT_FALSE(line.hold.holds());
  }
  Line line(GetParam());
  line.be_asked(kRequest);
  line.run(500);
  line.far.silence();
  EXPECT_GE(line.until_state(Hold::State::kEnded, 3000), 2000);
  EXPECT_EQ(line.hold.outcome(), HoldOutcome::kRetrain);
}

TEST_P(V92HoldProcedure, AcknowledgesAClearUntilRtOr200MsWithoutIt) {
  for (const bool tone : {true, false}) {
    Line line(GetParam());
    line.be_asked(kClearRequest);
    line.run(1000);
    EXPECT_EQ(line.heard.messages().back(), kClearAcknowledge);
    EXPECT_EQ(line.hold.heard(), kClearRequest);
    EXPECT_EQ(line.hold.state(), Hold::State::kRespond);
    if (tone) line.far.tone();
    if (!tone) line.far.silence();
    ASSERT_GE(line.until_state(Hold::State::kEnded, 400), 0);
    EXPECT_EQ(line.hold.outcome(), HoldOutcome::kReleased);
  }
}

TEST_P(V92HoldProcedure, AnswersAFastReconnectByAnsamAtOnce) {
  Line line(GetParam());
  line.be_asked(kReconnect);
  const int ended = line.until_state(Hold::State::kEnded, 400);
  ASSERT_GE(ended, 0);
  EXPECT_EQ(line.hold.outcome(), HoldOutcome::kAnswer);
  EXPECT_FALSE(line.hold.holds());
  EXPECT_LT(line.heard.first_sound(), 0);
}

TEST_P(V92HoldProcedure, OfBothEndsThatAskTheDigitalModemResponds) {
  Line line(GetParam(), 1);
  line.initiate(kRequest);
  line.far.send(kRequest);
  line.run(300);
  EXPECT_EQ(line.hold.state(), GetParam() ? Hold::State::kRespond : Hold::State::kInitiate);
}

TEST_P(V92HoldProcedure, HearsNothingInATone) {
  Line line(GetParam(), 1);
  line.far.tone();
  line.run(3000);
  EXPECT_EQ(line.hold.state(), Hold::State::kListen);
  EXPECT_LT(line.heard.first_sound(), 0);
}

INSTANTIATE_TEST_SUITE_P(Side, V92HoldProcedure, ::testing::Bool(),
                         [](const auto& side) { return side.param ? "Digital" : "Analogue"; });

// 9.7.1.2 (Corrigendum 1), note: the Phase 2 of a retrain, which whoever hears RT runs meanwhile.
TEST(V92HoldBesidePhase2, NoMhSequenceIsTakenForAReversal) {
  using State = v34::Phase2::State;
  for (const bool digital : {true, false}) {
    v34::Phase2Config c;
    c.role = digital ? OH_PUMP_CALL : OH_PUMP_ANSWER;
    c.pcm = digital ? v34::PcmSide::kDigital : v34::PcmSide::kAnalogue;
    const State listening = digital ? State::kFirstTone : State::kReversed;
    // 90 ms: by then a sequence has been found.
    const auto state_after = [&](void (*then)(Far&)) {
      v34::Phase2 phase2(c);
      phase2.adopt({});  // of the start-up: both INFO0 are known
      phase2.retrain();
      Far far(!digital);
      far.tone();
      for (int n = 0; n < 300 * kMs; ++n) phase2.process(far.next());
      EXPECT_EQ(phase2.state(), listening);
      then(far);
      for (int n = 0; n < 90 * kMs; ++n) phase2.process(far.next());
      return phase2.state();
    };
    EXPECT_EQ(state_after([](Far& far) { far.send(kRequest); }), listening);
    EXPECT_EQ(state_after([](Far& far) { far.send(kReconnect); }), listening);
    EXPECT_EQ(state_after([](Far& far) { far.send(kClearRequest); }), listening);
    EXPECT_NE(state_after([](Far& far) { far.reverse(); }), listening);
  }
}

TEST(V92HoldTable, HasNoRowThatIsNeverTaken) {
  using Script = std::function<void(Line&)>;
  const auto asks = [](const HoldMessage& message, const HoldMessage& answer) {
    return [message, answer](Line& l) { l.initiate(message), l.far.send(answer), l.run(6000); };
  };
  const auto asked = [](const HoldMessage& message, int ms, const Script& then) {
    return [message, ms, then](Line& l) { l.be_asked(message), l.run(ms), then(l), l.run(6000); };
  };
  const Script nothing = [](Line&) {}, tone = [](Line&l) { l.far.tone(); }, silence = [](Line&l) { l.far.silence(); };
  struct Case {
    uint8_t grant;
    Script script;
  };
  const Case cases[] = {
      {0, [](Line& l) { l.hold.initiate(kRequest), l.run(3000); }},
      {1, [](Line& l) { l.initiate(kRequest), l.far.send(kRequest), l.run(12000); }},
      {0, [&](Line& l) { asks(kRequest, kGranted)(l), l.hold.resume(); }},
      {0, [&](Line& l) { asks(kRequest, kGranted)(l), l.hold.clear(); }},
      {0, [&](Line& l) { asks(kRequest, kGranted)(l), l.run(11000); }},
      {0, [](Line& l) { l.initiate(kRequest), l.far.send(kGranted), l.run(300), l.far.answer_tone(), l.run(1000); }},
      {0, asks(kRequest, {HoldSignal::kDeny, 7})},
      {0, [](Line& l) { l.initiate(kReconnect), l.far.answer_tone(), l.run(2000); }},
      {0, asks(kClearRequest, kClearAcknowledge)},
      {1, asked(kRequest, 500, tone)},
      {1, asked(kRequest, 500, silence)},
      {1, asked(kRequest, 6000, nothing)},
      {0, asked(kRequest, 500, [](Line& l) { l.far.send(kClearAcknowledge); })},
      {0, asked(kRequest, 500, [](Line& l) { l.far.send(kReconnect); })},
      {0, asked(kRequest, 500, silence)},
      {0, asked(kClearRequest, 500, tone)},
      {0, asked(kClearRequest, 500, silence)},
      {0, asked(kReconnect, 500, nothing)},
  };
  uint64_t taken = 0;
  for (const Case& c : cases) {
    Line line(true, c.grant);
    c.script(line);
    taken |= line.hold.taken();
  }
  const auto rows = Hold::transitions().rows;
  for (size_t k = 0; k < rows.size(); ++k) EXPECT_TRUE(taken >> k & 1) << k << " " << rows[k].clause;
}

}  // namespace
}  // namespace offhook::v90
