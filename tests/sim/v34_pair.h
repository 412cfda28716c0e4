// SPDX-License-Identifier: MIT
// Two ends of a V.34 procedure at the two ends of a hostsim line: anything with `float process(float)`.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <vector>

#include "hostsim/channel/line.h"

namespace offhook::test {

template <class Near, class Far>
class LinePair : private hostsim::FarEnd {
 public:
  LinePair(const hostsim::LineConfig& config, std::uint64_t seed, Near& near, Far& far)
      : near_(near), far_(far), line_(config, seed, *this) {}

  /// The received samples of each end can be changed: sample number and value.
  std::function<float(std::int64_t, float)> to_near, to_far;

  /// Runs until `done` or for `seconds`.  @return whether it was done
  bool run(double seconds, const std::function<bool()>& done) {
    constexpr std::size_t kBlock = hostsim::Line::kFarBlock;
    std::int16_t tx[kBlock], rx[kBlock];
    for (const std::int64_t end = now_ + static_cast<std::int64_t>(seconds * 8000); now_ < end; now_ += kBlock) {
      if (done()) return true;
      // The near end's signal in this block answers what it received in the previous block.
      for (std::size_t i = 0; i < kBlock; ++i) {
        const float x = heard_[i];
        tx[i] = to_int16(near_.process(to_near ? to_near(now_ + static_cast<std::int64_t>(i), x) : x));
      }
      line_.exchange(tx, rx, kBlock);
      std::copy(rx, rx + kBlock, heard_);
    }
    return done();
  }
  double seconds() const { return static_cast<double>(now_) / 8000; }
  hostsim::Line& line() { return line_; }

 private:
  static std::int16_t to_int16(float x) {
    return static_cast<std::int16_t>(std::lrint(std::clamp(x, -32768.f, 32767.f)));
  }
  void process(const std::int16_t* rx, std::int16_t* tx, std::size_t n) override {
    for (std::size_t i = 0; i < n; ++i) {
      const float x = rx[i];
      tx[i] = to_int16(far_.process(to_far ? to_far(far_now_, x) : x));
      ++far_now_;
    }
  }

  Near& near_;
  Far& far_;
  std::int64_t now_ = 0;
  std::int64_t far_now_ = 0;
  std::int16_t heard_[hostsim::Line::kFarBlock]{};
  hostsim::Line line_;
};

}  // namespace offhook::test
