// SPDX-License-Identifier: MIT
//
// Radio that a pair picks up: broadcast carriers with amplitude modulation, as a differential level at the receiver.
#pragma once

#include <complex>
#include <cstddef>
#include <functional>
#include <string_view>
#include <vector>

namespace offhook::hostsim {

struct RadioCarrier {
  double hz = 0;
  double dbm = 0;  ///< of the carrier, across 100 ohm
};

/// "540:-60, 621:-70": kHz and dBm, or several separated by commas; "": none.
/// @throws std::invalid_argument naming the invalid part
std::vector<RadioCarrier> ingress_named(std::string_view text);

/// The sum of carriers, each modulated by 50 % with a different tone, from 400 Hz on. Without libm.
class RadioIngress {
 public:
  static constexpr double kDepth = 0.5, kToneHz = 400, kToneStepHz = 170;

  /// @param amplitude  of a carrier at a frequency and a level, in the units of next()
  RadioIngress(const std::vector<RadioCarrier>& carriers, double rate_hz,
               const std::function<double(const RadioCarrier&)>& amplitude);
  /// Allocates nothing.
  float next();

 private:
  struct Oscillator {
    std::complex<double> now, step;
    double next() {
      const double y = now.real();
      now *= step;
      return y;
    }
  };
  struct Source {
    double amplitude;
    Oscillator carrier, tone;
  };
  std::vector<Source> sources_;
};

}  // namespace offhook::hostsim
