// SPDX-License-Identifier: MIT
//
// The two rings of a live card, in memory that the hardware side and the driver share: threads of one process, or two
// processes that map the same memory. One writer a field, no locks; positions only ever grow (offhook/card.h).
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "driver/card/line_end.h"
#include "offhook/card.h"

namespace offhook {

struct CardCounters {
  std::uint64_t interrupts = 0;
  std::uint64_t overrun_samples = 0;
  std::uint64_t underrun_samples = 0;
};

/// Plain memory: zero is a valid start but for `rate_hz` and `block`. Mapped as it is by processes of one build.
struct CardRings {
  static constexpr std::uint32_t kMagic = 0x5243484f;  // "OHCR"
  static constexpr std::uint32_t kVersion = 2;

  std::uint32_t magic = kMagic;
  std::uint32_t version = kVersion;
  std::uint32_t rate_hz = 8000;
  // the driver's
  std::atomic<std::uint32_t> block{OH_RING_SAMPLES / 4};  ///< of the blocks after the one under way
  std::atomic<std::uint64_t> rx_read{0};
  std::atomic<std::uint64_t> tx_written{0};
  std::atomic<std::uint32_t> off_hook{0};  ///< the line is taken
  // the hardware's
  std::atomic<std::uint32_t> ringing{0};         ///< ringing voltage on the line now
  std::atomic<std::uint64_t> position{0};        ///< samples captured and played
  std::atomic<std::uint64_t> finished_end{0};    ///< of the newest finished block
  std::atomic<std::uint64_t> rx_lost_before{0};  ///< what was not read before this position is lost
  std::atomic<std::uint64_t> interrupts{0};
  std::atomic<std::uint64_t> overrun_samples{0};
  std::atomic<std::uint64_t> underrun_samples{0};
  alignas(64) std::int16_t rx[OH_RING_SAMPLES]{};
  alignas(64) std::int16_t tx[OH_RING_SAMPLES]{};

  /// The driver's view. Real-time: yes.
  oh_card card();
  CardCounters counters() const;
};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

/// The hardware side: moves samples between the rings and a line, block by block. One thread. Real-time: as the line
/// is.
class CardHardware {
 public:
  explicit CardHardware(CardRings& rings) : rings_(rings) {}

  /// The first block begins. Before this the driver has programmed it.
  void start();
  /// Samples until the block under way ends; at least 1.
  std::uint32_t left() const { return static_cast<std::uint32_t>(block_end_ - position_); }
  std::uint64_t position() const { return position_; }
  /// n sample periods pass. @pre n <= left()  @return true when the block ended: raise the interrupt
  bool run(LineEnd& line, std::uint32_t n);
  /// n sample periods pass, whatever blocks end in them: for a line that is elsewhere.
  /// @param[out] played [n]  @param captured [n]  @param raise  raise() for each block that ended
  template <class Raise>
  void run(std::int16_t* played, const std::int16_t* captured, std::uint32_t n, Raise&& raise);
  /// n sample periods have passed in which the device neither captured nor played. Those before them that nobody has
  /// read are given up too.  @return true when a block ended
  bool skip(std::uint64_t n);

 private:
  CardRings& rings_;
  /// Positions of the next ones, up to target, that lie at or beyond limit.
  std::uint64_t beyond(std::uint64_t limit, std::uint64_t target) const;
  std::uint32_t next_block() const;
  bool advance_to(std::uint64_t target, std::uint64_t overrun, std::uint64_t underrun);
  std::uint64_t position_ = 0;
  std::uint64_t block_end_ = 0;
};

template <class Raise>
void CardHardware::run(std::int16_t* played, const std::int16_t* captured, std::uint32_t n, Raise&& raise) {
  struct Samples final : LineEnd {
    void exchange(const std::int16_t* from_card, std::int16_t* to_card, std::size_t count) override {
      std::copy(from_card, from_card + count, played);
      std::copy(captured, captured + count, to_card);
      played += count;
      captured += count;
    }
    std::int16_t* played;
    const std::int16_t* captured;
  } samples;
  samples.played = played;
  samples.captured = captured;
  while (n > 0) {
    const std::uint32_t now = std::min(n, left());
    if (run(samples, now)) raise();
    n -= now;
  }
}

}  // namespace offhook
