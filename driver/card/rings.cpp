// SPDX-License-Identifier: MIT
#include "driver/card/rings.h"

#include <algorithm>
#include <cerrno>

namespace offhook {

namespace {

constexpr auto kRelaxed = std::memory_order_relaxed;
constexpr auto kAcquire = std::memory_order_acquire;
constexpr auto kRelease = std::memory_order_release;

CardRings& of(void* self) {
  return *static_cast<CardRings*>(self);
}

void add(std::atomic<std::uint64_t>& counter, std::uint64_t n) {  // one writer
  counter.store(counter.load(kRelaxed) + n, kRelaxed);
}

}  // namespace

oh_card CardRings::card() {
  static constexpr oh_card_ops kOps = {[](void* self) { return of(self).finished_end.load(kAcquire); },
                                       [](void* self) { return of(self).position.load(kAcquire); },
                                       [](void* self) { return of(self).position.load(kAcquire); },
                                       [](void* self, std::uint32_t samples) {
                                         if (samples < 1 || samples > OH_RING_SAMPLES / 2) return -EINVAL;
                                         of(self).block.store(samples, kRelaxed);
                                         return 0;
                                       },
                                       [](void* self, std::uint64_t end) { of(self).tx_written.store(end, kRelease); },
                                       [](void* self, std::uint64_t end) { of(self).rx_read.store(end, kRelease); },
                                       [](void* self) { return of(self).rx_lost_before.load(kAcquire); }};
  return {&kOps, this, rx, tx};
}

CardCounters CardRings::counters() const {
  return {interrupts.load(kRelaxed), overrun_samples.load(kRelaxed), underrun_samples.load(kRelaxed)};
}

void CardHardware::start() {
  position_ = rings_.position.load(kRelaxed);
  block_end_ = position_ + next_block();
}

// The driver may be another process, and the memory hold anything.
std::uint32_t CardHardware::next_block() const {
  return std::clamp<std::uint32_t>(rings_.block.load(kRelaxed), 1, OH_RING_SAMPLES / 2);
}

bool CardHardware::run(LineEnd& line, std::uint32_t n) {
  const std::uint64_t target = position_ + n;
  // A sample is lost when the slot it lands in holds one that nobody read; repeated when nobody wrote its slot.
  const std::uint64_t overrun = beyond(rings_.rx_read.load(kAcquire) + OH_RING_SAMPLES, target);
  const std::uint64_t underrun = beyond(rings_.tx_written.load(kAcquire), target);
  for (std::uint64_t at = position_; at < target;) {
    const std::size_t slot = at % OH_RING_SAMPLES;
    const std::size_t piece = std::min<std::uint64_t>(target - at, OH_RING_SAMPLES - slot);
    line.exchange(&rings_.tx[slot], &rings_.rx[slot], piece);
    at += piece;
  }
  return advance_to(target, overrun, underrun);
}

bool CardHardware::skip(std::uint64_t n) {
  if (n == 0) return false;
  rings_.rx_lost_before.store(position_ + n, kRelease);
  return advance_to(position_ + n, n, beyond(rings_.tx_written.load(kAcquire), position_ + n));
}

std::uint64_t CardHardware::beyond(std::uint64_t limit, std::uint64_t target) const {
  return target - std::clamp(limit, position_, target);
}

bool CardHardware::advance_to(std::uint64_t target, std::uint64_t overrun, std::uint64_t underrun) {
  if (overrun > 0) add(rings_.overrun_samples, overrun);
  if (underrun > 0) add(rings_.underrun_samples, underrun);
  position_ = target;
  rings_.position.store(position_, kRelease);
  if (position_ < block_end_) return false;
  const std::uint64_t block = next_block();
  const std::uint64_t more = (position_ - block_end_) / block;  // whole blocks passed at once: one interrupt
  rings_.finished_end.store(block_end_ + more * block, kRelease);
  block_end_ += (more + 1) * block;
  add(rings_.interrupts, 1);
  return true;
}

}  // namespace offhook
