// SPDX-License-Identifier: MIT
#include "hostsim/host/card.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

#include "hostsim/engine/wide.h"

namespace offhook::hostsim {

namespace {

constexpr std::int64_t kGiga = 1'000'000'000;
constexpr Wide kGigaSquared = Wide{kGiga} * kGiga;

std::int64_t parts_per_billion(double ppm) {
  if (!(std::abs(ppm) <= 10'000)) throw std::invalid_argument("card: clock_ppm must be within +-10000");
  return std::llround(ppm * 1000);
}

std::uint32_t checked_rate(std::uint32_t rate_hz) {
  if (rate_hz < 1 || rate_hz > kGiga) {
    throw std::invalid_argument("card: sample rate must be 1 to 1000000000 Hz, not " + std::to_string(rate_hz));
  }
  return rate_hz;
}

}  // namespace

SampleClock::SampleClock(Ns start, std::uint32_t rate_hz, std::int64_t ppb)
    : start_(start),
      rate_nano_(rate_hz * (kGiga + ppb)),
      ns_per_sample_(static_cast<double>(kGigaSquared) / static_cast<double>(rate_nano_)),
      samples_per_ns_(1 / ns_per_sample_) {}

// Both quotients are estimated, and corrected by one or two steps if the estimate is near an integer: a division of 128
// bits takes ten times as long. For a product below 2^33 the estimate has an error below 2^-18.
namespace {
constexpr double kSureBelow = 0x1p33, kNear = 0x1p-17;
bool is_sure(double product, std::int64_t whole) {
  const double rest = product - static_cast<double>(whole);
  return product < kSureBelow && rest > kNear && rest < 1 - kNear;
}
}  // namespace

Ns SampleClock::time_of(std::uint64_t samples) const {
  const Wide passed = Wide{samples} * kGigaSquared;
  Ns ns = static_cast<Ns>(static_cast<double>(samples) * ns_per_sample_);
  Wide rest = passed - Wide{ns} * rate_nano_;
  for (; rest < 0; rest += rate_nano_) ns--;
  for (; rest >= rate_nano_; rest -= rate_nano_) ns++;
  return start_ + ns;
}

std::uint64_t SampleClock::samples_at(Ns time) const {
  if (time < start_) return 0;
  // floor(k G / r) <= t  <=>  k < (t + 1) r / G: the largest such k.
  const Wide bound = (Wide{time - start_} + 1) * rate_nano_;
  const double guess = static_cast<double>(time - start_ + 1) * samples_per_ns_;
  auto samples = static_cast<std::int64_t>(guess);
  if (is_sure(guess, samples)) return static_cast<std::uint64_t>(samples);
  Wide rest = bound - Wide{samples} * kGigaSquared;
  for (; rest <= 0; rest += kGigaSquared) samples--;
  for (; rest > kGigaSquared; rest -= kGigaSquared) samples++;
  return static_cast<std::uint64_t>(samples);
}

SimulatedCard::SimulatedCard(const CardConfig& config, const oh_line_end& line)
    : memory_(config.streams),
      line_(line),
      clock_ppb_(parts_per_billion(config.clock_ppm)),
      rate_hz_(checked_rate(oh_streams_rate_hz(&config.streams))),
      sample_clock_(0, rate_hz_, clock_ppb_) {
  report_.log = config.log;
  report_.id = config.id;
  oh_card_engine_init(&engine_, &memory_.card(), &report_);
  if (memory_.card().ops->set_block(engine_.state, config.block) != 0) {
    throw std::invalid_argument("card: block must be " + std::to_string(oh_streams_block_min(&config.streams)) +
                                " to " + std::to_string(oh_streams_block_max(&config.streams)) + " samples, not " +
                                std::to_string(config.block));
  }
}

void SimulatedCard::restart_clock(Ns now) {
  time_ = now;
  rate_base_ = position();
  sample_clock_ = SampleClock(now, rate_hz_, clock_ppb_);
  oh_card_engine_set_rate(&engine_, rate_hz_, static_cast<std::uint64_t>(now));
}

void SimulatedCard::find_next_interrupt() {
  next_interrupt_ = sample_clock_.time_of(engine_.block_end - rate_base_);
}

void SimulatedCard::start(Ns now) {
  started_ = true;
  restart_clock(now);
  oh_card_engine_start(&engine_, static_cast<std::uint64_t>(now));
  find_next_interrupt();
}

void SimulatedCard::set_rate(Ns now, std::uint32_t rate_hz) {
  checked_rate(rate_hz);
  if (started_) advance_to(now);
  rate_hz_ = rate_hz;
  if (!started_) return;
  restart_clock(now);
  find_next_interrupt();
}

void SimulatedCard::move_samples(Ns time) {
  if (!started_ || time <= time_) return;  // they have moved up to this time
  move_to(rate_base_ + sample_clock_.samples_at(time), time);
}

void SimulatedCard::move_to(std::uint64_t target, Ns time) {
  time_ = time;
  if (target > position()) oh_card_engine_pass(&engine_, &line_, target - position(), static_cast<std::uint64_t>(time));
}

void SimulatedCard::advance_to(Ns time) {
  while (next_interrupt_ <= time) {
    const Ns due = next_interrupt_;
    if (sample_clock_.instants_differ() && due > time_) {
      move_to(engine_.block_end, due);
    } else {
      move_samples(due);
    }
    oh_card_engine_end_block(&engine_, static_cast<std::uint64_t>(due));
    find_next_interrupt();
    if (raise_) raise_(due);
  }
  move_samples(time);
}

/// The engine's card, at each time after the clock has reached it.
struct CardOps {
  static const oh_card& up_to_date(void* self) {
    SimulatedCard& card = *static_cast<SimulatedCard*>(self);
    if (card.clock_) card.move_samples(card.clock_());
    return card.memory_.card();
  }
  static const oh_card& as_it_is(void* self) { return static_cast<SimulatedCard*>(self)->memory_.card(); }
};

oh_card SimulatedCard::card() {
  static constexpr oh_card_ops kOps = {[](void* self) {
                                         const oh_card& card = CardOps::as_it_is(self);
                                         return card.ops->acknowledge(card.self);
                                       },
                                       [](void* self) {
                                         const oh_card& card = CardOps::up_to_date(self);
                                         return card.ops->rx_position(card.self);
                                       },
                                       [](void* self) {
                                         const oh_card& card = CardOps::up_to_date(self);
                                         return card.ops->tx_position(card.self);
                                       },
                                       [](void* self, std::uint32_t periods) {
                                         const oh_card& card = CardOps::as_it_is(self);
                                         return card.ops->set_block(card.self, periods);
                                       },
                                       [](void* self, std::uint64_t position) {
                                         const oh_card& card = CardOps::up_to_date(self);
                                         card.ops->tx_written(card.self, position);
                                       },
                                       [](void* self, std::uint64_t position) {
                                         const oh_card& card = CardOps::up_to_date(self);
                                         card.ops->rx_read(card.self, position);
                                       },
                                       [](void* self) {
                                         const oh_card& card = CardOps::as_it_is(self);
                                         return card.ops->rx_lost_before(card.self);
                                       }};
  oh_card card = memory_.card();
  card.ops = &kOps;
  card.self = this;
  return card;
}

}  // namespace offhook::hostsim
