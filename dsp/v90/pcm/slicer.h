// SPDX-License-Identifier: MIT
#pragma once

namespace offhook::v90 {

/// The label of the level that is nearest to a magnitude; of two as near, the greater level's.
/// @param level  level(label), falling, for each of [points] labels  @pre points > 0
/// Real-time: yes, O(log points), and the same steps for any magnitude: no processor foresees a branch on it.
template <class Level>
constexpr int nearest_label(float magnitude, int points, Level level) {
  int low = 0;
  for (int n = points - 1; n > 0;) {  // the first that is not above it, or the last: from low to low + n
    const int half = (n + 1) / 2;
    low += half * static_cast<int>(level(low + half - 1) > magnitude);
    n -= half;
  }
  if (low == 0) return 0;
  const float below = magnitude - level(low);
  return low - static_cast<int>(level(low - 1) - magnitude <= (below < 0 ? -below : below));
}

}  // namespace offhook::v90
