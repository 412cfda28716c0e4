// SPDX-License-Identifier: MIT
//
// A card that is played by the thread that waits for it: by the monotonic clock, in bursts as a DMA engine would move
// them. A burst that comes late because the thread was held up moves all the samples that are due, as hardware would
// have; only their interrupt is late.
#pragma once

#include <atomic>
#include <cstdint>
#include <ctime>

#include "driver/card/live_card.h"

namespace offhook {

/// Instants of a sample clock against CLOCK_MONOTONIC, without drift.
class SamplePacer {
 public:
  static constexpr std::uint32_t kBurstSamples = 8;  ///< 1 ms at 8000 Hz

  SamplePacer(std::uint32_t rate_hz, double ppm);
  void start();
  /// Sleep until `samples` have passed since start(). Interrupted by signals: returns early, harmless.
  void sleep_until(std::uint64_t samples) const;
  std::uint64_t samples_now() const;

 private:
  std::int64_t due_ns(std::uint64_t samples) const;
  double ns_per_sample_;
  std::int64_t start_ns_ = 0;
};

class TimerCard : public LiveCard {
 public:
  /// @param line outlives the card; called from wait()
  TimerCard(LineEnd& line, std::uint32_t rate_hz = 8000, double ppm = 0);

  CardRings& rings() override { return rings_; }
  void start() override;
  Wait wait() override;
  void stop() override { stopped_.store(true, std::memory_order_relaxed); }

 private:
  LineEnd& line_;
  CardRings rings_;
  CardHardware hardware_;
  SamplePacer pacer_;
  std::uint64_t begin_ = 0;
  std::atomic<bool> stopped_{false};
};

/// The line of the null card: silence in, nobody out.
class SilentLine : public LineEnd {
 public:
  void exchange(const std::int16_t*, std::int16_t* captured, std::size_t n) override {
    __builtin_memset(captured, 0, n * sizeof *captured);
  }
};

}  // namespace offhook
