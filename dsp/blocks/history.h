// SPDX-License-Identifier: MIT
#pragma once

namespace offhook {

/// The last kLength values of a signal, in a row for a dot product. At first they are zero.  Real-time: yes, O(1).
template <int kLength>
class History {
 public:
  void put(float x) {
    at_ = at_ + 1 == kLength ? 0 : at_ + 1;
    value_[at_] = value_[at_ + kLength] = x;
  }
  /// @return [kLength] values, the oldest first
  const float* oldest() const { return value_ + at_ + 1; }

 private:
  int at_ = 0;
  float value_[2 * kLength]{};
};

}  // namespace offhook
