// SPDX-License-Identifier: MIT
//
// Random numbers that are a pure function of (seed, stream, index): Philox4x32-10, a counter-based generator. Nothing
// is stepped, so drawing from one stream changes no other, and a thread or a shard that starts in the middle gets the
// numbers it would have got.
//
// Each index of a stream holds one 64-bit word, and every distribution is a function of that word alone: give each
// purpose a separate stream, and use each index for only one quantity.
//
// Same bytes everywhere: integers, and IEEE +, -, *, / and sqrt, which every machine rounds alike; no libm, and
// contraction to fused multiply-add is off for this module (hostsim/CMakeLists.txt).
#pragma once

#include <cstddef>
#include <cstdint>

namespace offhook::hostsim {

class Random {
 public:
  /// Every seed and every stream number is suitable. O(1); stores only these two.
  Random(std::uint64_t seed, std::uint64_t stream) : seed_(seed), stream_(stream) {}

  /// The word at `index`, uniform over all 64-bit values.
  /// Source: Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC11; key = seed, counter = (index/2,
  /// stream)
  std::uint64_t word(std::uint64_t index) const;

  /// Uniform on the open interval (0, 1): (k + 1/2) / 2^52 with k the upper 52 bits of the word; never 0 or 1.
  double uniform(std::uint64_t index) const;

  /// Exponential with mean 1, at most 53 ln 2 = 36.7.
  double exponential(std::uint64_t index) const;

  /// Normal with mean 0 and variance 1, by inversion; |x| <= 8.3.
  double normal(std::uint64_t index) const;

  /// uniform() of the indices first, first + step, ...: the same numbers, faster. @param[out] out [n]
  void uniforms(std::uint64_t first, std::uint64_t step, double* out, std::size_t n) const;

  /// exponential() of the indices first to first + n - 1: the same numbers, faster. @param[out] out [n]
  void exponentials(std::uint64_t first, double* out, std::size_t n) const;

  /// normal() of the indices first to first + n - 1, rounded to float: the same numbers, faster. @param[out] out [n]
  void normals(std::uint64_t first, float* out, std::size_t n) const;

 private:
  std::uint64_t seed_;
  std::uint64_t stream_;
};

/// uniform() of successive indices, computed in advance.
class UniformDraws {
 public:
  UniformDraws() : UniformDraws(Random(0, 0)) {}
  explicit UniformDraws(const Random& random, std::uint64_t first = 0, std::uint64_t step = 1)
      : random_(random), index_(first), step_(step) {}
  double next() {
    if (at_ == kAhead) {
      random_.uniforms(index_, step_, ahead_, kAhead);
      index_ += step_ * kAhead;
      at_ = 0;
    }
    return ahead_[at_++];
  }

 private:
  static constexpr std::size_t kAhead = 16;
  Random random_;
  std::uint64_t index_, step_;  ///< index of the first one that is not computed
  std::size_t at_ = kAhead;
  double ahead_[kAhead];
};

/// Natural logarithm without libm, relative error below 1e-15. @pre x is positive, finite and normal
double natural_log(double x);

/// e^x without libm, relative error below 1e-15. @pre |x| <= 700
double natural_exp(double x);

/// The x that a standard normal variable does not exceed with probability p; relative error about 1e-16.
/// @pre 0 < p < 1.  Source: Wichura, algorithm AS 241 (PPND16), Applied Statistics 37 (1988) 477-484
double inverse_normal(double p);

}  // namespace offhook::hostsim
