// SPDX-License-Identifier: MIT
#include "dsp/v90/session/hold.h"

namespace offhook::v90 {
namespace {

constexpr int64_t ms(int64_t t) {
  return t * 8;
}

constexpr int64_t kSilence = ms(70);      // 70 +- 5 ms, 9.10.1 (Corrigendum 1)
constexpr int64_t kLeastTone = ms(50);    // 9.10.1
constexpr int64_t kResponse = ms(2000);   // and a round trip, 9.10.1.1
constexpr int64_t kGone = ms(200);        // 9.10.1.2
constexpr int64_t kNothing = ms(2000);    // 9.10.2.1
constexpr float kLongToneMs = 100;        // 9.10.2.1
constexpr float kFarToneMs = 54;          // as a retrain's, which it may be
constexpr int64_t kBeforeAnsam = ms(40);  // at most 80 ms, 9.10.2.1
constexpr int kReconnectAnsam = 8000;     // samples of ANSam before Phase 1, 9.10.2.3
constexpr int kHeldAnsam = 800;           // enough to detect that the far end is on hold

// The last bit's pulse has its middle kDelaySamples after the request for it, one symbol ago, and lasts half a symbol.
constexpr int64_t kLastBitEnds = DpskModulator::kDelaySamples - 4000 / kDpskBaud;

int hz_of(bool digital) {
  return digital ? v34::kToneBHz : v34::kToneAHz;
}

}  // namespace

const Hold::Table& Hold::transitions() {
  using enum HoldState;
  using enum HoldEvent;
  using P = Hold;
  // clang-format off
  static constexpr Transition kRows[] = {
      // the end that initiates
      {in(kSilence),  kWaitOver,            nullptr,          &P::send_tone,           kTone,        "9.10.1"},
      {in(kTone),     kFarTone,             &P::tone_was_long_enough, &P::send_sequences, kInitiate, "9.10.1.1"},
      {in(kTone),     kTimeout,             nullptr,          &P::end_for_retrain,     kEnded,       "9.10.1.1"},
      {in(kInitiate), kFarAcknowledge,      &P::requests,     &P::leave,               kLeave,       "9.10.2.1"},
      {in(kInitiate), kFarDeny,             &P::requests,     &P::take_denial,         kInitiate,    "9.10.2.1, Table 34"},
      {in(kInitiate), kFarClearAcknowledge, &P::clears,       &P::finish_for_release,  kFinish,      "9.10.2.2"},
      {in(kInitiate), kFarAnswerTone,       &P::reconnects,   &P::finish_for_call,     kFinish,      "9.10.2.3"},
      {in(kInitiate), kTimeout,             nullptr,          &P::finish_for_retrain,  kFinish,      "9.10.1.1"},
      {in(kLeave),    kFarAnswerTone,       nullptr,          &P::go_away,             kAway,        "9.10.2.1"},
      {in(kLeave),    kTimeout,             nullptr,          &P::go_away,             kAway,        "9.10.2.1"},
      {in(kAway),     kResume,              nullptr,          &P::end_for_call,        kEnded,       "9.10.2.1"},
      {in(kAway),     kClear,               nullptr,          &P::end_for_clear,       kEnded,       "9.10.2.1"},
      {in(kAway),     kTimeout,             nullptr,          &P::end_for_release,     kEnded,       "9.10.2.1"},
      // the end that responds; both having begun, the digital modem
      {in(kListen),   kFarRequest,          nullptr,          &P::respond_to_request,  kRespondTone, "9.10.1.2"},
      {in(kListen),   kFarClearRequest,     nullptr,          &P::respond_to_clear,    kRespondTone, "9.10.1.2"},
      {in(kListen),   kFarReconnect,        nullptr,          &P::be_silent,           kBeforeAnswer, "9.10.2.3"},
      {in(kInitiate), kFarRequest,          &P::gives_way,    &P::prepare_response,    kRespond,     "9.10.1.2"},
      {in(kRespondTone), kWaitOver,         nullptr,          &P::send_sequences,      kRespond,     "9.10.1.2"},
      {in(kRespond),  kFarRequest,          &P::denies,       &P::still_asked,         kRespond,     "9.10.1.1"},
      {in(kRespond),  kFarLongTone,         &P::grants,       &P::finish_for_answer,   kFinish,      "9.10.2.1"},
      {in(kRespond),  kFarSilent,           &P::grants,       &P::finish_for_answer,   kFinish,      "9.10.2.1"},
      {in(kRespond),  kTimeout,             &P::grants,       &P::finish_for_release,  kFinish,      "9.10.2.1"},
      {in(kRespond),  kFarClearAcknowledge, &P::denies,       &P::finish_for_release,  kFinish,      "9.10.2.1"},
      {in(kRespond),  kFarReconnect,        &P::denies,       &P::finish_for_answer,   kFinish,      "9.10.2.1"},
      {in(kRespond),  kTimeout,             nullptr,          &P::finish_for_retrain,  kFinish,      "9.10.1.1"},
      {in(kRespond),  kFarTone,             &P::acknowledges_clear, &P::finish_for_release, kFinish, "9.10.2.2"},
      {in(kRespond),  kFarGone,             &P::acknowledges_clear, &P::finish_for_release, kFinish, "9.10.2.2"},
      {in(kFinish),   kSentSequence,        &P::answers,      &P::be_silent,           kBeforeAnswer, "9.10.2.1"},
      {in(kFinish),   kSentSequence,        nullptr,          &P::end_planned,         kEnded,       "9.10.1"},
      {in(kBeforeAnswer), kWaitOver,        nullptr,          &P::end_for_answer,      kEnded,       "9.10.2.1, 9.10.2.3"},
  };
  // clang-format on
  return TransitionIndex<kRows>::kTable;
}

Hold::Hold(const HoldConfig& config)
    : TableProcedure(State::kListen),
      config_(config),
      dpsk_(hz_of(!config.digital)),
      tone_(hz_of(!config.digital)),
      modulator_(v34::phase2_signal(hz_of(config.digital), static_cast<double>(config.tx_level_dbm0),
                                    static_cast<double>(config.guard_with_tone_db))) {}

void Hold::initiate(const HoldMessage& message) {
  message_ = message;
  state_ = State::kSilence;
  entered_ = now_;
  wait_until_ = now_ + kSilence;
}

int64_t Hold::response_time() const {
  return kResponse + config_.round_trip_samples;
}

uint32_t Hold::answer_tone_samples() const {
  const uint32_t seconds = hold_seconds(message_.information);
  if (seconds == kNoHoldLimit) return 0;
  const int64_t passed = now_ - acknowledged_, all = int64_t{seconds} * 8000;
  return static_cast<uint32_t>(passed < all ? all - passed : 1);
}

float Hold::process(float rx) {
  if (state_ == State::kEnded) return 0;
  hear(rx);
  keep_time();
  const float tx = modulator_.next([this] { return next_bit(); });
  ++now_;
  return tx;
}

// --- reception

void Hold::hear(float rx) {
  DpskDecision decision;
  if (dpsk_.put(rx, &decision) && sequences_.put(decision)) take(sequences_.found().info);
  tone_.put(rx);
  answer_tone_.put(rx);
  const bool answer_tone = answer_tone_.tone() == v8::AnswerTone::kAnsam;
  answer_tone_age_ = answer_tone ? answer_tone_age_ + 1 : 0;
  if (tone_.clear_ms() > kFarToneMs) {
    last_heard_ = now_;
    handle(Event::kFarTone);
  }
  if (tone_.clear_ms() >= kLongToneMs) handle(Event::kFarLongTone);
  if (answer_tone_age_ >= (reconnects() ? kReconnectAnsam : kHeldAnsam)) handle(Event::kFarAnswerTone);
}

void Hold::take(const HoldMessage& message) {
  heard_ = message;
  last_sequence_ = last_heard_ = now_;
  switch (message.signal) {
    case HoldSignal::kRequest:
      handle(Event::kFarRequest);
      break;
    case HoldSignal::kAcknowledge:
      if (hold_seconds(message.information) != 0) handle(Event::kFarAcknowledge);
      break;
    case HoldSignal::kDeny:
      handle(Event::kFarDeny);
      break;
    case HoldSignal::kClearRequest:
      handle(Event::kFarClearRequest);
      break;
    case HoldSignal::kClearAcknowledge:
      handle(Event::kFarClearAcknowledge);
      break;
    case HoldSignal::kReconnect:
      handle(Event::kFarReconnect);
      break;
  }
}

void Hold::keep_time() {
  if (now_ > last_sequence_ + kGone) handle(Event::kFarGone);
  if (now_ > last_heard_ + kNothing) handle(Event::kFarSilent);
  if (is_due(now_, &bits_end_)) handle(Event::kSentSequence);
  if (is_due(now_, &wait_until_)) handle(Event::kWaitOver);
  if (is_due(now_, &deadline_)) handle(Event::kTimeout);
}

bool Hold::tone_was_long_enough() const {
  return age() >= kLeastTone;
}

// --- transmission

// Sequences follow each other without a break, and each is completed.
int Hold::next_bit() {
  if (bit_at_ == HoldMessage::kBits) {
    if (grants() && acknowledged_ == 0) acknowledged_ = now_ + DpskModulator::kDelaySamples;
    if (!repeats_) {
      bits_end_ = now_ + kLastBitEnds;
      return -1;
    }
    bit_at_ = 0;
  }
  if (bit_at_ == 0) encode(message_, bits_);
  return bits_[bit_at_++];
}

void Hold::send_tone() {
  modulator_.tone();
  tone_.reset();  // its samples were data
  deadline_ = now_ + response_time();
}

void Hold::send_sequences() {
  repeats_ = true;
  bit_at_ = 0;
  modulator_.bits();
  last_sequence_ = last_heard_ = now_;
  if (!grants() && !acknowledges_clear()) deadline_ = now_ + response_time();
}

void Hold::leave() {
  granted_ = heard_.information;
  repeats_ = false;
  deadline_ = now_ + kNothing + response_time();
}

void Hold::go_away() {
  modulator_.silence();
  const uint32_t seconds = hold_seconds(granted_);
  deadline_ = seconds == kNoHoldLimit ? 0 : now_ + int64_t{seconds} * 8000;
}

// The owner prefers the connection that it had: not MHcda, but MHfrr.
void Hold::take_denial() {
  denied_ = true;
  denied_for_ever_ = heard_.information == static_cast<uint8_t>(DenyReason::kForEver);
  message_ = hold_message(HoldSignal::kReconnect);
  deadline_ = now_ + response_time();
}

void Hold::prepare_response() {
  const bool grant = hold_seconds(config_.grant) != 0;
  message_ = grant ? HoldMessage{HoldSignal::kAcknowledge, config_.grant}
                   : HoldMessage{HoldSignal::kDeny, static_cast<uint8_t>(DenyReason::kForEver)};
  const uint32_t seconds = hold_seconds(message_.information);
  if (!grant) deadline_ = now_ + response_time();
  if (grant) deadline_ = seconds == kNoHoldLimit ? 0 : now_ + int64_t{seconds} * 8000;
}

void Hold::respond_to_request() {
  prepare_response();
  modulator_.tone();
  wait_until_ = now_ + kLeastTone;
}

void Hold::respond_to_clear() {
  message_ = hold_message(HoldSignal::kClearAcknowledge);
  modulator_.tone();
  wait_until_ = now_ + kLeastTone;
}

// While MHreq is received, the answer to MHnack is not due.
void Hold::still_asked() {
  deadline_ = now_ + response_time();
}

void Hold::be_silent() {
  modulator_.silence();
  wait_until_ = now_ + kBeforeAnsam;
}

void Hold::finish(HoldOutcome planned) {
  planned_ = planned;
  repeats_ = false;
  deadline_ = 0;
}

void Hold::end(HoldOutcome outcome) {
  modulator_.silence();
  outcome_ = outcome;
}

}  // namespace offhook::v90
