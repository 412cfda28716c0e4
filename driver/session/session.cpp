// SPDX-License-Identifier: MIT
#include "driver/session/session.h"

#include <time.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <stdexcept>
#include <string>

#include "offhook/modem_card.h"

namespace offhook::modem {

namespace {

std::uint64_t now_ns(void* = nullptr) {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<std::uint64_t>(t.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(t.tv_nsec);
}

}  // namespace

Session::Session(LiveCard& card, const SessionConfig& config)
    : card_(card), config_(config), context_(config.context, [this] { return oh_driver_service(&driver_); }) {
  if (const std::uint32_t period = card_.period(); period > 0) {
    config_.block_plan = {period};
    config_.transmit_lead_samples = 2 * period;
  }
  // Calls process and fill_in with what a modem's samples are; a card in another process may have any.
  const oh_streams& streams = card_.card().streams;
  for (const oh_stream_format* direction : {&streams.rx, &streams.tx}) {
    if (direction->rate_hz != OH_MODEM_RATE_HZ || direction->encoding != OH_LINEAR16)
      throw std::runtime_error("the card is none of a modem: expected 16-bit linear samples at " +
                               std::to_string(OH_MODEM_RATE_HZ) + " Hz both ways");
  }
  card_.log_to(config_.log, 0);
  oh_driver_config driver{};
  driver.card = card_.card();
  staging_.resize(oh_driver_staging_size(&driver.card) / sizeof staging_[0]);
  driver.staging = staging_.data();
  driver.pump = {process, fill_in, this};
  driver.context = context_.driver_context();
  driver.now_ns = now_ns;
  driver.log = config_.log;
  driver.policy = config_.policy;
  driver.transmit_lead_samples = config_.transmit_lead_samples;
  if (config_.block_plan.empty() || config_.block_plan.size() > OH_BLOCK_PLAN_MAX) {
    throw std::runtime_error("a block plan has 1 to 8 blocks");
  }
  std::copy(config_.block_plan.begin(), config_.block_plan.end(), driver.block_plan);
  driver.block_plan_length = static_cast<std::uint32_t>(config_.block_plan.size());
  if (oh_driver_init(&driver_, &driver) != 0) {
    throw std::runtime_error(
        "the driver refused its configuration: blocks of at most 256 samples, and a transmit lead " +
        std::string("of at least the longest of them and at most 512"));
  }
  context_.start();
  card_.start();
  std::atomic<bool> up{false};
  interrupt_thread_ = std::thread([this, &up] {
    if (config_.context.cpu) interrupt_shortcoming_ = keep_to_cpu(*config_.context.cpu);
    if (config_.interrupt_priority > 0 && interrupt_shortcoming_.empty())
      interrupt_shortcoming_ = become_fifo(config_.interrupt_priority, &interrupt_rule_);
    up.store(true);
    interrupts();
  });
  while (!up.load()) std::this_thread::yield();
  if (!interrupt_shortcoming_.empty() && !config_.context.best_effort) {
    const std::string why = interrupt_shortcoming_;
    card_.stop();
    interrupt_thread_.join();
    context_.stop();
    throw std::runtime_error("the interrupt thread: " + why + "; or go on without by --best-effort");
  }
}

Session::~Session() {
  card_.stop();
  if (interrupt_thread_.joinable()) interrupt_thread_.join();
  context_.stop();
  active_.store(nullptr);
}

void Session::interrupts() {
  for (;;) {
    switch (card_.wait()) {
      case LiveCard::Wait::kInterrupt:
        oh_driver_isr(&driver_);
        break;
      case LiveCard::Wait::kGone:
        gone_.store(true, std::memory_order_release);
        return;
      case LiveCard::Wait::kStopped:
        return;
    }
  }
}

void Session::process(void* self, const void* rx, void* tx, std::size_t n) {
  auto* session = static_cast<Session*>(self);
  session->served_.fetch_add(1);
  if (Call* call = session->active_.load()) {
    call->process(static_cast<const std::int16_t*>(rx), static_cast<std::int16_t*>(tx), n);
  } else {
    std::memset(tx, 0, n * sizeof(std::int16_t));
  }
  session->served_.fetch_add(1);
}

void Session::fill_in(void* self, std::size_t n) {
  auto* session = static_cast<Session*>(self);
  session->served_.fetch_add(1);
  if (Call* call = session->active_.load()) call->fill_in(n);
  session->served_.fetch_add(1);
}

// The old call may be freed only when no service that could have seen it is under way.
void Session::swap_call(std::unique_ptr<Call> next) {
  active_.store(next.get());
  const std::uint64_t seen = served_.load();
  while ((seen & 1) != 0 && served_.load() == seen) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  before_ = traffic();
  call_ = std::move(next);
}

void Session::begin_call(const CallConfig& call) {
  swap_call(std::make_unique<Call>(call, io_delay_samples(), config_.log, [] { return now_ns(); }));
  oh_card_set_off_hook(&card_.state(), 1);
}

void Session::end_call() {
  const CallStatus now = status();
  if (!now.direct && now.link.state == OH_LAPM_DISCONNECTED && now.pump.state == OH_PUMP_DATA)
    std::this_thread::sleep_for(std::chrono::milliseconds(kAnswerMs));
  if (call_ && now.connected()) {
    call_->release();
    for (int ms = 0; ms < kReleaseMs && !gone_.load() && !call_->released(); ms += 10)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  swap_call(nullptr);
  oh_card_set_off_hook(&card_.state(), 0);
}

Traffic Session::traffic() const {
  const oh_lapm_status link = status().link;
  return {before_.bytes_sent + link.bytes_sent, before_.bytes_received + link.bytes_delivered,
          before_.octets_sent + link.octets_sent, before_.octets_received + link.octets_delivered};
}

// The driver's threads go on counting.
oh_driver_counters Session::counters() const {
  const oh_driver_counters& c = driver_.counters;
  const auto now = [](const auto& field) { return __atomic_load_n(&field, __ATOMIC_RELAXED); };
  oh_driver_counters copy{};
  copy.interrupts = now(c.interrupts);
  copy.blocks_served = now(c.blocks_served);
  copy.blocks_late = now(c.blocks_late);
  copy.samples_served = now(c.samples_served);
  copy.samples_late = now(c.samples_late);
  copy.samples_filled_in = now(c.samples_filled_in);
  copy.pending_last = now(c.pending_last);
  copy.pending_max = now(c.pending_max);
  return copy;
}

std::string Session::card_failure() const {
  return gone_.load(std::memory_order_acquire) ? card_.failure() : "";
}

std::vector<std::string> Session::shortcomings() const {
  std::vector<std::string> all = context_.shortcomings();
  if (!interrupt_shortcoming_.empty()) all.push_back("the interrupt thread: " + interrupt_shortcoming_);
  if (interrupt_rule_.demoted.load()) all.push_back("the interrupt thread: the watchdog made a normal thread of it");
  return all;
}

}  // namespace offhook::modem
