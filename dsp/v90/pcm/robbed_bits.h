// SPDX-License-Identifier: MIT
//
// Finds the intervals of six in which the network takes the last bit of the octets that the digital modem receives, and
// gives each octet there the value half way between the two possible ones. The remaining error is then a
// quarter of a step's square in the mean; without this it is a half.
//
// An interval is robbed if the last bit has been the same in kSure octets in a row; it is no longer robbed at the first
// octet with another last bit. Octets of the least levels are not counted: a silent line has the same bit all the time.
#pragma once

#include <stdint.h>

#include "dsp/v90/coding/ucode.h"

namespace offhook::v90 {

class RobbedBits {
 public:
  static constexpr int kIntervals = 6;
  static constexpr int kSure = 64;  ///< 48 ms; 2^-63 for bits that are as often one as zero

  explicit RobbedBits(Law law) : law_(law) {}
  /// The next octet. @return its linear value, with Table 1's factor: at most 32124.  Real-time: yes, O(1).
  float put(uint8_t octet) {
    const int i = at_;
    skip();
    const Pcm code = pcm_of(law_, octet);
    const auto bit = static_cast<uint8_t>(octet & 1);
    if (code.ucode >= kUchord) {
      // 1 if it differs; without a branch, which no processor could predict.
      const int longer = run_[i] + static_cast<int>(run_[i] < kSure);
      run_[i] = static_cast<uint8_t>(1 + (longer - 1) * static_cast<int>(bit == bit_[i]));
      bit_[i] = bit;
    }
    const int value = linear_of(law_, code);
    if (!robbed(i)) return static_cast<float>(value);
    return static_cast<float>(value + linear_of(law_, pcm_of(law_, octet ^ 1))) / 2;
  }
  /// An octet was lost.
  void skip() { at_ = at_ + 1 == kIntervals ? 0 : at_ + 1; }
  /// @param interval  0 to 5, of the octets since init
  bool robbed(int interval) const { return run_[interval] >= kSure; }

 private:
  Law law_;
  int at_ = 0;
  uint8_t bit_[kIntervals]{}, run_[kIntervals]{};
};

}  // namespace offhook::v90
