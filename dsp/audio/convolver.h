// SPDX-License-Identifier: MIT
//
// Convolution of a real signal with a long filter, in partitions of equal length.
//
//     B new samples ─┬─> transform of 2 B ──> spectra of the last P partitions
//     B before them ─┘                              │  times those of the filter's P partitions, summed
//     B results <── second half <── inverse <───────┘
//
// Each partition of the signal is transformed once. A filter of P partitions then costs P products of spectra per
// partition, and no more transforms. The work is the same for each partition.
// Source: Gardner, "Efficient convolution without input-output delay", JAES 43 (1995), section 1 (equal partitions);
// overlap-save: Oppenheim and Schafer, Discrete-Time Signal Processing, 8.7.3.
#pragma once

#include "dsp/blocks/complex.h"
#include "dsp/blocks/fft.h"

namespace offhook::audio {

class Convolver {
 public:
  static constexpr int kLeast = 32, kMost = 1024;  ///< samples of a partition
  static constexpr int kMostTaps = 8192;

  /// Not real-time: transforms the filter.
  /// @param partition  samples: a power of two, kLeast to kMost  @param taps  [n] of the filter, 1 <= n <= kMostTaps;
  /// copied  @param ops  the complex transform; its memory is inside this object, and at most that of oh_fft_radix2()
  Convolver(int partition, const float* taps, int n, const oh_fft_ops& ops = *oh_fft_radix2());
  ~Convolver() {
    if (ops_.release != nullptr) ops_.release(memory_);
  }
  Convolver(const Convolver&) = delete;
  Convolver& operator=(const Convolver&) = delete;

  int partition() const { return size_; }

  /// Filters the next partition. @param x  [partition()] input  @param[out] y  [partition()]: sum over t of taps[t] x[i
  /// - t]; may be x. Real-time: yes, O(partition * (log partition + taps / partition)).
  void process(const float* x, float* y);

 private:
  /// frame_ -> [size_] tones; the first is tone 0, whose imaginary part holds the tone at half the rate.
  void transform(float* re, float* im);
  /// [size_] tones -> frame_.
  void undo(const float* re, const float* im);
  void multiply();

  const oh_fft_ops& ops_;
  int size_, partitions_, newest_ = 0;
  Complex turn_[kMost];          // exp(pi i k / size_)
  oh_complex points_[kMost];     // of the complex transform
  float frame_[2 * kMost] = {};  // the previous partition, then the newest
  float before_[kMost] = {};     // the previous partition
  float sum_re_[kMost], sum_im_[kMost];
  // [partitions_][size_]: at most one sample of a partition more than the filter
  float filter_re_[kMostTaps], filter_im_[kMostTaps];
  float past_re_[kMostTaps] = {}, past_im_[kMostTaps] = {};  // a ring: newest_ is the newest
  alignas(64) unsigned char memory_[OH_FFT_RADIX2_SIZE(kMost)];
};

}  // namespace offhook::audio
