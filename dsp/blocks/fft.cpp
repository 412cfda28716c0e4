// SPDX-License-Identifier: MIT
#include "dsp/blocks/fft.h"

#include <cerrno>
#include <cstdint>

#include "dsp/blocks/preemption_point.h"
#include "dsp/blocks/sincos.h"

namespace {

/// Two complex numbers.
using Two [[gnu::vector_size(16)]] = float;

// The vector at any address: a copy, as clang treats a reference to an unaligned vector as an aligned access.
Two two(const oh_complex* at) {
  Two value;
  __builtin_memcpy(&value, at, sizeof value);
  return value;
}
void put(oh_complex* at, Two value) {
  __builtin_memcpy(at, &value, sizeof value);
}

// In the caller's memory, the stages' factors follow, then n positions in bit-reversed order. A stage of `half`
// butterflies from 4 points on has 2 half complex numbers. For every two factors, each real part is stored twice, and
// each imaginary part twice, first negated. A product is thus two multiplications.
struct alignas(64) Fft {
  std::size_t n;
};
static_assert(sizeof(Fft) == OH_FFT_RADIX2_SIZE(0));
static_assert(OH_FFT_MAX <= 65536, "places are of 16 bits");

oh_complex* factors(void* self) {
  return reinterpret_cast<oh_complex*>(static_cast<Fft*>(self) + 1);
}
const oh_complex* factors(const void* self) {
  return reinterpret_cast<const oh_complex*>(static_cast<const Fft*>(self) + 1);
}
std::uint16_t* places(void* self) {
  return reinterpret_cast<std::uint16_t*>(factors(self) + 2 * static_cast<Fft*>(self)->n);
}
const std::uint16_t* places(const void* self) {
  return reinterpret_cast<const std::uint16_t*>(factors(self) + 2 * static_cast<const Fft*>(self)->n);
}

std::size_t fft_size(std::size_t n) {
  return n == 0 || n > OH_FFT_MAX || (n & (n - 1)) != 0 ? 0 : OH_FFT_RADIX2_SIZE(n);
}

int fft_init(void* self, std::size_t n) {
  if (fft_size(n) == 0) return -EINVAL;
  static_cast<Fft*>(self)->n = n;
  oh_complex* at = factors(self);
  for (std::size_t half = 4; half < n; half *= 2) {
    for (std::size_t k = 0; k < half; k += 2, at += 4) {
      oh_preemption_point();
      for (std::size_t j = 0; j < 2; ++j) {
        const offhook::SinCos w = offhook::sincos_turns(static_cast<double>(k + j) / static_cast<double>(2 * half));
        const auto re = static_cast<float>(w.cos), im = static_cast<float>(-w.sin);
        at[j] = {re, re};
        at[2 + j] = {-im, im};
      }
    }
  }
  for (std::size_t k = 0, reversed = 0; k < n; ++k) {
    places(self)[k] = static_cast<std::uint16_t>(reversed);
    std::size_t bit = n / 2;
    for (; (reversed & bit) != 0; bit /= 2) reversed ^= bit;
    reversed |= bit;
  }
  return 0;
}

// Decimation in time, of points in bit-reversed order. The first two stages are combined, because their factors are 1
// and -i. The others compute two butterflies at a time.
void transform(const void* self, oh_complex* x) {
  const std::size_t n = static_cast<const Fft*>(self)->n;
  if (n == 2) {
    const oh_complex a = x[0], b = x[1];
    x[0] = {a.re + b.re, a.im + b.im};
    x[1] = {a.re - b.re, a.im - b.im};
  }
  if (n < 4) return;
  for (std::size_t k = 0; k < n; k += 4) {
    const Two first = two(x + k), second = two(x + k + 2);
    const Two a = __builtin_shufflevector(first, second, 0, 1, 4, 5),
              b = __builtin_shufflevector(first, second, 2, 3, 6, 7);
    const Two sum = a + b, difference = a - b;  // of points 0 and 1, and of 2 and 3
    const Two low = __builtin_shufflevector(sum, difference, 0, 1, 4, 5);
    // -i times the difference of 2 and 3
    const Two high = __builtin_shufflevector(sum, difference, 2, 3, 7, 6) * Two{1, 1, 1, -1};
    put(x + k, low + high);
    put(x + k + 2, low - high);
  }
  const oh_complex* w = factors(self);
  for (std::size_t half = 4; half < n; w += 2 * half, half *= 2) {
    oh_preemption_point();
    for (std::size_t start = 0; start < n; start += 2 * half) {
      for (std::size_t k = 0; k < half; k += 2) {
        oh_complex* const to = x + start + k;
        const Two a = two(to), b = two(to + half);
        const Two turned = b * two(w + 2 * k) + __builtin_shufflevector(b, b, 1, 0, 3, 2) * two(w + 2 * k + 2);
        put(to, a + turned);
        put(to + half, a - turned);
      }
    }
  }
}

// Into bit-reversed order, with imaginary parts multiplied by `sign`.
void reorder(const void* self, const oh_complex* x, oh_complex* out, float sign) {
  const std::size_t n = static_cast<const Fft*>(self)->n;
  const std::uint16_t* place = places(self);
  if (x != out) {
    for (std::size_t i = 0; i < n; i++) out[i] = {x[place[i]].re, sign * x[place[i]].im};
    return;
  }
  for (std::size_t i = 0; i < n; i++) {
    const std::size_t j = place[i];
    if (j < i) continue;
    const oh_complex a = x[i], b = x[j];
    out[i] = {b.re, sign * b.im};
    out[j] = {a.re, sign * a.im};
  }
}

void fft_forward(const void* self, const oh_complex* x, oh_complex* out) {
  reorder(self, x, out, 1);
  transform(self, out);
}

// The inverse: the conjugate of the transform of the conjugate.
void fft_inverse(const void* self, const oh_complex* x, oh_complex* out) {
  reorder(self, x, out, -1);
  transform(self, out);
  const std::size_t n = static_cast<const Fft*>(self)->n;
  const float scale = 1.0f / static_cast<float>(n);
  for (std::size_t i = 0; i < n; i++) out[i] = {out[i].re * scale, -out[i].im * scale};
}

constexpr oh_fft_ops kOps = {"radix2", fft_size, fft_init, fft_forward, fft_inverse, nullptr};

}  // namespace

const oh_fft_ops* oh_fft_radix2(void) {
  return &kOps;
}
