// SPDX-License-Identifier: MIT
//
// Levels. A sine whose peak is full scale (32768) is +3.14 dBm0, for both laws of G.711 and for linear samples alike:
// spandsp's DBM0_MAX_SINE_POWER, and the overload point of A-law (G.711, clause 4; mu-law's own is 3.17). So 0 dBm0 is
// a root mean square of 32768 / sqrt 2 / 10^(3.14/20) = 16141, whatever the waveform.
#pragma once

#include <cstddef>
#include <cstdint>

namespace offhook::hostsim {

inline constexpr double kFullScaleSineDbm0 = 3.14;

/// 10^(db/20), relative error below 1e-14, without libm so that every machine gives the same bits. @pre |db| <= 1000
double db_to_gain(double db);

/// RMS in int16 units of a signal of this level. @pre |dbm0| <= 1000
double dbm0_to_rms(double dbm0);

/// Peak in int16 units of a sine of this level. @pre |dbm0| <= 1000
double dbm0_to_peak(double dbm0);

/// Level of a signal of this RMS; minus infinity for silence. For display and tests: it uses libm.
double rms_to_dbm0(double rms);

/// Level of all the samples it was given.
class PowerMeter {
 public:
  void add(const std::int16_t* x, std::size_t n);
  double dbm0() const;

 private:
  double sum_of_squares_ = 0;
  std::uint64_t samples_ = 0;
};

}  // namespace offhook::hostsim
