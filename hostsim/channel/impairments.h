// SPDX-License-Identifier: MIT
//
// Impairments that a line or a codec adds to one direction: hits, a hard limit, wander, DC, hum.
//
// A Recommendation that is named treats the impairment. Its text was not available; the values are this project's
// choice.
//
// - Hits: the gain, the phase or both step and step back (O.95 counts them).
// - Limit: an amplifier or converter that is driven too hard. Source: G.711, where full scale is a sine of 3.14 dBm0
//   (A-law) or 3.17 dBm0 (mu-law); a converter before it may end lower.
// - Wander: slow variation of a clock, below 10 Hz (G.810); a sine.
// - DC and hum: an uncalibrated converter, and a pair next to the mains. The levels are those of cheap sound cards and
//   FXO ports: 1 % of full scale, -20 dBm0. A saturated transformer makes odd harmonics: the third 6 dB and the fifth
//   12 dB below the fundamental. The model is this project's own; no Recommendation describes it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "hostsim/channel/line_config.h"

namespace offhook::hostsim {

/// Start times of the hits.
class Hits {
 public:
  explicit Hits(const LineConfig& config);
  bool any() const { return any_; }
  /// @param sample  since the line's first
  bool at(std::uint64_t sample) const;

 private:
  bool any_;
  std::uint64_t first_, length_, period_;
};

/// A delay that varies with the sine of wander. Adds kDelay samples, and the amplitude of the variation rounded up.
class Wander {
 public:
  explicit Wander(const LineConfig& config);
  float process(float x);

 private:
  static constexpr std::size_t kKept = 4096;
  double swing_;  // samples
  double step_;   // turns of the sine per sample
  double middle_;
  std::uint64_t now_ = 0;
  std::vector<float> buffer_ = std::vector<float>(2 * kKept);
};

/// DC and hum of a receiver.
class Hum {
 public:
  explicit Hum(const LineConfig& config);
  bool any() const { return dc_ != 0 || peak_ != 0; }
  float next();

 private:
  float dc_, peak_;
  double step_;  // turns a sample
  std::uint64_t now_ = 0;
};

}  // namespace offhook::hostsim
