// SPDX-License-Identifier: MIT
//
// How far apart two points of the PCM upstream must be at each level. The noise is the codec's and the rest: errors of
// a step are equally distributed within it, and the step depends on the level and on the echo added to it. The rest is
// Gaussian. Errors within a step have no tails, so points need not be as far apart as with Gaussian noise of the same
// mean square; an echo that sometimes doubles the step makes tails.
//
// The nearest wrong sequences of V.34's trellis codes differ by one spacing in four symbols, or by two in one. With
// M(t) the mean of exp(t noise), Chernoff's bound for the first is the product of M(T / d) exp(-T / 2) of the four
// symbols, for any T that they have in common, and for the second M(2 T / d) exp(-2 T). The spacing d is the least one
// for which both bounds are those of Gaussian noise at the design's distance. T is a compromise: Gaussian noise alone
// would prefer a smaller one, and errors within a step a larger one.
//
// Source: Chernoff 1952; Forney, Eyuboglu 1991 (minimum distances).
#pragma once

#include <stdint.h>

#include "dsp/v90/pcm/upstream_receiver.h"

namespace offhook::v90 {

class UpstreamSpacing {
 public:
  struct Noise {
    Law law;
    float echo;                ///< root mean square at the codec
    float variance[kUchords];  ///< NoiseFit
    float equal[kUchords];     ///< of it, equally distributed
    float intersymbol;         ///< mean square, besides
  };

  /// @param distance  for Gaussian noise of standard deviation 1
  void begin(const Noise& noise, float distance);
  /// A part of the work. @return done  Real-time: yes, a dozen exponentials and logarithms.
  bool work();
  /// After the work. @param level  not negative  @return least distance of two points here
  float at(float level) const;
  /// Mean square noise at a level.
  float variance(float level) const;

 private:
  // Levels: their square roots are equally spaced, because steps grow with the level.
  static constexpr int kLevels = 80;
  static constexpr float kUnit = 2.5f;
  static constexpr int kEchoes = 12;
  void begin_level();
  double log_moment(double t) const;
  void improve(double exponent, double bound, double* spacing) const;
  /// The last level not above, and the share of the way to the next one.
  static int place_of(float level, float* share);

  Noise noise_{};
  double bound_ = 0;  // logarithm, of a symbol
  int level_ = 0, step_ = 0;
  double four_ = 0, one_ = 0;
  double half_width_[kEchoes]{}, other_[kEchoes]{};
  float spacing_[kLevels + 1]{}, variance_[kLevels + 1]{};
};

}  // namespace offhook::v90
