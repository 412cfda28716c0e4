// SPDX-License-Identifier: MIT
#include "dsp/v34/phase2/phase2.h"

#include "dsp/blocks/level.h"

namespace offhook::v34 {
namespace {

constexpr int ms(double t) {
  return static_cast<int>(t * 8 + 0.5);
}

constexpr int kTurn = ms(40);           // from a received reversal to the sent one, at the terminals; 11.2
constexpr int kAfterReversal = ms(10);  // tone that follows a reversal
constexpr int kAnswerTone = ms(50);     // tone A before its reversals; 11.2.1.2.3, 11.2.1.2.6
constexpr int kSilence = ms(70);        // 70 +- 5 ms; 11.3.2, 11.5
constexpr int kL1 = ms(160);
// From the reversal that announces L1 to the end of reception: five windows of L2. 670 ms are permitted (Figure 16). A
// shorter time lets the far end, which stops L2 by its own clock, find the tone that follows.
constexpr int kHear = ms(575);
// After 385 ms of its L2, a live answer modem takes noise of -46 dBm0 (not of -48) in
// silence for tone B, and begins again when the tone then comes. With such noise, the call
// modem sends its tone after two windows. It also does so in a retrain, because the line is
// known, and the same answer modem ends the call if the tone does not come within 2.8 s.
constexpr int kFewWindows = 2;
constexpr double kLoudNoiseDbm0 = -48;
// In a retrain, a far end may take a second of silence for a lost line, and end the call. From this end's reversal to
// its tone it hears nothing for a round trip and the time of L1 and L2. L2 is then received as long as the second
// allows, or not at all: "may then receive" (11.2.1.1.5, V.90 9.2.1.1.5).
constexpr int kMostSilence = ms(1000);
constexpr int kAllWindows = 5;
constexpr int kSettle = ms(20);  // part of L2 that is skipped: channel and detector delays

// A tone counts as detected after kSeenMs; shorter ones are runs of zeros in INFO0. A reversal is accepted if the tone
// before it lasted kBefore; the shortest tone that is sent lasts 40 ms.
constexpr float kSeenMs = 45;
constexpr float kPresentMs = 60;  // for a tone that lasts until this end reacts: noise and echo must not resemble it
constexpr float kBeforeMs = 30;
// A tone below this share of the far tone's first amplitude is an echo of the earlier tone, reflected by this end and
// again by the far end's hybrid.
constexpr float kEchoShare = 0.25f;

constexpr float kRetrainMs = RetrainDetector::kLeastMs;  // 11.5.1.2, 11.5.2.2

// A far end that repeats INFO0 without acknowledging this end's may be waiting for this end's tone, as this end waits
// for the far tone. The Recommendation sets no limit for that. INFO0 is repeated long enough for itself and its answer
// over a round trip of 1.2 s. Then this end sends its tone, for the time that the far end's tone and its reversal need.
constexpr int kLongTrip = ms(1200);
constexpr int kInfo0Most = ms(2000);
constexpr int kInfo0Rest = ms(3000);
constexpr int kInfo0Length = static_cast<int>(Info0::kBits * 8000 / kDpskBaud);

// Time-outs of 11.2.2; the round trip is added where required.
constexpr int kCallSecondReversal = ms(2000);  // 11.2.2.1.2, from the first reversal
constexpr int kCallThirdReversal = ms(900);    // 11.2.2.1.3, from the second
constexpr int kCallToneA = ms(650);            // 11.2.2.1.4, from the start of L2
constexpr int kCallInfo1a = ms(700);           // 11.2.2.1.5, from the end of INFO1c
constexpr int kAnswerReversal = ms(2000);      // 11.2.2.2.2, from this end's reversal
constexpr int kAnswerToneB = ms(600);          // 11.2.2.2.3, from the start of L2
constexpr int kAnswerInfo1c = ms(2000);        // 11.2.2.2.4, from tone B; twice the round trip is added
constexpr int kShortReversal = ms(2500);       // V.92 9.4.1.2.2, 9.4.1.2.3 from our reversal; 9.4.2.2.2 from INFO0a
constexpr int kSourceTone = ms(2700);          // 12.2.1.3.3, 12.2.2.4.3, from this end's reversal
constexpr int kRecipientReversal = ms(2000);   // 12.2.1.4.2, 12.2.2.3.2, from this end's reversal
constexpr int kRecipientTone = ms(2000);       // 12.2.1.4.3, 12.2.2.3.3, from the start of this end's tone
constexpr int kSourceInfoh = ms(2000);         // 12.2.1.3.4, 12.2.2.4.4, from the start of this end's tone
constexpr int kToneBeforeInfoh = ms(25);       // 12.2.1.2.6, 12.2.2.1.6
constexpr int kL2Most = ms(550);               // 10.1.2.4; the round trip is added

}  // namespace

const Phase2::Table& Phase2::transitions() {
  using enum Phase2State;
  using enum Phase2Event;
  using P = Phase2;
  // clang-format off
  static constexpr Transition kRows[] = {
      // INFO0
      {in(kInfo0),      kOwnTone,      &P::has_far_info0, &P::begin_first_tone,  kFirstTone,  "11.2.1.1.2, 11.2.1.2.2"},
      {in(kInfo0),      kFarTone,      &P::lacks_info0,   &P::repeat_info0,      kInfo0Again, "11.2.2.1.1, 11.2.2.2.1"},
      {in(kInfo0, kFirstTone, kReversed, kRoundTrip, kHalfReversed), kFarLacksInfo0, nullptr, &P::repeat_info0, kInfo0Again, "11.2.2.1.1, 11.2.2.2.1"},
      {in(kInfo0Again), kFarHasInfo0,  nullptr,           &P::end_info0,         kInfo0Again, "11.2.2.1.1, 11.2.2.2.1"},
      {in(kInfo0Again), kFarTone,      &P::has_far_info0, &P::end_info0,         kInfo0Again, "11.2.2.1.1, 11.2.2.2.1"},
      {in(kInfo0Again), kWaitOver,     &P::has_far_info0, &P::end_info0,         kInfo0Again, "ours"},
      {in(kInfo0Again), kOwnTone,      nullptr,           &P::begin_first_tone,  kFirstTone,  "11.2.2.1.1, 11.2.2.2.1"},
      // the short Phase 2 of V.92
      {in(kFirstTone),  kFarTone,      &P::calls_short_after_50_ms, &P::reverse_for_short, kShortReversed, "V.92 9.4.1.1.3"},
      {in(kShortReversed), kWaitOver,  nullptr,           &P::fall_silent,       kShortReversed, "V.92 9.4.1.1.3"},
      {in(kShortReversed), kFarReversal, nullptr,         &P::await_short_info1a, kShortInfo1, "V.92 9.4.1.1.4"},
      {in(kShortReversed), kTimeout,   nullptr,           &P::begin_full,        kLostTurn,   "V.92 9.4.1.2.2"},
      {in(kShortInfo1), kFarInfo1aV90, nullptr,           &P::take_short_info1a, kDone,       "V.92 9.4.1.1.5"},
      {in(kShortInfo1), kTimeout,      nullptr,           &P::begin_full_with_tone, kFirstTone, "V.92 9.4.1.2.3"},
      {in(kFirstTone),  kFarReversal,  &P::answers_short, &P::turn_for_short,    kFirstTurn,  "V.92 9.4.2.1.3"},
      {in(kFirstTone),  kTimeout,      &P::answers_short, &P::retrain_by_itself, kRetrain,    "V.92 9.4.2.2.2"},
      {in(kFirstTurn),  kWaitOver,     &P::answers_short, &P::send_short_info1a, kInfo1,      "V.92 9.4.2.1.4"},
      // the call modem
      {in(kFirstTone),  kFarReversal,  &P::calls,         &P::answer_reversal,   kFirstTurn,  "11.2.1.1.3"},
      {in(kFirstTurn),  kTurn,         nullptr,           &P::reverse,           kFirstTurn,  "11.2.1.1.3, 11.2.1.2.4, 12.2.1.1.3"},
      {in(kFirstTurn),  kWaitOver,     &P::calls,         &P::fall_silent,       kRoundTrip,  "11.2.1.1.3"},
      {in(kRoundTrip),  kFarReversal,  nullptr,           &P::end_round_trip,    kHear,       "11.2.1.1.4"},
      {in(kRoundTrip),  kTimeout,      nullptr,           nullptr,               kLostTurn,   "11.2.2.1.2"},
      {in(kLostTurn),   kFarTone,      nullptr,           &P::send_tone,         kFirstTone,  "11.2.2.1.2"},
      {in(kHear),       kWaitOver,     &P::calls,         &P::end_probing,       kSecondTone, "11.2.1.1.5"},
      {in(kSecondTone), kFarReversal,  &P::calls,         &P::turn_after_far,    kSecondTurn, "11.2.1.1.6"},
      {in(kSecondTone), kTimeout,      &P::calls,         &P::turn_after_now,    kSecondTurn, "11.2.2.1.3"},
      {in(kSecondTurn), kTurn,         nullptr,           &P::reverse,           kSecondTurn, "11.2.1.1.6"},
      {in(kSecondTurn), kWaitOver,     &P::calls,         &P::send_probing,      kProbe,      "11.2.1.1.6"},
      {in(kProbe),      kFarTone,      &P::calls_past_l1, &P::send_info1c,       kInfo1,      "11.2.1.1.7"},
      {in(kProbe),      kTimeout,      &P::calls_in_vain, &P::retrain_by_itself, kRetrain,    "11.2.2.1.4"},
      {in(kInfo1),      kSentInfo,     &P::calls,         &P::await_info1a,      kInfo1,      "11.2.1.1.8"},
      {in(kInfo1),      kFarInfo1,     &P::calls,         &P::take_info1a,       kDone,       "11.2.1.1.9"},
      {in(kInfo1),      kFarInfo1aV90, nullptr,           &P::take_info1a_v90,   kDone,       "V.90 9.2.1.1"},
      {in(kInfo1),      kTimeout,      &P::calls_refusing, &P::retrain_unheeded, kRetrain,    "ours"},
      {in(kInfo1),      kTimeout,      &P::calls,         nullptr,               kNoInfo1,    "11.2.2.1.5"},
      // the answer modem
      {in(kFirstTone),  kFarTone,      &P::answers_after_50_ms, &P::reverse_first, kReversed, "11.2.1.2.3"},
      {in(kReversed),   kFarReversal,  nullptr,           &P::turn_round,        kFirstTurn,  "11.2.1.2.4"},
      {in(kReversed),   kTimeout,      nullptr,           nullptr,               kFirstTone,  "11.2.2.2.2"},
      {in(kFirstTurn),  kWaitOver,     nullptr,           &P::send_probing,      kProbe,      "11.2.1.2.4, 12.2.1.1.3, 12.2.2.2.3"},
      {in(kProbe),      kFarTone,      &P::answers_past_l1, &P::begin_second_tone, kSecondTone, "11.2.1.2.5"},
      {in(kProbe),      kTimeout,      &P::probes_in_vain, &P::send_tone,        kFirstTone,  "11.2.2.2.3, 12.2.1.3.3, 12.2.2.4.3"},
      {in(kSecondTone), kWaitOver,     nullptr,           &P::reverse_second,    kSecondTurn, "11.2.1.2.6"},
      {in(kSecondTurn), kWaitOver,     nullptr,           &P::fall_silent,       kSilent,     "11.2.1.2.6"},
      {in(kSilent),     kFarReversal,  nullptr,           &P::begin_hear,        kHear,       "11.2.1.2.7"},
      {in(kHear),       kWaitOver,     &P::answers,       &P::end_probing,       kThirdTone,  "11.2.1.2.8"},
      {in(kThirdTone),  kFarInfo1,     nullptr,           &P::send_info1a,       kInfo1,      "11.2.1.2.9"},
      {in(kSilent, kHear, kThirdTone), kTimeout, &P::answers, &P::retrain_by_itself, kRetrain, "11.2.2.2.4"},
      {in(kInfo1),      kSentInfo,     nullptr,           &P::finish_answer,     kDone,       "11.2.1.2.9, 12.2.1.2.6"},
      // half-duplex: the recipient
      {in(kFirstTone),  kFarTone,      &P::is_recipient_after_50_ms, &P::reverse_as_recipient, kHalfReversed, "12.2.1.2.3, 12.2.2.1.3"},
      {in(kHalfReversed), kWaitOver,   nullptr,           &P::fall_silent,       kHalfReversed, "12.2.1.2.3, 12.2.2.1.3"},
      {in(kHalfReversed), kFarReversal, nullptr,          &P::hear_source,       kHear,       "12.2.1.2.4, 12.2.2.1.4"},
      {in(kHalfReversed), kTimeout,    &P::has_far_tone,  &P::send_tone,         kFirstTone,  "12.2.1.4.2, 12.2.2.3.2"},
      {in(kHear),       kWaitOver,     &P::is_recipient,  &P::end_source_probing, kHalfTone,  "12.2.1.2.5, 12.2.2.1.5"},
      {in(kHalfTone),   kFarTone,      nullptr,           &P::end_tone,          kHalfToneEnds, "12.2.1.2.6, 12.2.2.1.6"},
      {in(kHalfTone, kHalfToneEnds), kTimeout, nullptr,   &P::send_infoh,        kInfo1,      "12.2.1.2.6, 12.2.1.4.3, 12.2.2.1.6, 12.2.2.3.3"},
      // half-duplex: the source
      {in(kFirstTone),  kFarReversal,  &P::is_source,     &P::turn_after_far,    kFirstTurn,  "12.2.1.1.3, 12.2.2.2.3"},
      {in(kProbe),      kFarTone,      &P::is_source_past_l1, &P::await_infoh,   kAwaitInfoh, "12.2.1.1.4, 12.2.2.2.4"},
      {in(kAwaitInfoh, kFirstTone), kFarInfoh, nullptr,   &P::take_infoh,        kDone,       "12.2.1.1.4, 12.2.2.2.4"},  // kFirstTone is ours: the recipient has chosen
      {in(kAwaitInfoh), kTimeout,      &P::has_far_tone,  &P::await_infoh,       kAwaitInfoh, "12.2.1.3.4, 12.2.2.4.4"},
      // retrain, and repeated INFO1
      {in(kRetrain),    kWaitOver,     &P::has_far_info0, &P::send_tone,         kFirstTone,  "11.5.1.1, 11.5.2.1"},
      {in(kRetrain),    kWaitOver,     nullptr,           &P::send_tone,         kInfo0,      "11.5.1.1, 11.5.2.1"},
      {in(kMarksSilence), kWaitOver,   nullptr,           &P::send_marks,        kMarks,      "11.3.2.2, 11.4.2"},
      {in(kMarksSilence, kMarks, kNoInfo1), kFarTone, nullptr, &P::begin_retrain, kRetrain,   "11.5.1.2, 11.5.2.2"},
      {in(kMarks, kNoInfo1), kFarMarks, &P::calls,        &P::send_info1c,       kInfo1,      "11.2.2.1.5, 11.3.2.1"},
      {in(kMarksSilence, kMarks), kFarInfo1, &P::answers, &P::send_info1a,       kInfo1,      "11.3.2.2, 11.4.2.2"},
  };
  // clang-format on
  return TransitionIndex<kRows>::kTable;
}

Phase2::Phase2(const Phase2Config& config)
    : TableProcedure(State::kIdle),
      config_(config),
      dpsk_(config.role == OH_PUMP_CALL ? kDpskAnswerHz : kDpskCallHz),
      tone_(config.role == OH_PUMP_CALL ? kToneAHz : kToneBHz),
      modulator_(phase2_signal(config.role == OH_PUMP_CALL ? kDpskCallHz : kDpskAnswerHz,
                               static_cast<double>(config.tx_level_dbm0),
                               static_cast<double>(config.guard_with_tone_db))),
      probing_rms_(static_cast<float>(dbm0_to_rms(static_cast<double>(config.tx_level_dbm0)))) {
  outcome_.own_info0 = config.capabilities;
  outcome_.own_info0.acknowledge = false;
  outcome_.own_md_length = config.md_length;
}

void Phase2::set_upstream(SymbolRates rates, uint8_t md_length) {
  config_.upstream = rates;
  config_.digital.upstream_3429 = (rates >> static_cast<int>(SymbolRate::k3429) & 1) != 0;
  config_.md_length = outcome_.own_md_length = md_length;
}

void Phase2::enter(State state) {
  state_ = state;
  entered_ = now_;
}

void Phase2::start() {
  has_far_info0_ = hurries_ = false;
  heard_at_ = -1;
  // An INFO0 that repeats the first one answers this end's INFO0 only after a round trip. Before, the far end cannot
  // have heard it, and repeats for another reason.
  info0_end_ = now_ + kInfo0Length;
  info0_since_ = info0_end_ + kLongTrip - (kInfo0Most + kInfo0Rest);
  far_again_at_ = 0;
  may_be_short_ = config_.v92 && config_.short_phase2;
  far_peak_ = 0;
  send_info0(false);
  enter(State::kInfo0);
}

// The caller has run Phases 3 and 4 meanwhile, so the detectors' state is outdated.
void Phase2::retrain() {
  tone_.reset();
  heard_at_ = now_;
  begin_retrain();
  enter(State::kRetrain);
}

void Phase2::repeat_info1(bool marks) {
  tone_.reset();
  heard_at_ = now_;
  marks_.reset();
  probing_at_ = -1;
  modulator_.silence();
  wait_until_ = now_ + kSilence;
  enter(marks || answers() ? State::kMarksSilence : State::kNoInfo1);
}

void Phase2::repeat_infoh() {
  tone_.reset();
  heard_at_ = now_;
  if (is_source()) {
    await_infoh();
    enter(State::kAwaitInfoh);
  } else {
    send_tone();
    deadline_ = now_ + kRecipientTone;
    enter(State::kHalfTone);
  }
}

void Phase2::adopt(const Phase2Outcome& outcome) {
  begin_choice(false);
  outcome_ = outcome;
  has_far_info0_ = true;
  enter(State::kDone);
}

float Phase2::process(float rx) {
  put(rx);
  float tx = 0;
  if (state_ != State::kIdle && state_ != State::kDone) tx = modulator_.next([this] { return next_bit(); });
  if (probing_at_ >= 0) tx += next_probing();
  ++now_;
  return tx;
}

// The information bits, between the frame synchronization and the CRC.
void Phase2::show_info0(const oh_pump_observer& observer) const {
  if (observer.sequence == nullptr) return;
  const auto show = [&observer]<class T>(oh_sequence which, const T& info) {
    constexpr int kFirst = 12, kAfter = 20;
    uint8_t bits[T::kBits], octets[(T::kBits - kFirst - kAfter + 7) / 8]{};
    encode(info, bits);
    for (int k = 0; k < T::kBits - kFirst - kAfter; ++k)
      octets[k / 8] = static_cast<uint8_t>(octets[k / 8] | bits[kFirst + k] << k % 8);
    observer.sequence(observer.user, which, octets, sizeof octets);
  };
  if (config_.pcm == PcmSide::kDigital) {
    show(OH_SEQUENCE_INFO0_SENT, digital_info0(outcome_.own_info0));
  } else {
    show(OH_SEQUENCE_INFO0_SENT, analogue_info0(outcome_.own_info0));
  }
  if (config_.pcm == PcmSide::kAnalogue) {
    show(OH_SEQUENCE_INFO0_RECEIVED, outcome_.info0d);
  } else {
    show(OH_SEQUENCE_INFO0_RECEIVED, outcome_.far_info0);
  }
}

// --- reception

// The events of this sample: first those received, then those sent, then time-outs.
void Phase2::put(float rx) {
  DpskDecision decision;
  const bool decided = dpsk_.put(rx, &decision);
  if (decided) got_marks_ = marks_.put(decision) || (got_marks_ && decision.phase != 0);
  const bool reversal = tone_.put(rx) == ToneEvent::kReversal && tone_.steady_before_reversal_ms() >= kBeforeMs;
  if (state_ == State::kHear && now_ < hear_from_ - kSettle) overload_.put_l1(rx);
  if (state_ == State::kHear && now_ >= hear_from_ && now_ < wait_until_) hear(rx);
  probe_.put_quiet(rx, is_line_quiet());
  if (in_advance_) in_advance_ = choose_more();

  if (decided) put_info0(decision);
  if (reversal) handle(Event::kFarReversal);
  if (hears_tone()) handle(Event::kFarTone);
  if (is_half_duplex()) {
    if (decided && is_source() && infoh_.put(decision)) handle(Event::kFarInfoh);
  } else if (decided && (calls() ? info1a_.put(decision) : info1c_.put(decision))) {
    handle(Event::kFarInfo1);
  }
  if (decided && config_.pcm == PcmSide::kDigital && info1a_v90_.put(decision)) handle(Event::kFarInfo1aV90);
  if (got_marks_) handle(Event::kFarMarks);
  if (tone_.present() || got_marks_) heard_at_ = now_;
  if (sends_tone()) handle(Event::kOwnTone);
  if (!modulator_.sends_bits() && now_ == bits_end_) handle(Event::kSentInfo);
  if (is_due(now_, &reverse_at_)) handle(Event::kTurn);
  if (is_due(now_, &wait_until_)) handle(Event::kWaitOver);
  if (deadline_ != 0 && now_ >= deadline_) handle(Event::kTimeout);
}

void Phase2::put_info0(const DpskDecision& decision) {
  const bool analogue = config_.pcm == PcmSide::kAnalogue;
  if (!(analogue ? info0d_.put(decision) : info0_.put(decision))) return;
  heard_at_ = now_;
  using enum Phase2State;
  constexpr uint64_t kUntilReversal =
      in(kInfo0, kInfo0Again, kFirstTone, kReversed, kRoundTrip, kRetrain, kHalfReversed);
  if ((kUntilReversal & in(state_)) == 0) return;
  if (analogue) outcome_.info0d = info0d_.found().info;
  outcome_.far_info0 = analogue ? outcome_.info0d.v34 : info0_.found().info;
  const bool first = !has_far_info0_;
  has_far_info0_ = true;
  // Without the acknowledgement, the far end has not received this end's INFO0. With it, the far end has received it,
  // and only finishes the sequence.
  if (outcome_.far_info0.acknowledge) {
    handle(Event::kFarHasInfo0);
  } else if (!first) {
    if (far_again_at_ == 0) far_again_at_ = now_;
    if (!info0_rests()) handle(Event::kFarLacksInfo0);
  }
}

bool Phase2::hears_tone() const {
  using enum Phase2State;
  float least_ms = kSeenMs;
  if ((in(kFirstTone, kProbe, kHalfTone) & in(state_)) != 0) least_ms = kPresentMs;
  if (state_ == kMarksSilence || state_ == kMarks || state_ == kNoInfo1) least_ms = kRetrainMs;
  return tone_.unbroken_ms() >= least_ms && tone_.peak() > kEchoShare * far_peak_;
}

bool Phase2::answers_after_50_ms() const {
  return answers() && !is_short() && age() >= kAnswerTone;
}

bool Phase2::is_recipient_after_50_ms() const {
  return is_recipient() && age() >= kAnswerTone;
}

// Whether both announce and request V.92: V.92 9.4.
bool Phase2::is_short() const {
  if (!may_be_short_ || !has_far_info0_) return false;
  if (config_.pcm == PcmSide::kAnalogue) return outcome_.info0d.v92 && outcome_.info0d.short_phase2;
  return static_cast<unsigned>(outcome_.far_info0.clock) == (kInfo0aV92 | kInfo0aShortPhase2);
}

// V.92 9.3: if one of them does not, the sequences are V.90's.
bool Phase2::far_has_v92() const {
  if (config_.pcm == PcmSide::kAnalogue) return outcome_.info0d.v92;
  return (static_cast<unsigned>(outcome_.far_info0.clock) & kInfo0aV92) != 0;
}

bool Phase2::calls_short_after_50_ms() const {
  return calls() && is_short() && age() >= kAnswerTone;
}

bool Phase2::past_l1() const {
  return age() >= kL1;
}

// --- transmission

bool Phase2::sends_tone() const {
  return !modulator_.sends_bits() && age() >= ms(1);
}

int Phase2::next_bit() {
  if (send_marks_) return 1;
  if (bit_at_ == bit_count_) {
    // The middle of the last bit's pulse comes kDelaySamples after its request, which was one symbol ago. The pulse
    // ends half a symbol later.
    constexpr double kSymbol = 8000. / kDpskBaud;
    bits_end_ = now_ + DpskModulator::kDelaySamples - static_cast<int64_t>(kSymbol / 2);
    if (!again_) return -1;
    send_info0(true);
  }
  return bits_[bit_at_++];
}

// L2 stops at its time limit, unless the far end's tone is just arriving, because the end of this end's echo would
// disturb it. A source's L2 lasts until it receives the recipient.
float Phase2::next_probing() {
  const bool too_long = probing_at_ - kL1 > kL2Most + static_cast<int>(outcome_.round_trip_samples);
  if (too_long && !is_source() && !tone_.present()) {
    probing_at_ = -1;
    return 0;
  }
  const float gain = probing_at_ < kL1 ? 1.99526231f : 1.f;  // L1 is 6 dB above L2
  return gain * probing_rms_ * kProbingTable.sample[probing_at_++ % kProbingSamples];
}

void Phase2::send_bits(int count) {
  bit_count_ = count;
  bit_at_ = 0;
  again_ = send_marks_ = false;
  probing_at_ = -1;
  deadline_ = 0;
  if (!modulator_.sends_bits()) modulator_.bits();
}

Info0d Phase2::digital_info0(const Info0& capabilities) const {
  Info0d digital = config_.digital;
  digital.v34 = capabilities;
  digital.v92 = config_.v92;
  digital.short_phase2 = config_.v92 && config_.short_phase2;
  return digital;
}

Info0 Phase2::analogue_info0(Info0 info) const {
  if (config_.pcm == PcmSide::kAnalogue && config_.v92)
    info.clock = static_cast<TransmitClock>(kInfo0aV92 | (config_.short_phase2 ? kInfo0aShortPhase2 : 0));
  return info;
}

void Phase2::send_info0(bool again) {
  Info0 info = config_.capabilities;
  info.acknowledge = again && has_far_info0_;
  if (config_.pcm == PcmSide::kDigital) {
    send(digital_info0(info));
  } else {
    send(analogue_info0(info));
  }
  again_ = again;
}

// Its INFO0 came again before it can have heard this end's. So it has a time-out that does not allow for this round
// trip; the Recommendation has none there.
bool Phase2::far_is_impatient() const {
  return far_again_at_ != 0 && far_again_at_ < info0_end_ + kInfo0Length + answer_delay();
}

bool Phase2::refuses_pcm() const {
  const bool too_long = outcome_.round_trip_samples > config_.longest_pcm_trip && far_is_impatient();
  return config_.pcm == PcmSide::kDigital && (too_long || pcm_failed_);
}

bool Phase2::info0_rests() const {
  const int64_t since = now_ - info0_since_;
  return since >= kInfo0Most && since < kInfo0Most + kInfo0Rest;
}

// The time counts from the first repetition, also if tones come between: over a round trip of 900 ms, a far end may
// take each repetition as a sign of its own loss, and also repeat INFO0.
void Phase2::repeat_info0() {
  if (now_ - info0_since_ >= kInfo0Most) info0_since_ = now_;
  wait_until_ = info0_since_ + kInfo0Most;
  if (modulator_.sends_bits()) {
    again_ = true;  // the current sequence is finished first
  } else {
    send_info0(true);
  }
}

void Phase2::send_marks() {
  send_marks_ = true;
  modulator_.bits();
}

void Phase2::send_tone() {
  probing_at_ = -1;
  modulator_.tone();
}

void Phase2::begin_retrain() {
  hurries_ = true;
  far_peak_ = 0;
  may_be_short_ = false;  // "the full Phase 2": V.92 9.7.1
  deadline_ = 0;
  probing_at_ = -1;
  send_marks_ = again_ = false;
  modulator_.silence();
  wait_until_ = now_ + kSilence;
}

void Phase2::retrain_unheeded() {
  note_ignored_refusal();
  retrain_by_itself();
}

void Phase2::retrain_by_itself() {
  ++retrains_;
  begin_retrain();
}

void Phase2::reverse() {
  modulator_.reverse();
  sent_reversal_ = static_cast<double>(now_) + DpskModulator::kReversalDelay + config_.io_delay_samples;
}

void Phase2::reverse_first() {
  reverse();
  deadline_ = now_ + kAnswerReversal + config_.io_delay_samples + 1;
}

void Phase2::reverse_second() {
  reverse();
  wait_until_ = now_ + kAfterReversal;
}

// This end's reversal comes 40 ms after the far end's, at the line terminals.
void Phase2::turn_after(double reversal) {
  const double at = reversal + kTurn - config_.io_delay_samples - DpskModulator::kReversalDelay;
  reverse_at_ = static_cast<int64_t>(at + 0.5);
  if (reverse_at_ < now_) reverse_at_ = now_;
  wait_until_ = reverse_at_ + kAfterReversal;
}

void Phase2::answer_reversal() {
  far_peak_ = tone_.peak();
  deadline_ = static_cast<int64_t>(tone_.reversal_time()) + kCallSecondReversal + config_.io_delay_samples + 1;
  turn_after_far();
}

void Phase2::turn_round() {
  far_peak_ = tone_.peak();
  measure_round_trip();
  turn_after_far();
}

void Phase2::begin_first_tone() {
  if (answers_short()) deadline_ = now_ + kShortReversal + config_.io_delay_samples + 1;
}

void Phase2::reverse_for_short() {
  far_peak_ = tone_.peak();
  reverse();
  wait_until_ = now_ + kAfterReversal;
  deadline_ = now_ + kShortReversal + config_.io_delay_samples + 1;
}

// The time-out continues, because it counts from this end's reversal.
void Phase2::await_short_info1a() {
  measure_round_trip();
  fall_silent();
}

void Phase2::turn_for_short() {
  deadline_ = 0;
  far_peak_ = tone_.peak();
  turn_after_far();
}

void Phase2::begin_full() {
  may_be_short_ = false;
  deadline_ = 0;
}

void Phase2::begin_full_with_tone() {
  begin_full();
  send_tone();
}

void Phase2::end_round_trip() {
  measure_round_trip();
  begin_hear();
  deadline_ = static_cast<int64_t>(tone_.reversal_time()) + kCallThirdReversal + answer_delay() + 1;
}

void Phase2::measure_round_trip() {
  const double trip = tone_.reversal_time() - sent_reversal_ - kTurn;
  outcome_.round_trip_samples = trip > 0 ? static_cast<uint32_t>(trip + 0.5) : 0;
}

void Phase2::send_probing() {
  modulator_.silence();
  probing_at_ = 0;
  if (is_source()) {
    deadline_ = now_ + kSourceTone - kAfterReversal;
    return;
  }
  deadline_ = now_ + kL1 + (calls() ? kCallToneA : kAnswerToneB) + answer_delay() + 1;
}

void Phase2::begin_hear() {
  const auto reversal = static_cast<int64_t>(tone_.reversal_time());
  hear_from_ = reversal + kAfterReversal + kL1 + kSettle;
  wait_until_ = reversal + kHear;
  overload_.reset();
  if (hurries_ && calls() && windows_in_retrain() == 0 && probe_.windows() > 0) {
    wait_until_ = hear_from_ - kSettle;  // what is known of the line stays
  } else {
    probe_.start();
  }
}

// Both ends send tones and INFO0 only. When a retrain begins, the far end may still send data.
bool Phase2::is_line_quiet() const {
  using enum Phase2State;
  constexpr uint64_t kBeforeL1 = in(kInfo0, kInfo0Again, kFirstTone, kReversed, kFirstTurn, kRoundTrip);
  return (kBeforeL1 & in(state_)) != 0 && !is_half_duplex() && (!hurries_ || tone_.present());
}

int Phase2::windows_in_retrain() const {
  const int most = config_.pcm == PcmSide::kNone ? kFewWindows : kAllWindows;  // V.90 was only tried with all
  const int64_t left = kMostSilence - (kTurn + kAfterReversal + kL1 + kSettle) - answer_delay();
  const int64_t fit = left < LineProbe::kWindow ? 0 : 1 + (left - LineProbe::kWindow) / (LineProbe::kWindow / 2);
  return fit < most ? static_cast<int>(fit) : most;
}

void Phase2::hear(float rx) {
  const int before = probe_.windows();
  probe_.put(rx);
  overload_.put_l2(rx);
  const int few = hurries_ ? windows_in_retrain() : kFewWindows;
  if (!calls() || before == few || probe_.windows() != few) return;
  probe_.analyse();
  constexpr int kToneB = 1200 / 150 - 1;  // L2 has nothing there
  const double noise = static_cast<double>(probe_.noise_power(kToneB)) * 4000 / 150;
  if (hurries_ || mean_square_to_dbm0(noise) > kLoudNoiseDbm0) wait_until_ = now_;
}

void Phase2::end_probing() {
  if (!probe_.is_analysed()) probe_.analyse();
  begin_choice(true);
  send_tone();
}

void Phase2::begin_second_tone() {
  send_tone();
  wait_until_ = now_ + kAnswerTone;
  deadline_ = now_ + kAnswerInfo1c + 2 * answer_delay() + 1;
}

void Phase2::reverse_as_recipient() {
  reverse();
  wait_until_ = now_ + kAfterReversal;
  deadline_ = now_ + kRecipientReversal;
}

void Phase2::hear_source() {
  far_peak_ = tone_.peak();
  measure_round_trip();
  begin_hear();
  deadline_ = 0;
}

void Phase2::end_source_probing() {
  end_probing();
  deadline_ = now_ + kRecipientTone;
}

void Phase2::end_tone() {
  deadline_ = now_ + kToneBeforeInfoh;
}

void Phase2::await_infoh() {
  send_tone();
  deadline_ = now_ + kSourceInfoh;
}

void Phase2::await_info1a() {
  fall_silent();
  deadline_ = now_ + kCallInfo1a + answer_delay() + 1;
}

}  // namespace offhook::v34
