// SPDX-License-Identifier: MIT
#include "driver/sip/sip_gateway.h"

#include <fmt/format.h>

#include <stdexcept>
#include <utility>
#include <variant>

#include "driver/base/printable.h"

namespace offhook::sip {
namespace {

constexpr std::int64_t kRingGoneMs = 8000;  // longer than the pause between two rings: the caller gave up
constexpr std::int64_t kSetUpMs = 60'000;   // SIP's call set-up and T.38's offer: T.30's caller gives up after T1, 35 s
// Every signal of T.30 has packets, and its longest silence is T1, 35 s +- 5 s (spandsp).
constexpr std::int64_t kSilentMs = 60'000;
constexpr std::int64_t kLastSignalMs = 3000;  // V.21 preamble and DCN take 1.5 s

}  // namespace

SipGateway::SipGateway(LiveCard& card, const SipPlace& place, const LiveDriverConfig& driver,
                       const SipGatewayConfig& config)
    : config_(config), line_(card, driver), sip_(place, driver, T38Use::kOffer) {}

SipGateway::~SipGateway() {
  stop();
}

void SipGateway::stop() {
  if (in_call()) end("ended here");
}

void SipGateway::poll() {
  sip_.work();
  switch (stage_) {
    case Stage::kIdle:
      return await_call();
    case Stage::kSetUp:
      return set_up();
    case Stage::kFax:
      return carry();
  }
}

void SipGateway::await_call() {
  if (line_.ringing() && !config_.to.empty()) return begin(true);
  if (sip_.ringing() && !config_.dial.empty()) return begin(false);
}

void SipGateway::begin(bool from_line) {
  from_line_ = from_line;
  offered_ = false;
  over_ms_ = -1;
  since_ms_ = monotonic_ms();
  stage_ = Stage::kSetUp;
  const Caller caller = from_line ? line_.caller() : sip_.caller();
  const std::string who = caller.number.empty() ? "" : " of " + printable(caller.number);
  news_ += from_line ? fmt::format("call from the line{}: calling {} by SIP\n", who, config_.to)
                     : fmt::format("call by SIP{}\n", who);
  try {
    sip_.begin(from_line ? OH_PUMP_CALL : OH_PUMP_ANSWER, from_line ? config_.to : "");
  } catch (const std::invalid_argument& e) {
    end(e.what());
  }
}

void SipGateway::set_up() {
  const std::int64_t now = monotonic_ms();
  if (const std::string why = sip_.failure(); !why.empty()) return end(why);
  if (sip_.is_t38()) return connect();
  if (sip_.fax_pump() != nullptr && !std::exchange(offered_, true)) sip_.offer();
  if (const std::string why = sip_.refusal(); !why.empty()) return end("the far end refuses T.38: " + why);
  if (from_line_ && line_.ringing()) since_ms_ = now;
  if (now - since_ms_ > (from_line_ ? kRingGoneMs : kSetUpMs))
    end(from_line_ ? "the caller gave up" : "the far end did not accept T.38 in time");
}

void SipGateway::connect() {
  gateway_ = std::make_unique<fax::T38Gateway>(
      config_.gateway, [this](std::span<const std::uint8_t> packet, int times) { sip_.packets().send(packet, times); },
      config_.frame);
  modem::CallConfig call{};
  call.pump = fax::gateway_type();
  call.pump_memory = gateway_->pump_memory();
  call.role = from_line_ ? OH_PUMP_ANSWER : OH_PUMP_CALL;
  if (!from_line_) call.digits = config_.dial;
  call.plan = config_.plan;
  news_ += "T.38 is agreed\n";
  stage_ = Stage::kFax;
  heard_ms_ = monotonic_ms();
  packets_ = 0;
  try {
    line_.begin_call(call);
  } catch (const std::invalid_argument& e) {
    end(e.what());
  }
}

std::string SipGateway::line_trouble() const {
  if (const std::string gone = line_.card_failure(); !gone.empty()) return gone;
  const modem::CallStatus status = line_.status();
  if (!status.line_failure.empty()) return std::string(status.line_failure);
  if (status.progress == modem::Progress::kBusy) return "the exchange sends busy tone";
  if (status.progress == modem::Progress::kNoDialTone) return "no dial tone";
  return "";
}

void SipGateway::carry() {
  const std::int64_t now = monotonic_ms();
  sip_.packets().receive(
      [this](std::uint16_t number, std::span<const std::uint8_t> packet) { gateway_->receive(number, packet); });
  gateway_->poll();
  const fax::GatewayCounters counters = gateway_->counters();
  const std::uint64_t packets = counters.packets_to_line + counters.packets_to_network;
  if (std::exchange(packets_, packets) != packets || line_.status().dialling) heard_ms_ = now;
  const std::string far_end = sip_.failure();
  if (over_ms_ < 0 && (gateway_->is_disconnected() || !far_end.empty())) over_ms_ = now;
  if (over_ms_ >= 0 && now - over_ms_ > kLastSignalMs) return end(gateway_->is_disconnected() ? "" : far_end);
  if (over_ms_ >= 0) return;
  if (const std::string trouble = line_trouble(); !trouble.empty()) return end(trouble);
  if (now - heard_ms_ > kSilentMs) end(fmt::format("no signal for {} s", kSilentMs / 1000));
}

void SipGateway::end(const std::string& why) {
  line_.end_call();
  sip_.end_call();
  ++calls_;
  const fax::GatewayCounters c = gateway_ ? gateway_->counters() : fax::GatewayCounters{};
  if (c.pages == 0) ++vain_;
  news_ += fmt::format("call over: {} {} confirmed", c.pages, c.pages == 1 ? "page" : "pages");
  if (c.pages > 0)
    news_ += fmt::format(" at {} bit/s{}", c.bit_rate, c.error_correction ? ", with error correction" : "");
  news_ += why.empty() ? "\n" : fmt::format("; {}\n", why);
  if (gateway_) {
    for (const CardFigure& figure : sip_.packets().figures())
      std::visit([&](auto value) { news_ += fmt::format("{}: {}\n", figure.key, value); }, figure.value);
  }
  gateway_.reset();
  stage_ = Stage::kIdle;
}

std::string SipGateway::news() {
  if (const std::string now = "SIP: " + sip_.registration(); now != registered_ && !in_call()) {
    registered_ = now;
    news_ += now + "\n";
  }
  return std::exchange(news_, {});
}

}  // namespace offhook::sip
