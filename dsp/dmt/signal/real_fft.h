// SPDX-License-Identifier: MIT
//
// The transform of real samples, 64 to 512 of them: a complex transform of half the length and one step more. Real and
// imaginary parts are planar.
#pragma once

namespace offhook::dmt {

class RealFft {
 public:
  static constexpr int kMost = 512;

  /// @param n  a power of two, 64 to kMost. Not real-time: fills tables.
  explicit RealFft(int n);
  int size() const { return n_; }

  /// X[k] = sum over t of x[t] exp(-2 pi i k t / n), k from 0 to n / 2 - 1. @param[in] x  [n]  @param[out] re, im
  /// [n/2]; im[0] is 0, and tone n / 2 is not given. No aliases. Real-time: yes, O(n log n).
  void forward(const float* x, float* re, float* im) const;
  /// The real x whose transform is X in 0 to n / 2 - 1 and nothing at n / 2: undoes forward() where that is nothing.
  /// @param[in] re, im  [n/2]  @param[out] x  [n]
  void inverse(const float* re, const float* im, float* x) const;

 private:
  void transform(float* re, float* im) const;  // of half the length, in place, in bit-reversed order

  int n_, half_;
  float cos_[kMost / 2], sin_[kMost / 2];              // of k / n turns
  float stage_cos_[kMost / 2], stage_sin_[kMost / 2];  // of each stage in turn: half a stage's length of them
  short reversed_[kMost / 2];
};

}  // namespace offhook::dmt
