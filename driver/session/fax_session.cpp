// SPDX-License-Identifier: MIT
#include "driver/session/fax_session.h"

#include <cstring>
#include <stdexcept>

#include "offhook/modem_card.h"

namespace offhook::modem {

FaxSession::FaxSession(LiveCard& card, const LiveDriverConfig& driver, const FaxCallConfig& call)
    : card_(card), config_(call), dialler_(call.digits, call.plan, OH_MODEM_RATE_HZ), detector_(OH_MODEM_RATE_HZ) {
  const oh_streams& streams = card.card().streams;
  for (const oh_stream_format* direction : {&streams.rx, &streams.tx}) {
    if (direction->rate_hz != OH_MODEM_RATE_HZ || direction->encoding != OH_LINEAR16)
      throw std::runtime_error("not a modem card: expected 16-bit linear samples at " +
                               std::to_string(OH_MODEM_RATE_HZ) + " Hz in both directions");
  }
  const oh_pump_role role = call.terminal.calls ? OH_PUMP_CALL : OH_PUMP_ANSWER;
  if (call.v34) {
    v34_ = std::make_unique<fax::V34Modems>(fax::V34Config{.role = role, .source = !call.terminal.send.empty()});
    modems_ = v34_->pump();
  } else {
    pump_ = fax::make_pump(role);
    modems_ = oh_pump_at(fax::pump_type(), pump_.get());
  }
  driver_.emplace(card, oh_pump{process, report_gap, this}, driver);
}

FaxSession::~FaxSession() {
  driver_->stop();
  oh_card_set_off_hook(&card_.state(), 0);
}

bool FaxSession::ringing() const {
  return oh_card_ringing(&card_.state()) != 0;
}

void FaxSession::begin() {
  terminal_.emplace(v34_ ? v34_->rings() : fax::rings_of(pump_.get()), config_.terminal);
  active_.store(true, std::memory_order_release);
  oh_card_set_off_hook(&card_.state(), 1);
}

void FaxSession::process(void* self, const void* rx, void* tx, std::size_t n) {
  FaxSession& s = *static_cast<FaxSession*>(self);
  const auto* in = static_cast<const std::int16_t*>(rx);
  auto* out = static_cast<std::int16_t*>(tx);
  if (!s.active_.load(std::memory_order_acquire)) {
    std::memset(out, 0, n * sizeof *out);
  } else if (!s.dialler_.done()) {
    s.dialler_.process(in, out, n);
    if (s.dialler_.failed()) s.no_dial_tone_.store(true, std::memory_order_release);
  } else {
    s.dialled_.store(true, std::memory_order_release);
    s.listen(in, n);
    s.modems_.process(s.modems_.self, in, out, n);
  }
}

void FaxSession::report_gap(void* self, std::size_t n) {
  FaxSession& s = *static_cast<FaxSession*>(self);
  if (!s.active_.load(std::memory_order_acquire)) return;
  if (!s.dialler_.done()) {
    s.dialler_.report_gap(n);
  } else {
    s.modems_.report_gap(s.modems_.self, n);
  }
}

/// Until the far machine is heard: the exchange may signal that the number is busy.
void FaxSession::listen(const std::int16_t* rx, std::size_t n) {
  oh_pump_status status{};
  if (v34_) {
    status = v34_->status();
  } else {
    fax::pump_type()->status(pump_.get(), &status);
  }
  if (status.state != OH_PUMP_CONNECTING) return;
  detector_.process(rx, n);
  if (detector_.progress() == Progress::kBusy) busy_.store(true, std::memory_order_release);
}

void FaxSession::poll() {
  if (driver_->is_gone()) failure_ = card_.failure();
  if (terminal_ && !over()) terminal_->poll();
  if (no_dial_tone_.load(std::memory_order_acquire)) failure_ = "no dial tone";
  if (busy_.load(std::memory_order_acquire)) failure_ = "the exchange sends busy tone";
  stopped_ = stopped_ || !failure_.empty();
}

void FaxSession::end_call() {
  if (terminal_) terminal_->end_call();
  stopped_ = true;
}

}  // namespace offhook::modem
