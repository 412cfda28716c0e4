// SPDX-License-Identifier: MIT
#pragma once

namespace offhook::v90 {

/// The label of the level that is nearest to a magnitude; of two as near, the greater level's.
/// @param level  level(label), falling, for each of [points] labels  @pre points > 0
/// Real-time: yes, O(log points).
template <class Level>
constexpr int nearest_label(float magnitude, int points, Level level) {
  int low = 0, high = points - 1;
  while (low < high) {  // the first that is not above it, or the last
    const int middle = (low + high) / 2;
    if (level(middle) > magnitude) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  if (low == 0) return 0;
  const float below = magnitude - level(low);
  return level(low - 1) - magnitude <= (below < 0 ? -below : below) ? low - 1 : low;
}

}  // namespace offhook::v90
