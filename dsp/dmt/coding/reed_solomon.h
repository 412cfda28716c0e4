// SPDX-License-Identifier: MIT
//
// Reed-Solomon code over GF(256), shortened to any length up to 255 octets: x^8 + x^4 + x^3 + x^2 + 1, the generator's
// roots alpha^0 to alpha^(R-1), R check octets. The first octet of a word is the coefficient of its highest power.
#pragma once

#include <stdint.h>

namespace offhook::dmt {

class ReedSolomon {
 public:
  static constexpr int kMostCheck = 16;
  static constexpr int kMostOctets = 255;

  /// @param check  octets, even, 0 to kMostCheck. Not real-time.
  explicit ReedSolomon(int check = 0);
  int check() const { return check_; }

  /// @param[in] data  [n]  @param n  1 to kMostOctets - check()  @param[out] check  [check()]
  /// Real-time: yes, O(n).
  void encode(const uint8_t* data, int n, uint8_t* check) const;

  /// Corrects in place. @param[in,out] word  [n] data and check octets  @param n  check() + 1 to kMostOctets
  /// @return octets corrected, at most check() / 2; -1: more are wrong than can be corrected, and the word is as it was
  /// Real-time: yes, O(n) for a word without errors, else O(n * check). Source: Berlekamp, Massey 1969; Chien 1964;
  /// Forney 1965
  int decode(uint8_t* word, int n) const;

 private:
  /// Sixteen octets, the first in the lowest place of `low`.
  struct Octets {
    uint64_t low = 0, high = 0;
  };
  /// Of a polynomial of n octets times x^check, modulo the generator.
  Octets remainder(const uint8_t* octets, int n) const;

  int check_;
  Octets multiples_[256];  // of the generator without its leading one, highest power first
};

}  // namespace offhook::dmt
