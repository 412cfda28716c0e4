// SPDX-License-Identifier: MIT
#include "driver/sip/sip_fax.h"

namespace offhook::sip {

SipFax::SipFax(const SipPlace& place, const LiveDriverConfig& driver, const SipFaxConfig& config)
    : config_(config), line_(place, driver, config.t38) {}

SipFax::~SipFax() {
  if (begun_) line_.end_call();
}

void SipFax::begin() {
  begun_ = true;
  line_.begin(config_.terminal.calls ? OH_PUMP_CALL : OH_PUMP_ANSWER, config_.number);
}

void SipFax::poll() {
  line_.work();
  if (!begun_ || over()) return;
  if (line_.is_t38() && !t38_) begin_t38();
  if (t38_) {
    work_t38();
  } else {
    work_audio();
  }
  const std::string why = line_.failure();
  if (why.empty() || over()) return;
  if (audio_ || t38_) return end_call();  // with T.30's reason
  failure_ = why;
  stopped_ = true;
}

void SipFax::work_audio() {
  if (void* const pump = line_.fax_pump(); pump != nullptr && !audio_) {
    audio_.emplace(pump, config_.terminal);
    if (config_.t38 == T38Use::kOffer) line_.offer();
  }
  if (!audio_) return;
  audio_->poll();
  if (audio_->progress().trainings > 0) line_.allow(false);
}

// T.30 starts again.
void SipFax::begin_t38() {
  audio_.reset();
  t38_.emplace(config_.terminal,
               [this](std::span<const std::uint8_t> packet, int times) { line_.packets().send(packet, times); });
}

void SipFax::work_t38() {
  line_.packets().receive(
      [this](std::uint16_t number, std::span<const std::uint8_t> packet) { t38_->receive(number, packet); });
  t38_->advance(line_.take_ticks());
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
  const std::string refusal = line_.refusal();
  const std::string now = t38_               ? "T.38"
                          : !refusal.empty() ? "G.711: the far end refuses T.38: " + refusal
                          : line_.offered()  ? "G.711, T.38 is offered"
                          : audio_           ? "G.711"
                          : !begun_          ? "SIP: " + line_.registration()
                                             : told_;
  if (now == told_) return {};
  return told_ = now;
}

}  // namespace offhook::sip
