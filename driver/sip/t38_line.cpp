// SPDX-License-Identifier: MIT
#include "driver/sip/t38_line.h"

#include "driver/fax/modems.h"
#include "driver/fax/t38_terminal.h"

namespace offhook::sip {
namespace {

RtpConfig media_of(const SipPlace& place) {
  RtpConfig media;
  media.local = place.account.local;
  media.local.set_port(0);
  media.buffer_samples = place.buffer_samples;
  return media;
}

}  // namespace

T38Line::T38Line(const SipPlace& place, const LiveDriverConfig& driver, T38Use use)
    : use_(use), card_(media_of(place)), packets_(media_of(place).local) {
  session_ = std::make_unique<modem::Session>(card_, driver);
  const std::uint16_t fax_port = use == T38Use::kNo ? std::uint16_t{0} : packets_.port();
  phone_ = make_phone(place.account, {{card_.local_port(), fax_port}});
  line_ = std::make_unique<SipLine>(*phone_, 0, card_, *session_);
}

void T38Line::begin(oh_pump_role role, const std::string& number) {
  t38_since_ms_ = -1;
  ticks_ = 0;
  begun_ = true;
  modem::CallConfig call{};
  call.pump = fax::pump_type();
  call.role = role;
  call.digits = number;
  allow(true);
  line_->begin_call(call);
}

// A pump that still has signals of T.30 sends only silence: its samples have no far end.
void T38Line::work() {
  line_->work();
  const CallInfo call = phone_->call(0);
  if (!begun_ || is_t38() || !call.fax) return;
  card_.set_media(std::nullopt);
  packets_.begin(*call.fax);
  t38_since_ms_ = monotonic_ms();
}

std::uint32_t T38Line::take_ticks() {
  const auto ticks = static_cast<std::uint64_t>(monotonic_ms() - t38_since_ms_) * fax::T38Terminal::kClockHz / 1000;
  const auto passed = static_cast<std::uint32_t>(ticks - ticks_);
  ticks_ = ticks;
  return passed;
}

std::string T38Line::refusal() const {
  const CallInfo call = phone_->call(0);
  return call.fax_offer == FaxOffer::kRefused ? call.fax_refusal : "";
}

}  // namespace offhook::sip
