// SPDX-License-Identifier: MIT
//
// Convolutional interleaver: octet i of a word of n leaves (D - 1) i octets late, so neighbours on the line come from
// words far apart. A word of an even length gets an octet in front that is not sent, so that n and D have no common
// factor. Together with the deinterleaver everything is D - 1 words late.
#pragma once

#include <stdint.h>

namespace offhook::dmt {

class Interleaver {
 public:
  static constexpr int kMostDepth = 64;

  enum class Way : uint8_t { kInterleave, kDeinterleave };

  /// @param n  octets of a word, 1 to 255  @param depth  D: a power of two, 1 to kMostDepth
  void reset(Way way, int n, int depth);
  /// One word. @param[in] in  [n]  @param[out] out  [n], may be in. Real-time: yes, O(n).
  void process(const uint8_t* in, uint8_t* out);
  /// Words until the first whole one comes out: of the deinterleaver.
  int delay() const { return depth_ - 1; }

 private:
  Way way_ = Way::kInterleave;
  int n_ = 0;
  int length_ = 0;  // n_ or one more: odd
  int depth_ = 1;
  int size_ = 1;     // of the memory in use
  int base_ = 0;     // of this word in it
  int inverse_ = 1;  // of D modulo length_
  uint8_t memory_[256 * kMostDepth]{};
};

}  // namespace offhook::dmt
