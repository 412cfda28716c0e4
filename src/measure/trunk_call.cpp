// SPDX-License-Identifier: MIT
#include "src/measure/trunk_call.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <stdexcept>
#include <thread>

#include "driver/session/live_driver.h"
#include "offhook/modem_card.h"

namespace offhook::measure {
namespace {

constexpr std::uint64_t kSeedA = 1, kSeedB = 2;

/// In the form of a pump: it sends octets and keeps those that arrive. Its memory is allocated before the card starts.
class TrunkEnd {
 public:
  TrunkEnd(LiveCard& card, std::size_t periods) : card_(card), sent_(periods), received_(periods), lost_(periods) {
    const oh_streams& streams = card.card().streams;
    if (streams.rx.rate_hz != OH_MODEM_RATE_HZ || oh_sample_bytes(streams.rx.encoding) != 1 ||
        oh_sample_bytes(streams.tx.encoding) != 1)
      throw std::invalid_argument("a trunk test needs cards with octets of G.711, such as rtp: and sip:");
    law_ = card.encoding();
    std::memset(sent_.data(), oh_silence(law_), sent_.size());
    position_ = oh_card_position(&card.state());
  }
  oh_encoding law() const { return law_; }
  void send(const TrunkSignal& signal, std::size_t from) {
    std::copy(signal.octets().begin(), signal.octets().end(), sent_.begin() + static_cast<long>(from));
  }
  oh_pump pump() { return {process, report_gap, this}; }
  bool is_done() const { return done_.load(std::memory_order_acquire) >= sent_.size(); }
  std::size_t done() const { return std::min(done_.load(std::memory_order_acquire), sent_.size()); }

  /// The octets received from `begin` on. @pre the driver has stopped
  TrunkReceived received(std::size_t begin, std::size_t n) const {
    TrunkReceived all{law_, {}, {}};
    for (std::size_t k = begin; k < std::min(begin + n, sent_.size()); ++k) {
      all.octets.push_back(received_[k]);
      all.lost.push_back(lost_[k] != 0 || k >= done());
    }
    return all;
  }

 private:
  static void process(void* self, const void* rx, void* tx, std::size_t n) {
    auto* end = static_cast<TrunkEnd*>(self);
    const auto* in = static_cast<const std::uint8_t*>(rx);
    auto* out = static_cast<std::uint8_t*>(tx);
    const std::uint8_t silence = oh_silence(end->law_);
    for (std::size_t k = 0; k < n;) {
      const SampleRun run = end->card_.run_at(end->position_, static_cast<std::uint32_t>(n - k));
      for (std::size_t last = k + run.n; k < last; ++k) {
        const std::size_t at = end->at_++;
        const bool inside = at < end->sent_.size();
        if (inside) end->received_[at] = in[k], end->lost_[at] = run.lost;
        out[k] = inside ? end->sent_[at] : silence;
      }
      end->position_ += run.n;
    }
    end->done_.store(end->at_, std::memory_order_release);
  }
  static void report_gap(void* self, std::size_t n) {
    auto* end = static_cast<TrunkEnd*>(self);
    for (std::size_t k = 0; k < n; ++k, ++end->at_)
      if (end->at_ < end->lost_.size()) end->lost_[end->at_] = 1;
    end->position_ += n;
    end->done_.store(end->at_, std::memory_order_release);
  }

  LiveCard& card_;
  oh_encoding law_ = OH_MULAW;
  std::vector<std::uint8_t> sent_, received_, lost_;
  std::uint64_t position_ = 0;  // of the card
  std::size_t at_ = 0;
  std::atomic<std::size_t> done_{0};
};

LiveDriverConfig driver_config(const TrunkConfig& config) {
  LiveDriverConfig driver;
  driver.context = config.context;
  driver.interrupt_priority = config.interrupt_priority;
  return driver;
}

}  // namespace

TrunkResult test_trunk(LiveCard& a, LiveCard& b, const TrunkConfig& config,
                       const std::function<bool(double)>& progress) {
  const auto half =
      static_cast<std::size_t>(std::max(config.seconds, kLeastTrunkSeconds) / 2 * double{OH_MODEM_RATE_HZ});
  TrunkEnd end_a(a, 2 * half), end_b(b, 2 * half);
  const TrunkSignal signal_a(end_a.law(), half, kSeedA), signal_b(end_b.law(), half, kSeedB);
  end_a.send(signal_a, 0);
  end_b.send(signal_b, half);
  LiveDriver driver_a(a, end_a.pump(), driver_config(config));
  LiveDriver driver_b(b, end_b.pump(), driver_config(config));
  if (config.started) config.started();
  const auto began = std::chrono::steady_clock::now();
  std::string why;
  while (!end_a.is_done() || !end_b.is_done()) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    for (const auto& [driver, card] : {std::pair{&driver_a, &a}, std::pair{&driver_b, &b}})
      if (driver->is_gone()) throw std::runtime_error(card->failure());
    if (config.ended) why = config.ended();
    if (!why.empty()) throw std::runtime_error("the call ended during the test: " + why);
    if (!progress(static_cast<double>(std::min(end_a.done(), end_b.done())) / static_cast<double>(2 * half))) break;
  }
  driver_a.stop();
  driver_b.stop();
  TrunkResult result;
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  result.a_to_b = analyse_trunk(signal_a, end_b.received(0, 2 * half), end_a.received(0, half));
  result.b_to_a = analyse_trunk(signal_b, end_a.received(half, half), end_b.received(half, half));
  return result;
}

}  // namespace offhook::measure
