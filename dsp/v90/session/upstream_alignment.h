// SPDX-License-Identifier: MIT
//
// Realigns the digital modem's data mode when a playout of the packet network moves, or an octet slips. A move in
// either direction moves the echo. One of the upstream also removes samples from the symbols, or inserts some. Then as
// many are given to the receiver, or kept from it, and its symbols, carrier and superframe are restored.
//
//    symbols are off the grid -> seek the echo's place -> cancel it there -> still off: move the receiver as far
//
// While symbols are off the grid the receiver does not adapt, and neither end renegotiates until all is well. The line
// monitor handles any fault that remains.
#pragma once

#include <stdint.h>

#include "dsp/qam/receiver.h"
#include "dsp/v90/pcm/echo_canceller.h"

namespace offhook::v90 {

class UpstreamAlignment {
 public:
  /// @param variance  DataReceiver::grid_variance() of the newest 4D symbol of data  @param usual  its mean
  /// without a fault; 0: not known.  Real-time: yes, O(1).
  void put(float variance, float usual, PcmEchoCanceller* echo, qam::Receiver* receiver);
  /// A sample of 8000 Hz has passed.  Real-time: yes; O(PcmEchoCanceller::kMost) at times.
  void tick(PcmEchoCanceller* echo);
  /// No data come.
  void reset(PcmEchoCanceller* echo);

  /// It is being worked on.
  bool working() const { return state_ != State::kSteady && state_ != State::kGivenUp; }
  /// The newest decisions are worth nothing: adapt to none of them.
  bool off_grid() const { return off_grid_; }
  /// The next sample is to be kept from the receiver.
  bool take_surplus() {
    if (owed_ <= 0) return false;
    --owed_;
    return true;
  }
  /// Another sample is to be given to it, of silence.
  bool take_missing() {
    if (owed_ >= 0) return false;
    ++owed_;
    return true;
  }

 private:
  enum class State : uint8_t { kSteady, kSeek, kEchoMoved, kReceiverMoved, kGivenUp };
  void enter(State s, PcmEchoCanceller* echo);
  void glance(bool off_grid, qam::Receiver* receiver);

  static constexpr int kGlancePairs = 8;  // so few, that bad decisions do the receiver no harm
  static constexpr int kBlockPairs = 32;
  // Anywhere in the square around a point of the grid: 1/3 in each dimension. At a rate where every second data frame
  // is bad it is below 0.26; and three times the usual value is too much to be noise.
  static constexpr float kOffGrid = 0.27f, kLeastOff = 0.1f, kTimesUsual = 3;
  static constexpr int kGoodBlocks = 3;
  static constexpr int kBadBlocks = 4;        // after something was moved
  static constexpr int kMostSamples = 24000;  // of all of it: training takes four times as long

  State state_ = State::kSteady;
  float sum_ = 0, glance_ = 0;
  bool off_grid_ = false;
  qam::LoopNotes notes_;
  int pairs_ = 0, good_blocks_ = 0, bad_blocks_ = 0;
  int spent_ = 0;  // samples
  int moved_ = 0;
  int owed_ = 0;  // samples to keep from the receiver; below 0 to give to it
};

}  // namespace offhook::v90
