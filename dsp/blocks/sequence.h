// SPDX-License-Identifier: MIT
//
// The common part of the INFO, MP and CP sequences of V.34 and V.90. Bits are in order of time, and numbers have their
// least significant bit first. A 16-bit CRC covers the information bits. The receiver finds a sequence in a running
// stream of bits.
//
// Each layout is written once, as a function over a FieldWriter or a FieldReader, so that writer and reader cannot
// differ.
#pragma once

#include <stdint.h>

#include <type_traits>

namespace offhook {

/// x^16 + x^12 + x^5 + 1, preset to ones, sent from bit 0 upwards.  Source: V.34 10.1.2.3.2, Figure 14.
class Crc {
 public:
  constexpr void put(int bit) {
    const bool feedback = ((register_ ^ static_cast<uint32_t>(bit)) & 1) != 0;
    register_ = static_cast<uint16_t>(register_ >> 1 ^ (feedback ? 0x8408 : 0));
  }
  constexpr uint16_t value() const { return register_; }

 private:
  uint16_t register_ = 0xFFFF;
};

/// Writes a sequence, one bit per byte.
class FieldWriter {
 public:
  explicit FieldWriter(uint8_t* bits) : bits_(bits) {}
  int size() const { return size_; }

  /// Information bits: `count` bits of a number, a flag or an enumeration (two's complement if negative).
  template <class T>
  void field(const T& value, int count) {
    for (int k = 0; k < count; ++k) {
      const int bit = static_cast<int>(static_cast<uint32_t>(value) >> k & 1);
      crc_.put(bit);
      add(bit);
    }
  }
  /// Information bits that are sent as 0 and ignored by the receiver.
  void reserved(int count) { field(0, count); }
  /// Bits outside the CRC with a known value, the left-most (most significant of `count`) first in time.
  void fixed(uint32_t pattern, int count) {
    for (int k = count - 1; k >= 0; --k) add(static_cast<int>(pattern >> k & 1));
  }
  void crc() {
    for (int k = 0; k < 16; ++k) add(crc_.value() >> k & 1);
  }

 private:
  void add(int bit) { bits_[size_++] = static_cast<uint8_t>(bit); }
  uint8_t* bits_;
  int size_ = 0;
  Crc crc_;
};

/// Reads a sequence with the same calls. At the end, good() returns whether all known bits and the CRC were correct.
class FieldReader {
 public:
  explicit FieldReader(const uint8_t* bits) : bits_(bits) {}
  bool good() const { return good_; }

  template <class T>
  void field(T& value, int count) {
    uint32_t v = 0;
    for (int k = 0; k < count; ++k) v |= static_cast<uint32_t>(take()) << k;
    if constexpr (std::is_signed_v<T>) v |= v >> (count - 1) & 1 ? ~0u << (count - 1) : 0u;
    value = static_cast<T>(v);
  }
  void reserved(int count) {
    for (int k = 0; k < count; ++k) take();
  }
  void fixed(uint32_t pattern, int count) {
    for (int k = count - 1; k >= 0; --k) good_ &= *bits_++ == (pattern >> k & 1);
  }
  void crc() {
    for (int k = 0; k < 16; ++k) good_ &= *bits_++ == (crc_.value() >> k & 1);
  }

 private:
  int take() {
    crc_.put(*bits_);
    return *bits_++;
  }
  const uint8_t* bits_;
  bool good_ = true;
  Crc crc_;
};

/// The newest bits of a stream, as many as the longest sequence has.
class BitHistory {
 public:
  static constexpr int kBits = 192;

  void put(int bit) {
    for (int k = 2; k > 0; --k) word_[k] = word_[k] << 1 | word_[k - 1] >> 63;
    word_[0] = word_[0] << 1 | (static_cast<uint64_t>(bit) & 1);
  }
  /// The bit that arrived `age` bits before the newest. @pre 0 <= age < kBits
  int at(int age) const { return static_cast<int>(word_[age >> 6] >> (age & 63) & 1); }
  /// Whether the `count` bits from `age` on, towards the newest bit, are `pattern`, left-most bit first.
  bool matches(int age, uint32_t pattern, int count) const {
    for (int k = 0; k < count; ++k) {
      if (at(age - k) != static_cast<int>(pattern >> (count - 1 - k) & 1)) return false;
    }
    return true;
  }
  /// The newest `count` bits in order of time.
  void copy(int count, uint8_t* bits) const {
    for (int k = 0; k < count; ++k) bits[k] = static_cast<uint8_t>(at(count - 1 - k));
  }

 private:
  uint64_t word_[3]{};
};

}  // namespace offhook
