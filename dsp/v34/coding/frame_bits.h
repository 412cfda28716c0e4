// SPDX-License-Identifier: MIT
//
// The bits of one mapping frame in two words, from which scrambler, parser and ports take several at a time.
#pragma once

#include <stdint.h>

namespace offhook::v34 {

/// Up to 128 bits, the first one in bit 0 of `low`. Bits beyond the valid ones are undefined.
struct FrameBits {
  uint64_t low = 0, high = 0;

  static constexpr FrameBits ones() { return {~uint64_t{0}, ~uint64_t{0}}; }
  /// @param bits  [n], one per byte (0 or 1)  @pre n <= 128
  static constexpr FrameBits packed(const uint8_t* bits, int n) {
    FrameBits f;
    for (int k = 0; k < n; ++k) (k < 64 ? f.low : f.high) |= uint64_t{bits[k]} << (k & 63);
    return f;
  }
  /// @param[out] bits  [n], one per byte  @pre n <= 128
  constexpr void unpack(uint8_t* bits, int n) const {
    for (int k = 0; k < n; ++k) bits[k] = (k < 64 ? low : high) >> (k & 63) & 1;
  }
  /// @param octets  [16], as in the ports of offhook/pump.h
  static constexpr FrameBits of_octets(const uint8_t* octets) {
    FrameBits f;
    for (int k = 0; k < 8; ++k) {
      f.low |= uint64_t{octets[k]} << (8 * k);
      f.high |= uint64_t{octets[8 + k]} << (8 * k);
    }
    return f;
  }
  /// @param[out] octets  [16]
  constexpr void to_octets(uint8_t* octets) const {
    for (int k = 0; k < 8; ++k) {
      octets[k] = static_cast<uint8_t>(low >> (8 * k));
      octets[8 + k] = static_cast<uint8_t>(high >> (8 * k));
    }
  }
  /// Removes the first n bits; all others move down. @pre 0 <= n < 64
  constexpr uint64_t take(int n) {
    const uint64_t first = low & ((uint64_t{1} << n) - 1);
    low = low >> n | high << 1 << (63 - n);
    high >>= n;
    return first;
  }
};

/// Appends fields one after another.
class FrameBitsWriter {
 public:
  /// The n lowest bits of a field. @pre 0 <= n < 64, at most 128 in all
  constexpr void put(uint64_t field, int n) {
    field &= (uint64_t{1} << n) - 1;
    if (count_ < 64) {
      bits_.low |= field << count_;
      bits_.high |= field >> 1 >> (63 - count_);
    } else {
      bits_.high |= field << (count_ - 64);
    }
    count_ += n;
  }
  constexpr const FrameBits& bits() const { return bits_; }

 private:
  FrameBits bits_;
  int count_ = 0;
};

}  // namespace offhook::v34
