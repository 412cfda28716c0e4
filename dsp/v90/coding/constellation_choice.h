// SPDX-License-Identifier: MIT
//
// The constellations that an analogue modem requests, from the results of digital impairment learning: the level at
// which each Ucode arrives in each of the six intervals, and the noise.
//
// Robbed bits, pads and a second law make some Ucodes arrive at nearly the same level. So points are chosen by their
// received levels, from the smallest up. Each is at least a minimum distance from the one before, and from zero, where
// the signs meet, half of it. Then the highest are dropped while 2^K combinations remain: that is the least power with
// that distance. The required distance follows from the noise and the permitted errors.
#pragma once

#include <stdint.h>

#include "dsp/v90/coding/cp.h"
#include "dsp/v90/coding/power.h"
#include "dsp/v90/coding/ucode.h"

namespace offhook::v90 {

/// Received levels. A Ucode that was not learnt is negative and is not used.
struct LearntLevels {
  float level[kFrameIntervals][kUcodes];
  /// The data frames have moved by `intervals`.  Real-time: yes, O(6 * kUcodes).
  void move(int intervals) {
    const LearntLevels before = *this;
    for (int i = 0; i < kFrameIntervals; ++i) {
      for (int u = 0; u < kUcodes; ++u) level[(i + intervals) % kFrameIntervals][u] = before.level[i][u];
    }
  }
};

struct ConstellationLimits {
  Law law = Law::kMu;        ///< of the digital modem: its power is limited
  uint8_t max_power = 0;     ///< bits 33:37 of INFO0d
  uint32_t rates = ~0u;      ///< bit drn - 1, as in Jd
  uint8_t shaping_bits = 0;  ///< S_r
  float least_distance = 0;  ///< between points, in units of the levels
};

/// The constellations with the largest least distance that carry k bits within the limit of power.
/// @param[out] interval, constellation  as in Cp  @return that distance; 0: there are none.
/// Not real-time in the strict sense: about 30 searches over 6 * kUcodes levels.
float fit_constellations(const LearntLevels& levels, const ConstellationLimits& limits, int k, uint8_t* interval,
                         UcodeMask* constellation);

/// Data mode at the highest rate whose points are limits.least_distance apart: drn, shaping_bits, interval and
/// constellation of `cp`, which is a CP.  @return the least distance; 0: not even the lowest rate, and `cp` has drn 0.
/// Not real-time in the strict sense: as fit_constellations().
float choose_rate(const LearntLevels& levels, const ConstellationLimits& limits, Cp* cp);

/// The same for training, a CPt: k bits, 6 to 24.
float choose_training(const LearntLevels& levels, const ConstellationLimits& limits, int k, Cp* cp);

}  // namespace offhook::v90
