// SPDX-License-Identifier: MIT
#include "src/program/command/modem_channel.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "driver/base/record.h"
#include "driver/session/devices.h"
#include "driver/session/session.h"
#include "driver/sip/sip_line.h"
#include "driver/user_modem/modulations.h"
#include "src/program/command/folder.h"
#include "src/program/command/live_log.h"
#include "src/program/command/run_folder.h"
#include "src/program/command/times.h"

namespace offhook::command {

Channel::Channel(const ChannelConfig& config) : config_(config) {}

void Channel::begin(modem::CallLine& line, std::unique_ptr<modem::Terminal> terminal, modem::Offer offer) {
  terminal_ = std::move(terminal);
  offer_ = std::move(offer);
  line_ = &line;
  watch_.view.name.set(name());
  watch_.view.address.set(config_.address);
  watch_.view.context.set(config_.context.str());
  dce_ = std::make_unique<modem::Dce>(line, *terminal_, offer_.carriers, offer_.missing);
  if (config_.profiles) dce_->share_profiles(*config_.profiles, config_.address);
}

std::unique_ptr<traces::LogWriter> Channel::make_log(std::uint16_t driver) {
  folder_.emplace(config_.out);
  return make_live_log(folder_->create(kLogName, Privacy::kPrivate, Appears::kAtOnce), driver, config_.context.str());
}

std::string Channel::news() {
  const std::string state = dce_->state_text();
  if (state == state_) return "";
  return state_ = state;
}

void Channel::keep_line(const std::string& reason) {
  if (config_.failed_calls)
    config_.failed_calls->keep(last_line(), fmt::format("the call on {} failed: {}", config_.address, reason));
}

void Channel::work(std::int64_t now) {
  dce_->work(now);
  if (dce_->failed_calls() != std::exchange(failed_before_, dce_->failed_calls()))
    keep_line(dce_->last_call().reason());
}

const live_page::LineView& Channel::view(std::int64_t now) {
  if (gone()) {
    watch_.gone();
    return watch_.view;
  }
  watch_.view.name.set(name());
  watch_.follow(*dce_, *line_, offer_.carriers, now);
  watch_driver(now);
  return watch_.view;
}

void Channel::end() {
  result = summary();
  if (const std::string gone = card_failure(); dce_->calling() && !gone.empty()) keep_line(gone);
  dce_.reset();
  close();
  if (!folder_) return;
  folder_->write(kSummaryName, record::json_text(kModemSummary, &result, 1) + "\n");
  report_live(*folder_);
}

namespace {

/// The driver is in this process.
class LiveChannel final : public Channel {
 public:
  explicit LiveChannel(const ChannelConfig& config) : Channel(config) {
    modem::SessionConfig session;
    session.context = LiveContextConfig::parse(config.context.str());
    session.context.best_effort = config.best_effort;
    session.context.cpu = config.cpu;
    session.interrupt_priority = config.interrupt_priority;
    session.device_delay_samples = static_cast<std::uint32_t>(std::lround(config.device_delay_ms * kRateHz / 1000));
    constexpr std::string_view kSip = "sip:";
    const bool by_sip = config.address.starts_with(kSip);
    const sip::SipPlace place =
        by_sip ? sip::parse_sip_place(std::string_view(config.address).substr(kSip.size())) : sip::SipPlace{};
    if (by_sip) {
      RtpConfig media;
      media.local = place.account.local;
      media.local.set_port(0);
      media.buffer_samples = place.buffer_samples;
      auto card = std::make_unique<RtpCard>(media);
      rtp_ = card.get();
      card_ = std::move(card);
    } else {
      card_ = open_card(config.address, kModemRates, "kernel:N or sip:USER@HOST");
    }
    auto terminal = std::make_unique<modem::PseudoTerminal>(config.tty, config.tty_group);
    if (!config.out.empty() || config.watched) {
      ring_.resize(config.out.empty() ? kPageEvents : kEvents);
      oh_event_log_init(&log_, ring_.data(), ring_.size(), 0);
      session.log = &log_;
    }
    if (!config.out.empty()) writer_ = make_log(0);
    const double kept_s = config.failed_calls ? kKeptS : 0;
    session_ = std::make_unique<modem::Session>(*card_, session, static_cast<std::size_t>(kept_s * kRateHz));
    if (by_sip) {
      phone_ = sip::make_phone(place.account, {{.media = rtp_->local_port()}});
      sip_line_ = std::make_unique<sip::SipLine>(*phone_, 0, *rtp_, *session_);
    }
    begin(by_sip ? static_cast<modem::CallLine&>(*sip_line_) : *session_, std::move(terminal),
          modem::offer(kModulations, session_->format(), session_->io_delay_samples(), modem::CardSamples::kConverted));
  }
  std::vector<std::string> shortcomings() const override { return session_->shortcomings(); }
  std::string card_failure() const override { return session_->card_failure(); }
  std::string news() override {
    const std::string registration = phone_ ? phone_->registration() : "";
    if (registration == registration_) return Channel::news();
    registration_ = registration;
    return "SIP: " + registration_;
  }
  void drain() override {
    if (!ring_.empty()) watch_.drain(log_, writer_.get(), monotonic_ms());
  }

 private:
  void watch_driver(std::int64_t now) override {
    watch_.view.rate_hz = OH_MODEM_RATE_HZ;
    watch_.follow(session_->counters(), session_->card_counters(), session_->context(), now);
    watch_.follow(card_->figures());
    const modem::Traffic traffic = session_->traffic();
    watch_.view.bytes_sent = traffic.bytes_sent;
    watch_.view.bytes_received = traffic.bytes_received;
  }
  ModemSummary summary() override {
    const oh_driver_counters d = session_->counters();
    const oh_card_counters card = session_->card_counters();
    const LiveContext& c = session_->context();
    const modem::Traffic t = session_->traffic();
    ModemSummary s;
    s.context = config_.context.str();
    s.interrupts = d.interrupts;
    s.blocks_served = d.blocks_served;
    s.blocks_late = d.blocks_late;
    s.samples_late = d.samples_late;
    s.samples_filled_in = d.samples_filled_in;
    s.pending_max = d.pending_max;
    s.overrun_samples = card.overrun_samples;
    s.underrun_samples = card.underrun_samples;
    s.dispatch = c.dispatch_latency();
    s.service = c.service_time();
    s.thread = ModemSummary::Thread{c.yields(), c.throttles(), c.demoted()};
    s.sent = {t.bytes_sent, t.octets_sent};
    s.received = {t.bytes_received, t.octets_received};
    s.without = session_->shortcomings();
    s.network = card_->figures();
    return s;
  }
  modem::LineMemory::Samples last_line() override { return session_->last_line(); }
  void close() override {
    sip_line_.reset();
    phone_.reset();
    session_.reset();
    oh_card_set_off_hook(&card_->state(), 0);
    drain();
    if (writer_) writer_->close();
  }

  static constexpr double kRateHz = kLinear8000.tx.rate_hz;
  static constexpr std::size_t kEvents = 1 << 16;  // two minutes of a stalled owner, at a call's 500 events a second
  std::unique_ptr<LiveCard> card_;
  std::vector<oh_event> ring_;
  oh_event_log log_{};
  std::unique_ptr<traces::LogWriter> writer_;
  std::unique_ptr<modem::Session> session_;
  RtpCard* rtp_ = nullptr;  // of a SIP line
  std::unique_ptr<sip::Phone> phone_;
  std::unique_ptr<sip::SipLine> sip_line_;
  std::string registration_;
};

}  // namespace

std::optional<int> kernel_number(const std::string& address) {
  constexpr std::string_view kPrefix = "kernel:";
  if (!address.starts_with(kPrefix)) return std::nullopt;
  int number = -1;
  const char* end = address.data() + address.size();
  const auto [at, error] = std::from_chars(address.data() + kPrefix.size(), end, number);
  if (error != std::errc() || at != end || number < 0)
    throw std::invalid_argument(address + ": expected kernel:N, N of /dev/offhookN");
  return number;
}

std::unique_ptr<Channel> open_channel(const ChannelConfig& config) {
  if (const std::optional<int> number = kernel_number(config.address)) return open_kernel_channel(config, *number);
  return std::make_unique<LiveChannel>(config);
}

}  // namespace offhook::command
