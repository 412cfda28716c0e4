// SPDX-License-Identifier: MIT
//
// When the thread that plays the hardware was late itself, and which late blocks this caused.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "offhook/modem_card.h"

namespace offhook::measure {

struct BankStall {
  double at_s = 0;                ///< since the first sample
  double ms = 0;                  ///< delay of the hardware
  std::uint64_t blocks_late = 0;  ///< until kAftermathMs later
};

/// A late burst is followed by others until the lost time is made up. All of them count as one stall. Allocates only in
/// its constructor.
class StallWatch {
 public:
  static constexpr int kStallMs = 3, kAftermathMs = 100;
  static constexpr std::size_t kMost = 4096;
  static constexpr double kRateHz = OH_MODEM_RATE_HZ;

  StallWatch() { stalls_.reserve(kMost); }
  /// Call it at every burst. @param passed sample periods played @param behind how many more the clock has counted
  /// @param blocks_late () -> std::uint64_t: total of all channels so far
  template <typename BlocksLate>
  void look(std::uint64_t passed, std::uint64_t behind, const BlocksLate& blocks_late) {
    if (behind >= periods(kStallMs)) {
      if (!aftermath_) {
        aftermath_ = true;
        late_before_ = blocks_late();
        stall_ = {static_cast<double>(passed) / kRateHz, 0, 0};
      }
      stall_.ms = std::max(stall_.ms, 1e3 * static_cast<double>(behind) / kRateHz);
      aftermath_ends_ = passed + periods(kAftermathMs);
    }
    if (!aftermath_ || passed < aftermath_ends_) return;
    aftermath_ = false;
    stall_.blocks_late = blocks_late() - late_before_;
    blocks_late_ += stall_.blocks_late;
    if (stalls_.size() < kMost) stalls_.push_back(stall_);
  }
  const std::vector<BankStall>& stalls() const { return stalls_; }  ///< the first kMost finished ones
  std::uint64_t blocks_late() const { return blocks_late_; }        ///< in all of them

 private:
  static constexpr std::uint64_t periods(int ms) { return static_cast<std::uint64_t>(ms) * OH_MODEM_RATE_HZ / 1000; }
  bool aftermath_ = false;
  std::uint64_t aftermath_ends_ = 0, late_before_ = 0, blocks_late_ = 0;
  BankStall stall_;
  std::vector<BankStall> stalls_;
};

}  // namespace offhook::measure
