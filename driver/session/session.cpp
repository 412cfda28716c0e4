// SPDX-License-Identifier: MIT
#include "driver/session/session.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <stdexcept>
#include <string>

#include "offhook/modem_card.h"

namespace offhook::modem {

namespace {

/// A card in another process may contain any samples.
LiveCard& card_of_a_modem(LiveCard& card) {
  const oh_streams& streams = card.card().streams;
  const bool at_one_rate = streams.rx.rate_hz == OH_MODEM_RATE_HZ;
  const bool of_pcm = streams.rx.rate_hz == 2 * OH_MODEM_RATE_HZ && streams.rx.encoding == OH_LINEAR16;
  if (streams.tx.rate_hz != OH_MODEM_RATE_HZ || streams.rx.encoding != streams.tx.encoding || !(at_one_rate || of_pcm))
    throw std::runtime_error(
        "not a modem card: expected 16-bit linear samples or octets of G.711 at 8000 Hz in both directions, or 16-bit "
        "linear samples, 16000 Hz received and 8000 Hz sent");
  return card;
}

std::size_t received_in_a_period(const LiveCard& card) {
  return card.card().streams.rx.rate_hz / OH_MODEM_RATE_HZ;
}

void fill_silence(void* tx, oh_encoding encoding, std::size_t n) {
  std::memset(tx, oh_silence(encoding), n * oh_sample_bytes(encoding));
}

}  // namespace

Session::Session(LiveCard& card, const SessionConfig& config, std::size_t kept_periods)
    : card_(card_of_a_modem(card)),
      log_(config.log),
      memory_(kept_periods, card.encoding(), received_in_a_period(card)),
      position_(oh_card_position(&card.state())),
      driver_(card, {process, report_gap, this}, config) {}

void Session::process(void* self, const void* rx, void* tx, std::size_t n) {
  auto* session = static_cast<Session*>(self);
  session->served_.fetch_add(1);
  Call* const call = session->active_.load();
  const oh_encoding encoding = session->card_.encoding();
  const std::size_t octets = oh_sample_bytes(encoding);
  const std::size_t rx_octets = octets * received_in_a_period(session->card_);
  const auto* in = static_cast<const std::uint8_t*>(rx);
  auto* out = static_cast<std::uint8_t*>(tx);
  while (n > 0) {
    const SampleRun run = session->card_.run_at(session->position_, static_cast<std::uint32_t>(n));
    if (call != nullptr && !run.lost) {
      call->process(in, out, run.n);
      session->memory_.write(in, out, run.n);
    } else {
      if (call != nullptr) session->skip(*call, run.n);
      fill_silence(out, encoding, run.n);
    }
    session->position_ += run.n;
    in += run.n * rx_octets;
    out += run.n * octets;
    n -= run.n;
  }
  session->served_.fetch_add(1);
}

void Session::report_gap(void* self, std::size_t n) {
  auto* session = static_cast<Session*>(self);
  session->served_.fetch_add(1);
  session->position_ += n;
  if (Call* call = session->active_.load()) session->skip(*call, n);
  session->served_.fetch_add(1);
}

void Session::skip(Call& call, std::size_t n) {
  call.report_gap(n);
  memory_.skip(n);
}

// The old call may be freed only when no running service could have seen it.
void Session::swap_call(std::unique_ptr<Call> next) {
  active_.store(next.get());
  const std::uint64_t seen = served_.load();
  while ((seen & 1) != 0 && served_.load() == seen) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  before_ = traffic();
  call_ = std::move(next);
}

// No service writes to the memory between calls.
void Session::begin_call(const CallConfig& call) {
  if (!call_) memory_.clear(card_.encoding());
  swap_call(std::make_unique<Call>(call, format(), io_delay_samples(), log_,
                                   [](void*) { return static_cast<std::uint64_t>(monotonic_ns()); }));
  oh_card_set_off_hook(&card_.state(), 1);
}

void Session::end_call(const std::function<bool()>& far_end_left) {
  const CallStatus now = status();
  if (call_ && call_->is_bare() && now.line_failure.empty()) {  // the last signal is still queued
    std::this_thread::sleep_for(std::chrono::milliseconds(1000) * io_delay_samples() / OH_MODEM_RATE_HZ);
    swap_call(nullptr);
    oh_card_set_off_hook(&card_.state(), 0);
    return;
  }
  if (!now.direct && now.link.state == OH_LAPM_DISCONNECTED && now.pump.state == OH_PUMP_DATA)
    std::this_thread::sleep_for(std::chrono::milliseconds(kAnswerMs));
  if (call_ && now.connected() && now.line_failure.empty()) {
    call_->release();
    const auto over = [&] { return driver_.is_gone() || call_->released() || far_end_left(); };
    int silent_ms = 0;
    for (int ms = 0; ms < kReleaseMs && silent_ms < kGoneMs && !over(); ms += 10) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
      silent_ms = status().pump.rx_level_dbm0 < kSilenceDbm0 ? silent_ms + 10 : 0;
    }
  }
  swap_call(nullptr);
  oh_card_set_off_hook(&card_.state(), 0);
}

void Session::note_end(oh_call_end why) {
  if (log_ != nullptr) oh_event_log_write(log_, static_cast<std::uint64_t>(monotonic_ns()), OH_EV_CALL_END, 0, why);
}

CallStatus Session::status() const {
  if (!call_) return {};
  CallStatus status = call_->status();
  status.line_failure = card_.line_failure();
  return status;
}

LineMemory::Samples Session::last_line() {
  if (call_) end_call();
  return memory_.samples(io_delay_samples());
}

Traffic Session::traffic() const {
  const oh_lapm_status link = status().link;
  return {before_.bytes_sent + link.bytes_sent, before_.bytes_received + link.bytes_delivered,
          before_.octets_sent + link.octets_sent, before_.octets_received + link.octets_delivered};
}

std::string Session::card_failure() const {
  return driver_.is_gone() ? card_.failure() : "";
}

}  // namespace offhook::modem
