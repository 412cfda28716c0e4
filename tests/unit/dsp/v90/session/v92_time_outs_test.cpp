// SPDX-License-Identifier: MIT
//
// Both procedures of V.92's Phases 3 and 4 with PCM upstream and of a renegotiation against each other: the analogue
// modem is given each code as its level, the digital modem what the analogue modem's transmitter makes of its symbols,
// through a codec. Every length and time limit is compared with the number in V.92 (11/2000), which is here a second
// time.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "dsp/v90/pcm/symbol_shaper.h"
#include "dsp/v90/session/analogue_v92.h"
#include "dsp/v90/session/digital_v92.h"

namespace offhook::v90 {
namespace {

constexpr oh_bit_port kOnes = {[](void*) { return 1; }, [](void*, int) {}, nullptr};
constexpr int kRoundTrip = 480;  // of both configurations, samples; the pair itself has a delay of some 3 ms
constexpr int kElapsed = 72;     // from INFO1a to Phase 3 of the digital modem
constexpr float kLevel = 2500;   // L_U at the codec
using Down = Downstream::Signal;
using Up = UpstreamSignals::Signal;

/// A signal that was sent, when it began, and its symbols so far.
template <class Signal>
struct Sent {
  Signal signal;
  int64_t at;
  int symbols;
};

class V92Pair {
 public:
  explicit V92Pair(bool without_dil = false) : a_(analogue_config(without_dil), kOnes), d_(digital_config(), kOnes) {
    shaper_.init();
  }

  void tick() {
    ++now_;
    a_.tick();
    step_up();
    step_down();
  }
  template <class Condition>
  bool until(Condition condition, double most_s = 30) {
    for (int64_t end = now_ + static_cast<int64_t>(most_s * 8000); now_ < end && !condition();) tick();
    return condition();
  }
  bool connect() {
    return until([this] { return d_.live() && a_.live(); });
  }

  AnalogueV92Procedure& analogue() { return a_; }
  DigitalV92Procedure& digital() { return d_; }
  int64_t now() const { return now_; }
  const std::vector<Sent<Down>>& down() const { return down_; }
  const std::vector<Sent<Up>>& up() const { return up_; }
  template <class Signal>
  static const Sent<Signal>* last(const std::vector<Sent<Signal>>& sent, Signal signal) {
    for (auto s = sent.rbegin(); s != sent.rend(); ++s)
      if (s->signal == signal) return &*s;
    return nullptr;
  }
  bool mute_down = false, mute_up = false;  ///< does not arrive

 private:
  static AnalogueConfig analogue_config(bool without_dil) {
    AnalogueConfig c;
    c.round_trip_samples = kRoundTrip;
    c.without_dil = without_dil;
    return c;
  }
  static DigitalConfig digital_config() {
    DigitalConfig c;
    c.round_trip_samples = kRoundTrip;
    c.elapsed = kElapsed;
    c.u_info = AnalogueConfig{}.u_info;
    return c;
  }

  template <class Signal>
  bool note(std::vector<Sent<Signal>>* sent, Signal signal) const {
    const bool begins = sent->empty() || sent->back().signal != signal;
    if (begins) sent->push_back({signal, now_, 0});
    ++sent->back().symbols;
    return begins;
  }

  void step_down() {
    const Pcm code = d_.next();
    const Down signal = d_.signal();
    if (note(&down_, signal)) {
      if (signal == Down::kSd) frame_ = 0;
      if (signal == Down::kSdBar && !mute_down) a_.put(PcmReceiver::Event::kSdBar);
    }
    const int interval = frame_;
    frame_ = (frame_ + 1) % kFrameIntervals;
    if (mute_down) return;
    if (signal == Down::kTrn1d && down_.back().symbols == 6 * 20) a_.put(PcmReceiver::Event::kTrained);
    if (a_.task() == PcmReceiver::Task::kFollow)
      a_.put(static_cast<float>(linear_of(Law::kMu, code)), interval, 1.f, false);
  }

  void step_up() {
    shaper_.advance(1);
    while (shaper_.wants_symbol()) {
      shaper_.put(a_.next_symbol());
      note(&up_, a_.signal());
      if (const double late = a_.take_delay(); late != 0) shaper_.delay(late);
    }
    const float line = mute_up ? 0 : kLevel * shaper_.sample();
    const Pcm code = pcm_of(Law::kMu, nearest_octet(Law::kMu, static_cast<int>(std::lround(line))));
    const auto heard = static_cast<float>(linear_of(Law::kMu, code));
    d_.put(heard, heard);
  }

  AnalogueV92Procedure a_;
  DigitalV92Procedure d_;
  SymbolShaper shaper_;
  int64_t now_ = 0;
  int frame_ = 0;
  std::vector<Sent<Down>> down_;
  std::vector<Sent<Up>> up_;
};

constexpr int64_t ms(int64_t t) {
  return 8 * t;
}

/// Time from `since` until the modem begins a retrain, samples; -1: never.
template <class Procedure>
int64_t until_retrain(V92Pair& pair, const Procedure& procedure, int64_t since) {
  if (!pair.until([&procedure] { return procedure.outcome() == Outcome::kRetrain; })) return -1;
  return pair.now() - since;
}
bool analogue_in(V92Pair& pair, AnalogueV92State state) {
  return pair.until([&pair, state] { return pair.analogue().state() == state; });
}
bool digital_sends(V92Pair& pair, Down signal) {
  return pair.until([&pair, signal] { return pair.digital().signal() == signal; });
}
bool analogue_sends(V92Pair& pair, Up signal) {
  return pair.until([&pair, signal] { return pair.analogue().signal() == signal; });
}

TEST(V92TimeLimits, OfPhase3AreTheText) {
  V92Pair pair;
  ASSERT_TRUE(analogue_sends(pair, Up::kTrn2u)) << static_cast<int>(pair.analogue().state());
  const std::vector<Up> order = {Up::kSilence, Up::kRu,        Up::kRuBar, Up::kTrn1u, Up::kTwoPoints,
                                 Up::kSilence, Up::kSu,        Up::kSuBar, Up::kSu,    Up::kSuBar,
                                 Up::kTrn1u,   Up::kTwoPoints, Up::kE1u,   Up::kTrn2u};
  std::vector<Up> sent;
  for (const auto& s : pair.up()) sent.push_back(s.signal);
  ASSERT_GE(sent.size(), order.size());
  sent.resize(order.size());
  EXPECT_EQ(sent, order) << "Figure 10";
  const auto& up = pair.up();
  EXPECT_GE(up[0].symbols, ms(65)) << "9.5.2.1.1";
  EXPECT_LE(up[0].symbols, ms(75));
  EXPECT_EQ(up[1].symbols, 384);
  EXPECT_EQ(up[2].symbols, 24);
  EXPECT_GE(up[3].symbols, 2040) << "9.5.2.1.2";
  EXPECT_LE(up[3].symbols, ms(4000));
  EXPECT_EQ(up[3].symbols % 12, 0) << "8.5.7";
  EXPECT_EQ(up[4].symbols % 12, 0) << "8.5.4, 9.5.2.1.3";
  EXPECT_LE(up[6].at - up[5].at, ms(5000)) << "9.5.2.1.6";
  EXPECT_EQ(up[6].symbols, 144);
  EXPECT_EQ(up[7].symbols, 24) << "9.5.2.1.7: and half a symbol";
  EXPECT_EQ(up[8].symbols % 12, 0) << "8.5.6";
  EXPECT_EQ(up[9].symbols, 24) << "9.5.2.1.8: and a fraction";
  EXPECT_GE(up[10].symbols, 2040) << "9.5.2.1.9";
  EXPECT_EQ(up[10].symbols % 12, 0);
  EXPECT_LE(up[11].at - up[9].at, ms(5000)) << "9.5.2.1.11";
  EXPECT_EQ((up[11].symbols - 24) % 12, 0) << "Table 23";
  EXPECT_EQ(up[12].symbols, 12) << "8.5.2";
  const auto at = [&pair](Down signal) { return *V92Pair::last(pair.down(), signal); };
  EXPECT_EQ(at(Down::kSd).symbols, 384) << "9.5.1.1.3";
  EXPECT_EQ(at(Down::kSdBar).symbols, 48);
  EXPECT_GE(at(Down::kTrn1d).symbols, 2040) << "9.5.1.1.4";
  EXPECT_LE(at(Down::kTrn1d).symbols, ms(4000));
  EXPECT_EQ(at(Down::kJdPrime).symbols, 12) << "8.6.4";
}

TEST(V92TimeLimits, OfPhase4AreTheText) {
  for (const bool without_dil : {false, true}) {
    V92Pair pair(without_dil);
    ASSERT_TRUE(pair.connect()) << without_dil;
    const auto down = [&pair](Down signal) { return *V92Pair::last(pair.down(), signal); };
    const auto up = [&pair](Up signal) { return *V92Pair::last(pair.up(), signal); };
    EXPECT_EQ(down(Down::kR).symbols % 6, 0);
    EXPECT_EQ(down(Down::kRBar).symbols, 24);
    EXPECT_GE(down(Down::kTrn2d).symbols, 2040) << "9.6.1.1.1";
    EXPECT_EQ(down(Down::kTrn2d).symbols % 6, 0);
    EXPECT_EQ(down(Down::kEd).symbols, 2 * 6) << "8.8.2";
    EXPECT_EQ(down(Down::kB1d).symbols, 48 * 6) << "8.8.1";
    EXPECT_EQ(up(Up::kTrn2u).symbols % 12, 0) << "8.7.6";
    EXPECT_LE(up(Up::kTrn2u).symbols, 12000) << "9.6.2.1.1";
    EXPECT_EQ(up(Up::kSequence).symbols % 12, 0) << "Tables 23, 27";
    EXPECT_EQ(up(Up::kE2u).symbols, 12) << "8.7.2";
    EXPECT_EQ(up(Up::kB1u).symbols, 48 * 12) << "8.7.1";
  }
}

TEST(V92TimeLimits, OfARenegotiationAreTheText) {
  for (const bool digital_begins : {false, true}) {
    V92Pair pair;
    ASSERT_TRUE(pair.connect());
    if (digital_begins) {
      pair.digital().renegotiate();
    } else {
      pair.analogue().renegotiate();
    }
    ASSERT_TRUE(analogue_sends(pair, Up::kRu));
    ASSERT_TRUE(analogue_sends(pair, Up::kTrn2u));
    EXPECT_EQ(V92Pair::last(pair.up(), Up::kRu)->symbols, 384) << "9.8.2.1.1, 9.8.2.2.2";
    EXPECT_EQ(V92Pair::last(pair.up(), Up::kRuBar)->symbols, 24);
    EXPECT_EQ(V92Pair::last(pair.up(), Up::kData)->symbols % 12, 0) << "9.8: a boundary of a data frame";
    ASSERT_TRUE(pair.connect());
    EXPECT_EQ(V92Pair::last(pair.down(), Down::kR)->symbols, 384) << "9.8.1.1.1, 9.8.1.2.2";
    EXPECT_EQ(V92Pair::last(pair.down(), Down::kRBar)->symbols, 24);
    EXPECT_LE(V92Pair::last(pair.down(), Down::kTrn2d)->symbols, 16008) << "9.8.1.1.2";
    EXPECT_LE(V92Pair::last(pair.up(), Up::kTrn2u)->symbols, 16008) << "9.8.2.1.2";
    EXPECT_GE(V92Pair::last(pair.up(), Up::kTrn2u)->symbols, 12);
  }
}

// 8.7.3: CPus, because the points stay. It is understood, and data follow.
TEST(V92Renegotiation, OfTheSamePointsHasTheShortCp) {
  for (const bool digital_begins : {false, true}) {
    V92Pair pair;
    ASSERT_TRUE(pair.connect());
    const Cp cp = pair.digital().cp();
    const auto takes = [&pair](DigitalV92Event event) {
      const auto rows = DigitalV92Procedure::transitions().rows;
      for (size_t k = 0; k < rows.size(); ++k)
        if (rows[k].event == event && (pair.digital().taken() >> k & 1) != 0) return true;
      return false;
    };
    EXPECT_FALSE(takes(DigitalV92Event::kFarShortCp)) << "not in a start-up";
    if (digital_begins) {
      pair.digital().renegotiate();
    } else {
      pair.analogue().renegotiate();
    }
    ASSERT_TRUE(pair.until([&pair] { return !pair.digital().live(); }));
    ASSERT_TRUE(pair.connect());
    EXPECT_TRUE(takes(DigitalV92Event::kFarShortCp));
    Cp now = pair.digital().cp();
    now.acknowledge = cp.acknowledge;
    EXPECT_EQ(now, cp);
  }
}

// 9.5.1.2.1: 4500 ms and a round trip after INFO1a, which had come before Phase 3 began.
TEST(V92TimeLimits, TheDigitalModemWaitsForJaFor4500msAndARoundTrip) {
  V92Pair pair;
  pair.mute_up = true;
  EXPECT_EQ(until_retrain(pair, pair.digital(), -kElapsed), ms(4500) + kRoundTrip);
}

// 9.5.1.2.2: 5100 ms and a round trip from the start of TRN1d.
TEST(V92TimeLimits, TheDigitalModemWaitsForSuFor5100msAndARoundTrip) {
  V92Pair pair;
  ASSERT_TRUE(digital_sends(pair, Down::kTrn1d));
  const int64_t began = pair.now();
  pair.mute_down = pair.mute_up = true;
  EXPECT_NEAR(static_cast<double>(until_retrain(pair, pair.digital(), began)), ms(5100) + kRoundTrip, 1);
}

// 9.6.1.2.1: 20 s and six round trips after INFO1a.
TEST(V92TimeLimits, TheDigitalModemWaitsForB1uFor20sAndSixRoundTrips) {
  V92Pair pair;
  ASSERT_TRUE(digital_sends(pair, Down::kTrn2d));
  pair.mute_up = true;
  EXPECT_EQ(until_retrain(pair, pair.digital(), -kElapsed), ms(20'000) + 6 * kRoundTrip);
}

// 9.5.2.2.1 has 1500 ms from the start of Ja; ours adds the round trip, without which it would be none for long lines.
TEST(V92TimeLimits, TheAnalogueModemWaitsForSdFor1500msAndARoundTrip) {
  V92Pair pair;
  pair.mute_up = true;
  ASSERT_TRUE(analogue_sends(pair, Up::kTwoPoints));
  EXPECT_NEAR(static_cast<double>(until_retrain(pair, pair.analogue(), pair.now())), ms(1500) + kRoundTrip, 2);
}

// 9.5.2.2.2: 4500 ms from the end of Ja, which ends with a data frame.
TEST(V92TimeLimits, TheAnalogueModemWaitsForJdFor4500ms) {
  V92Pair pair;
  ASSERT_TRUE(analogue_in(pair, AnalogueV92State::kEqualise));
  const int64_t ja_ended = pair.now();
  pair.mute_down = true;
  EXPECT_NEAR(static_cast<double>(until_retrain(pair, pair.analogue(), ja_ended)), ms(4500), 12);
}

// 9.5.2.1.11: 5000 ms from the Su-bar that ends Su to CPt.
TEST(V92TimeLimits, TheAnalogueModemLearnsTheDilIn5000ms) {
  V92Pair pair;
  ASSERT_TRUE(analogue_in(pair, AnalogueV92State::kEndSu));
  const int64_t began = pair.now();
  pair.mute_down = true;
  EXPECT_NEAR(static_cast<double>(until_retrain(pair, pair.analogue(), began)), ms(5000), 12);
}

// 9.6.2.2.1: 20 s and six round trips after INFO1a was sent.
TEST(V92TimeLimits, TheAnalogueModemWaitsForB1dFor20sAndSixRoundTrips) {
  V92Pair pair;
  ASSERT_TRUE(analogue_in(pair, AnalogueV92State::kCpt));
  pair.mute_down = true;
  EXPECT_EQ(until_retrain(pair, pair.analogue(), 0), ms(20'000) + 6 * kRoundTrip);
}

}  // namespace
}  // namespace offhook::v90
