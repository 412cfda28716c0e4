// SPDX-License-Identifier: MIT
#include "dsp/v22/procedure.h"

#include <stddef.h>

#include "dsp/blocks/table_procedure.h"
#include "dsp/v22/modem.h"

namespace offhook::v22 {
namespace {

constexpr int64_t ms(int64_t t) {
  return t * 8;
}
constexpr int symbols(int t_ms) {
  return t_ms * kSymbolHz / 1000;
}
constexpr int64_t kTransmitDelay = static_cast<int64_t>(Transmitter::kDelay);

// V.25 4.3: 1.8 to 2.5 s of silence after going off hook, then the tone for 3.3 +- 0.7 s, then 75 ms of silence.
constexpr int64_t kBeforeTone = ms(1900);
constexpr int64_t kTone = ms(2700);
constexpr int64_t kAfterTone = ms(75);

constexpr float kUsb1HeardMs = 155;  // 6.3.1.1.1 b
constexpr float kMostOffsetHz = 10;  // 2.6 requires 7; Bell 103's mark is 25 Hz away
constexpr int64_t kPause = ms(456);
constexpr int kS1 = symbols(100);
constexpr int64_t kToSb2 = ms(600);  // time after the far end's S1
// The far end decides sixteen points 450 +- 10 ms after the S1 that answers its own (6.3.1.1.1 d), and this end's card
// delays that S1. So sixteen points may not be sent earlier, whenever the far end's S1 ended.
constexpr int64_t kAfterReply = ms(460);
constexpr int kSb2 = symbols(200);
constexpr int kSb1Slow = symbols(765);
// Successive trainings for 2400 bit/s with less data than this each, after which 1200 bit/s are requested.
constexpr uint32_t kMostInVain = 3;
constexpr int64_t kLasting = ms(10'000);
constexpr int64_t kBackFor = ms(100);  // 6.5
// 6.4: time until S1 is sent again. 1.2 s are recommended for the round trip; the answer takes as long as S1.
constexpr int64_t kAnswerToS1 = ms(1200 + 2 * 100);
constexpr int64_t kToData = kToSb2 + ms(200) + ms(2000);         // time after the far end's S1, including a round trip
constexpr int64_t kLoopUnanswered = ms(1200 + 231 + 308 + 300);  // a round trip, both detections, and the filters
constexpr int64_t kSuppressed = ms(77);                          // 7.1.2
constexpr int64_t kFarReturns = ms(155 + 50 + 20);               // 7.1.2, and filters
constexpr int64_t kAgain = ms(5000);                             // limit for a caller's signal that gets no response

constexpr StepInfo kSteps[] = {
    {"before ANS", Signal::kSilence, OH_PUMP_CONNECTING},
    {"ANS", Signal::kSilence, OH_PUMP_CONNECTING},
    {"after ANS", Signal::kSilence, OH_PUMP_CONNECTING},
    {"USB1", Signal::kUsb1, OH_PUMP_TRAINING},
    {"2225 Hz", Signal::kSilence, OH_PUMP_TRAINING},
    {"listen", Signal::kSilence, OH_PUMP_CONNECTING},
    {"pause", Signal::kSilence, OH_PUMP_TRAINING},
    {"S1", Signal::kS1, OH_PUMP_TRAINING},
    {"SB1", Signal::kSb1Slow, OH_PUMP_TRAINING},
    {"S1 that answers", Signal::kS1, OH_PUMP_TRAINING},
    {"SB1, S1 over", Signal::kSb1Slow, OH_PUMP_TRAINING},
    {"SB1 at 2400 bit/s", Signal::kSb1, OH_PUMP_TRAINING},
    {"SB1 at 1200 bit/s", Signal::kSb1Slow, OH_PUMP_TRAINING},
    {"R1", Signal::kReversalsSlow, OH_PUMP_TRAINING},
    {"R1, S1 over", {}, OH_PUMP_TRAINING},
    {"R2", Signal::kReversalsSlow, OH_PUMP_TRAINING},
    {"SB1 at 1200 bit/s, after R2", Signal::kSb1Slow, OH_PUMP_TRAINING},
    {"data", {}, OH_PUMP_DATA},
    {"dropped", {}, OH_PUMP_TRAINING},
    {"loop 2: initiation", {}, OH_PUMP_TRAINING},
    {"loop 2: ones", {}, OH_PUMP_TRAINING},
    {"loop 2: test", {}, OH_PUMP_DATA},
    {"loop 2: end", Signal::kSilence, OH_PUMP_TRAINING},
    {"loop 2: ones after the end", {}, OH_PUMP_TRAINING},
    {"loop 2: reversals", {}, OH_PUMP_TRAINING},
    {"loop 2: looped", {}, OH_PUMP_TRAINING},
    {"released", Signal::kSilence, OH_PUMP_IDLE},
    {"failed", Signal::kSilence, OH_PUMP_FAILED},
    {"nothing in common", Signal::kSilence, OH_PUMP_FAILED},
};
static_assert(sizeof kSteps / sizeof kSteps[0] == static_cast<size_t>(Step::kSteps));

}  // namespace

const StepInfo& info(Step s) {
  return kSteps[static_cast<size_t>(s)];
}

/// Guards, actions and the table of transitions, which are private to Modem.
struct Procedure {
  // Guards.
  static bool before_tone_over(const Modem& m) { return lasted(m, kBeforeTone); }
  static bool before_bell_tone_over(const Modem& m) { return m.bell_ && before_tone_over(m); }
  static bool tone_sent(const Modem& m) { return lasted(m, kTone); }
  static bool after_tone_over(const Modem& m) { return lasted(m, kAfterTone); }
  static bool usb1_heard(const Modem& m) {
    const float offset = m.usb1_.frequency_offset_hz();
    return m.usb1_.unbroken_ms() >= kUsb1HeardMs && offset <= kMostOffsetHz && offset >= -kMostOffsetHz;
  }
  static bool pause_over_slow(const Modem& m) { return !m.fast_ && pause_over(m); }
  static bool pause_over(const Modem& m) { return lasted(m, kPause - kTransmitDelay); }
  static bool s1_sent_and_heard(const Modem& m) { return s1_sent(m) && m.since_s1() >= 0; }
  static bool s1_sent(const Modem& m) { return m.tx_.count() >= kS1; }
  static bool s1_sent_to_fall_back(const Modem& m) { return m.in_vain_ >= kMostInVain && s1_sent(m); }
  static bool s1_heard(const Modem& m) { return m.since_s1() >= 0; }
  static bool fast(const Modem& m) { return m.fast_; }
  static bool at_2400(const Modem& m) { return m.at_2400_; }
  static bool may_fall_back(const Modem& m) { return m.at_2400_ && !m.refused_1200_; }
  static bool calls(const Modem& m) { return m.calls_; }
  static bool sb2_due(const Modem& m) {
    const bool replied = !m.calls_ || m.retrains_ > 0;
    return m.since_s1() >= kToSb2 - kTransmitDelay - static_cast<int64_t>(m.config_.io_delay_samples) &&
           (!replied || lasted(m, kAfterReply));
  }
  static bool both_ready(const Modem& m) {
    return m.tx_.count() >= kSb2 && m.receiver_.decides_sixteen() && m.ones_seen_;
  }
  static bool slow_due(const Modem& m) { return m.rate_1200_ && sb2_due(m); }
  static bool replied(const Modem& m) { return lasted(m, kToSb2); }
  static bool both_ready_slow(const Modem& m) { return m.tx_.count() >= kSb2 && m.ones_seen_; }
  static bool sb2_failed(const Modem& m) { return m.since_s1() >= kToData; }
  static bool unanswered_retrain(const Modem& m) { return m.retrains_ > 0 && lasted(m, kAnswerToS1); }
  static bool unanswered_call(const Modem& m) { return m.retrains_ == 0 && lasted(m, kAgain); }
  static bool slow_sent(const Modem& m) { return m.tx_.count() >= kSb1Slow; }
  static bool signal_good(const Modem& m) {
    return m.receiver_.running() && m.lost_symbols_ == 0 &&
           m.samples_ - m.no_carrier_at_ >= static_cast<uint64_t>(kBackFor);
  }
  static bool somebody_heard(const Modem& m) { return !m.answered_ && (m.usb1_was_heard_ || m.activity_.heard()); }
  static bool loop_allowed(const Modem& m) { return m.loop_allowed_; }
  static bool loop_unanswered(const Modem& m) { return lasted(m, kLoopUnanswered); }
  static bool suppressed(const Modem& m) { return lasted(m, kSuppressed); }
  /// Both ends are in data mode again.
  static bool loop_over(const Modem& m) { return lasted(m, kFarReturns) && m.far_loop_over(); }
  static bool lasted(const Modem& m, int64_t samples) { return m.age() >= static_cast<uint64_t>(samples); }

  // Actions.
  static void listen_anew(Modem& m) {
    m.usb1_.reset();
    m.receiver_.acquire();
    m.s1_end_ = 0;
  }
  static void hear_usb1(Modem& m) {
    if (!m.usb1_was_heard_) m.without_data_ = 0;
    m.usb1_was_heard_ = true;
    listen(m);
  }
  static void begin(Modem& m) {
    m.without_data_ = 0;
    listen_anew(m);
  }
  static void listen(Modem& m) {
    m.receiver_.acquire();
    m.same_score_ = 0;
    m.s1_end_ = 0;
  }
  static void hear_s1(Modem& m) {
    m.answered_ = true;
    m.receiver_.acquire();
    m.ones_seen_ = m.rate_1200_ = false;
    m.early_bits_ = 0;
    m.s1_end_ = 0;
  }
  static void agree_on_falling_back(Modem& m) {
    m.rate_1200_ = true;
    m.ones_ = 0;
  }
  static void time_s1(Modem& m) {
    const auto age = static_cast<uint64_t>(m.receiver_.s1_end_age());
    m.s1_end_ = m.samples_ > age ? m.samples_ - age : 1;
    m.receiver_.confirm();
  }
  static void far_retrains(Modem& m) {
    m.train_again(OH_RETRAIN_FAR);
    time_s1(m);
  }
  template <oh_retrain_cause cause>
  static void train(Modem& m) {
    const bool in_data = m.step_ == Step::kData;
    if (in_data && lasted(m, kLasting)) {
      m.in_vain_ = 0;
    } else if ((in_data && cause == OH_RETRAIN_LOST) || m.step_ == Step::kSb2) {
      ++m.in_vain_;
    }
    m.train_again(cause);
    listen(m);
  }
  static void fall_back(Modem& m) {
    m.in_vain_ = kMostInVain;
    m.train_again(OH_RETRAIN_LOST);
    listen(m);
  }
  static void agree_on_1200(Modem& m) {
    m.answered_ = true;
    m.receiver_.confirm();
  }
  static void data_at_1200(Modem& m) { begin_data(m, false); }
  static void data_at_2400(Modem& m) { begin_data(m, true); }
  static void begin_data(Modem& m, bool at_2400) {
    m.at_2400_ = at_2400;
    m.refused_1200_ = at_2400 && m.in_vain_ >= kMostInVain;
    m.lost_symbols_ = 0;
    m.quality_ = {};
    m.live_samples_ = 0;
    m.receiver_.confirm();
    m.tx_.start(at_2400 ? Signal::kData : Signal::kDataSlow);
    m.give_early();
  }
  static void data_again(Modem& m) { begin_data(m, m.at_2400_); }
  static void hear_s1_in_loop(Modem& m) {
    data_again(m);
    hear_s1(m);
  }
  static void acquire_again(Modem& m) {
    m.train_again(OH_RETRAIN_LOST);
    m.receiver_.acquire();
    m.receiver_.confirm();
    m.tx_.start(Signal::kDataSlow);
  }
  static void fill(Modem& m) { m.tx_.start(m.at_2400_ ? Signal::kSb1 : Signal::kSb1Slow); }
  static void ask_loop(Modem& m) {
    m.loop_refused_ = false;
    m.reversals_ = 0;
    m.loop_trip_ = 0;
    m.tx_.start(m.at_2400_ ? Signal::kOnes : Signal::kUsb1);
  }
  static void send_ones(Modem& m) {
    m.ones_ = 0;
    fill(m);
  }
  static void test_loop(Modem& m) {
    const int64_t heard = Modem::kLoopAnswerSamples;
    m.loop_trip_ = static_cast<int64_t>(m.age()) > heard ? static_cast<int64_t>(m.age()) - heard : 0;
    m.tx_.start(m.at_2400_ ? Signal::kData : Signal::kDataSlow);
  }
  static void refused(Modem& m) {
    m.loop_refused_ = true;
    fill(m);
  }
  static void grant_loop(Modem& m) {
    m.raw_score_ = Modem::kRawScore;
    m.tx_.start(m.at_2400_ ? Signal::kReversals : Signal::kReversalsSlow);
  }
  static void loop_back(Modem& m) { m.tx_.start_loop(m.at_2400_); }

  static constexpr uint64_t kAsks = in(Step::kLoopAsk, Step::kLoopOnes, Step::kLoopTest);
  static constexpr uint64_t kLoops = in(Step::kLoopGrant, Step::kLooped);
  static constexpr uint64_t kInLoop = kAsks | kLoops | in(Step::kLoopAfter);

  static constexpr Transition kTable[] = {
      {in(Step::kSilence), Event::kSymbol, before_bell_tone_over, Step::kBellTone, listen, "Bell 212A"},
      {in(Step::kSilence), Event::kSymbol, before_tone_over, Step::kAnswerTone, nullptr, "V.25 4.3"},
      {in(Step::kAnswerTone), Event::kSymbol, tone_sent, Step::kAfterTone, nullptr, "V.25 4.3"},
      {in(Step::kAfterTone), Event::kSymbol, after_tone_over, Step::kUsb1, listen, "V.25 4.4"},

      {in(Step::kUsb1), Event::kS1, fast, Step::kUsb1, hear_s1, "6.3.1.1.2 b"},
      {in(Step::kUsb1), Event::kS1End, fast, Step::kReply, time_s1, "6.3.1.1.2 b"},
      {in(Step::kUsb1), Event::kOnes, nullptr, Step::kSb1Slow, agree_on_1200, "6.3.1.2.2 b"},
      {in(Step::kBellTone), Event::kOnes, nullptr, Step::kSb1Slow, agree_on_1200, "Bell 212A"},

      {in(Step::kListen), Event::kSymbol, usb1_heard, Step::kPause, hear_usb1, "6.3.1.1.1 b"},
      {in(Step::kPause), Event::kSymbol, pause_over_slow, Step::kSb1, nullptr, "6.3.1.2.1 b"},
      {in(Step::kPause), Event::kSymbol, pause_over, Step::kS1, nullptr, "6.3.1.1.1 b"},

      {in(Step::kS1), Event::kS1, nullptr, Step::kS1, hear_s1, "6.4"},
      {in(Step::kS1), Event::kS1End, nullptr, Step::kS1, time_s1, "6.4"},
      {in(Step::kS1), Event::kSymbol, s1_sent_to_fall_back, Step::kRateAsk, nullptr, "6.6.1 b"},
      {in(Step::kS1), Event::kSymbol, s1_sent_and_heard, Step::kSb1Timed, nullptr, "6.4"},
      {in(Step::kS1), Event::kSymbol, s1_sent, Step::kSb1, nullptr, "6.3.1.1.1 b"},
      {in(Step::kSb1), Event::kS1, fast, Step::kSb1, hear_s1, "6.3.1.1.1 c"},
      {in(Step::kSb1), Event::kS1End, fast, Step::kSb1Timed, time_s1, "6.3.1.1.1 c"},
      {in(Step::kSb1), Event::kOnes, calls, Step::kSb1Slow, agree_on_1200, "6.3.1.2.1 c"},
      {in(Step::kSb1), Event::kSymbol, unanswered_retrain, Step::kS1, train<OH_RETRAIN_TIMEOUT>, "6.4"},
      {in(Step::kSb1), Event::kSymbol, unanswered_call, Step::kListen, listen_anew, "ours"},

      {in(Step::kRateAsk), Event::kS1, nullptr, Step::kRateAsk, hear_s1, "6.6.1 c"},
      {in(Step::kRateAsk), Event::kS1End, nullptr, Step::kRateTimed, time_s1, "6.6.1 c"},
      {in(Step::kRateAsk), Event::kSymbol, s1_heard, Step::kRateTimed, nullptr, "6.6.1 c"},
      {in(Step::kRateAsk), Event::kSymbol, unanswered_retrain, Step::kS1, train<OH_RETRAIN_TIMEOUT>, "6.6.1 f"},
      {in(Step::kRateTimed), Event::kRate, nullptr, Step::kRateTimed, agree_on_falling_back, "6.6.1 c"},
      {in(Step::kRateTimed), Event::kSymbol, slow_due, Step::kRateOnes, nullptr, "6.6.1 d"},
      {in(Step::kRateTimed), Event::kSymbol, sb2_due, Step::kSb2, nullptr, "6.6.1 d"},
      {in(Step::kSb1Timed), Event::kRate, nullptr, Step::kRateReply, agree_on_falling_back, "6.6.2 c"},
      {in(Step::kRateReply), Event::kSymbol, replied, Step::kRateOnes, nullptr, "6.6.2 e"},
      {in(Step::kRateOnes), Event::kSymbol, both_ready_slow, Step::kData, data_at_1200, "6.6.1 e, 6.6.2 f"},
      {in(Step::kRateOnes), Event::kSymbol, sb2_failed, Step::kS1, train<OH_RETRAIN_TIMEOUT>, "6.6.1 f"},
      {in(Step::kRateOnes), Event::kS1, nullptr, Step::kRateOnes, hear_s1, "6.4"},
      {in(Step::kRateOnes), Event::kS1End, nullptr, Step::kReply, far_retrains, "6.4"},

      {in(Step::kReply), Event::kSymbol, s1_sent, Step::kSb1Timed, nullptr, "6.3.1.1.2 b"},
      {in(Step::kSb1Timed), Event::kSymbol, sb2_due, Step::kSb2, nullptr, "6.3.1.1.1 d"},
      {in(Step::kSb2), Event::kSymbol, both_ready, Step::kData, data_at_2400, "6.3.1.1.1 e"},
      {in(Step::kSb2), Event::kSymbol, sb2_failed, Step::kS1, train<OH_RETRAIN_TIMEOUT>, "6.4"},
      {in(Step::kSb2), Event::kS1, nullptr, Step::kSb2, hear_s1, "6.4"},
      {in(Step::kSb2), Event::kS1End, nullptr, Step::kReply, far_retrains, "6.4"},
      {in(Step::kSb1Slow), Event::kSymbol, slow_sent, Step::kData, data_at_1200, "6.3.1.2"},

      {in(Step::kData), Event::kS1, fast, Step::kData, hear_s1, "6.4"},
      {in(Step::kData), Event::kS1End, fast, Step::kReply, far_retrains, "6.4"},
      {in(Step::kData), Event::kLost, at_2400, Step::kS1, train<OH_RETRAIN_LOST>, "6.4"},
      {in(Step::kData), Event::kLost, nullptr, Step::kData, acquire_again, "ours"},
      {in(Step::kData), Event::kPoor, may_fall_back, Step::kS1, fall_back, "6.6.1 a"},
      {in(Step::kData), Event::kRetrain, at_2400, Step::kS1, train<OH_RETRAIN_OWN>, "6.4"},
      {in(Step::kData), Event::kCarrierOff, nullptr, Step::kDropped, fill, "6.5"},
      {in(Step::kDropped), Event::kSymbol, signal_good, Step::kData, data_again, "6.5"},
      {in(Step::kDropped), Event::kS1, fast, Step::kDropped, hear_s1, "6.5"},
      {in(Step::kDropped), Event::kS1End, fast, Step::kReply, far_retrains, "6.5"},
      {in(Step::kDropped), Event::kLost, at_2400, Step::kS1, train<OH_RETRAIN_LOST>, "6.5"},
      {in(Step::kDropped), Event::kLost, nullptr, Step::kData, acquire_again, "ours"},

      {in(Step::kData), Event::kLoopRequest, nullptr, Step::kLoopAsk, ask_loop, "7.1.1"},
      {in(Step::kLoopAsk), Event::kReversals, nullptr, Step::kLoopOnes, send_ones, "7.1.1"},
      {in(Step::kLoopOnes), Event::kLoopedOnes, nullptr, Step::kLoopTest, test_loop, "7.1.1"},
      {in(Step::kLoopAsk), Event::kSymbol, loop_unanswered, Step::kLoopAfter, refused, "ours"},
      {in(Step::kLoopOnes), Event::kSymbol, loop_unanswered, Step::kLoopDrop, refused, "ours"},
      {kAsks, Event::kLoopEnd, nullptr, Step::kLoopDrop, nullptr, "7.1.2"},
      {in(Step::kLoopDrop), Event::kSymbol, suppressed, Step::kLoopAfter, fill, "7.1.2"},
      {in(Step::kLoopAfter), Event::kSymbol, loop_over, Step::kData, data_again, "ours"},
      {in(Step::kData), Event::kInitiation, loop_allowed, Step::kLoopGrant, grant_loop, "7.1.1"},
      {in(Step::kLoopGrant), Event::kInitiationOver, nullptr, Step::kLooped, loop_back, "7.1.1"},
      {in(Step::kData), Event::kLoopLocal, nullptr, Step::kLooped, loop_back, "7.1"},
      {kLoops, Event::kLoopEnd, nullptr, Step::kData, data_again, "ours"},
      {kLoops, Event::kCarrierOff, nullptr, Step::kDropped, fill, "7.1.2"},
      {kInLoop, Event::kS1, fast, Step::kData, hear_s1_in_loop, "6.4"},
      {kInLoop, Event::kLost, at_2400, Step::kS1, train<OH_RETRAIN_LOST>, "6.4"},
      {kInLoop, Event::kLost, nullptr, Step::kData, acquire_again, "ours"},

      {kAny, Event::kBegin, nullptr, Step::kBeginning, begin, "6.3.1.1"},
      {kAny, Event::kHangUp, nullptr, Step::kReleased, nullptr, "ours"},
      {kAny, Event::kGiveUp, somebody_heard, Step::kNothingInCommon, nullptr, "ours"},
      {kAny, Event::kGiveUp, nullptr, Step::kFailed, nullptr, "ours"},
  };
};
std::span<const Transition> transitions() {
  return Procedure::kTable;
}

bool Modem::fire(Event event) {
  if (ended()) return false;
  const Transition* found = find_transition(TransitionIndex<Procedure::kTable>::kTable, *this, step_, event);
  if (found == nullptr) return false;
  newest_ = found;
  if (found->action != nullptr) found->action(*this);
  Step to = found->to;
  if (to == Step::kBeginning) to = calls_ ? Step::kListen : bell_ ? Step::kBellTone : Step::kUsb1;
  if (to == step_ && event != Event::kBegin) return true;
  step_ = to;
  entered_ = samples_;
  if (info(step_).signal) tx_.start(*info(step_).signal);
  return true;
}

}  // namespace offhook::v22
