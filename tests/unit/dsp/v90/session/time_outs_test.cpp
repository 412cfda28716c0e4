// SPDX-License-Identifier: MIT
//
// Both procedures of V.90's Phases 3 and 4 and of a renegotiation against each other, without a line: the analogue
// modem is given each code as its level, the digital modem each sequence as its bits. Every length and time limit is
// compared with the number in V.90 (09/98), which stands here a second time.
#include <gtest/gtest.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "dsp/blocks/level.h"
#include "dsp/v90/pcm/downstream.h"
#include "dsp/v90/session/analogue.h"
#include "dsp/v90/session/digital.h"

namespace offhook::v90 {
namespace {

constexpr oh_bit_port kOnes = {[](void*) { return 1; }, [](void*, int) {}, nullptr};
constexpr int kRoundTrip = 480;  // of both configurations, samples; the pair itself has no delay
constexpr int kElapsed = 72;     // from INFO1a to Phase 3 of the digital modem
using Bits = std::vector<uint8_t>;
using Down = Downstream::Signal;
using Up = v34::Signal;

template <class T>
Bits bits_of(const T& sequence) {
  Bits bits(4096);
  bits.resize(static_cast<size_t>(encode(sequence, bits.data())));
  return bits;
}

/// A signal that was sent, when it began, and its symbols so far.
template <class Signal>
struct Sent {
  Signal signal;
  int64_t at;
  int symbols;
};

class Pair {
 public:
  explicit Pair(v34::SymbolRate rate = v34::SymbolRate::k3200) : rate_(rate) {}
  /// The digital modem wants these times of TRN1d and TRN2d beyond the least.
  static Pair with(uint32_t trn1d_ms, uint32_t trn2d_ms) {
    Pair pair;
    DigitalConfig c = digital_config(pair.rate_);
    c.trn1d_ms = trn1d_ms;
    c.trn2d_ms = trn2d_ms;
    pair.d_ = DigitalProcedure(c, kOnes);
    return pair;
  }

  /// Both modems take the round trip for this, samples.
  static Pair over(uint32_t round_trip) {
    Pair pair;
    DigitalConfig c = digital_config(pair.rate_);
    c.round_trip_samples = round_trip;
    pair.d_ = DigitalProcedure(c, kOnes);
    return pair;
  }

  void tick() {
    ++now_;
    d_.tick();
    a_.tick();
    step_down();
    for (due_ += v34::symbol_rate_hz(rate_) / 8000; due_ >= 1; due_ -= 1) step_up();
  }
  template <class Condition>
  bool until(Condition condition, double most_s = 30) {
    for (int64_t end = now_ + static_cast<int64_t>(most_s * 8000); now_ < end && !condition();) tick();
    return condition();
  }
  bool connect() {
    return until([this] { return d_.live() && a_.live(); });
  }

  AnalogueProcedure& analogue() { return a_; }
  DigitalProcedure& digital() { return d_; }
  int64_t now() const { return now_; }
  const std::vector<Sent<Down>>& down() const { return down_; }
  const std::vector<Sent<Up>>& up() const { return up_; }
  template <class Signal>
  static const Sent<Signal>* last(const std::vector<Sent<Signal>>& sent, Signal signal) {
    for (auto s = sent.rbegin(); s != sent.rend(); ++s)
      if (s->signal == signal) return &*s;
    return nullptr;
  }

  // What does not arrive.
  bool mute_down = false;  ///< levels
  bool mute_up = false;    ///< S and sequences
  bool mute_e = false;     ///< E alone

 private:
  static AnalogueConfig analogue_config(v34::SymbolRate rate) {
    AnalogueConfig c;
    c.symbol_rate = rate;
    c.round_trip_samples = kRoundTrip;
    return c;
  }
  static DigitalConfig digital_config(v34::SymbolRate rate) {
    DigitalConfig c;
    c.symbol_rate = rate;
    c.round_trip_samples = kRoundTrip;
    c.elapsed = kElapsed;
    c.u_info = AnalogueConfig{}.u_info;
    return c;
  }

  void step_down() {
    const Pcm code = d_.next();
    const Down signal = d_.signal();
    if (down_.empty() || down_.back().signal != signal) {
      down_.push_back({signal, now_, 0});
      if (signal == Down::kSd) frame_ = 0;
      if (signal == Down::kSdBar && !mute_down) a_.put(PcmReceiver::Event::kSdBar);
    }
    ++down_.back().symbols;
    const int interval = frame_;
    frame_ = (frame_ + 1) % kFrameIntervals;
    if (mute_down) return;
    if (signal == Down::kTrn1d && down_.back().symbols == 6 * 20) a_.put(PcmReceiver::Event::kTrained);
    if (a_.task() == PcmReceiver::Task::kFollow)
      a_.put(static_cast<float>(linear_of(Law::kMu, code)), interval, 1.f, false);
  }

  void step_up() {
    const Complex symbol = a_.next_symbol();
    const Up signal = a_.signal();
    const bool begins = up_.empty() || up_.back().signal != signal;
    if (begins) up_.push_back({signal, now_, 0});
    ++up_.back().symbols;
    if (mute_up) return;
    if (begins && signal == Up::kS) hear(qam::Receiver::Event::kS);
    if (begins && signal == Up::kSBar) hear(qam::Receiver::Event::kSBar);
    constexpr int kOften = 320;
    if (signal == Up::kSequence && up_.back().symbols % kOften == 1) hear(sequence());
    if (begins && signal == Up::kE) {
      e_symbols_ = 20 / v34::training_bits(d_.order().points);
      if (!mute_e) hear(Bits(20, 1));
    }
    if (signal == Up::kE && up_.back().symbols > e_symbols_) hear(symbol);
  }
  /// A symbol of B1 and data.
  void hear(Complex symbol) {
    const v34::ReceiverOrder& order = d_.order();
    if (order.listen != v34::ReceiverOrder::Listen::kData) return;
    if (order.version != version_) data_ = v34::DataReceiver(order.data);
    version_ = order.version;
    data_.decide(square_root(order.grid_energy) * symbol);
    data_.put({kOnes, {}}, order.deliver);
    v34::Heard h;
    h.symbol = true;
    h.data = &data_;
    h.power = 1;
    d_.put(h, nullptr);
  }
  Bits sequence() const {
    using State = AnalogueProcedure::State;
    if (a_.state() == State::kSendJa) return bits_of(usual_dil(AnalogueConfig{}.u_info));
    return bits_of(a_.state() == State::kCpt ? a_.cpt() : a_.cp());
  }
  void hear(qam::Receiver::Event event) {
    v34::Heard h;
    h.event = event;
    h.s_bar_age = 16;
    d_.put(h, nullptr);
  }
  void hear(const Bits& bits) {
    if (d_.order().listen != v34::ReceiverOrder::Listen::kTraining) return;
    const auto n = static_cast<size_t>(v34::training_bits(d_.order().points));
    v34::Heard h;
    h.symbol = true;
    h.training.error = 1e-4f;
    for (size_t k = 0; k < bits.size(); k += n) {
      uint8_t symbol[8]{};
      for (size_t i = 0; i < n && k + i < bits.size(); ++i) symbol[i] = bits[k + i];
      d_.put(h, symbol);
    }
  }

  v34::SymbolRate rate_;
  AnalogueProcedure a_{analogue_config(rate_), kOnes};
  DigitalProcedure d_{digital_config(rate_), kOnes};
  int64_t now_ = 0;
  double due_ = 0;
  int frame_ = 0;
  int e_symbols_ = 0;
  uint32_t version_ = 0;
  v34::DataReceiver data_;
  std::vector<Sent<Down>> down_;
  std::vector<Sent<Up>> up_;
};

constexpr int64_t ms(int64_t t) {
  return 8 * t;
}

/// Time from `since` until the modem begins a retrain, samples; -1: never.
template <class Procedure>
int64_t until_retrain(Pair& pair, const Procedure& procedure, int64_t since) {
  if (!pair.until([&procedure] { return procedure.outcome() == Outcome::kRetrain; })) return -1;
  return pair.now() - since;
}

bool analogue_in(Pair& pair, AnalogueState state) {
  return pair.until([&pair, state] { return pair.analogue().state() == state; });
}
bool digital_sends(Pair& pair, Down signal) {
  return pair.until([&pair, signal] { return pair.digital().signal() == signal; });
}
bool analogue_sends(Pair& pair, Up signal) {
  return pair.until([&pair, signal] { return pair.analogue().signal() == signal; });
}

// 9.3.1.3: at most 500 ms after Ja. 9.3.2.4: an analogue modem without tolerance awaits Sd-bar for 1500 ms from the
// start of Ja, whatever the round trip is.
TEST(V90TimeLimits, SdWaitsForAFarEchoAsLongAsTheTextAllows) {
  for (const int64_t trip : {ms(0), ms(20), ms(150), ms(300), ms(500), ms(580), ms(900)}) {
    Pair pair = Pair::over(static_cast<uint32_t>(trip));
    ASSERT_TRUE(digital_sends(pair, Down::kTrn1d));
    const int64_t ja_at = Pair::last(pair.up(), Up::kSequence)->at;  // which the pair gives at once
    const int64_t wait = Pair::last(pair.down(), Down::kSd)->at - ja_at;
    const double ja = usual_dil(AnalogueConfig{}.u_info).bits() * 8000. / 6400;
    EXPECT_LE(wait, ms(500)) << trip;
    const double s_bar = static_cast<double>(pair.now() - ja_at + trip) + ja;
    EXPECT_LE(s_bar, static_cast<double>(ms(1500)) + 1) << trip;
    if (static_cast<double>(trip) <= ja) {
      EXPECT_LE(wait, 6) << trip;
    } else if (static_cast<double>(2 * trip) + ja + 432 < static_cast<double>(ms(1500))) {
      EXPECT_GE(wait, std::min(trip, ms(500)) - 6) << trip;
    }
  }
}

TEST(V90TimeLimits, OfAStartUpAreTheText) {
  for (const v34::SymbolRate rate : {v34::SymbolRate::k3000, v34::SymbolRate::k3200, v34::SymbolRate::k3429}) {
    Pair pair(rate);
    ASSERT_TRUE(analogue_in(pair, AnalogueState::kFinal)) << static_cast<int>(pair.analogue().state());
    const auto at = [&pair](Down signal) { return *Pair::last(pair.down(), signal); };
    EXPECT_EQ(at(Down::kSd).symbols, 384) << "9.3.1.3";
    EXPECT_EQ(at(Down::kSdBar).symbols, 48) << "9.3.1.3";
    EXPECT_GE(at(Down::kTrn1d).symbols, 2040) << "9.3.1.4";
    EXPECT_LE(at(Down::kTrn1d).symbols, ms(4000)) << "9.3.1.4";
    EXPECT_EQ(at(Down::kJdPrime).symbols, 12) << "Figure 5";
    EXPECT_EQ(at(Down::kR).symbols % 6, 0);
    EXPECT_GE(at(Down::kR).symbols, 192) << "9.4.1.1";
    EXPECT_EQ(at(Down::kRBar).symbols, 24) << "9.4.1.2";
    ASSERT_TRUE(digital_sends(pair, Down::kMp));
    EXPECT_GE(at(Down::kTrn2d).symbols, 2040) << "9.4.1.2";
    EXPECT_LE(at(Down::kTrn2d).symbols, ms(2000)) << "9.4.1.3";
    EXPECT_EQ(at(Down::kTrn2d).symbols % 6, 0) << "8.6.5";
    ASSERT_TRUE(digital_sends(pair, Down::kB1d));
    EXPECT_EQ(at(Down::kEd).symbols, 2 * 6) << "8.6.2";
    ASSERT_TRUE(digital_sends(pair, Down::kData));
    EXPECT_EQ(at(Down::kB1d).symbols, 48 * 6) << "8.6.1";
    const auto ja =
        std::find_if(pair.up().begin(), pair.up().end(), [](const auto& sent) { return sent.signal == Up::kSequence; });
    ASSERT_GT(pair.up().end() - ja, 5);
    EXPECT_EQ(ja[1].signal, Up::kSilence);
    EXPECT_EQ(ja[2].signal, Up::kS);
    EXPECT_LE(ja[2].at - ja[1].at, ms(5000)) << "9.3.2.7";
    EXPECT_EQ(ja[3].signal, Up::kSBar);
    EXPECT_EQ(ja[3].symbols, 16) << "9.3.2.8";
    const auto* scr = Pair::last(pair.up(), Up::kScr);
    ASSERT_NE(scr, nullptr);
    EXPECT_LE(scr->symbols / v34::symbol_rate_hz(rate), 4.0) << "9.4.2.2";
  }
}

// 9.4.1.1: Ri continues until CPt is received, without a limit, and ends with a whole number of its periods.
TEST(V90TimeLimits, RiLastsUntilCptHasCome) {
  for (const int late : {0, 100, 801, 8000}) {
    Pair pair;
    ASSERT_TRUE(analogue_in(pair, AnalogueState::kEndDil));
    ASSERT_TRUE(analogue_sends(pair, Up::kSBar));
    pair.mute_up = true;  // CPt, which follows
    ASSERT_TRUE(digital_sends(pair, Down::kR));
    const int64_t began = pair.now();
    for (int k = 0; k < late; ++k) pair.tick();
    EXPECT_EQ(pair.digital().signal(), Down::kR) << late;
    pair.mute_up = false;
    ASSERT_TRUE(digital_sends(pair, Down::kTrn2d));
    const auto& r = *Pair::last(pair.down(), Down::kR);
    EXPECT_EQ(r.at, began);
    EXPECT_GE(r.symbols, late > 192 ? late : 192);
    EXPECT_EQ(r.symbols % 6, 0);
    EXPECT_EQ(Pair::last(pair.down(), Down::kRBar)->symbols, 24);
  }
}

// 9.3.1.4, 9.4.1.2: neither is shorter than 2040T, even if no more is wanted.
TEST(V90TimeLimits, Trn1dAndTrn2dHave2040TAtLeast) {
  Pair short1 = Pair::with(0, DigitalConfig{}.trn2d_ms), short2 = Pair::with(DigitalConfig{}.trn1d_ms, 0);
  ASSERT_TRUE(digital_sends(short1, Down::kJd));
  EXPECT_EQ(Pair::last(short1.down(), Down::kTrn1d)->symbols, 2040);
  ASSERT_TRUE(digital_sends(short2, Down::kMp));
  EXPECT_EQ(Pair::last(short2.down(), Down::kTrn2d)->symbols, 2040);
}

// 9.3.1.5: 5100 ms and a round trip from the start of TRN1d.
TEST(V90TimeLimits, TheDigitalModemWaitsForSFor5100msAndARoundTrip) {
  Pair pair;
  ASSERT_TRUE(digital_sends(pair, Down::kTrn1d));
  const int64_t began = pair.now();
  pair.mute_down = pair.mute_up = true;
  EXPECT_EQ(until_retrain(pair, pair.digital(), began), ms(5100) + kRoundTrip);
}

// 9.4.1: 15 s and five round trips after INFO1a, which had come before Phase 3 began.
TEST(V90TimeLimits, TheDigitalModemWaitsForB1For15sAndFiveRoundTrips) {
  Pair pair;
  ASSERT_TRUE(digital_sends(pair, Down::kTrn2d));
  pair.mute_up = true;
  EXPECT_EQ(until_retrain(pair, pair.digital(), -kElapsed), ms(15'000) + 5 * kRoundTrip);
}

// 9.6.1: 5000 ms and two round trips after the transition from Rd to its opposite, whoever began.
TEST(V90TimeLimits, TheDigitalModemWaitsForEFor5000msAndTwoRoundTrips) {
  for (const bool digital_begins : {true, false}) {
    Pair pair;
    ASSERT_TRUE(pair.connect());
    pair.mute_e = true;
    if (digital_begins) {
      pair.digital().renegotiate();
    } else {
      pair.analogue().renegotiate();
    }
    ASSERT_TRUE(digital_sends(pair, Down::kRBar)) << digital_begins;
    const int64_t turned = pair.now();
    EXPECT_EQ(Pair::last(pair.down(), Down::kR)->symbols, 384) << "9.6.1.1.1, 9.6.1.2.2";
    EXPECT_EQ(until_retrain(pair, pair.digital(), turned), ms(5000) + 2 * kRoundTrip) << digital_begins;
    EXPECT_EQ(Pair::last(pair.down(), Down::kRBar)->symbols, 24);
  }
}

// 9.3.2.4 has 1500 ms from the start of Ja; ours adds the round trip, without which it would be none for long lines.
TEST(V90TimeLimits, TheAnalogueModemWaitsForSdFor1500msAndARoundTrip) {
  Pair pair;
  pair.mute_up = true;
  ASSERT_TRUE(analogue_sends(pair, Up::kSequence));
  EXPECT_NEAR(static_cast<double>(until_retrain(pair, pair.analogue(), pair.now())), ms(1500) + kRoundTrip, 1);
}

// 9.3.2.7: 4500 ms from the end of Ja.
TEST(V90TimeLimits, TheAnalogueModemWaitsForJdFor4500ms) {
  Pair pair;
  ASSERT_TRUE(analogue_in(pair, AnalogueState::kEqualise));
  const int64_t ja_ended = pair.now();
  pair.mute_down = true;
  EXPECT_EQ(until_retrain(pair, pair.analogue(), ja_ended), ms(4500));
}

// 9.3.2.10: 5000 ms from S-bar of 9.3.2.8 to the S that ends the DIL.
TEST(V90TimeLimits, TheAnalogueModemLearnsTheDilIn5000ms) {
  Pair pair;
  ASSERT_TRUE(analogue_in(pair, AnalogueState::kDil));
  const int64_t began = pair.now();
  EXPECT_LE(pair.until([&pair] { return pair.analogue().state() != AnalogueState::kDil; }) ? pair.now() - began : -1,
            ms(5000));
  Pair deaf;
  ASSERT_TRUE(analogue_in(deaf, AnalogueState::kDil));
  const int64_t s_bar = deaf.now();
  deaf.mute_down = true;
  EXPECT_EQ(until_retrain(deaf, deaf.analogue(), s_bar), ms(5000));
}

// 9.4.2: 15 s and five round trips after INFO1a was sent.
TEST(V90TimeLimits, TheAnalogueModemWaitsForB1dFor15sAndFiveRoundTrips) {
  Pair pair;
  ASSERT_TRUE(analogue_in(pair, AnalogueState::kCpt));
  pair.mute_down = true;
  EXPECT_EQ(until_retrain(pair, pair.analogue(), 0), ms(15'000) + 5 * kRoundTrip);
}

// 9.6.2: 5000 ms and two round trips after the transition from S to S-bar. 9.6.2.2: what it answers Rd with.
TEST(V90TimeLimits, TheAnalogueModemAnswersRdAndWaitsForEdFor5000msAndTwoRoundTrips) {
  for (const bool analogue_begins : {true, false}) {
    Pair pair;
    ASSERT_TRUE(pair.connect());
    if (analogue_begins) {
      pair.analogue().renegotiate();
    } else {
      pair.digital().renegotiate();
    }
    ASSERT_TRUE(analogue_sends(pair, Up::kSBar)) << analogue_begins;
    const int64_t turned = pair.now();
    EXPECT_EQ(Pair::last(pair.up(), Up::kS)->symbols, 128) << "9.6.2.1.1, 9.6.2.2.2";
    if (!analogue_begins) {
      EXPECT_LT(turned - Pair::last(pair.down(), Down::kRBar)->at, ms(100)) << "it answers at the transition";
    }
    pair.mute_down = true;
    EXPECT_NEAR(static_cast<double>(until_retrain(pair, pair.analogue(), turned)), ms(5000) + 2 * kRoundTrip, 1)
        << analogue_begins;
    EXPECT_EQ(Pair::last(pair.up(), Up::kSBar)->symbols, 16) << "9.6.2.1.2, 9.6.2.2.3";
    const auto* scr = Pair::last(pair.up(), Up::kScr);
    if (scr != nullptr && scr->at > turned) {
      EXPECT_LE(scr->symbols, 2 * 3200) << "2000 ms: 9.6.2.1.2, 9.6.2.2.3";
    }
  }
}

// A renegotiation with a silent period, up to its silence.
void enter_silent_period(Pair& pair) {
  ASSERT_TRUE(pair.connect());
  pair.analogue().renegotiate(true);
  ASSERT_TRUE(digital_sends(pair, Down::kEd));
  ASSERT_TRUE(digital_sends(pair, Down::kSilence));
}

// 9.6.2.1: a renegotiation with a silent period. While the digital modem is silent, SCR of at most 1000 ms; then Rt of
// 384T and its opposite of 24T, and data again.
TEST(V90TimeLimits, OfASilentPeriodAreTheText) {
  Pair pair;
  ASSERT_NO_FATAL_FAILURE(enter_silent_period(pair));
  const int64_t silent_from = pair.now();
  ASSERT_TRUE(digital_sends(pair, Down::kR)) << "the silence ends";
  const auto* scr = Pair::last(pair.up(), Up::kScr);
  ASSERT_NE(scr, nullptr);
  EXPECT_GT(scr->at, silent_from - ms(5)) << "it begins when the silence does";
  EXPECT_LE(scr->symbols, 3200) << "1000 ms, 9.6.2.1.6";
  ASSERT_TRUE(pair.connect());
  EXPECT_EQ(Pair::last(pair.down(), Down::kR)->symbols, 384) << "9.6.1.2.5";
  EXPECT_EQ(Pair::last(pair.down(), Down::kRBar)->symbols, 24) << "9.6.1.2.5";
}

// 9.6.1, 9.6.2: the text has 5000 ms and two round trips for E and Ed; each of the two parts of a renegotiation with a
// silent period has as long. The time of the second counts from where the silence begins.
TEST(V90TimeLimits, ASilentPeriodEndsIn5000msAndTwoRoundTrips) {
  for (const bool digital_waits : {true, false}) {
    Pair pair;
    ASSERT_NO_FATAL_FAILURE(enter_silent_period(pair));
    const int64_t silent_from = pair.now();
    int64_t waited = -1;
    if (digital_waits) {
      pair.mute_up = true;
      waited = until_retrain(pair, pair.digital(), silent_from);
    } else {
      pair.mute_down = true;
      waited = until_retrain(pair, pair.analogue(), silent_from);
    }
    EXPECT_NEAR(static_cast<double>(waited), ms(5000) + 2 * kRoundTrip, ms(5)) << digital_waits;
  }
}

}  // namespace
}  // namespace offhook::v90
