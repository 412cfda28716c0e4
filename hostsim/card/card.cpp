// SPDX-License-Identifier: MIT
#include "hostsim/card/card.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <stdexcept>
#include <string>

namespace offhook::hostsim {

namespace {

constexpr std::int64_t kGiga = 1'000'000'000;
constexpr __int128 kGigaSquared = __int128{kGiga} * kGiga;

std::int64_t parts_per_billion(double ppm) {
  if (!(std::abs(ppm) <= 10'000)) throw std::invalid_argument("card: clock_ppm must be within +-10000");
  return std::llround(ppm * 1000);
}

std::uint32_t checked_rate(std::uint32_t rate_hz) {
  if (rate_hz < 1 || rate_hz > 1'000'000) {
    throw std::invalid_argument("card: sample rate must be 1 to 1000000 Hz, not " + std::to_string(rate_hz));
  }
  return rate_hz;
}

}  // namespace

SampleClock::SampleClock(Ns start, std::uint32_t rate_hz, std::int64_t ppb)
    : start_(start), rate_nano_(rate_hz * (kGiga + ppb)) {}

Ns SampleClock::time_of(std::uint64_t samples) const {
  return start_ + static_cast<Ns>(samples * kGigaSquared / rate_nano_);
}

std::uint64_t SampleClock::samples_at(Ns time) const {
  if (time < start_) return 0;
  // floor(k G / r) <= t  <=>  k < (t + 1) r / G: the largest such k is one below the ceiling.
  const __int128 bound = (__int128{time - start_} + 1) * rate_nano_;
  return static_cast<std::uint64_t>((bound + kGigaSquared - 1) / kGigaSquared - 1);
}

SimulatedCard::SimulatedCard(const CardConfig& config, LineEnd& line)
    : config_(config),
      line_(line),
      rate_hz_(checked_rate(config.rate_hz)),
      sample_clock_(0, rate_hz_, parts_per_billion(config.clock_ppm)),
      block_(config.block),
      latched_block_(config.block) {
  if (set_block(config.block) != 0) {
    throw std::invalid_argument("card: block must be 1 to 256 samples, not " + std::to_string(config.block));
  }
}

Ns SimulatedCard::now() const {
  return clock_ ? std::max(clock_(), time_) : time_;
}

void SimulatedCard::record(Ns time, oh_event_kind kind, std::uint64_t argument) const {
  oh_event_log_write(config_.log, static_cast<std::uint64_t>(time), kind, config_.id,
                     static_cast<std::uint32_t>(std::min<std::uint64_t>(argument, UINT32_MAX)));
}

void SimulatedCard::restart_clock(Ns now) {
  time_ = now;
  rate_base_ = position_;
  sample_clock_ = SampleClock(now, rate_hz_, parts_per_billion(config_.clock_ppm));
  record(now, OH_EV_CARD_RATE, rate_hz_);
}

void SimulatedCard::start(Ns now) {
  started_ = true;
  block_ = latched_block_;
  block_end_ = position_ + block_;
  restart_clock(now);
}

void SimulatedCard::set_rate(Ns now, std::uint32_t rate_hz) {
  checked_rate(rate_hz);
  if (started_) advance_to(now);
  rate_hz_ = rate_hz;
  if (started_) restart_clock(now);
}

int SimulatedCard::set_block(std::uint32_t samples) {
  if (samples < 1 || samples > OH_RING_SAMPLES / 2) return -EINVAL;
  latched_block_ = samples;
  return 0;
}

Ns SimulatedCard::next_interrupt() const {
  return started_ ? sample_clock_.time_of(block_end_ - rate_base_) : kNever;
}

void SimulatedCard::move_samples(Ns time) {
  if (!started_) return;
  time_ = std::max(time_, time);
  const std::uint64_t target = rate_base_ + sample_clock_.samples_at(time_);
  if (target <= position_) return;

  // A sample is lost when the slot it lands in holds one that nobody read; repeated when nobody wrote its slot.
  const auto beyond = [&](std::uint64_t limit) { return target - std::clamp(limit, position_, target); };
  const std::uint64_t overrun = beyond(rx_read_ + OH_RING_SAMPLES);
  const std::uint64_t underrun = beyond(tx_written_);
  while (position_ < target) {
    const std::size_t slot = position_ % OH_RING_SAMPLES;
    const std::size_t n = std::min<std::uint64_t>(target - position_, OH_RING_SAMPLES - slot);
    line_.exchange(&tx_ring_[slot], &rx_ring_[slot], n);
    position_ += n;
  }
  counters_.overrun_samples += overrun;
  counters_.underrun_samples += underrun;
  if (overrun > 0) record(time_, OH_EV_RX_OVERRUN, overrun);
  if (underrun > 0) record(time_, OH_EV_TX_UNDERRUN, underrun);
}

void SimulatedCard::advance_to(Ns time) {
  for (Ns due = next_interrupt(); due <= time; due = next_interrupt()) {
    move_samples(due);
    const std::uint32_t finished = block_;
    finished_end_ = block_end_;
    block_ = latched_block_;
    block_end_ += block_;
    ++counters_.interrupts;
    record(due, OH_EV_INTERRUPT, finished);
    if (raise_) raise_(due);
  }
  move_samples(time);
}

struct CardOps {
  static SimulatedCard& of(void* self) { return *static_cast<SimulatedCard*>(self); }
  static std::uint64_t acknowledge(void* self) { return of(self).finished_end_; }
  static std::uint64_t position(void* self) {
    of(self).move_samples(of(self).now());
    return of(self).position_;
  }
  static int set_block(void* self, std::uint32_t samples) { return of(self).set_block(samples); }
  static void tx_written(void* self, std::uint64_t position) {
    of(self).move_samples(of(self).now());
    of(self).tx_written_ = position;
  }
  static void rx_read(void* self, std::uint64_t position) {
    of(self).move_samples(of(self).now());
    of(self).rx_read_ = position;
  }
};

oh_card SimulatedCard::card() {
  static constexpr oh_card_ops kOps = {CardOps::acknowledge,
                                       CardOps::position,
                                       CardOps::position,
                                       CardOps::set_block,
                                       CardOps::tx_written,
                                       CardOps::rx_read,
                                       nullptr};
  return {&kOps, this, rx_ring_.data(), tx_ring_.data()};
}

}  // namespace offhook::hostsim
