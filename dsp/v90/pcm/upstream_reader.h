// SPDX-License-Identifier: MIT
//
// The data upstream as the digital modem reads them: samples of the exchange's A/D, without echo, to bits. The
// transmitter has equalised the line, so that the levels of the points arrive; a short filter follows slow changes, and
// the EdgeCanceller those that two clocks cause. Points are unevenly spaced, and the noise grows with the spacing: a
// level is expressed by its place between the points, and V.34's trellis decoder reads the pairs of places.
#pragma once

#include <stdint.h>

#include "dsp/blocks/kernels.h"
#include "dsp/blocks/scrambler.h"
#include "dsp/v34/coding/viterbi.h"
#include "dsp/v90/coding/upstream.h"
#include "dsp/v90/pcm/edge_canceller.h"
#include "offhook/pump.h"

namespace offhook::v90 {

class UpstreamReader {
 public:
  static constexpr int kTaps = 32;
  static constexpr int kAhead = kTaps / 2;                        ///< samples of the filter after the symbol's
  static constexpr int kBehind = kAhead + EdgeCanceller::kDelay;  ///< from the newest sample to that of residual()

  UpstreamReader() = default;
  /// B1u begins with the next symbol. @pre is_usable(cpd)
  explicit UpstreamReader(const Cpd& cpd, const Kernels& kernels = best_kernels());
  /// One symbol. @param[in] samples  [kTaps] the oldest first; the symbol's is kTaps - 1 - kAhead
  /// Real-time: yes; O(taps), and with every fourth the trellis decoder's step.
  void put(const float* samples, const oh_bit_port& port, bool live);

  bool b1_received() const { return frames_ >= kB1uFrames; }
  uint64_t bits_received() const { return bits_received_; }
  /// Mean square distance to the nearest point, over the square of the spacing.
  float variance() const { return variance_; }
  /// Of the symbol that was read last, kBehind samples ago: its level less the nearest point's.
  float residual() const { return residual_; }
  /// Its distance to that point, in spacings of points there.
  float off() const { return off_; }
  /// That symbol is so near to a point that this is probably the sent one.
  bool certain() const { return off_ < kCertain; }

 private:
  static constexpr int kB1uFrames = 48;
  static constexpr float kCertain = 0.35f;
  /// A level among the points of a set.
  struct Place {
    int16_t below;  ///< index of the highest point that is not above it, or of the lowest
    float value;    ///< 2 y + 1 for the level of point y, straight lines between
    float point;    ///< level of the nearest one
    float off;      ///< distance to it, in spacings
    float weight;   ///< the square of the least spacing over the spacing here, because the noise grows with it
  };
  int16_t below(float level, int set) const;
  /// @param near  a guess of `below`
  Place place_of(float level, int set, int near) const;
  void read(float level, int near, const oh_bit_port& port, bool live);
  void decide(const v34::Point decided[2], const oh_bit_port& port, bool live);

  const Kernels* kernels_ = nullptr;
  uint8_t modulus_[kUpstreamIntervals]{};
  uint8_t set_[6]{}, points_[kConstellationSets]{};
  float level_[kConstellationSets][2 * kMostPositivePoints]{};    // from the lowest up
  float inverse_[kConstellationSets][2 * kMostPositivePoints]{};  // of the spacing above each
  UpstreamModulus bits_;
  v34::ViterbiDecoder viterbi_;
  Descrambler descrambler_{kGpa};
  float taps_[kTaps]{};
  EdgeCanceller edge_;
  float received_[4]{};
  int interval_ = 0;  // of the next level
  int read_ = 0;      // of the next symbol that is read
  int16_t below_[EdgeCanceller::kDelay]{};
  int below_at_ = 0;
  int digit_at_ = 0;
  uint8_t digits_[kUpstreamIntervals]{};
  int frames_ = 0;
  int symbols_ = 0;
  float variance_ = 0, residual_ = 0, off_ = 1;
  uint64_t bits_received_ = 0;
};

}  // namespace offhook::v90
