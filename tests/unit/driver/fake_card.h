// SPDX-License-Identifier: MIT
//
// A card whose clock the test turns by hand, and a pump that keeps what it was given. The line sends a counter, so that
// every sample tells its own position; the far end keeps all that the codec played.
#pragma once

#include <cstdint>
#include <cstring>
#include <vector>

#include "dsp/pump/pump_type.h"
#include "offhook/driver.h"
#include "offhook/modem_card.h"
#include "tests/unit/driver/manual_context.h"

namespace offhook::test {

/// Sample at position p of the line: rarely zero, and never repeated within a ring.
inline std::int16_t line_sample(std::uint64_t position) {
  return static_cast<std::int16_t>(1 + position % 32003);
}

struct FakeCard {
  static constexpr std::uint32_t kRing = OH_MODEM_RING_SAMPLES;
  std::int16_t rx_ring[kRing] = {};
  std::int16_t tx_ring[kRing] = {};
  std::vector<std::uint64_t> staging;  ///< of a driver on this card
  std::uint64_t position = 0;          ///< captured and played so far
  std::uint64_t block_start = 0;
  std::uint32_t block = 0;  ///< current block; 0: not started
  std::uint32_t latched = 1;
  std::uint64_t latest_end = 0;  ///< of the newest finished block
  std::uint64_t acknowledged = 0;
  std::uint64_t tx_written = 0;
  std::uint64_t rx_read = 0;
  std::uint64_t overrun = 0;
  std::uint64_t underrun = 0;
  bool keep = true;                   ///< `blocks` and `played`, which grow
  std::vector<std::uint32_t> blocks;  ///< lengths of the finished blocks
  std::vector<std::int16_t> played;   ///< by position

  oh_card card() {
    static const oh_card_ops ops = {
        [](void* self) { return static_cast<FakeCard*>(self)->latest_end; },
        [](void* self) { return static_cast<FakeCard*>(self)->position; },
        [](void* self) { return static_cast<FakeCard*>(self)->position; },
        [](void* self, std::uint32_t samples) {
          static_cast<FakeCard*>(self)->latched = samples;
          return 0;
        },
        [](void* self, std::uint64_t p) { static_cast<FakeCard*>(self)->tx_written = p; },
        [](void* self, std::uint64_t p) { static_cast<FakeCard*>(self)->rx_read = p; },
        [](void*) { return std::uint64_t{0}; },
    };
    return {&ops, this, oh_modem_streams(OH_MODEM_RATE_HZ), rx_ring, tx_ring};
  }
  void* staging_memory() {
    const oh_card c = card();
    staging.resize(oh_driver_staging_size(&c) / sizeof staging[0]);
    return staging.data();
  }

  /// Samples until the current block ends.
  std::uint64_t to_boundary() {
    if (block == 0) block = latched;
    return block_start + block - position;
  }

  /// n samples pass. @return whether a block ended, at most at the last of them: n <= to_boundary().
  bool advance(std::uint64_t n) {
    (void)to_boundary();
    for (; n > 0; --n, ++position) {
      if (position >= rx_read + kRing) ++overrun;
      if (position >= tx_written) ++underrun;
      if (keep) played.push_back(tx_ring[position % kRing]);
      rx_ring[position % kRing] = line_sample(position);
    }
    if (position < block_start + block) return false;
    if (keep) blocks.push_back(block);
    block_start = latest_end = position;
    block = latched;
    return true;
  }
};

/// Echoes what it receives and checks the contract: every sample arrives once and in order, or is reported as lost.
struct EchoPump {
  std::uint64_t clock = 0;  ///< samples processed or concealed
  std::uint64_t filled_in = 0;
  std::uint64_t wrong = 0;         ///< samples that do not belong to their position
  bool keep = true;                ///< `calls`, which grow
  std::vector<std::size_t> calls;  ///< lengths of process()

  void process(const std::int16_t* rx, std::int16_t* tx, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) {
      if (rx[i] != line_sample(clock + i)) ++wrong;
      tx[i] = rx[i];
    }
    clock += n;
    if (keep) calls.push_back(n);
  }
  void report_gap(std::size_t n) {
    clock += n;
    filled_in += n;
  }
  oh_pump pump() { return pump_of(*this); }
};

}  // namespace offhook::test
