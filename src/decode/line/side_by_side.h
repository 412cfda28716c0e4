// SPDX-License-Identifier: MIT
//
// Sums of products side by side, in explicit vectors: GCC 12 makes shuffles of loops over small arrays.
#pragma once

#include <cstddef>
#include <cstring>

namespace offhook::decode {

/// Outputs of a filter that are computed at once, each in the order of the taps.
class SumsSideBySide {
 public:
  static constexpr std::size_t kSize = 16;

  /// Adds tap times x[j] to sum j. @param x  [kSize]
  void add(float tap, const float* x) {
    for (std::size_t j = 0; j < kVectors; ++j) {
      Four four;
      std::memcpy(&four, x + 4 * j, sizeof four);
      sum_[j] += tap * four;
    }
  }
  /// Adds taps[k] times x[j + k]. @param taps  [n]  @param x  [n + kSize - 1]
  void filter(const float* taps, std::size_t n, const float* x) {
    for (std::size_t k = 0; k < n; ++k) add(taps[k], x + k);
  }
  float operator[](std::size_t j) const { return sum_[j / 4][j % 4]; }

 private:
  using Four = float __attribute__((vector_size(16)));
  static constexpr std::size_t kVectors = kSize / 4;
  Four sum_[kVectors]{};
};

}  // namespace offhook::decode
