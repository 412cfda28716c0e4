/* SPDX-License-Identifier: MIT
 *
 * The only FFT interface: complex, power-of-two lengths, memory from the caller. oh_fft_radix2() is a freestanding
 * radix-2 transform. oh_fft_fftw() of dsp/fftw is FFTW behind the same contract, for the audio pumps of that name and
 * for tests; a program with it is GPL. Users take the ops as a parameter and include neither. Real samples: real_fft.h.
 */
#ifndef OFFHOOK_DSP_BLOCKS_FFT_H
#define OFFHOOK_DSP_BLOCKS_FFT_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

struct oh_complex {
  float re, im;
};

enum { OH_FFT_MAX = 65536 };

/** The value of oh_fft_radix2()->size(n), for memory in another object: factors of each stage, places, head. */
#define OH_FFT_RADIX2_SIZE(n) ((size_t)(n) * (2 * sizeof(struct oh_complex) + sizeof(unsigned short)) + 64)

struct oh_fft_ops {
  const char* name;
  /** @return bytes of memory, aligned to 64, for transforms of n points; 0 unless n is a power of two, 1 to OH_FFT_MAX
   */
  size_t (*size)(size_t n);
  /** Not real-time: fills tables. @return 0 or -EINVAL */
  int (*init)(void* self, size_t n);
  /** X[k] = sum over t of x[t] exp(-2 pi i k t / n). @param x [n] @param out [n], may be x. Real-time: O(n log n). */
  void (*forward)(const void* self, const struct oh_complex* x, struct oh_complex* out);
  /** x[t] = 1/n sum over k of X[k] exp(+2 pi i k t / n): the inverse of forward. */
  void (*inverse)(const void* self, const struct oh_complex* x, struct oh_complex* out);
  /** Releases memory that init allocated elsewhere; may be NULL. */
  void (*release)(void* self);
};

const struct oh_fft_ops* oh_fft_radix2(void);
const struct oh_fft_ops* oh_fft_fftw(void); /**< if fftw3f was found */

#ifdef __cplusplus
}
#endif
#endif
