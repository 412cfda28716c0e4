// SPDX-License-Identifier: MIT
//
// A whole channel mixed down from a carrier and filtered to the band of a symbol rate, to be looked at any time.
#pragma once

#include <span>
#include <vector>

#include "src/decode/line/samples.h"

namespace offhook::decode {

class Baseband {
 public:
  /// @param x  real samples at 8000 Hz
  Baseband(std::span<const float> x, double carrier_hz, double symbol_rate_hz);

  /// Value, and derivative per sample of 8000 Hz, at a time in samples; 0 outside the recording.
  void at(double t, Cf* value, Cf* derivative) const;
  Cf at(double t) const {
    Cf v, d;
    at(t, &v, &d);
    return v;
  }
  std::size_t size() const { return x_.size(); }

 private:
  struct Table;  // of an interpolator
  static const Table& table();

  const Table& table_;
  std::vector<Cf> x_;
};

}  // namespace offhook::decode
