// SPDX-License-Identifier: MIT
//
// Effect of the network on the band: named attenuation and envelope-delay characteristics, and the FIR filter with
// these characteristics. "flat" passes 300 to 3400 Hz without attenuation, with the delay distortion EDD-1 at the
// edges; "v56bis-adA-eddE" is attenuation AD-A (1, 5, 6, 7, 8, 9) with delay EDD-E (1, 2, 3) of ITU-T V.56bis.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>
#include <vector>

namespace offhook::hostsim {

/// Names of the channels.
inline constexpr std::array<std::string_view, 19> kChannelNames = {"flat",
                                                                   "v56bis-ad1-edd1",
                                                                   "v56bis-ad1-edd2",
                                                                   "v56bis-ad1-edd3",
                                                                   "v56bis-ad5-edd1",
                                                                   "v56bis-ad5-edd2",
                                                                   "v56bis-ad5-edd3",
                                                                   "v56bis-ad6-edd1",
                                                                   "v56bis-ad6-edd2",
                                                                   "v56bis-ad6-edd3",
                                                                   "v56bis-ad7-edd1",
                                                                   "v56bis-ad7-edd2",
                                                                   "v56bis-ad7-edd3",
                                                                   "v56bis-ad8-edd1",
                                                                   "v56bis-ad8-edd2",
                                                                   "v56bis-ad8-edd3",
                                                                   "v56bis-ad9-edd1",
                                                                   "v56bis-ad9-edd2",
                                                                   "v56bis-ad9-edd3"};

inline constexpr std::size_t kChannelTaps = 256;
/// Delay of the filter at 1800 Hz, where EDD is 0 by definition.
inline constexpr std::size_t kChannelDelay = 40;

/// The filter and its Hilbert transform. Together they give the analytic signal that a frequency shift needs.
struct ChannelFilter {
  std::array<float, kChannelTaps> in_phase;
  std::array<float, kChannelTaps> quadrature;
};

/// Points of a characteristic, connected by straight lines.
struct ChannelPoint {
  double hz;
  double value;
};
struct ChannelCharacteristic {
  std::vector<ChannelPoint> attenuation_db;  ///< relative to 1000 Hz
  std::vector<ChannelPoint> delay_ms;        ///< relative to 1800 Hz; outside its points, the nearest one applies
};

/// @throws std::invalid_argument naming the existing channels
ChannelCharacteristic channel_characteristic(std::string_view name);

/// The upper edge of the band, with the shape of "flat": no attenuation up to this frequency, 3 dB 200 Hz above it, 30
/// dB from 500 Hz above it.
inline constexpr double kUpperEdgeHz = 3400;
/// The same characteristic with the band's upper edge at `hz`, where the edge attenuates more.
ChannelCharacteristic with_upper_edge(ChannelCharacteristic characteristic, double hz);

/// As above with a steep edge: no attenuation up to `hz`, 8 dB at 100 Hz above it, 40 dB from 250 Hz above it on; 0:
/// none. Linear-phase decimators of converters that sample at 8000 Hz have such edges at 0.43 to 0.44 of the rate. The
/// values are this project's choice.
ChannelCharacteristic with_steep_edge(ChannelCharacteristic characteristic, double hz);

/// FIR by frequency sampling at kLineRateHz; gain 1 at 1000 Hz, delay kChannelDelay samples at 1800 Hz.
/// Between 400 and 3400 Hz within 0.15 dB and 0.15 ms of the points, at 300 Hz within 0.3 dB and 0.2 ms.
ChannelFilter design_channel(const ChannelCharacteristic& characteristic);

}  // namespace offhook::hostsim
