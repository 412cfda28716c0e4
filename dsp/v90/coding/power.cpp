// SPDX-License-Identifier: MIT
#include "dsp/v90/coding/power.h"

namespace offhook::v90 {

int power_limit_root(int max_power) {
  static constexpr int16_t kRoot[32] = {15124, 14276, 13480, 12724, 12012, 11340, 10708, 10108, 9544, 9008, 8504,
                                        8028,  7580,  7156,  6756,  6380,  6020,  5684,  5368,  5068, 4784, 4516,
                                        4264,  4024,  3800,  3588,  3388,  3196,  3020,  2852,  2692, 2540};
  return kRoot[max_power];
}

TotalPower total_power(int k, Law law, const LabelledPoints& points) {
  const uint64_t combinations = uint64_t{1} << k;
  TotalPower total = 0;
  uint64_t r = combinations - 1;  // R_i
  uint64_t a = 1;                 // A_i
  for (int i = 0; i < kFrameIntervals; ++i) {
    const uint64_t m = points.count[i];
    const uint64_t digit = r % m;
    const uint64_t next = r / m;
    for (uint64_t j = 0; j < m; ++j) {
      uint64_t n = a * next;
      if (j < digit) n = a * (next + 1);
      if (j == digit) n = combinations - a * (r - next);
      const auto linear = static_cast<uint64_t>(linear_of(law, points.ucode[i][j]));
      total += static_cast<TotalPower>(n) * (linear * linear);
    }
    a *= m;
    r = next;
  }
  return total;
}

double average_power(int k, Law law, const LabelledPoints& points) {
  const TotalPower total = total_power(k, law, points);
  // At most 2^75; by halves, because the conversion of the whole number is a library's.
  const double sum = static_cast<double>(static_cast<uint64_t>(total >> 64)) * 18446744073709551616. +
                     static_cast<double>(static_cast<uint64_t>(total));
  return sum / (static_cast<double>(kFrameIntervals) * static_cast<double>(uint64_t{1} << k));
}

bool is_within_limit(int k, Law law, const LabelledPoints& points, int max_power) {
  const auto root = static_cast<uint64_t>(power_limit_root(max_power));
  const TotalPower limit = static_cast<TotalPower>(root * root * kFrameIntervals) << k;
  return total_power(k, law, points) <= limit;
}

}  // namespace offhook::v90
