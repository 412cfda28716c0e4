// SPDX-License-Identifier: MIT
#include "dsp/blocks/kernels.h"

#include <stdint.h>
#include <string.h>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace offhook {
namespace {

using Float8 = float __attribute__((vector_size(32)));

#define OFFHOOK_INLINE [[gnu::always_inline]] inline

OFFHOOK_INLINE void load(Float8* v, const float* p) {
  memcpy(v, p, sizeof *v);
}
OFFHOOK_INLINE void store(float* p, const Float8* v) {
  memcpy(p, v, sizeof *v);
}
OFFHOOK_INLINE float sum(const Float8* v) {
  const Float8& a = *v;
  return ((a[0] + a[4]) + (a[2] + a[6])) + ((a[1] + a[5]) + (a[3] + a[7]));
}
OFFHOOK_INLINE void fill(Float8* v, float x) {
  *v = Float8{x, x, x, x, x, x, x, x};
}

OFFHOOK_INLINE float dot_body(const float* a, const float* b, int n) {
  Float8 s0{}, s1{}, x, y;
  int k = 0;
  for (; k + 16 <= n; k += 16) {
    load(&x, a + k), load(&y, b + k);
    s0 += x * y;
    load(&x, a + k + 8), load(&y, b + k + 8);
    s1 += x * y;
  }
  if (k < n) {
    load(&x, a + k), load(&y, b + k);
    s0 += x * y;
  }
  s0 += s1;
  return sum(&s0);
}

OFFHOOK_INLINE void accumulate_body(float* c, const float* x, float step, int n) {
  Float8 s, v, w;
  fill(&s, step);
  for (int k = 0; k < n; k += 8) {
    load(&v, c + k), load(&w, x + k);
    v += s * w;
    store(c + k, &v);
  }
}

OFFHOOK_INLINE Complex complex_dot_body(const float* c_re, const float* c_im, const float* x_re, const float* x_im,
                                        int n) {
  Float8 rr{}, ii{}, ri{}, ir{}, cr, ci, xr, xi;
  for (int k = 0; k < n; k += 8) {
    load(&cr, c_re + k), load(&ci, c_im + k), load(&xr, x_re + k), load(&xi, x_im + k);
    rr += cr * xr;
    ii += ci * xi;
    ri += cr * xi;
    ir += ci * xr;
  }
  rr -= ii;
  ri += ir;
  return {sum(&rr), sum(&ri)};
}

OFFHOOK_INLINE void complex_adapt_body(float* c_re, float* c_im, const float* x_re, const float* x_im, Complex step,
                                       int n) {
  Float8 sr, si, cr, ci, xr, xi;
  fill(&sr, step.re), fill(&si, step.im);
  for (int k = 0; k < n; k += 8) {
    load(&cr, c_re + k), load(&ci, c_im + k), load(&xr, x_re + k), load(&xi, x_im + k);
    cr += sr * xr;
    cr += si * xi;
    ci += si * xr;
    ci -= sr * xi;
    store(c_re + k, &cr), store(c_im + k, &ci);
  }
}

OFFHOOK_INLINE Complex interpolate_body(const float* a, const float* b, float fraction, const float* x_re,
                                        const float* x_im, int n) {
  Float8 f, re{}, im{}, u, v, xr, xi;
  fill(&f, fraction);
  for (int k = 0; k < n; k += 8) {
    load(&u, a + k), load(&v, b + k), load(&xr, x_re + k), load(&xi, x_im + k);
    u += f * (v - u);
    re += u * xr;
    im += u * xi;
  }
  return {sum(&re), sum(&im)};
}

// One set of functions for the target in force.
#define OFFHOOK_KERNELS(variant, attribute)                                                                            \
  attribute float dot_##variant(const float* a, const float* b, int n) {                                               \
    return dot_body(a, b, n);                                                                                          \
  }                                                                                                                    \
  attribute void accumulate_##variant(float* c, const float* x, float step, int n) {                                   \
    accumulate_body(c, x, step, n);                                                                                    \
  }                                                                                                                    \
  attribute Complex complex_dot_##variant(const float* c_re, const float* c_im, const float* x_re, const float* x_im,  \
                                          int n) {                                                                     \
    return complex_dot_body(c_re, c_im, x_re, x_im, n);                                                                \
  }                                                                                                                    \
  attribute void complex_adapt_##variant(float* c_re, float* c_im, const float* x_re, const float* x_im, Complex step, \
                                         int n) {                                                                      \
    complex_adapt_body(c_re, c_im, x_re, x_im, step, n);                                                               \
  }                                                                                                                    \
  attribute Complex interpolate_##variant(const float* a, const float* b, float fraction, const float* x_re,           \
                                          const float* x_im, int n) {                                                  \
    return interpolate_body(a, b, fraction, x_re, x_im, n);                                                            \
  }                                                                                                                    \
  constexpr Kernels kKernels_##variant = {#variant,                                                                    \
                                          dot_##variant,                                                               \
                                          accumulate_##variant,                                                        \
                                          complex_dot_##variant,                                                       \
                                          complex_adapt_##variant,                                                     \
                                          interpolate_##variant};

OFFHOOK_KERNELS(plain, )
#if defined(__x86_64__)
OFFHOOK_KERNELS(avx2, __attribute__((target("avx2,fma"))))
#endif

}  // namespace

const Kernels& plain_kernels() {
  return kKernels_plain;
}

#if defined(__x86_64__)
const Kernels& avx2_kernels() {
  return kKernels_avx2;
}

bool cpu_has_avx2() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (__get_cpuid(1, &a, &b, &c, &d) == 0) return false;
  constexpr unsigned kFma = 1u << 12, kOsxsave = 1u << 27;
  if ((c & kFma) == 0 || (c & kOsxsave) == 0) return false;
  uint32_t low = 0, high = 0;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  if ((low & 6) != 6) return false;  // the OS saves the vector registers
  if (__get_cpuid_count(7, 0, &a, &b, &c, &d) == 0) return false;
  return (b & 1u << 5) != 0;
}
#else
const Kernels& avx2_kernels() {
  return kKernels_plain;
}
bool cpu_has_avx2() {
  return false;
}
#endif

const Kernels& best_kernels() {
  return cpu_has_avx2() ? avx2_kernels() : plain_kernels();
}

}  // namespace offhook
