// SPDX-License-Identifier: MIT
#include "hostsim/channel/front_end.h"

#include <algorithm>

#include "dsp/blocks/sincos.h"
#include "hostsim/engine/random.h"

namespace offhook::hostsim {
namespace {

/// 1 far below the edge, 0 far above it.
double below(double hz, double edge_hz, double width_hz) {
  return 1 / (1 + natural_exp(std::clamp((hz - edge_hz) / width_hz, -600.0, 600.0)));
}

}  // namespace

double split_filter(const FrontEnd& f, Direction direction, double rate_hz, double hz) {
  if (direction == Direction::kUp) return below(hz, f.split_hz, f.split_width_hz);
  return below(-hz, -f.split_hz, f.split_width_hz) * below(hz, rate_hz / 2, f.top_width_hz);
}

std::complex<double> coupling(const FrontEnd& f, double hz) {
  if (f.coupling_hz <= 0) return 1;
  const std::complex<double> s(0, hz / f.coupling_hz);
  return s * s / (s * s + kSqrt2 * s + 1.0);
}

}  // namespace offhook::hostsim
