// SPDX-License-Identifier: MIT
//
// The connection of V.90: a modem on the digital network at one end, octets at 8000 a second; at the other an
// exchange's line card, a loop, and a modem whose converters are one crystal away from the network's clock.
//
//    digital modem            the network, 8000 Hz           line card           loop             analogue modem
//    octets ---- delay --> pad, other law, robbed bits --> D/A, filter ---(hybrid)--- loss, high-pass --> A/D 16000 Hz
//    octets <--- delay --- pad, other law, robbed bits <-- A/D, filter <--(hybrid)--- loss ------------- D/A  8000 Hz
//
// The analogue modem samples the received signal at 16000 Hz. The line card's filter attenuates 4000 Hz by only 14 dB.
// With 8000 samples/s of a free-running clock, a signal there could not be distinguished from its image.
//
// D/A and filter are one pulse, known between the samples to 80 dB (256 phases, straight lines between them); the
// transmitted samples go the other way through the resampler of every other line. Both hybrids leak: the near echo of
// the analogue modem, with a second reflection; and the line card's, the digital modem's own PCM.
//
// Same seed and configuration, same bytes: no libm, fixed order of additions, counter-based noise.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "hostsim/channel/network_path.h"

namespace offhook::hostsim {

inline constexpr std::size_t kFrameIntervals = 6;  ///< length of V.90's data frame, and of the pattern of robbed bits

struct DigitalTrunkConfig {
  std::string law = "mu-law";    ///< companding law of the digital modem: "mu-law", "a-law"
  std::string codec = "mu-law";  ///< of the line card
  double pad_db = 0;             ///< digital pad in each direction
  std::uint32_t robbed_bits =
      0;                     ///< bit i: the last bit of every sixth octet from the i-th on is robbed, in each direction
  bool robbed_value = true;  ///< value of the robbed bits
  bool converters = false;   ///< a pair of converters with a filter is between the digital modem and the trunk, so the
                             ///< downstream route is not digital
  double loss_db = 6;        ///< loss of the loop in one direction
  double slope_db = 0;       ///< additional loss of the loop at 3400 Hz; grows with the frequency
  double high_pass_hz = 20;  ///< of the analogue modem's transformer, first order; 0: none
  double near_echo_db = 14;  ///< transhybrid loss of the analogue modem's hybrid
  double card_echo_db = 24;  ///< transhybrid loss of the line card's hybrid
  double delay_ms = 5;       ///< one-way delay of the network; packets add to it
  NetworkFaults network;     ///< in each direction separately
  double noise_dbm0 = -75;   ///< white noise over 0 to 4000 Hz at each receiver
  double clock_ppm = 0;      ///< of the network's clock, relative to the analogue modem's
};

/// The modem at the digital end: one output octet per input octet.
class DigitalEnd {
 public:
  virtual ~DigitalEnd() = default;
  virtual std::uint8_t process(std::uint8_t rx) = 0;
};

class DigitalTrunk {
 public:
  static constexpr std::size_t kReceivedRatio = 2;  ///< received samples per sent sample

  /// @throws std::invalid_argument naming the field and the expected value. `end` must outlive the trunk.
  DigitalTrunk(const DigitalTrunkConfig& config, std::uint64_t seed, DigitalEnd& end);
  /// A copy of the line in its current state, including the signals on it, with the same `end`.
  DigitalTrunk(const DigitalTrunk& other);
  ~DigitalTrunk();

  /// One sample period of the analogue modem. @param played the sent sample @param[out] captured [kReceivedRatio] the
  /// received samples. No allocation.
  void exchange(std::int16_t played, std::int16_t* captured);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace offhook::hostsim
