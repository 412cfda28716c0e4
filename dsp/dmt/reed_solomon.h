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

  /// Sixteen octets, the first in the lowest position of `low`: the check octets of all octets so far.
  struct Octets {
    uint64_t low = 0, high = 0;
    uint8_t at(int k) const { return static_cast<uint8_t>(k < 8 ? low >> 8 * k : high >> 8 * (k - 8)); }
  };
  /// One more data octet. Real-time: yes, O(1).
  void put(uint8_t octet, Octets* r) const {
    const Octets& m = multiples_[octet ^ (r->low & 0xff)];
    r->low = (r->low >> 8 | r->high << 56) ^ m.low;
    r->high = r->high >> 8 ^ m.high;
  }

  /// @param[in] data  [n]  @param n  1 to kMostOctets - check()  @param[out] check  [check()]
  /// Real-time: yes, O(n).
  void encode(const uint8_t* data, int n, uint8_t* check) const;

  /// Corrects in place. @param[in,out] word  [n] data and check octets  @param n  check() + 1 to kMostOctets
  /// @return octets corrected, at most check() / 2; -1 if too many are wrong; the word is then unchanged. Real-time:
  /// yes, as Correction.
  int decode(uint8_t* word, int n) const;

 private:
  int check_;
  Octets multiples_[256];  // of the generator without its leading one, highest power first
};

/// Finds the errors in a word, in steps, so that its cost can be spread over symbols.
class Correction {
 public:
  /// @param expected  of the word's data octets  @param[in] check  [code.check()] received  @param n  octets of the
  /// word. Real-time: yes, O(R^2).
  void begin(const ReedSolomon& code, const ReedSolomon::Octets& expected, const uint8_t* check, int n);
  /// Searches at least `places` more octets, up to the next multiple of eight. Real-time: yes, O(places * errors^2).
  void search(int places);
  /// @pre the search covered all n  @param[in,out] word  [n]  @return as ReedSolomon::decode()
  int apply(uint8_t* word) const;

 private:
  static constexpr int kMostErrors = ReedSolomon::kMostCheck / 2;

  static constexpr int kLanes = 8;

  int n_ = 0;
  int errors_ = 0;  // negative: beyond correction
  int found_ = 0;
  // The search covers eight positions of the word at once, `stride_` octets apart.
  int stride_ = 0;
  int power_ = 0;                       // of the next position, the first of eight
  uint64_t terms_[kMostErrors + 1]{};   // of the locator there, one octet per position
  uint8_t locator_[kMostErrors + 1]{};  // lowest power first
  uint8_t evaluator_[kMostErrors]{};
  uint8_t powers_[kMostErrors]{};  // positions of the errors
};

}  // namespace offhook::dmt
