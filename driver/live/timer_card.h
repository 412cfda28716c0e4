// SPDX-License-Identifier: MIT
//
// A card whose hardware is simulated by the thread that waits for it: by the monotonic clock, in bursts like those of a
// DMA engine: the thread sleeps until a whole burst is due. If the thread is delayed, the late burst moves all due
// samples, as hardware would have; only their interrupt is late.
#pragma once

#include <atomic>
#include <cstdint>
#include <utility>

#include "driver/core/line_end.h"
#include "driver/live/card_kind.h"

namespace offhook {

/// Instants of a sample clock against CLOCK_MONOTONIC, without drift.
class SamplePacer {
 public:
  SamplePacer(std::uint32_t rate_hz, double ppm);
  void start();
  /// Sleep until `samples` have passed since start(). May return early after a signal, which is harmless.
  void sleep_until(std::uint64_t samples) const;
  std::uint64_t samples_now() const;

 private:
  std::int64_t due_ns(std::uint64_t samples) const;
  double ns_per_sample_;
  std::int64_t start_ns_ = 0;
};

class TimerCard : public LocalCard {
 public:
  /// @param line outlives the card; called from wait()
  TimerCard(const oh_line_end& line, const oh_streams& streams, double ppm = 0);

  void start() override;
  Wait wait() override;
  void stop() override { stopped_.store(true, std::memory_order_relaxed); }

 protected:
  /// Minimum of samples that pass at once, except at the end of a block: the thread wakes for each such burst. From the
  /// thread of wait(), or before start().
  void set_burst(std::uint32_t samples) { burst_ = samples; }

 private:
  oh_line_end line_;
  SamplePacer pacer_;
  std::uint32_t burst_;  ///< 1 ms unless set
  std::uint64_t begin_ = 0;
  std::atomic<bool> stopped_{false};
};

/// A modem card by the clock, together with its line.
template <class Line>
class ClockedCard final : private Line, public TimerCard {
 public:
  template <class... Args>
  explicit ClockedCard(std::uint32_t rate_hz, Args&&... args)
      : Line(std::forward<Args>(args)...), TimerCard(Line::handle(), oh_modem_streams(rate_hz)) {}
};

/// The null card: its input is silence, its output is discarded.
extern const CardKind kNullCards;

}  // namespace offhook
