// SPDX-License-Identifier: MIT
//
// Effect of a gateway or a long-distance exchange on the speech band, both directions together:
//
//    codec --> further codecs --> suppressor --> voice activity --> packets --> call waiting --> onwards
//
// - Further codecs: pairs of G.711 in tandem, of the two laws in turn. Source of the laws: ITU-T G.711.
// - Suppressor: the quieter direction is attenuated, as an echo suppressor and the non-linear processor of an echo
//   canceller do.
// - Voice activity: a direction below a threshold is replaced by white comfort noise.
// - Packets: a lost one is replaced by the packet before it, which is repeated at half its amplitude each time, or by
//   silence.
// - Call waiting: towards the near end the exchange interrupts the call with a tone of 440 Hz.
//
// An answer tone of 2100 Hz in either direction switches the suppressor and the voice activity off, until both
// directions have been silent for a while, unless the gateway fails to detect it.
//
// Thresholds and times are this project's choice. The texts of G.164, G.165 and G.168 were not available, and the
// appendices to G.711 describe better algorithms than those of the simple gateways modelled here.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "dsp/blocks/tone.h"
#include "hostsim/channel/line_config.h"
#include "hostsim/channel/noise.h"
#include "hostsim/engine/random.h"

namespace offhook::hostsim {

class Gateway {
 public:
  enum Direction : std::uint8_t { kToFar, kToNear };

  /// Whether a line has a gateway.
  static bool is_in(const LineConfig& config);
  /// @pre the configuration is that of a Line, which has checked it
  Gateway(const LineConfig& config, std::uint64_t seed);

  /// One sample of one direction; the two directions alternate in blocks. No allocation.
  float process(Direction direction, float x);
  /// Whether the answer tone has switched off suppressor and voice activity detection.
  bool disabled() const { return disabled_; }

 private:
  struct Path {
    float power = 0;           // mean square over 20 ms
    std::size_t held = 0;      // samples for which the suppressor still attenuates
    std::size_t hangover = 0;  // samples for which voice activity continues
    ToneDetector answer_tone{2100};
    std::unique_ptr<WhiteNoise> comfort_noise;
    std::vector<float> arriving, playing;  // packets
    std::size_t at = 0;
    std::uint64_t packets = 0;
    float fade = 1;
  };

  void follow_tone(Path& path);
  float tandem(float x) const;
  float suppress(Path& path, const Path& other, float x);
  float gate(Path& path, float x);
  float packetise(Direction direction, Path& path, float x);
  float interrupt(float x);

  const LineConfig config_;
  const float suppressed_;  // gain
  const float talk_, least_,
      silence_;  // mean squares: of a direction that suppresses, of voice, and after the end of a call
  const std::array<Random, 2> losses_;
  std::array<Path, 2> paths_;
  bool disabled_ = false;
  std::size_t silent_ = 0;  // samples
  std::uint64_t now_ = 0;   // of the near end's direction
  double tone_turns_ = 0;
};

}  // namespace offhook::hostsim
