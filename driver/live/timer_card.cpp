// SPDX-License-Identifier: MIT
#include "driver/live/timer_card.h"

#include <time.h>

#include <algorithm>
#include <cmath>

namespace offhook {

namespace {

constexpr std::int64_t kGiga = 1'000'000'000;
constexpr std::uint32_t kBurstsPerSecond = 1000;

class SilentLine : public LineEnd {
 public:
  void exchange(const std::int16_t*, std::int16_t* captured, std::size_t n) override {
    std::fill(captured, captured + n, std::int16_t{0});
  }
};

}  // namespace

SamplePacer::SamplePacer(std::uint32_t rate_hz, double ppm)
    : ns_per_sample_(1e9 / (static_cast<double>(rate_hz) * (1 + ppm * 1e-6))) {}

void SamplePacer::start() {
  start_ns_ = monotonic_ns();
}

std::int64_t SamplePacer::due_ns(std::uint64_t samples) const {
  return start_ns_ + static_cast<std::int64_t>(std::ceil(static_cast<double>(samples) * ns_per_sample_));
}

void SamplePacer::sleep_until(std::uint64_t samples) const {
  const std::int64_t due = due_ns(samples);
  const timespec t{due / kGiga, due % kGiga};
  clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, nullptr);
}

std::uint64_t SamplePacer::samples_now() const {
  return static_cast<std::uint64_t>(static_cast<double>(monotonic_ns() - start_ns_) / ns_per_sample_);
}

TimerCard::TimerCard(const oh_line_end& line, const oh_streams& streams, double ppm)
    : LocalCard(streams),
      line_(line),
      pacer_(oh_streams_rate_hz(&streams), ppm),
      burst_(std::max(1u, oh_streams_rate_hz(&streams) / kBurstsPerSecond)) {}

void TimerCard::start() {
  oh_card_engine_start(&engine_, static_cast<std::uint64_t>(monotonic_ns()));
  begin_ = engine_.position;
  pacer_.start();
}

LiveCard::Wait TimerCard::wait() {
  while (!stopped_.load(std::memory_order_relaxed)) {
    const std::uint32_t left = oh_card_engine_left(&engine_);
    const std::uint64_t passed = engine_.position - begin_, now = pacer_.samples_now();
    const std::uint64_t end = passed + std::min(burst_, left);
    if (now < end) {  // a smaller piece may take longer than its samples, and this thread would never sleep
      pacer_.sleep_until(end);
      continue;
    }
    const auto due = static_cast<std::uint32_t>(std::min<std::uint64_t>(now - passed, left));
    if (oh_card_engine_run(&engine_, &line_, due, static_cast<std::uint64_t>(monotonic_ns())) > 0)
      return Wait::kInterrupt;
  }
  return Wait::kStopped;
}

const CardKind kNullCards = {
    "null", "null", false,
    [](const std::string&, const CardRates& rates) -> std::unique_ptr<LiveCard> {
      return std::make_unique<ClockedCard<SilentLine>>(rates.tx_hz);
    },
    [] {
      return std::vector<CardDevice>{
          {"built-in", "null", "Receives silence and discards its output", "any rate, by the clock", true}};
    }};

}  // namespace offhook
