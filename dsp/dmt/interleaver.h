// SPDX-License-Identifier: MIT
//
// Convolutional interleaver: octet i of a word of n leaves (D - 1) i octets late, so neighbours on the line come from
// words far apart. A word of an even length gets an octet in front that is not sent, so that n and D have no common
// factor. Together with the deinterleaver everything is D - 1 words late.
//
// The memory starts with octets of a scrambler that is fed zeros. The receiver drops them, but they are sent: equal
// octets would put one point of the constellation on many tones, and the peak of such a symbol would be clipped.
//
// Octets are written and read one at a time, so that a word's work can be spread over its symbols: while a word is
// written, the one before it is read.
#pragma once

#include <stdint.h>

namespace offhook::dmt {

class Interleaver {
 public:
  static constexpr int kMostDepth = 64;

  enum class Way : uint8_t { kInterleave, kDeinterleave };

  /// @param n  octets per word, 1 to 255  @param depth  D: a power of two, 1 to kMostDepth
  void reset(Way way, int n, int depth);
  /// The next octet of the previous word. @pre this word is complete, or has more octets than were read of the previous
  /// one. Real-time: yes, O(1).
  uint8_t get() {
    const uint8_t octet = memory_[out_];
    out_ = wrapped(out_ + 1);
    return octet;
  }
  /// The next octet of this word; the n-th completes it. Real-time: yes, O(1).
  void put(uint8_t octet);
  /// Words before the first whole one is read from the deinterleaver.
  int delay() const { return depth_ - 1; }

 private:
  /// @pre at < 2 size_
  int wrapped(int at) const { return at < size_ ? at : at - size_; }

  Way way_ = Way::kInterleave;
  int n_ = 0;
  int length_ = 0;  // n_ or n_ + 1: odd
  int depth_ = 1;
  int size_ = 1;     // of the memory in use
  int base_ = 0;     // of this word in that memory
  int inverse_ = 1;  // of D modulo length_
  int place_ = 0;    // of the next octet to be written, in this word
  int spread_ = 0;   // D times the place
  int first_ = 0;    // its place in its word before interleaving
  int out_ = 0;
  uint8_t memory_[256 * kMostDepth]{};
};

}  // namespace offhook::dmt
