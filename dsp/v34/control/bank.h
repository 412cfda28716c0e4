// SPDX-License-Identifier: MIT
//
// A bank of pumps that advance by a block: what needs their mapping frames is run pump by pump up to where each needs
// one, then the frames of all are made in lanes (frame_lanes.h), and so on to the end of the block. Each pump does what
// it does alone, in the same order towards its port; it only waits for the others. Pumps that train or listen run
// through, and are lanes again from their data mode on.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "dsp/blocks/hot_lines.h"
#include "dsp/v34/coding/frame_lanes.h"
#include "offhook/pump.h"

namespace offhook::v34 {

/// A pump's block, and how far it has come.
struct BankBlock {
  const int16_t* rx;
  int16_t* tx;
  size_t n, at = 0;
  bool heard = false;  ///< of rx[at], tx[at] is what is left to do
};

/// process() of `count` modems, n samples each.
/// @tparam Modem  has run(), which says whether the block has ended, and reader() and sender() of mapping frames.
/// Real-time: yes, O(count * n).
template <class Modem>
class Bank {
 public:
  static void advance(const oh_pump_type* type, void* const* self, const void* const* rx, void* const* tx, size_t count,
                      size_t n) {
    if (count < kLeastFrameLanes) return oh_pump_advance_each(type, self, rx, tx, count, n);
    for (size_t first = 0; first < count; first += kLanes) {
      const size_t left = count - first;
      Bank bank(self + first, rx + first, tx + first, left < kLanes ? left : kLanes, n);
      bank.run();
    }
  }

 private:
  static constexpr size_t kLanes = kMostFrameLanes;

  Bank(void* const* self, const void* const* rx, void* const* tx, size_t count, size_t n) : count_(count) {
    for (size_t k = 0; k < count; ++k) {
      modem_[k] = static_cast<Modem*>(self[k]);
      block_[k] = {static_cast<const int16_t*>(rx[k]), static_cast<int16_t*>(tx[k]), n};
    }
  }

  void run() {
    bool running_first = true;
    for (size_t running = count_; running > 0;) {
      running = 0;
      for (size_t k = 0; k < count_; ++k) {
        // In the first round each finds its state far away, unless it was asked for while the one before ran.
        hot_.clear();
        if (running_first && k + 1 < count_) modem_[k + 1]->add_to(&hot_);
        waits_[k] = !modem_[k]->run(&block_[k], &hot_);
        running += waits_[k];
      }
      running_first = false;
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
  HotLines hot_;
};

}  // namespace offhook::v34
