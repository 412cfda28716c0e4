// SPDX-License-Identifier: MIT
#include "dsp/blocks/fft.h"

#include <cerrno>
#include <cstdint>

#include "dsp/blocks/sincos.h"

namespace {

// Followed in the caller's memory by n/2 twiddle factors exp(-2 pi i k / n).
struct Fft {
  std::size_t n;
  unsigned log2n;
};

oh_complex* twiddles(void* self) {
  return reinterpret_cast<oh_complex*>(static_cast<Fft*>(self) + 1);
}
const oh_complex* twiddles(const void* self) {
  return reinterpret_cast<const oh_complex*>(static_cast<const Fft*>(self) + 1);
}

std::size_t fft_size(std::size_t n) {
  if (n == 0 || n > OH_FFT_MAX || (n & (n - 1)) != 0) return 0;
  return sizeof(Fft) + n / 2 * sizeof(oh_complex);
}

int fft_init(void* self, std::size_t n) {
  if (fft_size(n) == 0) return -EINVAL;
  auto* fft = static_cast<Fft*>(self);
  fft->n = n;
  fft->log2n = 0;
  while ((std::size_t{1} << fft->log2n) < n) fft->log2n++;
  for (std::size_t k = 0; k < n / 2; k++) {
    const offhook::SinCos w = offhook::sincos_turns(static_cast<double>(k) / static_cast<double>(n));
    twiddles(self)[k] = {static_cast<float>(w.cos), static_cast<float>(-w.sin)};
  }
  return 0;
}

// Decimation in time, in place after bit reversal. `sign` -1 conjugates the twiddles: the inverse.
void transform(const void* self, const oh_complex* x, oh_complex* out, float sign) {
  const auto* fft = static_cast<const Fft*>(self);
  const oh_complex* w = twiddles(self);
  const std::size_t n = fft->n;
  for (std::size_t i = 0; i < n; i++) {
    std::size_t j = 0;
    for (unsigned bit = 0; bit < fft->log2n; bit++) j |= ((i >> bit) & 1) << (fft->log2n - 1 - bit);
    if (j < i) continue;
    const oh_complex a = x[i];
    out[i] = x[j];
    out[j] = a;
  }
  for (std::size_t half = 1; half < n; half *= 2) {
    const std::size_t stride = n / (2 * half);
    for (std::size_t start = 0; start < n; start += 2 * half) {
      for (std::size_t k = 0; k < half; k++) {
        const oh_complex t = {w[k * stride].re, sign * w[k * stride].im};
        oh_complex& a = out[start + k];
        oh_complex& b = out[start + k + half];
        const oh_complex p = {b.re * t.re - b.im * t.im, b.re * t.im + b.im * t.re};
        b = {a.re - p.re, a.im - p.im};
        a = {a.re + p.re, a.im + p.im};
      }
    }
  }
}

void fft_forward(const void* self, const oh_complex* x, oh_complex* out) {
  transform(self, x, out, 1);
}

void fft_inverse(const void* self, const oh_complex* x, oh_complex* out) {
  transform(self, x, out, -1);
  const float scale = 1.0f / static_cast<float>(static_cast<const Fft*>(self)->n);
  for (std::size_t i = 0; i < static_cast<const Fft*>(self)->n; i++) out[i] = {out[i].re * scale, out[i].im * scale};
}

constexpr oh_fft_ops kOps = {"radix2", fft_size, fft_init, fft_forward, fft_inverse, nullptr};

}  // namespace

const oh_fft_ops* oh_fft_radix2(void) {
  return &kOps;
}
