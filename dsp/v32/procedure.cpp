// SPDX-License-Identifier: MIT
#include "dsp/v32/procedure.h"

#include "dsp/blocks/table_procedure.h"
#include "dsp/v32/modem.h"

namespace offhook::v32 {
namespace {

using qam::Receiver;

constexpr uint32_t kRateHz = 8000;
constexpr int kTurnRound = 64;      // symbols from a reversal to its answer (6.1, 6.2)
constexpr int kEndSymbols = 64;     // of the last signal of a connection (8, Note 2; 6, Note 6)
constexpr int kQuietSymbols = 240;  // before tones that start again
constexpr int kPauseSymbols = 16;   // 6.2
constexpr int kSSymbols = 256;      // 5.2.1
constexpr int kLeastR4 = 64;        // symbols of R4 and R5 (8.1, 8.2)
// AC before the first reversal. 128 symbols satisfy the Recommendation. But a third-party caller that had sent AA since
// the answer tone missed the reversal 53 ms after the tone's end, over mu-law.
constexpr int kAcSymbols = 720;
constexpr float kAaHeardMs = 64 / 2.4f;
// Then the answer tone, although V.8 is over: third-party callers wait for it. Neither end gives up before (6, Note 5).
constexpr uint64_t kAcUnanswered = 3 * kRateHz;
// 1.5 s, which the echo canceller needs; 1280 to 8192 symbols are permitted (5.2.3). The same before R3, although no
// canceller trains then: after 0.5 s, a third-party caller's receiver lost data within seconds.
constexpr int kTrnSymbols = 3600;

// V.25.
constexpr float kAnsHeardMs = 1000;
constexpr uint64_t kAfterAns = kRateHz * 75 / 1000;

constexpr StepInfo kSteps[] = {
    {"V.8", {}, Hears::kV8, Limit::kNone, OH_PUMP_CONNECTING},
    {"ANS", {}, Hears::kAnswerTone, Limit::kNone, OH_PUMP_CONNECTING},
    {"after ANS", {}, Hears::kAnswerTone, Limit::kNone, OH_PUMP_CONNECTING},
    {"quiet", Signal::kSilence, Hears::kTones, Limit::kNone, OH_PUMP_TRAINING},
    {"AA", Signal::kAa, Hears::kTones, Limit::kNone, OH_PUMP_TRAINING},
    {"AA turns", {}, Hears::kTones, Limit::kNone, OH_PUMP_TRAINING},
    {"CC", Signal::kCc, Hears::kTones, Limit::kShort, OH_PUMP_TRAINING},
    {"AC after V.8", Signal::kAc, Hears::kTones, Limit::kNone, OH_PUMP_TRAINING},
    {"AC", Signal::kAc, Hears::kTones, Limit::kNone, OH_PUMP_TRAINING},
    {"CA", Signal::kCa, Hears::kTones, Limit::kShort, OH_PUMP_TRAINING},
    {"CA turns", {}, Hears::kTones, Limit::kNone, OH_PUMP_TRAINING},
    {"AC again", Signal::kAc, Hears::kTones, Limit::kShort, OH_PUMP_TRAINING},
    {"wait for S", Signal::kSilence, Hears::kTraining, Limit::kShortForS, OH_PUMP_TRAINING},
    {"S2", Signal::kS, Hears::kLine, Limit::kNone, OH_PUMP_TRAINING},
    {"S-bar2", Signal::kSBar, Hears::kLine, Limit::kNone, OH_PUMP_TRAINING},
    {"TRN2", Signal::kTrn, Hears::kOwnEcho, Limit::kNone, OH_PUMP_TRAINING},
    {"R2", Signal::kRate, Hears::kTraining, Limit::kLong, OH_PUMP_TRAINING},
    {"pause", Signal::kSilence, Hears::kLine, Limit::kNone, OH_PUMP_TRAINING},
    {"S1", Signal::kS, Hears::kLine, Limit::kNone, OH_PUMP_TRAINING},
    {"S-bar1", Signal::kSBar, Hears::kLine, Limit::kNone, OH_PUMP_TRAINING},
    {"TRN1", Signal::kTrn, Hears::kOwnEcho, Limit::kNone, OH_PUMP_TRAINING},
    {"R1", Signal::kRate, Hears::kTraining, Limit::kLong, OH_PUMP_TRAINING},
    {"hear S", Signal::kSilence, Hears::kTraining, Limit::kLong, OH_PUMP_TRAINING},
    {"wait for R2", {}, Hears::kTraining, Limit::kLong, OH_PUMP_TRAINING},
    {"S3", Signal::kS, Hears::kLine, Limit::kNone, OH_PUMP_TRAINING},
    {"S-bar3", Signal::kSBar, Hears::kLine, Limit::kNone, OH_PUMP_TRAINING},
    {"TRN3", Signal::kTrn, Hears::kLine, Limit::kNone, OH_PUMP_TRAINING},
    {"R3", Signal::kRate, Hears::kTraining, Limit::kLong, OH_PUMP_TRAINING},
    {"R3 without rate", Signal::kRate, Hears::kLine, Limit::kNone, OH_PUMP_TRAINING},
    {"E", {}, Hears::kDataOrRetrain, Limit::kShort, OH_PUMP_TRAINING},
    {"data", {}, Hears::kDataOrRetrain, Limit::kNone, OH_PUMP_DATA},
    {"wait for R4", {}, Hears::kDataOrRetrain, Limit::kShort, OH_PUMP_TRAINING},
    {"R4", Signal::kPreamble, Hears::kDataOrRetrain, Limit::kShort, OH_PUMP_TRAINING},
    {"R5", Signal::kPreamble, Hears::kDataOrRetrain, Limit::kNone, OH_PUMP_TRAINING},
    {"E again", {}, Hears::kDataOrRetrain, Limit::kShort, OH_PUMP_TRAINING},
    {"R4 without rates", Signal::kPreamble, Hears::kDataOrRetrain, Limit::kShort, OH_PUMP_TRAINING},
    {"R5 known, without rates", {}, Hears::kLine, Limit::kNone, OH_PUMP_TRAINING},
    {"E without rate", {}, Hears::kLine, Limit::kNone, OH_PUMP_TRAINING},
    {"E without rate, requested", {}, Hears::kLine, Limit::kNone, OH_PUMP_TRAINING},
    {"released", {}, Hears::kNothing, Limit::kNone, OH_PUMP_IDLE},
    {"failed", {}, Hears::kNothing, Limit::kNone, OH_PUMP_FAILED},
    {"nothing in common", {}, Hears::kNothing, Limit::kNone, OH_PUMP_FAILED},
};
static_assert(sizeof kSteps / sizeof kSteps[0] == static_cast<size_t>(Step::kSteps));

}  // namespace

const StepInfo& info(Step s) {
  return kSteps[static_cast<size_t>(s)];
}

/// Guards, actions and the table of transitions, which are private to Modem.
struct Procedure {
  // Guards.
  static bool caller(const Modem& m) { return m.calls_; }
  static bool ans_heard(const Modem& m) { return m.calls_ && m.answer_tone_.detector().steady_ms() >= kAnsHeardMs; }
  static bool ans_sent(const Modem& m) { return !m.calls_ && m.age() >= kSilenceBeforeAns + kAns; }
  static bool silence_sent(const Modem& m) { return m.age() >= kAfterAns; }
  static bool quiet_sent(const Modem& m) { return m.tx_.count() >= kQuietSymbols; }
  static bool aa_heard(const Modem& m) {
    return m.tx_.count() >= kAcSymbols && even(m) && m.tone_.steady_ms() >= kAaHeardMs;
  }
  static bool unanswered(const Modem& m) { return m.age() > kAcUnanswered && m.tone_.steady_ms() <= 0; }
  static bool cc_due(const Modem& m) { return m.now() >= m.turn_at_ - 0.5 * kSymbol; }
  static bool ac_due(const Modem& m) { return even(m) && m.now() >= m.turn_at_ - kSymbol; }
  static bool cc_over(const Modem& m) { return m.tone_.steady_ms() <= 0; }
  static bool pause_sent(const Modem& m) { return m.tx_.count() >= kPauseSymbols; }
  static bool s_sent(const Modem& m) { return m.tx_.count() >= kSSymbols && even(m); }
  static bool long_s_sent(const Modem& m) {
    return m.tx_.count() >= static_cast<int>(m.round_trip_ / kSymbol) + kTurnRound + kSSymbols && even(m);
  }
  static bool s_bar_sent(const Modem& m) { return m.tx_.count() >= Receiver::kSBarSymbols; }
  static bool trn_sent(const Modem& m) { return m.tx_.count() >= kTrnSymbols; }
  static bool trn_sent_no_rate(const Modem& m) { return trn_sent(m) && highest(m.common(m.possible_rates())) < 0; }
  static bool s_heard(const Modem& m) { return m.heard_ >= Modem::Heard::kS; }
  static bool far_s_over(const Modem& m) {
    return m.age() >= static_cast<uint64_t>(m.round_trip_ + kTurnRound * kSymbol);
  }
  static bool rates(const Modem& m) { return m.rates_heard(); }
  static bool rates_none_ours(const Modem& m) { return rates(m) && highest(m.common(m.own_rates_)) < 0; }
  static bool e_heard(const Modem& m) {
    return m.heard_ == Modem::Heard::kTrn && m.bits_.stage() == BitReceiver::Stage::kData;
  }
  static bool b1_sent(const Modem& m) { return m.tx_.ready() && !m.tx_.live(); }
  static bool b1_over(const Modem& m) { return m.tx_.ready() && m.bits_.live(); }
  static bool no_v32(const Modem& m) { return !m.v32(); }
  static bool r4_sent(const Modem& m) { return m.tx_.signal() == Signal::kRate && m.tx_.count() >= kLeastR4; }
  static bool r4_sent_no_rate(const Modem& m) { return r4_sent(m) && highest(m.common(m.offered_)) < 0; }
  static bool r3_end(const Modem& m) { return m.tx_.signal() == Signal::kRate && m.tx_.count() >= kEndSymbols; }
  static bool e_end(const Modem& m) { return m.tx_.signal() == Signal::kE && m.tx_.count() >= kEndSymbols; }
  static bool even(const Modem& m) { return m.tx_.count() % 2 == 0; }

  // Actions.
  static void tones(Modem& m) { m.begin_tones(); }
  template <oh_retrain_cause cause>
  static void train(Modem& m) {
    m.train_again(cause);
  }
  static void train_for_good(Modem& m) {
    m.may_renegotiate_ = false;
    m.train_again(OH_RETRAIN_TIMEOUT);
  }
  /// The change is half a symbol before the peak of the first new symbol. Times refer to the line's terminals.
  static void turn(Modem& m) {
    m.turn_at_ = m.reversal_at_ + (kTurnRound + 0.5) * kSymbol - static_cast<double>(m.modulator_.delay_samples()) -
                 static_cast<double>(m.config_.io_delay_samples);
  }
  static void turned(Modem& m) {
    m.own_reversal_ = m.now() + static_cast<double>(m.modulator_.delay_samples()) - 0.5 * kSymbol;
  }
  static void measure(Modem& m) {
    m.round_trip_ = m.reversal_at_ - m.own_reversal_ - kTurnRound * kSymbol;
    if (m.round_trip_ < 0) m.round_trip_ = 0;
  }
  static void measure_and_turn(Modem& m) {
    measure(m);
    turn(m);
  }
  static void canceller(Modem& m) {
    m.echo_.init(kBand, static_cast<int>(m.config_.io_delay_samples), static_cast<int>(m.round_trip_));
  }
  static void measure_and_listen(Modem& m) {
    measure(m);
    canceller(m);
    m.listen();
  }
  static void listen(Modem& m) { m.listen(); }
  static void hold(Modem& m) { m.receiver_.set_task(Receiver::Task::kHold); }
  static void take_r1(Modem& m) {
    take_r2(m);
    hold(m);
    m.heard_ = Modem::Heard::kS;
  }
  static void take_r2(Modem& m) { m.far_rates_ = m.bits_.rates().rates; }
  static void offer_r1(Modem& m) {
    m.tx_.set_rates(m.signal_of(m.own_rates_));
    m.listen();
  }
  static void offer_r2(Modem& m) {
    m.tx_.set_rates(m.signal_of(m.common(m.possible_rates())));
    m.listen();
  }
  static void choose_r3(Modem& m) {
    const int rate = highest(m.common(m.possible_rates()));
    m.tx_.set_rates(m.signal_of(static_cast<RateSet>(rate < 0 ? 0 : 1 << rate)));
  }
  static void end(Modem& m, int rate) { m.tx_.end_rate_signal(m.signal_of(0), rate); }
  static void end_r2(Modem& m) { end(m, highest(m.common(m.own_rates_))); }
  static void end_r3(Modem& m) { end(m, static_cast<int>(&m.bits_.rate() - kRates)); }
  static void end_r4(Modem& m) { end(m, highest(m.common(m.offered_))); }
  static void end_clear(Modem& m) { end(m, -1); }
  static void live(Modem& m) { m.tx_.set_live(); }
  static void offer_r4(Modem& m) {
    const auto rates = static_cast<RateSet>(m.possible_rates() & up_to(m.wanted_bit_rate_));
    m.offer(rates != 0 ? rates : RateSet{1});
  }
  static void offer_r5(Modem& m) { m.offer(m.possible_rates()); }
  static void offer_none(Modem& m) { m.offer(0); }

  static constexpr bool kGoesOn = true;

  static constexpr Transition kTable[] = {
      {in(Step::kV8), Event::kV8None, caller, Step::kAnswerTone, nullptr, "V.25"},
      {in(Step::kV8), Event::kV8None, nullptr, Step::kTones, tones, "6.2"},
      {in(Step::kV8), Event::kV8Other, nullptr, Step::kNothingInCommon, nullptr, "V.8"},
      {in(Step::kV8), Event::kWithoutV8, nullptr, Step::kAnswerTone, nullptr, "V.25"},
      {in(Step::kV8), Event::kFarTone, caller, Step::kTones, tones, "6, Note 1; A.2.1.1"},
      {in(Step::kV8), Event::kFarTone, nullptr, Step::kAfterAnswerTone, nullptr, "6, Note 1; A.2.2"},
      {in(Step::kAnswerTone), Event::kSample, ans_heard, Step::kTones, tones, "6.1"},
      {in(Step::kAnswerTone), Event::kSample, ans_sent, Step::kAfterAnswerTone, nullptr, "V.25"},
      {in(Step::kAnswerTone), Event::kFarTone, caller, Step::kTones, tones, "6, Note 1; A.2.1.1"},
      {in(Step::kAnswerTone), Event::kFarTone, nullptr, Step::kAfterAnswerTone, nullptr, "6, Note 1; A.2.2"},
      {in(Step::kAfterAnswerTone), Event::kSample, silence_sent, Step::kTones, tones, "6.2"},

      // The round trip.
      {in(Step::kQuiet), Event::kSymbol, quiet_sent, Step::kTones, nullptr, "7"},
      {in(Step::kAa), Event::kReversal, nullptr, Step::kAaTurns, turn, "6.1", kGoesOn},
      {in(Step::kAaTurns), Event::kSymbol, cc_due, Step::kCc, turned, "6.1"},
      {in(Step::kCc), Event::kReversal, nullptr, Step::kWaitS, measure_and_listen, "6.1"},
      {in(Step::kCc), Event::kTimeout, nullptr, Step::kQuiet, train<OH_RETRAIN_TIMEOUT>, "7"},
      {in(Step::kAcAfterV8), Event::kSymbol, aa_heard, Step::kCa, turned, "6.2"},
      {in(Step::kAcAfterV8), Event::kSymbol, unanswered, Step::kAnswerTone, nullptr, "6, Note 5"},
      {in(Step::kAc), Event::kSymbol, aa_heard, Step::kCa, turned, "6.2"},
      {in(Step::kCa), Event::kReversal, nullptr, Step::kCaTurns, measure_and_turn, "6.2", kGoesOn},
      {in(Step::kCa), Event::kTimeout, nullptr, Step::kQuiet, train<OH_RETRAIN_TIMEOUT>, "7"},
      {in(Step::kCaTurns), Event::kSymbol, ac_due, Step::kAcAgain, nullptr, "6.2"},
      {in(Step::kAcAgain), Event::kSample, cc_over, Step::kPause, canceller, "6.2"},
      {in(Step::kAcAgain), Event::kTimeout, nullptr, Step::kQuiet, train<OH_RETRAIN_TIMEOUT>, "7"},

      // The caller's training.
      {in(Step::kWaitS), Event::kReceived, rates, Step::kS2, take_r1, "6.1"},
      {in(Step::kS2), Event::kSymbol, long_s_sent, Step::kSBar2, nullptr, "6.1"},
      {in(Step::kSBar2), Event::kSymbol, s_bar_sent, Step::kTrn2, nullptr, "5.2.2"},
      {in(Step::kTrn2), Event::kSymbol, trn_sent, Step::kR2, offer_r2, "5.2.3"},
      {in(Step::kR2), Event::kReceived, rates_none_ours, Step::kEnd, nullptr, "6, Note 6"},
      {in(Step::kR2), Event::kReceived, rates, Step::kE, end_r2, "6.1"},

      // The answerer's two.
      {in(Step::kPause), Event::kSymbol, pause_sent, Step::kS1, nullptr, "6.2"},
      {in(Step::kS1), Event::kSymbol, s_sent, Step::kSBar1, nullptr, "5.2.1"},
      {in(Step::kSBar1), Event::kSymbol, s_bar_sent, Step::kTrn1, nullptr, "5.2.2"},
      {in(Step::kTrn1), Event::kSymbol, trn_sent, Step::kR1, offer_r1, "5.2.3"},
      {in(Step::kR1), Event::kReceived, s_heard, Step::kHearS, hold, "6.2"},
      {in(Step::kHearS), Event::kReceived, far_s_over, Step::kWaitR2, listen, "6.2", kGoesOn},
      {in(Step::kWaitR2), Event::kReceived, rates, Step::kS3, take_r2, "6.2"},
      {in(Step::kS3), Event::kSymbol, s_sent, Step::kSBar3, nullptr, "5.2.1"},
      {in(Step::kSBar3), Event::kSymbol, s_bar_sent, Step::kTrn3, nullptr, "5.2.2"},
      {in(Step::kTrn3), Event::kSymbol, trn_sent_no_rate, Step::kR3Clear, choose_r3, "6, Note 6"},
      {in(Step::kTrn3), Event::kSymbol, trn_sent, Step::kR3, choose_r3, "5.2.3"},
      {in(Step::kR3), Event::kReceived, e_heard, Step::kE, end_r3, "6.2"},
      {in(Step::kR3Clear), Event::kSymbol, r3_end, Step::kEnd, nullptr, "6, Note 6"},

      // Data. After a renegotiation the far end reads the signal after 24 symbols of B1 as data.
      {in(Step::kE), Event::kReceived, b1_over, Step::kData, live, "6", kGoesOn},
      {in(Step::kE), Event::kPreamble, nullptr, Step::kE, nullptr, "8.2"},
      {in(Step::kEAgain), Event::kReceived, b1_over, Step::kData, live, "8.1, 8.2", kGoesOn},
      {in(Step::kEAgain), Event::kReceived, b1_sent, Step::kEAgain, live, "8.1, 8.2", kGoesOn},
      {in(Step::kData), Event::kPreamble, nullptr, Step::kWaitR4, nullptr, "8.2"},
      {in(Step::kData), Event::kRenegotiate, no_v32, Step::kR4, offer_r4, "8.1"},
      {in(Step::kData), Event::kHangUp, no_v32, Step::kR4Clear, offer_none, "8, Note 2"},
      {in(Step::kData), Event::kRetrain, nullptr, Step::kTones, train<OH_RETRAIN_OWN>, "7"},
      {in(Step::kData), Event::kLost, nullptr, Step::kTones, train<OH_RETRAIN_LOST>, "7"},

      // Renegotiation, and the end of the connection by a renegotiation.
      {in(Step::kWaitR4), Event::kReceived, rates, Step::kR5, offer_r5, "8.2"},
      {in(Step::kR4), Event::kReceived, rates, Step::kR5, nullptr, "8.1", kGoesOn},
      {in(Step::kR4), Event::kTimeout, nullptr, Step::kTones, train_for_good, "8, Note 3"},
      {in(Step::kR5), Event::kSymbol, r4_sent_no_rate, Step::kEFarClear, end_clear, "8, Note 2"},
      {in(Step::kR5), Event::kSymbol, r4_sent, Step::kEAgain, end_r4, "8.1, 8.2"},
      {in(Step::kR4Clear), Event::kReceived, rates, Step::kR5Clear, nullptr, "8, Note 2", kGoesOn},
      {in(Step::kR4Clear), Event::kTimeout, nullptr, Step::kEnd, nullptr, "8, Note 3"},
      {in(Step::kR4Clear), Event::kFarRetrains, nullptr, Step::kEnd, nullptr, "7"},
      {in(Step::kR4Clear), Event::kHangUp, nullptr, Step::kR4Clear, nullptr, "8, Note 2", kGoesOn},
      {in(Step::kR5Clear), Event::kSymbol, r4_sent, Step::kEClear, end_clear, "8, Note 2"},
      {in(Step::kR5Clear), Event::kHangUp, nullptr, Step::kR5Clear, nullptr, "8, Note 2", kGoesOn},
      {in(Step::kEClear), Event::kSymbol, e_end, Step::kEnd, nullptr, "8, Note 2"},
      {in(Step::kEClear), Event::kHangUp, nullptr, Step::kEClear, nullptr, "8, Note 2", kGoesOn},
      {in(Step::kEFarClear), Event::kSymbol, e_end, Step::kEnd, nullptr, "8, Note 2"},

      {kAny, Event::kBeginAfterV8, caller, Step::kTones, tones, "6.1"},
      {kAny, Event::kBeginAfterV8, nullptr, Step::kAcAfterV8, tones, "6.2"},
      {kAny, Event::kBegin, nullptr, Step::kTones, tones, "6"},
      {kAny, Event::kTimeout, nullptr, Step::kTones, train<OH_RETRAIN_TIMEOUT>, "7"},
      {kAny, Event::kFarRetrains, nullptr, Step::kTones, train<OH_RETRAIN_FAR>, "7"},
      {kAny, Event::kGiveUp, nullptr, Step::kFailed, nullptr, "ours"},
      {kAny, Event::kHangUp, nullptr, Step::kReleased, nullptr, "ours"},
  };
};
std::span<const Transition> transitions() {
  return Procedure::kTable;
}

bool Modem::fire(Event event) {
  if (ended()) return false;
  const Transition* t = find_transition(TransitionIndex<Procedure::kTable>::kTable, *this, step_, event);
  if (t == nullptr) return false;
  newest_ = t;
  if (t->action != nullptr) t->action(*this);
  step_ = t->to;
  if (step_ == Step::kTones) step_ = calls_ ? Step::kAa : Step::kAc;
  if (step_ == Step::kEnd) step_ = had_data_ ? Step::kReleased : Step::kNothingInCommon;
  if (t->goes_on) return true;
  entered_ = samples_;
  if (info(step_).hears != Hears::kTones) {
    front_.settle();
    tone_.reset();
    tone_alone_ = 0;
  }
  if (info(step_).signal) tx_.start(*info(step_).signal);
  return true;
}

}  // namespace offhook::v32
