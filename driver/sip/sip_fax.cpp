// SPDX-License-Identifier: MIT
#include "driver/sip/sip_fax.h"

#include <algorithm>

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

SipFax::SipFax(const SipPlace& place, const LiveDriverConfig& driver, const SipFaxConfig& config)
    : config_(config), card_(media_of(place)), packets_(media_of(place).local) {
  session_ = std::make_unique<modem::Session>(card_, driver);
  const std::uint16_t fax_port = config.t38 == T38Use::kNo ? std::uint16_t{0} : packets_.port();
  phone_ = make_phone(place.account, {{card_.local_port(), fax_port}});
  line_ = std::make_unique<SipLine>(*phone_, 0, card_, *session_);
}

SipFax::~SipFax() {
  if (begun_) line_->end_call();
}

void SipFax::begin() {
  begun_ = true;
  modem::CallConfig call{};
  call.pump = fax::pump_type();
  call.role = config_.terminal.calls ? OH_PUMP_CALL : OH_PUMP_ANSWER;
  call.digits = config_.number;
  phone_->allow_fax(0, config_.t38 != T38Use::kNo);
  line_->begin_call(call);
}

void SipFax::poll() {
  line_->work();
  if (!begun_ || over()) return;
  const CallInfo call = phone_->call(0);
  if (call.fax && !t38_) begin_t38(*call.fax);
  if (t38_) {
    work_t38();
  } else {
    work_audio();
  }
  const std::string_view why = line_->status().line_failure;
  if (why.empty() || over()) return;
  if (audio_ || t38_) return end_call();  // with T.30's reason
  failure_ = why;
  stopped_ = true;
}

void SipFax::work_audio() {
  if (void* const pump = line_->fax_pump(); pump != nullptr && !audio_) {
    audio_.emplace(pump, config_.terminal);
    if (config_.t38 == T38Use::kOffer) phone_->offer_fax(0);
  }
  if (!audio_) return;
  audio_->poll();
  const fax::Progress& p = audio_->progress();
  if (p.trainings > 0) phone_->allow_fax(0, false);
}

// T.30 starts again; a pump that still has signals of the old T.30 sends only silence.
void SipFax::begin_t38(const UdptlFarEnd& far) {
  audio_.reset();
  card_.set_media(std::nullopt);
  packets_.begin(far);
  t38_since_ms_ = monotonic_ms();
  t38_.emplace(config_.terminal,
               [this](std::span<const std::uint8_t> packet, int times) { packets_.send(packet, times); });
}

void SipFax::work_t38() {
  packets_.receive(
      [this](std::uint16_t number, std::span<const std::uint8_t> packet) { t38_->receive(number, packet); });
  const auto ticks = static_cast<std::uint64_t>(monotonic_ms() - t38_since_ms_) * fax::T38Terminal::kClockHz / 1000;
  t38_->advance(static_cast<std::uint32_t>(ticks - ticks_));
  ticks_ = ticks;
}

void SipFax::end_call() {
  if (audio_) audio_->end_call();
  if (t38_) t38_->end_call();
  stopped_ = true;
}

const fax::Progress& SipFax::progress() const {
  return t38_ ? t38_->progress() : audio_ ? audio_->progress() : before_;
}

std::string SipFax::news() {
  const CallInfo call = phone_->call(0);
  const std::string now = t38_ ? "T.38"
                          : call.fax_offer == FaxOffer::kRefused
                              ? "G.711: the far end refuses T.38: " + call.fax_refusal
                          : call.fax_offer == FaxOffer::kSent ? "G.711, T.38 is offered"
                          : audio_                            ? "G.711"
                          : !begun_                           ? "SIP: " + phone_->registration()
                                                              : told_;
  if (now == told_) return {};
  return told_ = now;
}

std::vector<CardFigure> SipFax::figures() const {
  return t38_ ? packets_.figures() : card_.figures();
}

}  // namespace offhook::sip
