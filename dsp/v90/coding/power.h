// SPDX-License-Identifier: MIT
//
// The average power of V.90's downstream, and its limits (8.5.2, Table 15). The modulus encoder does not use its digits
// equally often, so the power is a weighted mean, computed here exactly: a sum below 2^75 in whole numbers.
#pragma once

#include <stdint.h>

#include "dsp/v90/coding/modulus.h"
#include "dsp/v90/coding/ucode.h"

namespace offhook::v90 {

/// The points of the six intervals in the order of their labels: the highest Ucode first (5.4.4).
struct LabelledPoints {
  uint8_t count[kFrameIntervals];  ///< M_i
  uint8_t ucode[kFrameIntervals][kUcodes];
};

/// Root of Table 15's entry for bits 33:37 of INFO0d. @pre max_power < 32
int power_limit_root(int max_power);

__extension__ using TotalPower = unsigned __int128;

/// Sum of the squared linear values over all 2^K combinations of bits and the six intervals: the average power times
/// 6 * 2^K. @pre 2^k <= product_of(points.count), k <= kMaxModulusBits.  Real-time: yes, O(points).
TotalPower total_power(int k, Law law, const LabelledPoints& points);

/// The average power, relative error below 1e-15.
double average_power(int k, Law law, const LabelledPoints& points);

/// Whether it meets Table 15's limit.
bool is_within_limit(int k, Law law, const LabelledPoints& points, int max_power);

}  // namespace offhook::v90
