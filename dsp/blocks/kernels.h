// SPDX-License-Identifier: MIT
//
// The inner loops of adaptive filters. Complex arrays are planar: real parts in one array, imaginary parts in another.
//
// One source, compiled for every x86-64, for AVX2 and for AVX-512. All variants sum in the same order, by sixteen
// partial sums, and round after each operation (no fused multiply-add). So all give identical bits and differ only in
// speed.
#pragma once

#include <stdint.h>

#include "dsp/blocks/complex.h"

namespace offhook {

enum class InstructionSet : uint8_t { kPlain, kAvx2, kAvx512 };
inline constexpr InstructionSet kInstructionSets[] = {InstructionSet::kPlain, InstructionSet::kAvx2,
                                                      InstructionSet::kAvx512};

struct FloatPair {
  float first, second;
};

/// All lengths n are multiples of 16; no alignment is needed; arguments of one call do not alias.
/// Real-time: yes, O(n). In a kernel module the caller must own the vector state.
struct Kernels {
  InstructionSet set;
  const char* name;
  /// Sum of a[k] b[k].
  float (*dot)(const float* a, const float* b, int n);
  /// Sum of a[k] b[k] plus sum of c[k] d[k]: two calls of dot() in one.
  float (*two_dots)(const float* a, const float* b, const float* c, const float* d, int n);
  /// dot(a, x, n) and dot(b, x, n): both read x once. `newest` is x[n - 1], which is not read, as in interpolate().
  /// @pre n >= 32
  FloatPair (*dot_pair)(const float* a, const float* b, const float* x, int n, float newest);
  /// c[k] += step x[k].
  void (*accumulate)(float* c, const float* x, float step, int n);
  /// Sum of c[k] x[k], complex.
  Complex (*complex_dot)(const float* c_re, const float* c_im, const float* x_re, const float* x_im, int n);
  /// LMS: c[k] += step conj(x[k]), complex.
  void (*complex_adapt)(float* c_re, float* c_im, const float* x_re, const float* x_im, Complex step, int n);
  /// Sum of (a[k] + fraction (b[k] - a[k])) x[k], x complex: a filter between two phases of a polyphase bank. `newest`
  /// is x[n - 1], which is not read: it has just been written, and a wide load would wait for that store. @pre n >= 32
  Complex (*interpolate)(const float* a, const float* b, float fraction, const float* x_re, const float* x_im, int n,
                         Complex newest);
};

/// Whether both processor and OS support it.
bool cpu_has(InstructionSet set);
/// @pre cpu_has(set)
const Kernels& kernels_for(InstructionSet set);
/// The fastest kernels of this processor.  Real-time: yes, except the first call, which detects the processor.
const Kernels& best_kernels();

}  // namespace offhook
