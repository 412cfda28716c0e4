// SPDX-License-Identifier: MIT
#include "driver/sip/sip_line.h"

#include <algorithm>
#include <stdexcept>

#include "driver/base/printable.h"

namespace offhook::sip {

namespace {
constexpr std::int64_t kMs = 1'000'000;
constexpr std::int64_t kRingOnMs = 2000, kRingPeriodMs = 6000;
}  // namespace

SipLine::SipLine(Phone& phone, std::size_t line, RtpCard& card, modem::Session& session)
    : phone_(phone), line_(line), card_(card), session_(session) {
  phone_.accept(line_, true);
}

SipLine::~SipLine() {
  phone_.accept(line_, false);
  phone_.hang_up(line_);
}

void SipLine::work() {
  const CallState before = info_.state;
  info_ = phone_.call(line_);
  if (info_.state == CallState::kRinging && before != CallState::kRinging) rings_since_ns_ = monotonic_ns();
  const bool calls = stage_ == Stage::kSetUp || stage_ == Stage::kModem;
  if (calls && info_.media && info_.media_version != media_version_) {
    media_version_ = info_.media_version;
    card_.set_media(info_.media);
  }
  if (stage_ == Stage::kSetUp && info_.state == CallState::kUp) {
    stage_ = Stage::kModem;
    try {
      session_.begin_call(call_);
    } catch (const std::invalid_argument&) {
      phone_.hang_up(line_);
      end(EndKind::kOther, "none of the allowed modulations is possible on this line");
    }
  } else if (calls && info_.state == CallState::kEnded) {
    end(info_.end, info_.reason);
  } else if (stage_ == Stage::kModem && card_.foreign_type() >= 0) {
    phone_.hang_up(line_);
    end(EndKind::kOther, card_.failure());
  }
}

void SipLine::end(EndKind kind, const std::string& reason) {
  if (stage_ == Stage::kSetUp) card_.set_media(std::nullopt);
  stage_ = Stage::kEnded;
  end_ = kind;
  reason_ = printable(reason);
}

bool SipLine::ringing() const {
  if (info_.state != CallState::kRinging) return false;
  return (monotonic_ns() - rings_since_ns_) / kMs % kRingPeriodMs < kRingOnMs;
}

void SipLine::begin_call(const modem::CallConfig& call) {
  if (call.digits_only)
    throw std::invalid_argument("digits alone cannot be dialled by SIP; expected a number without ;");
  const bool rings = info_.state == CallState::kRinging;
  const bool dials = !call.digits.empty();
  if (call.role == OH_PUMP_CALL && !dials && !rings) throw std::invalid_argument("a SIP call needs a number to dial");
  const std::string user = dials ? sip_number(call.digits) : "";
  call_ = call;
  call_.digits.clear();
  media_version_ = 0;
  reason_.clear();
  stage_ = Stage::kSetUp;
  if (dials) {
    phone_.dial(line_, user);
    info_ = phone_.call(line_);
  } else if (rings) {
    phone_.answer(line_);
  } else {
    end(EndKind::kOther, "no call rings");
  }
}

void SipLine::end_call() {
  if (stage_ == Stage::kModem && info_.state == CallState::kUp) {
    session_.end_call([this] { return phone_.call(line_).state != CallState::kUp; });
    phone_.hang_up(line_);
  } else {
    phone_.hang_up(line_);
    session_.end_call();
  }
  card_.set_media(std::nullopt);
  stage_ = Stage::kIdle;
  phone_.accept(line_, true);
}

modem::CallStatus SipLine::status() const {
  modem::CallStatus status =
      stage_ == Stage::kModem || stage_ == Stage::kEnded ? session_.status() : modem::CallStatus{};
  if (stage_ == Stage::kSetUp) {
    status.dialling = info_.state == CallState::kCalling;
    if (info_.state == CallState::kRingback) status.progress = modem::Progress::kRinging;
  }
  if (stage_ != Stage::kEnded) return status;
  status.line_failure = reason_;
  status.dialling = false;
  status.progress = end_ == EndKind::kBusy        ? modem::Progress::kBusy
                    : end_ == EndKind::kNoAnswer  ? modem::Progress::kNoAnswer
                    : end_ == EndKind::kNoService ? modem::Progress::kNoDialTone
                                                  : modem::Progress::kNothing;
  return status;
}

}  // namespace offhook::sip
