// SPDX-License-Identifier: MIT
#include "dsp/v90/session/short_phase1.h"

#include "dsp/blocks/level.h"

namespace offhook::v90 {
namespace {

constexpr int64_t ms(int64_t t) {
  return t * 8;
}

constexpr int64_t kSilence = ms(75);     // 75 +- 5 ms; 9.2.1.3, 9.2.2.1, 9.2.2.3
constexpr int64_t kLeastTone = ms(50);   // of TONEq; 9.2.1.3
constexpr float kAnspcmMs = 1000;        // if ANSam is not known; 9.2.1.3, 9.2.3.3
constexpr int64_t kNoAnspcm = ms(2000);  // after QCA1a or QCA2a; 9.2.3.3
constexpr int64_t kNoToneq = ms(2000);   // after QCA1d or QCA2d; 9.2.4.3
constexpr int64_t kLongest = ms(4000);   // of ANSpcm of a caller, and of TONEq; the text gives no number
// A caller's CM continues for a round trip; its ones are at 980 Hz, too: at most fourteen in a row, 47 ms. TONEq lasts
// until ANSpcm has ended.
constexpr float kToneSeenMs = 60;
constexpr float kLeastShare = 0.2f;  // of all that is received: the echo of ANSpcm is no TONEq
constexpr float kQtsSeenMs = 60;     // QTS lasts 96 ms
constexpr int kQtsHz = 1335;         // 8000 / 6, on the detector's grid of 5 Hz

}  // namespace

const ShortPhase1::Table& ShortPhase1::transitions() {
  using enum ShortPhase1State;
  using enum ShortPhase1Event;
  using P = ShortPhase1;
  // clang-format off
  static constexpr Transition kRows[] = {
      // the digital modem
      {in(kBefore),  kWaitOver,  nullptr,                  &P::send_qts,       kQts,     "9.2.2.1, 9.2.4.1"},
      {in(kQts),     kSentQts,   nullptr,                  &P::send_anspcm,    kAnspcm,  "9.2.2.1, 9.2.4.1"},
      {in(kAnspcm),  kFarTone,   nullptr,                  &P::be_silent,      kSilence, "9.2.2.3, 9.2.4.3"},
      {in(kAnspcm),  kTimeout,   &P::calls,                &P::end_for_call,   kEnded,   "9.2.2.1"},
      {in(kAnspcm),  kTimeout,   nullptr,                  &P::end_for_answer, kEnded,   "9.2.4.3"},
      // the analogue modem
      {in(kAwait),   kFarAnspcm, &P::knows_ansam,          &P::send_tone,      kTone,    "9.2.1.3, 9.2.3.3"},
      {in(kAwait),   kFarAnspcm, nullptr,                  &P::hear_anspcm,    kHear,    "9.2.1.3, 9.2.3.3"},
      {in(kHear),    kFarLongAnspcm, nullptr,              &P::send_tone,      kTone,    "9.2.1.3, 9.2.3.3"},
      {in(kAwait, kHear), kFarAnsam, &P::calls,            &P::end_for_call,   kEnded,   "9.2.1.1, 9.2.1.2"},
      {in(kHear),    kTimeout,   &P::calls,                &P::end_for_call,   kEnded,   "9.2.1.3"},
      {in(kAwait, kHear), kTimeout, nullptr,               &P::end_for_answer, kEnded,   "9.2.3.3"},
      {in(kTone),    kFarQuiet,  &P::tone_was_long_enough, &P::be_silent,      kSilence, "9.2.1.3, 9.2.3.3"},
      {in(kTone),    kTimeout,   &P::calls,                &P::end_for_call,   kEnded,   "9.2.1.3"},
      {in(kTone),    kTimeout,   nullptr,                  &P::end_for_answer, kEnded,   "9.2.3.3"},
      // both
      {in(kSilence), kWaitOver,  nullptr,                  &P::end_for_phase2, kEnded,   "9.2.1.3, 9.2.2.3"},
  };
  // clang-format on
  return TransitionIndex<kRows>::kTable;
}

ShortPhase1::ShortPhase1(const ShortPhase1Config& config)
    : TableProcedure(config.digital ? State::kBefore : State::kAwait),
      config_(config),
      qts_(kQtsHz),
      peak_(static_cast<float>(dbm0_to_peak(static_cast<double>(config.tx_level_dbm0)))) {
  if (config.digital) {
    wait_until_ = kSilence;
  } else if (!config.calls) {
    deadline_ = kNoAnspcm;
  }
}

bool ShortPhase1::tone_was_long_enough() const {
  return age() >= kLeastTone;
}

void ShortPhase1::send_qts() {
  qts_at_ = now_;
  deadline_ = config_.calls ? kLongest : kNoToneq;
}

void ShortPhase1::send_anspcm() {
  anspcm_at_ = now_;
  toneq_.reset();
}

void ShortPhase1::hear_anspcm() {
  deadline_ = now_ + kLongest;
}

void ShortPhase1::send_tone() {
  deadline_ = now_ + kLongest;
}

void ShortPhase1::be_silent() {
  deadline_ = 0;
  wait_until_ = now_ + kSilence;
}

void ShortPhase1::step(float rx) {
  if (config_.digital) {
    hear_digital(rx);
    if (state_ == State::kQts && now_ - qts_at_ == kQtsSymbols + kQtsBarSymbols) handle(Event::kSentQts);
  } else {
    hear_analogue(rx);
  }
  if (is_due(now_, &wait_until_)) handle(Event::kWaitOver);
  if (is_due(now_, &deadline_)) handle(Event::kTimeout);
}

void ShortPhase1::hear_digital(float rx) {
  toneq_.put(rx);
  if (toneq_.steady_ms() >= kToneSeenMs && toneq_.share() > kLeastShare) handle(Event::kFarTone);
}

void ShortPhase1::hear_analogue(float rx) {
  qts_.put(rx);
  if (state_ == State::kAwait && qts_.steady_ms() >= kQtsSeenMs && qts_.share() > kLeastShare) qts_peak_ = qts_.peak();
  answer_tone_.put(rx);
  switch (answer_tone_.tone()) {
    case v8::AnswerTone::kAns:
      handle(Event::kFarAnspcm);
      if (answer_tone_.detector().steady_ms() >= kAnspcmMs) handle(Event::kFarLongAnspcm);
      break;
    case v8::AnswerTone::kAnsam:
      handle(Event::kFarAnsam);
      break;
    case v8::AnswerTone::kNone:
      handle(Event::kFarQuiet);
      break;
    default:
      break;
  }
}

float ShortPhase1::process(float rx) {
  step(rx);
  ++now_;
  return state_ == State::kTone ? peak_ * oscillator_.next().re : 0;
}

Pcm ShortPhase1::process_digital(float rx) {
  step(rx);
  const int64_t at = now_++;
  if (state_ == State::kQts) return qts_symbol(static_cast<int>(at - qts_at_), config_.uqts);
  if (state_ == State::kAnspcm)
    return anspcm_symbol(config_.law, config_.anspcm_dbm0, static_cast<uint32_t>(at - anspcm_at_));
  return {0, true};
}

}  // namespace offhook::v90
