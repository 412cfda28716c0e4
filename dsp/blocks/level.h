// SPDX-License-Identifier: MIT
//
// Levels in int16 units, without libm, so that every machine gives the same bits. A sine whose peak is full scale
// (32768) is +3.14 dBm0, for both laws of G.711 and for linear samples alike: spandsp's DBM0_MAX_SINE_POWER, and the
// overload point of A-law (G.711, clause 4; mu-law's own is 3.17).
#pragma once

#include <stdint.h>

#include <bit>

#include "dsp/blocks/sincos.h"

namespace offhook {

inline constexpr double kFullScaleSineDbm0 = 3.14;

/// 10^(db/20), relative error below 1e-14. @pre |db| <= 1000
constexpr double db_to_gain(double db) {
  // 2^y: the whole part of y is the exponent, and e^(rest ln 2) is a Taylor series.
  const double y = db * 0.166096404744368117394;  // log2(10) / 20
  const int whole = static_cast<int>(y < 0 ? y - 0.5 : y + 0.5);
  const double x = (y - whole) * 0.693147180559945309417;
  double sum = 1;
  for (int k = 16; k >= 1; --k) sum = 1 + sum * x / k;
  return sum * std::bit_cast<double>(static_cast<uint64_t>(1023 + whole) << 52);
}

/// log2(x), absolute error below 1e-10. @pre x > 0 and normal
constexpr double log_2(double x) {
  const uint64_t bits = std::bit_cast<uint64_t>(x);
  int whole = static_cast<int>(bits >> 52) - 1023;
  double m = std::bit_cast<double>((bits & 0xFFFFFFFFFFFFF) | 0x3FF0000000000000);
  if (m > kSqrt2) m *= 0.5, ++whole;
  const double z = (m - 1) / (m + 1);  // log m = 2 atanh z
  double sum = 0;
  for (int k = 13; k >= 1; k -= 2) sum = sum * z * z + 1.0 / k;
  return whole + 2 * z * sum * 1.44269504088896340736;
}

/// 10 log10(x); -300 for 0 and below.
constexpr double power_db(double x) {
  return x < 1e-30 ? -300 : log_2(x) * 3.01029995663981195214;
}

/// Peak of a sine of this level.
constexpr double dbm0_to_peak(double dbm0) {
  return 32768 * db_to_gain(dbm0 - kFullScaleSineDbm0);
}
/// RMS of a signal of this level, whatever its waveform.
constexpr double dbm0_to_rms(double dbm0) {
  return dbm0_to_peak(dbm0) / kSqrt2;
}
inline constexpr double kRms0Dbm0 = dbm0_to_rms(0);  ///< 16141

/// Level of a signal of this mean square.
constexpr double mean_square_to_dbm0(double mean_square) {
  return power_db(mean_square / (kRms0Dbm0 * kRms0Dbm0));
}

/// Converts to a card's sample: limited to its range, fraction discarded. NaN becomes the lowest value.
constexpr int16_t clip(float x) {
  return static_cast<int16_t>(!(x > INT16_MIN) ? INT16_MIN : x > INT16_MAX ? INT16_MAX : x);
}

}  // namespace offhook
