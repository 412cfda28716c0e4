// SPDX-License-Identifier: MIT
//
// Random bits, numbers and Gaussian noise for the V.34 tests: counter-based, keyed by (seed, stream).
#pragma once

#include <Random123/philox.h>
#include <stdint.h>

#include <cmath>
#include <numbers>

namespace offhook::v34 {

class Random {
 public:
  Random(uint32_t seed, uint32_t stream) : key_{{seed, stream}} {}

  uint32_t next() {
    if (left_ == 0) {
      block_ =
          r123::Philox4x32()({{static_cast<uint32_t>(counter_), static_cast<uint32_t>(counter_ >> 32), 0, 0}}, key_);
      ++counter_;
      left_ = 4;
    }
    return block_[--left_];
  }
  int bit() { return static_cast<int>(next() & 1); }
  uint32_t below(uint32_t n) { return static_cast<uint32_t>(uint64_t{next()} * n >> 32); }
  double uniform() { return (next() + 0.5) / 4294967296.0; }  // (0, 1)
  double gaussian() {
    if (spare_ready_) {
      spare_ready_ = false;
      return spare_;
    }
    const double r = std::sqrt(-2 * std::log(uniform()));
    const double turn = 2 * std::numbers::pi * uniform();
    spare_ = r * std::sin(turn);
    spare_ready_ = true;
    return r * std::cos(turn);
  }

 private:
  r123::Philox4x32::key_type key_;
  r123::Philox4x32::ctr_type block_{};
  uint64_t counter_ = 0;
  int left_ = 0;
  double spare_ = 0;
  bool spare_ready_ = false;
};

}  // namespace offhook::v34
