// SPDX-License-Identifier: MIT
//
// Short Phase 1 of V.92 (11/2000) 9.2 after QC and QCA: both modems over a line, either of them calling, and each alone
// against a far end that falls silent or goes back to ANSam.
#include "dsp/v90/session/short_phase1.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <random>
#include <vector>

#include "dsp/blocks/level.h"
#include "dsp/v8/fsk.h"

namespace offhook::v90 {
namespace {

using State = ShortPhase1::State;
using Outcome = ShortPhase1::Outcome;

ShortPhase1Config config(bool digital, bool calls, Law law = Law::kMu, bool knows_ansam = true) {
  return {digital, calls, law, 78, -120, -12, knows_ansam};
}

/// Between the two: 6 dB, a delay, a little noise, each one's echo.
struct Pair {
  explicit Pair(bool analogue_calls, Law of = Law::kMu, bool knows_ansam = true)
      : analogue(config(false, analogue_calls, Law::kMu, knows_ansam)),
        digital(config(true, !analogue_calls, of)),
        law(of) {}
  void run(
      double seconds, const std::function<bool()>& done = [] { return false; }) {
    for (const auto end = now() + static_cast<size_t>(seconds * 8000); now() < end && !done();) {
      const size_t n = now();
      const auto heard = [&](const std::vector<float>& far, const std::vector<float>& own, bool muted) {
        const float there = n > delay && !muted ? 0.5f * far[n - delay] : 0;
        return there + (n > 8 ? 0.1f * own[n - 8] : 0) + noise(random);
      };
      const float a = heard(sent_digital, sent_analogue, mute_digital);
      const float d = heard(sent_analogue, sent_digital, mute_analogue);
      sent_analogue.push_back(analogue.process(a));
      codes.push_back(digital.process_digital(d));
      sent_digital.push_back(static_cast<float>(linear_of(law, codes.back())));
    }
  }
  size_t now() const { return codes.size(); }
  bool ended() const { return analogue.state() == State::kEnded && digital.state() == State::kEnded; }
  uint64_t taken() const { return analogue.taken() | digital.taken(); }

  ShortPhase1 analogue, digital;
  Law law;
  size_t delay = 80;
  bool mute_digital = false, mute_analogue = false;
  std::vector<float> sent_analogue, sent_digital;
  std::vector<Pcm> codes;
  std::mt19937 random{1};
  std::normal_distribution<float> noise{0, 5};
};

TEST(ShortPhase1, EndsAtPhase2OverAnyDelayWhoeverCalls) {
  for (const bool analogue_calls : {true, false}) {
    for (const size_t delay : {1u, 80u, 2400u, 4800u}) {
      for (const Law law : {Law::kMu, Law::kA}) {
        Pair p(analogue_calls, law);
        p.delay = delay;
        p.run(5, [&] { return p.ended(); });
        EXPECT_EQ(p.analogue.outcome(), Outcome::kPhase2) << delay;
        EXPECT_EQ(p.digital.outcome(), Outcome::kPhase2);
        EXPECT_TRUE(p.analogue.heard_qts());
      }
    }
  }
}

// Figure 3: 75 +- 5 ms, 768T, 48T, ANSpcm, and 75 +- 5 ms after it; QTS begins a data frame.
TEST(ShortPhase1, TheDigitalModemSendsWhatFigure3Has) {
  Pair p(true);
  p.run(5, [&] { return p.digital.state() == State::kEnded; });
  const Pcm silent{0, true};
  size_t n = 0;
  while (p.codes[n] == silent) ++n;
  EXPECT_NEAR(static_cast<double>(n) / 8, 75, 5);
  for (int k = 0; k < kQtsSymbols + kQtsBarSymbols; ++k)
    ASSERT_EQ(p.codes[n + static_cast<size_t>(k)], qts_symbol(k, 78));
  const size_t anspcm = n + kQtsSymbols + kQtsBarSymbols;
  EXPECT_EQ(p.digital.since_qts(), p.now() - n);
  size_t last = p.now() - 1;
  while (p.codes[last] == silent) --last;
  for (size_t k = anspcm; k <= last; ++k)
    ASSERT_EQ(p.codes[k], anspcm_symbol(Law::kMu, -120, static_cast<uint32_t>(k - anspcm))) << k - anspcm;
  EXPECT_NEAR(static_cast<double>(p.now() - last) / 8, 75, 5);
}

// 9.2.1.3: TONEq for at least 50 ms, until ANSpcm has ended, and 75 +- 5 ms of silence.
TEST(ShortPhase1, TheAnalogueModemAnswersAnspcmWithToneq) {
  Pair p(true);
  p.run(5, [&] { return p.analogue.state() == State::kTone; });
  const size_t began = p.now();
  EXPECT_LT(static_cast<double>(began) / 8000, 0.075 + 816. / 8000 + 1) << "at most 1 s: Figure 3";
  p.run(5, [&] { return p.analogue.state() == State::kSilence; });
  const size_t ended = p.now();
  EXPECT_GE(ended - began, 50u * 8);
  ToneDetector tone(kToneQHz);
  double power = 0;
  for (size_t n = began; n < ended; ++n) {
    tone.put(p.sent_analogue[n]);
    power += std::pow(p.sent_analogue[n], 2) / static_cast<double>(ended - began);
  }
  EXPECT_NEAR(tone.frequency_offset_hz(), 0, 0.5);
  EXPECT_NEAR(mean_square_to_dbm0(power), -12, 0.1);
  p.run(1, [&] { return p.analogue.state() == State::kEnded; });
  EXPECT_NEAR(static_cast<double>(p.now() - ended) / 8, 75, 5);
}

// 9.2.1.3, 9.2.3.3: without ANSam before, "when ANSpcm has been detected for 1 s".
TEST(ShortPhase1, AfterV8bisToneqFollowsASecondOfAnspcm) {
  for (const bool analogue_calls : {true, false}) {
    for (const size_t delay : {1u, 80u, 2400u}) {
      Pair p(analogue_calls, Law::kMu, false);
      p.delay = delay;
      p.run(5, [&] { return p.analogue.state() == State::kTone; });
      const double anspcm_s = 0.075 + static_cast<double>(kQtsSymbols + kQtsBarSymbols + delay) / 8000;
      EXPECT_NEAR(static_cast<double>(p.now()) / 8000 - anspcm_s, 1, 0.05);
      p.run(5, [&] { return p.ended(); });
      EXPECT_EQ(p.analogue.outcome(), Outcome::kPhase2);
      EXPECT_EQ(p.digital.outcome(), Outcome::kPhase2);
    }
  }
}

TEST(ShortPhase1, WhatIsNotAnsweredEndsInV8) {
  // The digital modem hears no TONEq: 2 s after QCA1d the one that answers sends ANSam, 9.2.4.3.
  for (const bool analogue_calls : {true, false}) {
    Pair p(analogue_calls);
    p.mute_analogue = true;
    p.run(5, [&] { return p.digital.state() == State::kEnded; });
    EXPECT_EQ(p.digital.outcome(), analogue_calls ? Outcome::kAnswer : Outcome::kCall);
    EXPECT_NEAR(static_cast<double>(p.now()) / 8000, analogue_calls ? 2 : 4, 0.01);
  }
  // The analogue modem hears no ANSpcm: 2 s after QCA1a it sends ANSam, 9.2.3.3. As a caller it waits.
  for (const bool analogue_calls : {true, false}) {
    Pair p(analogue_calls);
    p.mute_digital = true;
    p.run(5, [&] { return p.analogue.state() == State::kEnded; });
    EXPECT_EQ(p.analogue.outcome(), analogue_calls ? Outcome::kNone : Outcome::kAnswer);
    EXPECT_NEAR(static_cast<double>(p.now()) / 8000, analogue_calls ? 5 : 2, 0.01);
  }
}

// Until QCA has come to it, a caller goes on with CM, whose preamble is the tone of TONEq for 37 ms.
TEST(ShortPhase1, TheOnesOfACmAreNoToneq) {
  ShortPhase1 digital(config(true, false));
  v8::FskModulator cm(v8::Channel::kLow, -12);
  int bit = 0;
  for (int n = 0; n < 15'000; ++n) {
    const auto next = [&bit] { return bit++ % 16 < 14 ? 1 : 0; };
    digital.process_digital(0.5f * cm.next(next));
  }
  EXPECT_EQ(digital.state(), State::kAnspcm);
}

TEST(ShortPhase1, AnsamSendsACallerBackToV8) {
  ShortPhase1 caller(config(false, true));
  v8::AnsamGenerator ansam(-12, true);
  for (int n = 0; n < 8000 && caller.state() != State::kEnded; ++n) caller.process(0.5f * ansam.next());
  EXPECT_EQ(caller.outcome(), Outcome::kCall);
}

TEST(ShortPhase1, NoRowOfTheTableIsUntested) {
  uint64_t taken = 0;
  for (const bool analogue_calls : {true, false}) {
    for (const int lost : {0, 1, 2, 3}) {
      Pair p(analogue_calls);
      p.mute_analogue = (lost & 1) != 0;
      p.mute_digital = (lost & 2) != 0;
      p.run(6, [&] { return p.ended(); });
      taken |= p.taken();
    }
    // ANSpcm without end, or for less than a second.
    for (const bool knows : {true, false}) {
      for (const uint32_t lasts : {8u * 8000u, 6400u}) {
        ShortPhase1 analogue(config(false, analogue_calls, Law::kMu, knows));
        for (uint32_t n = 0; n < 8 * 8000; ++n) {
          const float x = static_cast<float>(linear_of(Law::kMu, anspcm_symbol(Law::kMu, -120, n)));
          analogue.process(n < lasts ? 0.5f * x : 0);
        }
        const bool was_answered = knows && lasts == 6400;
        EXPECT_EQ(analogue.outcome(), was_answered     ? Outcome::kPhase2
                                      : analogue_calls ? Outcome::kCall
                                                       : Outcome::kAnswer);
        taken |= analogue.taken();
      }
    }
  }
  ShortPhase1 caller(config(false, true));
  v8::AnsamGenerator ansam(-12, true);
  for (int n = 0; n < 8000; ++n) caller.process(0.5f * ansam.next());
  taken |= caller.taken();
  const auto rows = ShortPhase1::transitions().rows;
  for (size_t k = 0; k < rows.size(); ++k) EXPECT_TRUE(taken >> k & 1) << k << " " << rows[k].clause;
}

}  // namespace
}  // namespace offhook::v90
