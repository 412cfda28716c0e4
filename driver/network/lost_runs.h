// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "driver/live/live_card.h"

namespace offhook {

/// Positions of samples that were lost before they reached the card. One writer, the card's thread; one reader, the
/// driver's context. Neither waits for the other. If a thousand runs are unread, further ones are dropped.
class LostRuns {
 public:
  /// Reports that samples [from, from + n) are lost. In order of position. Real-time: yes
  void add(std::uint64_t from, std::uint32_t n) {
    const std::uint64_t head = head_.load(std::memory_order_relaxed);
    if (head - tail_.load(std::memory_order_acquire) == kRuns) return;
    runs_[head % kRuns] = {from, n};
    head_.store(head + 1, std::memory_order_release);
  }
  /// As LiveCard::run_at(). Runs before `position` are forgotten.
  SampleRun at(std::uint64_t position, std::uint32_t n) {
    for (std::uint64_t tail = tail_.load(std::memory_order_relaxed); tail != head_.load(std::memory_order_acquire);) {
      const Run& run = runs_[tail % kRuns];
      const std::uint64_t end = run.from + run.n;
      if (end <= position) {
        tail_.store(++tail, std::memory_order_release);
      } else if (run.from <= position) {
        return {static_cast<std::uint32_t>(end - position < n ? end - position : n), true};
      } else {
        return {static_cast<std::uint32_t>(run.from - position < n ? run.from - position : n), false};
      }
    }
    return {n, false};
  }

 private:
  struct Run {
    std::uint64_t from;
    std::uint32_t n;
  };
  static constexpr std::size_t kRuns = 1024;
  std::array<Run, kRuns> runs_{};
  std::atomic<std::uint64_t> head_{0}, tail_{0};
};

}  // namespace offhook
