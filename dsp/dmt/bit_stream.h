// SPDX-License-Identifier: MIT
//
// Octets as a stream of bits and back, least significant first.
#pragma once

#include <stdint.h>

namespace offhook::dmt {

class BitReader {
 public:
  /// @param[in] octets  [n]; zeros follow them
  constexpr BitReader(const uint8_t* octets, int n) : octets_(octets), n_(n) {}
  /// @param bits  0 to 16. Real-time: yes, O(1).
  constexpr unsigned get(int bits) {
    while (have_ < bits) {
      held_ |= static_cast<uint32_t>(at_ < n_ ? octets_[at_] : 0) << have_;
      ++at_;
      have_ += 8;
    }
    const unsigned out = held_ & ((1u << bits) - 1);
    held_ >>= bits;
    have_ -= bits;
    return out;
  }

 private:
  const uint8_t* octets_;
  int n_, at_ = 0;
  uint32_t held_ = 0;
  int have_ = 0;
};

class BitWriter {
 public:
  /// @param[out] octets  [n]; bits beyond them are dropped
  constexpr BitWriter(uint8_t* octets, int n) : octets_(octets), n_(n) {}
  /// @pre value < 2^bits, bits at most 16. Real-time: yes, O(1).
  constexpr void put(unsigned value, int bits) {
    held_ |= static_cast<uint32_t>(value) << have_;
    for (have_ += bits; have_ >= 8; have_ -= 8, held_ >>= 8) {
      if (at_ < n_) octets_[at_++] = static_cast<uint8_t>(held_);
    }
  }
  /// The remaining octets: the one that was begun, then zeros.
  constexpr void finish() {
    for (; at_ < n_; held_ = 0) octets_[at_++] = static_cast<uint8_t>(held_);
  }

 private:
  uint8_t* octets_;
  int n_, at_ = 0;
  uint32_t held_ = 0;
  int have_ = 0;
};

}  // namespace offhook::dmt
