// SPDX-License-Identifier: MIT
//
// Quick Connect of V.92 (11/2000) 9.2 as far as V.8 carries it: QC before CM, QCA in the place of JM.
#include <gtest/gtest.h>

#include <functional>
#include <random>
#include <vector>

#include "dsp/v8/v8.h"

namespace offhook::v8 {
namespace {

constexpr uint8_t kSync = 0x55, kQc = 0x8C, kQca = 0x82;

Config config(oh_pump_role role, bool quick) {
  Config c;
  c.role = role;
  c.menu.call_function = CallFunction::kData;
  c.menu.modulations = kV34 | kV32bis;
  if (!quick) return c;
  c.quick.sync = kSync;
  c.quick.octet = role == OH_PUMP_CALL ? kQc : kQca;
  c.quick.understands =
      role == OH_PUMP_CALL ? [](uint8_t far) { return far == kQca; } : [](uint8_t far) { return far == kQc; };
  return c;
}

/// Two ends, a line with delay, noise and echo.
struct Call {
  Call(bool call_quick, bool answer_quick)
      : call(config(OH_PUMP_CALL, call_quick)), answer(config(OH_PUMP_ANSWER, answer_quick)) {}
  void run(double seconds, const std::function<bool()>& done) {
    for (const auto end = static_cast<size_t>(seconds * 8000); sent_call.size() < end && !done();) {
      const size_t now = sent_call.size();
      const auto heard = [&](const std::vector<float>& far, const std::vector<float>& own) {
        const float there = now > delay ? 0.3f * far[now - delay] : 0;
        return there + (now > 8 ? 0.2f * own[now - 8] : 0) + noise_rms * normal(random);
      };
      const float a = heard(sent_answer, sent_call), b = heard(sent_call, sent_answer);
      sent_call.push_back(call.process(a));
      sent_answer.push_back(mute_answer ? (answer.process(b), 0) : answer.process(b));
    }
  }
  bool ended() const { return call.state() != State::kRunning && answer.state() != State::kRunning; }

  V8 call, answer;
  size_t delay = 80;
  float noise_rms = 1;
  bool mute_answer = false;
  std::vector<float> sent_call, sent_answer;
  std::mt19937 random{1};
  std::normal_distribution<float> normal;
};

TEST(V8QuickConnect, TheOctetsOfBothComeAndEndV8) {
  for (const size_t delay : {1u, 80u, 1200u, 4800u}) {
    for (const float noise : {1.f, 90.f}) {
      Call c(true, true);
      c.delay = delay;
      c.noise_rms = noise;
      c.run(20, [&] { return c.ended(); });
      ASSERT_EQ(c.call.state(), State::kShortPhase1) << delay;
      ASSERT_EQ(c.answer.state(), State::kShortPhase1);
      EXPECT_EQ(c.call.result().quick[0], kQca);
      EXPECT_EQ(c.answer.result().quick[0], kQc);
    }
  }
}

// Tables 2 and 4: ten ones, the synchronization octet and the other octet, repeated once; after QCA ten more ones. QC
// is "followed immediately by CM".
TEST(V8QuickConnect, QcAndQcaAreAsTheTablesHaveThem) {
  Call c(true, true);
  c.run(20, [&] { return c.ended(); });
  for (const bool by_call : {true, false}) {
    FskReceiver receiver(by_call ? Channel::kLow : Channel::kHigh);
    std::vector<Octet> octets;
    Octet octet;
    for (const float x : by_call ? c.sent_call : c.sent_answer)
      if (receiver.put(x, &octet)) octets.push_back(octet);
    while (!octets.empty() && octets.front().value != kSync) octets.erase(octets.begin());  // ANSam, and the onset
    ASSERT_GE(octets.size(), 4u);
    for (size_t k = 0; k < 4; ++k) EXPECT_EQ(octets[k].value, k % 2 == 0 ? kSync : by_call ? kQc : kQca) << k;
    EXPECT_EQ(octets[1].ones_before, 0);
    EXPECT_EQ(octets[2].ones_before, 10);
    EXPECT_EQ(octets[3].ones_before, 0);
    if (!by_call) continue;
    ASSERT_GE(octets.size(), 5u);
    EXPECT_EQ(octets[4].value, kSyncCm);
    EXPECT_EQ(octets[4].ones_before, 10);
  }
}

TEST(V8QuickConnect, AnEndWithoutItIsMetByV8) {
  for (const bool call : {true, false}) {
    Call c(call, !call);
    c.run(20, [&] { return c.ended(); });
    EXPECT_EQ(c.call.state(), State::kDone);
    EXPECT_EQ(c.answer.state(), State::kDone);
    EXPECT_EQ(c.call.result().modulation, kV34);
  }
}

// V.92 9.2.1.2, 9.2.2.2: "If ANS is detected for 3 s after sending QC2a". ANSpcm is ANS, too, and lasts 2 s.
TEST(V8QuickConnect, AnsEndsV8ThreeSecondsAfterQc2) {
  for (const bool cre_first : {true, false}) {
    Config c = config(OH_PUMP_CALL, true);
    c.quick.understands_message = [](const uint8_t*, int) { return true; };
    V8 caller(c);
    v8bis::SignalGenerator cre(v8bis::Signal::kCre, -12);
    Oscillator ans(kAnswerToneHz);
    int n = 0;
    for (; n < 4000; ++n) caller.process(cre_first ? cre.next() : 0);
    const int begin = n;
    while (caller.state() == State::kRunning && n < 10 * 8000) caller.process(2000 * ans.next().re), ++n;
    EXPECT_EQ(caller.state(), State::kAnswerTone);
    EXPECT_NEAR(static_cast<double>(n - begin) / 8, cre_first ? 3000 : 420, 30);
  }
}

// The caller continues with CM, and the answerer has left V.8.
TEST(V8QuickConnect, ALostQcaLeavesTheCallerInV8) {
  Call c(true, true);
  c.run(20, [&] { return c.answer.step() == V8::Step::kQca; });
  c.mute_answer = true;
  c.run(20, [&] { return c.answer.state() != State::kRunning; });
  EXPECT_EQ(c.answer.state(), State::kShortPhase1);
  EXPECT_EQ(c.call.state(), State::kRunning);
  EXPECT_EQ(c.call.step(), V8::Step::kCm);
}

}  // namespace
}  // namespace offhook::v8
