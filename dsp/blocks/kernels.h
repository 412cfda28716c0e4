// SPDX-License-Identifier: MIT
//
// The inner loops of adaptive filters. Complex arrays are planar: real parts in one array, imaginary parts in another.
// Two variants of the same source, eight lanes wide: one for every x86-64, one for AVX2 with FMA. They round
// differently, so the choice is the caller's, made once: results depend on it.
#pragma once

#include "dsp/blocks/complex.h"

namespace offhook {

/// All lengths n are multiples of 8; no alignment is needed; arguments of one call do not alias.
/// Real-time: yes, O(n).
struct Kernels {
  const char* name;
  /// Sum of a[k] b[k].
  float (*dot)(const float* a, const float* b, int n);
  /// c[k] += step x[k].
  void (*accumulate)(float* c, const float* x, float step, int n);
  /// Sum of c[k] x[k], complex.
  Complex (*complex_dot)(const float* c_re, const float* c_im, const float* x_re, const float* x_im, int n);
  /// LMS: c[k] += step conj(x[k]), complex.
  void (*complex_adapt)(float* c_re, float* c_im, const float* x_re, const float* x_im, Complex step, int n);
  /// Sum of (a[k] + fraction (b[k] - a[k])) x[k], x complex: a filter between two phases of a polyphase bank.
  Complex (*interpolate)(const float* a, const float* b, float fraction, const float* x_re, const float* x_im, int n);
};

const Kernels& plain_kernels();
/// The AVX2 variant; the plain one where the build is not for x86-64.  @pre cpu_has_avx2()
const Kernels& avx2_kernels();
/// The processor and the OS have AVX2 and FMA. (In a kernel module the caller must also own the vector state.)
bool cpu_has_avx2();
/// The fastest that this processor runs in user space.
const Kernels& best_kernels();

}  // namespace offhook
