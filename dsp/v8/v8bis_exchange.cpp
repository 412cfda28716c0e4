// SPDX-License-Identifier: MIT
#include "dsp/v8/v8bis_exchange.h"

#include <string.h>

namespace offhook::v8bis {
namespace {

constexpr int64_t ms(int64_t t) {
  return t * 8;
}

constexpr int64_t kBeforeCre = ms(400);         // V.8 bis 10.2.2
constexpr int kCreSeenMs = 50;                  // V.92 9.2.1.2, 9.2.2.2
constexpr int64_t kNoAnswer = ms(1000);         // V.92 9.2.1.2, 9.2.2.2
constexpr int64_t kNoMessage = ms(3000);        // V.92 9.2.3.2, 9.2.4.2
constexpr int kPreambleBits = 300 * 1 / 10;     // 100 ms of mark; V.8 bis 7.2.4
constexpr uint32_t kOpeningFlags = 3;           // 2 to 5; V.8 bis 7.2.5
constexpr uint32_t kFlags = kOpeningFlags + 1;  // 1 to 3 close the frame

v8::Channel channel(bool of_caller) {
  return of_caller ? v8::Channel::kHigh : v8::Channel::kLow;  // the caller responds; V.8 bis 7.2
}

}  // namespace

const Exchange::Table& Exchange::transitions() {
  using enum ExchangeState;
  using enum ExchangeEvent;
  using P = Exchange;
  // clang-format off
  static constexpr Transition kRows[] = {
      {in(kListen),      kFarSignal,  nullptr, &P::send_message,     kSend,        "V.92 9.2.1.2, 9.2.2.2"},
      {in(kSend),        kSent,       nullptr, &P::await,            kAwait,       "V.92 9.2.1.2, 9.2.2.2"},
      {in(kAwait),       kFarMessage, nullptr, nullptr,              kAgreed,      "V.92 9.2.1.2, 9.2.2.2"},
      {in(kAwait),       kTimeout,    nullptr, &P::listen,           kListen,      "V.92 9.2.1.2, 9.2.2.2"},
      {in(kBefore),      kWaitOver,   nullptr, nullptr,              kCre,         "10.2.2"},
      {in(kCre, kAfter), kFarMessage, nullptr, &P::send_message,     kAcknowledge, "V.92 9.2.3.2, 9.2.4.2"},
      {in(kCre),         kSent,       nullptr, &P::wait_for_message, kAfter,       "10.2.2"},
      {in(kAfter),       kTimeout,    nullptr, nullptr,              kAlone,       "V.92 9.2.3.2, 9.2.4.2"},
      {in(kAcknowledge), kSent,       nullptr, nullptr,              kAgreed,      "V.92 9.2.3.2, 9.2.4.2"},
  };
  // clang-format on
  return TransitionIndex<kRows>::kTable;
}

Exchange::Exchange(const ExchangeConfig& config)
    : TableProcedure(config.calls ? State::kListen : State::kBefore),
      config_(config),
      cre_(Signal::kCre, static_cast<double>(config.tx_level_dbm0)),
      receiver_(channel(!config.calls)),
      modulator_(channel(config.calls), static_cast<double>(config.tx_level_dbm0)) {
  frames_.init(received_, sizeof received_);
  if (!config.calls) wait_until_ = kBeforeCre;
}

void Exchange::listen() {
  segment1_ = {};
}

void Exchange::send_message() {
  memcpy(frame_, config_.message, kOctets);
  sender_.init(frame_);
  preamble_ = kPreambleBits;
  sent_ = false;
  has_sent_ = true;
  modulator_.restart();
}

void Exchange::await() {
  deadline_ = now_ + kNoAnswer;
}

void Exchange::wait_for_message() {
  deadline_ = now_ + kNoMessage;
}

void Exchange::hear(float rx) {
  if (state_ == State::kListen) {
    segment1_.put(rx);
    if (segment1_.steady_ms() >= kCreSeenMs) handle(Event::kFarSignal);
  }
  if (!receiver_.put(rx) || frames_.put(receiver_.bit()) != v42::HdlcReceiver::kFrame) return;
  if (!frames_.fcs16() || frames_.size() != kOctets + 2 || !config_.understands(received_, kOctets)) return;
  uint8_t far[kOctets];
  memcpy(far, received_, kOctets);
  if (handle(Event::kFarMessage)) memcpy(far_, far, kOctets);
}

int Exchange::next_bit() {
  if (preamble_ > 0) {
    --preamble_;
    return 1;
  }
  if (sender_.ready() && sender_.flags() == kFlags) {
    sent_ = true;  // the last bit of the last flag is over
    return 1;
  }
  if (sender_.ready() && sender_.flags() == kOpeningFlags) sender_.load(kOctets, false);
  return sender_.next();
}

float Exchange::send() {
  switch (state_) {
    case State::kCre: {
      const float x = cre_.next();
      if (cre_.done()) handle(Event::kSent);
      return x;
    }
    case State::kSend:
    case State::kAcknowledge: {
      const float x = modulator_.next([this] { return next_bit(); });
      if (!sent_) return x;
      handle(Event::kSent);
      return 0;
    }
    default:
      return 0;
  }
}

float Exchange::process(float rx) {
  hear(rx);
  if (is_due(now_, &wait_until_)) handle(Event::kWaitOver);
  if (is_due(now_, &deadline_)) handle(Event::kTimeout);
  const float tx = send();
  ++now_;
  return tx;
}

}  // namespace offhook::v8bis
