// SPDX-License-Identifier: MIT
//
// The simulated card: the card engine under the virtual clock.
//
// Samples are not events. The card computes the number of elapsed samples from its clock and moves them in one batch:
// at the end of a block, when the driver reads or moves a position, and when the rate changes. Sample positions are a
// rational function of time, so no rounding accumulates: sample k after a change of rate is always floor(k * 10^9 /
// rate) ns later.
//
// The engine logs overruns and underruns at the batch in which they fell.
#pragma once

#include <cstdint>
#include <functional>

#include "driver/core/card_memory.h"
#include "hostsim/engine/engine.h"
#include "offhook/modem_card.h"

namespace offhook::hostsim {

/// The exact instants of a free-running sample clock.
class SampleClock {
 public:
  /// @param ppb crystal error in parts per 10^9
  SampleClock(Ns start, std::uint32_t rate_hz, std::int64_t ppb);
  /// The instant at which `samples` have passed: the floor of the exact time.
  Ns time_of(std::uint64_t samples) const;
  /// Number of samples at `time`: the largest k with time_of(k) <= time; 0 before the start.
  std::uint64_t samples_at(Ns time) const;
  /// samples_at(time_of(samples)) is `samples`.
  bool instants_differ() const { return ns_per_sample_ > 1; }

 private:
  Ns start_;
  std::int64_t rate_nano_;  ///< 10^-9 Hz
  double ns_per_sample_, samples_per_ns_;
};

struct CardConfig {
  oh_streams streams = oh_modem_streams(OH_MODEM_RATE_HZ);
  double clock_ppm = 0;       ///< offset of the card's crystal from the host's clock, with a resolution of 0.001 ppm
  std::uint32_t block = 105;  ///< samples per interrupt until it is changed
  std::uint16_t id = 0;       ///< in the log
  oh_event_log* log = nullptr;
};

class SimulatedCard {
 public:
  /// @throws std::invalid_argument for a rate, crystal error or block length that is impossible for a codec.
  SimulatedCard(const CardConfig& config, const oh_line_end& line);
  SimulatedCard(const SimulatedCard&) = delete;
  SimulatedCard& operator=(const SimulatedCard&) = delete;

  /// The card as the driver sees it.
  oh_card card();
  /// Called at each block's end, exactly at that instant.
  void on_interrupt(std::function<void(Ns now)> raise) { raise_ = std::move(raise); }
  /// Source of the time when a position is read. Without it, the time of the last advance_to() applies.
  void use_clock(std::function<Ns()> now) { clock_ = std::move(now); }

  /// The first sample period begins now.
  void start(Ns now);
  /// Advances the time and raises the interrupts until then.
  void advance_to(Ns time);
  /// End of the current block; kNever before start().
  Ns next_interrupt() const { return next_interrupt_; }

  /// Takes effect now: the current sample period restarts, and the current block keeps its length in samples. An
  /// interrupt that is already due is raised first.
  void set_rate(Ns now, std::uint32_t rate_hz);
  std::uint64_t position() const { return engine_.position; }  ///< captured and played at the last batch
  std::uint32_t rate_hz() const { return rate_hz_; }           ///< of the slower direction
  oh_card_counters counters() const { return oh_card_counts(engine_.state); }

 private:
  friend struct CardOps;
  void move_samples(Ns time);
  void move_to(std::uint64_t target, Ns time);
  void restart_clock(Ns now);
  void find_next_interrupt();

  CardMemory memory_;
  oh_card_report report_{};
  oh_card_engine engine_{};
  oh_line_end line_;
  std::int64_t clock_ppb_;
  std::function<void(Ns)> raise_;
  std::function<Ns()> clock_;
  bool started_ = false;
  Ns time_ = 0;  ///< time of the last batch
  std::uint32_t rate_hz_;
  SampleClock sample_clock_;
  std::uint64_t rate_base_ = 0;  ///< position at which the rate was set
  Ns next_interrupt_ = kNever;
};

}  // namespace offhook::hostsim
