// SPDX-License-Identifier: MIT
//
// A card under Linux. Its user's interrupt thread waits in wait(). When that returns kInterrupt, a block has ended,
// and the thread calls oh_driver_isr(). The kind of card determines how samples move meanwhile: by this same
// thread by the clock (timer), by another process (shared memory), by a sound device (ALSA, PortAudio).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "driver/core/card_memory.h"

namespace offhook {

/// Consecutive received samples that all arrived, or were all lost on their way to the card.
struct SampleRun {
  std::uint32_t n;
  bool lost;
};

/// The caller, if the line identifies it.
struct Caller {
  std::string number, name;
};

/// A value that a card counts in addition to the engine's, such as packets lost.
struct CardFigure {
  const char* key;
  std::variant<std::int64_t, double> value;
};

class LiveCard {
 public:
  enum class Wait {
    kInterrupt,
    kStopped,  ///< stop() was called
    kGone      ///< the device vanished, changed its rate, or failed: see failure()
  };
  LiveCard() = default;
  virtual ~LiveCard() = default;
  LiveCard(const LiveCard&) = delete;
  LiveCard& operator=(const LiveCard&) = delete;

  /// The interface for the driver.
  const oh_card& card() const { return card_; }
  /// The state that driver and hardware share.
  virtual oh_card_state& state() const { return *static_cast<oh_card_state*>(card_.self); }
  /// Its rate, interrupts and losses go to this log. Before start().
  void log_to(oh_event_log* log, std::uint16_t id) {
    report_.log = log;
    report_.id = id;
  }
  /// Sample periods: the only block length that its interrupts support; 0: any length. Known from the start.
  std::uint32_t period() const {
    const std::uint32_t least = oh_streams_block_min(&card_.streams);
    return least == oh_streams_block_max(&card_.streams) ? least : 0;
  }
  /// Samples between the rings and the line, both directions together, without those that the driver keeps queued.
  virtual std::uint32_t queued_samples() const { return 0; }
  /// Kind of the samples from `position` on: at most n of one kind. From the driver's context, in order of position.
  virtual oh_encoding encoding() const { return card_.streams.rx.encoding; }
  /// Received samples from `position` on: at most n of one kind. From the driver's context, in order of position.
  /// @pre n >= 1.  Real-time: yes
  virtual SampleRun run_at(std::uint64_t position, std::uint32_t n) {
    static_cast<void>(position);
    return {n, false};
  }
  /// Why the line has ended the present call; empty: it has not. The text is static. From any thread.
  virtual std::string_view line_failure() const { return {}; }
  /// The caller of the ringing call, or of the last one. From any thread.
  virtual Caller caller() const { return {}; }
  /// From any thread.
  virtual std::vector<CardFigure> figures() const { return {}; }
  /// Samples begin to pass. After oh_driver_init(). @throws std::runtime_error when the device refuses
  virtual void start() = 0;
  /// Blocks until the next interrupt. From one thread. No allocation.
  virtual Wait wait() = 0;
  /// wait() returns kStopped soon, and for all later calls. From any thread or signal handler.
  virtual void stop() = 0;
  /// A text for people, after kGone.
  virtual std::string failure() const { return ""; }

 protected:
  oh_card card_{};
  oh_card_report report_{};
};

/// A card whose hardware side is in this process.
class LocalCard : public LiveCard {
 protected:
  LocalCard() = default;
  explicit LocalCard(const oh_streams& streams) { build(streams); }
  /// Makes rings and engine. Once. @throws std::invalid_argument
  void build(const oh_streams& streams) {
    memory_.emplace(streams);
    card_ = memory_->card();
    oh_card_engine_init(&engine_, &card_, &report_);
  }
  oh_card_engine engine_{};

 private:
  std::optional<CardMemory> memory_;
};

/// CLOCK_MONOTONIC.
std::int64_t monotonic_ns();
inline std::int64_t monotonic_ms() {
  return monotonic_ns() / 1'000'000;
}

}  // namespace offhook
