// SPDX-License-Identifier: MIT
//
// FFTW behind dsp/blocks/fft.h. Linking FFTW makes the whole program GPL-2.0-or-later.
#include <fftw3.h>

#include <cerrno>
#include <cstring>

#include "dsp/blocks/fft.h"

namespace {

struct Fftw {
  std::size_t n;
  fftwf_complex *in, *out;  // in place, FFTW would allocate a buffer for each transform
  fftwf_plan forward;
  fftwf_plan inverse;
};

std::size_t fftw_size(std::size_t n) {
  return oh_fft_radix2()->size(n) == 0 ? 0 : sizeof(Fftw);
}

int fftw_init(void* self, std::size_t n) {
  if (fftw_size(n) == 0) return -EINVAL;
  auto* fft = static_cast<Fftw*>(self);
  fft->n = n;
  fft->in = fftwf_alloc_complex(n);
  fft->out = fftwf_alloc_complex(n);
  const int points = static_cast<int>(n);
  fft->forward = fftwf_plan_dft_1d(points, fft->in, fft->out, FFTW_FORWARD, FFTW_ESTIMATE);
  fft->inverse = fftwf_plan_dft_1d(points, fft->in, fft->out, FFTW_BACKWARD, FFTW_ESTIMATE);
  return 0;
}

void run(const Fftw* fft, fftwf_plan plan, const oh_complex* x, oh_complex* out, float scale) {
  std::memcpy(fft->in, x, fft->n * sizeof(oh_complex));
  fftwf_execute(plan);
  for (std::size_t i = 0; i < fft->n; i++) out[i] = {fft->out[i][0] * scale, fft->out[i][1] * scale};
}

void fftw_forward(const void* self, const oh_complex* x, oh_complex* out) {
  const auto* fft = static_cast<const Fftw*>(self);
  run(fft, fft->forward, x, out, 1);
}

void fftw_inverse(const void* self, const oh_complex* x, oh_complex* out) {
  const auto* fft = static_cast<const Fftw*>(self);
  run(fft, fft->inverse, x, out, 1.0f / static_cast<float>(fft->n));
}

void fftw_release(void* self) {
  auto* fft = static_cast<Fftw*>(self);
  fftwf_destroy_plan(fft->forward);
  fftwf_destroy_plan(fft->inverse);
  fftwf_free(fft->in);
  fftwf_free(fft->out);
}

constexpr oh_fft_ops kOps = {"fftw", fftw_size, fftw_init, fftw_forward, fftw_inverse, fftw_release};

}  // namespace

const oh_fft_ops* oh_fft_fftw(void) {
  return &kOps;
}
