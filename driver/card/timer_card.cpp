// SPDX-License-Identifier: MIT
#include "driver/card/timer_card.h"

#include <algorithm>

namespace offhook {

namespace {

constexpr std::int64_t kGiga = 1'000'000'000;

std::int64_t monotonic_ns() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * kGiga + t.tv_nsec;
}

}  // namespace

SamplePacer::SamplePacer(std::uint32_t rate_hz, double ppm)
    : ns_per_sample_(1e9 / (static_cast<double>(rate_hz) * (1 + ppm * 1e-6))) {}

void SamplePacer::start() {
  start_ns_ = monotonic_ns();
}

std::int64_t SamplePacer::due_ns(std::uint64_t samples) const {
  return start_ns_ + static_cast<std::int64_t>(static_cast<double>(samples) * ns_per_sample_);
}

void SamplePacer::sleep_until(std::uint64_t samples) const {
  const std::int64_t due = due_ns(samples);
  const timespec t{due / kGiga, due % kGiga};
  clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, nullptr);
}

std::uint64_t SamplePacer::samples_now() const {
  return static_cast<std::uint64_t>(static_cast<double>(monotonic_ns() - start_ns_) / ns_per_sample_);
}

TimerCard::TimerCard(LineEnd& line, std::uint32_t rate_hz, double ppm)
    : line_(line), hardware_(rings_), pacer_(rate_hz, ppm) {
  rings_.rate_hz = rate_hz;
}

void TimerCard::start() {
  hardware_.start();
  begin_ = hardware_.position();
  pacer_.start();
}

LiveCard::Wait TimerCard::wait() {
  while (!stopped_.load(std::memory_order_relaxed)) {
    const std::uint64_t passed = hardware_.position() - begin_;
    const std::uint64_t now = pacer_.samples_now();
    if (now <= passed) {
      pacer_.sleep_until(passed + std::min(SamplePacer::kBurstSamples, hardware_.left()));
      continue;
    }
    const auto due = static_cast<std::uint32_t>(std::min<std::uint64_t>(now - passed, hardware_.left()));
    if (hardware_.run(line_, due)) return Wait::kInterrupt;
  }
  return Wait::kStopped;
}

}  // namespace offhook
