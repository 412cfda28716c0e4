// SPDX-License-Identifier: MIT
//
// The air between two radios: each direction has a direct path, echoes that fade, an offset of the carrier, and noise.
//
// A path's gain is a sum of waves from all around (Clarke 1968; the waves' angles and phases are drawn once), so its
// envelope is Rayleigh's and its spectrum that of a receiver moving through them. With `rice_db` there is a steady wave
// above them. Both directions see the same gains, as two radios on one frequency do.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "dsp/radio/burst.h"
#include "dsp/radio/low_if.h"
#include "hostsim/engine/random.h"

namespace offhook::hostsim {

struct RadioPath {
  double delay_s = 0;
  double loss_db = 0;
  double doppler_hz = 0;  ///< 0: no fading
  double rice_db = -100;  ///< steady power relative to the scattered waves; -100: none
};

struct RadioChannelConfig {
  std::vector<RadioPath> paths = {{}};
  double snr_db = 40;  ///< for a signal at `signal_dbm0` through a path without loss, in half the card's band
  double signal_dbm0 = -15;
  double sample_rate_hz = radio::kSampleRateHz;  ///< of complex samples
  double offset_hz = 0;                          ///< of the answerer's carrier, relative to the caller's
};

/// The channel from one radio to the other.
class RadioChannel {
 public:
  /// @param direction  0: from the caller, 1: to the caller. Both use one seed
  RadioChannel(const RadioChannelConfig& config, std::uint64_t seed, unsigned direction);
  /// Two samples of the card, in place.
  void step(std::array<float, 2>& pair);

 private:
  static constexpr unsigned kWaves = 8, kGainSamples = 64;  // a gain is valid for this many complex samples
  struct Path {
    std::size_t delay;  // complex samples
    double steady, scattered;
    std::array<double, kWaves> turns_a_sample, turns;
    radio::Complex gain;
  };
  void renew();

  Random noise_;
  double noise_rms_, offset_turns_;
  std::vector<Path> paths_;
  std::vector<radio::Complex> past_;  // a ring, for the delays
  std::uint64_t now_ = 0;             // complex samples
  radio::LowIfReceiver down_;
  radio::LowIfSender up_;
};

}  // namespace offhook::hostsim
