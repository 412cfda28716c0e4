// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>

namespace offhook::hostsim {

/// Both ends of the telephone line are sampled at this rate. Source: ITU-T G.711, 2.
inline constexpr std::uint32_t kLineRateHz = 8000;

/// The telephone connection between two modems, as plain data; hostsim/channel/line.h explains each stage and levels.h
/// the levels. Everything except clock_ppm is equal in both directions.
struct LineConfig {
  double loss_db = 10;             ///< of one direction, at 1000 Hz
  double near_echo_db = 12;        ///< transhybrid loss of a modem's own hybrid: its near echo re its signal
  double far_echo_db = 30;         ///< transhybrid loss of the network's hybrids: the far echo returns 2 loss_db +
                                   ///< far_echo_db below the sent signal, after twice the delay
  double delay_ms = 10;            ///< one way, at 1800 Hz; 0: the minimum of the line
  double noise_dbm0 = -60;         ///< white Gaussian, at the receiver, over 0 to 4000 Hz (300-3400: 1.1 dB less)
  double impulse_rate_hz = 0;      ///< mean rate of the Poisson process at each receiver
  double impulse_dbm0 = -20;       ///< an impulse has the peak of a sine of this level
  double frequency_offset_hz = 0;  ///< added to every frequency in each direction
  double clock_ppm = 0;            ///< the far end's and the network's sample clock relative to the near end's
  double phase_jitter_deg = 0;     ///< peak to peak, for every frequency, in each direction (ITU-T O.91)
  double phase_jitter_hz = 60;     ///< its rate: a sine
  double interruption_ms = 0;      ///< both directions of the network are silent for this time; 0: never
  double interruption_at_s = 0;    ///< beginning of that, in seconds since the line's first sample
  double slip_ms = 0;              ///< increase of the delay of both directions: samples come twice; negative: are lost
  double slip_at_s = 0;            ///< time of that, in seconds since the line's first sample
  double upper_edge_hz = 3400;     ///< end of the band: 3 dB 200 Hz above it, 30 dB 500 Hz above; 3400: the channel's
  double steep_edge_hz = 0;  ///< upper band edge of a steep filter: 8 dB 100 Hz above it, 40 dB at 250 Hz; 0: none
  // Impairments of real lines and codecs; hostsim/channel/impairments.h explains each model and names its source.
  double limit_dbm0 = 20;    ///< each direction is hard-limited at the peak of a sine of this level
  double dc_percent = 0;     ///< DC that a receiver's converter adds, relative to full scale
  double hum_dbm0 = -200;    ///< mains hum at each receiver: level of the fundamental; -200: none
  double hum_hz = 50;        ///< its frequency
  double gain_hit_db = 0;    ///< change of the gain of both directions during a hit
  double phase_hit_deg = 0;  ///< change of the phase of every frequency in both directions during a hit
  double hit_at_s = 0;       ///< when the first hit begins, in seconds since the line's first sample
  double hit_ms = 0;         ///< length of a hit; 0: until the end of the call
  double hit_period_s = 0;   ///< period of the hits; 0: only one hit
  double wander_ppm = 0;     ///< amplitude of a slow sine by which the far clock's rate varies, in both directions
  double wander_hz = 0.2;    ///< frequency of that sine
  // A gateway or a long-distance exchange; hostsim/channel/gateway.h explains each model.
  std::uint32_t tandem_codecs = 0;     ///< further G.711 pairs after the codec, alternately A-law and mu-law
  double suppressor_db = 0;            ///< attenuation of the quieter direction; 0: no suppressor
  double vad_dbm0 = -200;              ///< a direction below this level is replaced by comfort noise; -200: never
  double comfort_noise_dbm0 = -55;     ///< its level
  bool tone_disabling = true;          ///< whether an answer tone switches off suppressor and voice activity detection
  double packet_ms = 0;                ///< length of a packet, which adds to the delay; 0: no packets
  double packet_loss = 0;              ///< share of the packets that are lost
  std::string concealment = "repeat";  ///< for a lost packet: "repeat", "fade", "silence"
  double call_waiting_at_s = 0;        ///< first tone to the near end, then every 10 s; 0: never
  double call_waiting_ms = 300;        ///< its length
  std::string codec = "mu-law";        ///< "none", "a-law", "mu-law"
  std::string channel = "flat";        ///< "flat", "v56bis-ad1-edd1" ...: see hostsim/channel/channel.h
  bool robbed_bit = false;             ///< true: the last bit of every sixth octet carries signalling; needs a codec
  bool far_digital = false;            ///< the far end is a modem on the digital network: its samples are the codec's
                                       ///< values, it has no hybrid, and noise in its direction precedes the codec
};

}  // namespace offhook::hostsim
