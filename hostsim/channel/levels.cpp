// SPDX-License-Identifier: MIT
#include "hostsim/channel/levels.h"

#include <bit>
#include <cmath>

namespace offhook::hostsim {

double db_to_gain(double db) {
  // 10^(db/20) = 2^y; the whole part of y goes into the exponent, e^(rest ln 2) is its Taylor series.
  const double y = db * 0.166096404744368117394;  // log2(10) / 20
  const int whole = static_cast<int>(y < 0 ? y - 0.5 : y + 0.5);
  const double x = (y - whole) * 0.693147180559945309417;
  double sum = 1;
  for (int k = 16; k >= 1; --k) sum = 1 + sum * x / k;
  return sum * std::bit_cast<double>(static_cast<std::uint64_t>(1023 + whole) << 52);
}

double dbm0_to_peak(double dbm0) {
  return 32768 * db_to_gain(dbm0 - kFullScaleSineDbm0);
}

double dbm0_to_rms(double dbm0) {
  return dbm0_to_peak(dbm0) / std::sqrt(2.0);
}

double rms_to_dbm0(double rms) {
  return 20 * std::log10(rms * std::sqrt(2.0) / 32768) + kFullScaleSineDbm0;
}

void PowerMeter::add(const std::int16_t* x, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) sum_of_squares_ += static_cast<double>(x[i]) * x[i];
  samples_ += n;
}

double PowerMeter::dbm0() const {
  return rms_to_dbm0(std::sqrt(sum_of_squares_ / static_cast<double>(samples_ ? samples_ : 1)));
}

}  // namespace offhook::hostsim
