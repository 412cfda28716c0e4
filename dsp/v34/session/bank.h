// SPDX-License-Identifier: MIT
//
// A bank of pumps that advance by a block. Each pump runs by itself until it needs a mapping frame. Then the frames of
// all pumps are made in lanes (frame_lanes.h), and so on to the end of the block. Each pump does the same work as
// without a bank, in the same order towards its port; it only waits for the others. Pumps that train or listen run
// without stops, and join the lanes in data mode.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "dsp/blocks/hot_lines.h"
#include "dsp/v34/coding/frame_lanes.h"
#include "offhook/pump.h"

namespace offhook::v34 {

/// A pump's block, and its progress.
struct BankBlock {
  const int16_t* rx;
  int16_t* tx;
  size_t n, at = 0;
  bool heard = false;  ///< of rx[at]; tx[at] is still to be done
};

/// Prefetches the state of the modems that run next, evenly while others run, because memory delivers one line at a
/// time.
/// @tparam Modem  has add_to() and add_heads_to() HotLines
template <class Modem>
class ModemsAhead {
 public:
  /// @param n  samples that each will process
  ModemsAhead(void* const* self, const void* const* rx, void* const* tx, size_t count, size_t n)
      : self_(self), rx_(rx), tx_(tx), count_(count), n_(n), lines_(static_cast<int>((kLinesOfAModem + n - 1) / n)) {}
  /// The modems up to `end` run now, and those up to `last` next.
  void go_on_to(size_t end, size_t last) {
    end_ = end;
    last_ = last < count_ ? last : count_;
  }
  /// Does the part of the work that belongs to one sample.
  void prefetch() {
    if (hot_.empty()) {
      if (next_ == last_) return;
      hot_.clear();
      hot_.add(rx_[next_], n_ * sizeof(int16_t));
      hot_.add(tx_[next_], n_ * sizeof(int16_t));
      static_cast<const Modem*>(self_[next_++])->add_to(&hot_);
      if (next_ < count_) static_cast<const Modem*>(self_[next_])->add_heads_to(&hot_);
    }
    constexpr int kLinesAtFirst = 48;  // the modem that runs in this round still finds its state far away
    hot_.prefetch(next_ <= end_ ? kLinesAtFirst : lines_);
  }

 private:
  static constexpr size_t kLinesOfAModem = 384;  // maximum, at most symbol rates
  void* const* self_;
  const void* const* rx_;
  void* const* tx_;
  size_t count_, n_, next_ = 1, end_ = 0, last_ = 0;
  int lines_;
  HotLines hot_;
};

/// process() of `count` modems, n samples each.
/// @tparam Modem  has run(), which returns whether the block has ended, and reader() and sender() of mapping frames.
/// Real-time: yes, O(count * n).
template <class Modem>
class Bank {
 public:
  static void advance(const oh_pump_type* type, void* const* self, const void* const* rx, void* const* tx, size_t count,
                      size_t n) {
    if (count < kLeastFrameLanes) return oh_pump_advance_each(type, self, rx, tx, count, n);
    ModemsAhead<Modem> ahead(self, rx, tx, count, n);
    for (size_t first = 0; first < count; first += kLanes) {
      const size_t left = count - first;
      Bank bank(self + first, rx + first, tx + first, left < kLanes ? left : kLanes, n);
      ahead.go_on_to(first + kLanes, first + 2 * kLanes);
      bank.run(&ahead);
    }
  }

 private:
  // Sixteen would fill a vector of AVX-512, but the second-level cache has to hold these modems and the same number of
  // next ones.
  static constexpr size_t kLanes = 8;
  static_assert(kLanes >= kLeastFrameLanes && kLanes <= kMostFrameLanes);

  Bank(void* const* self, const void* const* rx, void* const* tx, size_t count, size_t n) : count_(count) {
    for (size_t k = 0; k < count; ++k) {
      modem_[k] = static_cast<Modem*>(self[k]);
      block_[k] = {static_cast<const int16_t*>(rx[k]), static_cast<int16_t*>(tx[k]), n};
    }
  }

  void run(ModemsAhead<Modem>* ahead) {
    for (size_t running = count_; running > 0;) {
      running = 0;
      for (size_t k = 0; k < count_; ++k) {
        waits_[k] = !modem_[k]->run(&block_[k], ahead);
        running += waits_[k];
      }
      decode();
      encode();
    }
    for (size_t k = 0; k < count_; ++k) modem_[k]->end_block();
  }
  void decode() {
    FrameToDecode frame[kLanes];
    Modem* of[kLanes];
    int frames = 0;
    for (size_t k = 0; k < count_; ++k) {
      if (!modem_[k]->reader().frame_pending()) continue;
      of[frames] = modem_[k];
      modem_[k]->reader().begin_frame(&frame[frames++]);
    }
    decode_frames(frame, frames);
    for (int f = 0; f < frames; ++f) of[f]->reader().end_frame(frame[f]);
  }
  void encode() {
    FrameToEncode frame[kLanes];
    Modem* of[kLanes];
    int frames = 0;
    for (size_t k = 0; k < count_; ++k) {
      if (!waits_[k]) continue;
      of[frames] = modem_[k];
      modem_[k]->sender().begin_frame(&frame[frames++]);
    }
    encode_frames(frame, frames);
    for (int f = 0; f < frames; ++f) of[f]->sender().end_frame(frame[f]);
  }

  size_t count_;
  Modem* modem_[kLanes];
  BankBlock block_[kLanes];
  bool waits_[kLanes];
};

}  // namespace offhook::v34
