// SPDX-License-Identifier: MIT
#include "hostsim/engine/random.h"

#include <Random123/philox.h>

#include <bit>
#include <cmath>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace offhook::hostsim {
namespace {

struct WordPair {
  std::uint64_t of[2];
};

WordPair words(std::uint64_t seed, std::uint64_t stream, std::uint64_t block) {
  const auto low = [](std::uint64_t v) { return static_cast<std::uint32_t>(v); };
  const auto high = [](std::uint64_t v) { return static_cast<std::uint32_t>(v >> 32); };
  const philox4x32_ctr_t counter = {{low(block), high(block), low(stream), high(stream)}};
  const philox4x32_key_t key = {{low(seed), high(seed)}};
  const philox4x32_ctr_t r = philox4x32(counter, key);
  return {{std::uint64_t{r.v[1]} << 32 | r.v[0], std::uint64_t{r.v[3]} << 32 | r.v[2]}};
}

#ifdef __SSE2__
/// words() of four blocks in parallel, each word of a counter in the lower half of a 64-bit lane.
constexpr std::size_t kLanes = 4;
using Lanes = __m128i[kLanes / 2];

void philox(std::uint64_t seed, std::uint64_t stream, const std::uint64_t* block, WordPair* out) {
  const auto high = [](__m128i v) { return _mm_srli_epi64(v, 32); };
  const auto all = [](std::uint64_t v) { return _mm_set1_epi64x(static_cast<long long>(v)); };
  const __m128i m0 = all(PHILOX_M4x32_0), m1 = all(PHILOX_M4x32_1);
  Lanes c0, c1, c2, c3;  // the multiplications ignore the upper halves
  for (std::size_t i = 0; i < kLanes / 2; ++i) {
    c0[i] = _mm_loadu_si128(reinterpret_cast<const __m128i*>(block + 2 * i));
    c1[i] = high(c0[i]);
    c2[i] = all(stream);
    c3[i] = high(c2[i]);
  }
  __m128i k0 = all(seed), k1 = high(k0);
  for (int round = 0; round < 10; ++round) {
    for (std::size_t i = 0; i < kLanes / 2; ++i) {
      const __m128i p0 = _mm_mul_epu32(c0[i], m0), p1 = _mm_mul_epu32(c2[i], m1);
      c0[i] = _mm_xor_si128(_mm_xor_si128(high(p1), c1[i]), k0);
      c1[i] = p1;
      c2[i] = _mm_xor_si128(_mm_xor_si128(high(p0), c3[i]), k1);
      c3[i] = p0;
    }
    k0 = _mm_add_epi32(k0, _mm_set1_epi32(static_cast<int>(PHILOX_W32_0)));
    k1 = _mm_add_epi32(k1, _mm_set1_epi32(static_cast<int>(PHILOX_W32_1)));
  }
  const __m128i lower = all(0xffffffff);
  const auto word = [lower](__m128i low, __m128i upper) {
    return _mm_or_si128(_mm_and_si128(low, lower), _mm_slli_epi64(upper, 32));
  };
  for (std::size_t i = 0; i < kLanes / 2; ++i) {
    const __m128i first = word(c0[i], c1[i]), second = word(c2[i], c3[i]);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(out + 2 * i), _mm_unpacklo_epi64(first, second));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(out + 2 * i + 1), _mm_unpackhi_epi64(first, second));
  }
}
#else
constexpr std::size_t kLanes = 1;
void philox(std::uint64_t seed, std::uint64_t stream, const std::uint64_t* block, WordPair* out) {
  *out = words(seed, stream, *block);
}
#endif

double to_uniform(std::uint64_t word) {
  return (static_cast<double>(static_cast<std::int64_t>(word >> 12)) + 0.5) * 0x1p-52;
}

/// (n[0] + n[1] r + ... + n[7] r^7) / (d[0] + ... + d[7] r^7)
double ratio(const double (&n)[8], const double (&d)[8], double r) {
  double num = n[7];
  double den = d[7];
  for (int k = 6; k >= 0; --k) {
    num = num * r + n[k];
    den = den * r + d[k];
  }
  return num / den;
}

}  // namespace

static inline double log_of(double x) {
  // x = m 2^e with m in [1/sqrt 2, sqrt 2); log m = 2 atanh z, z = (m - 1) / (m + 1), |z| < 0.172.
  constexpr double kLn2 = 0.693147180559945309417;
  const auto bits = std::bit_cast<std::uint64_t>(x);
  int exponent = static_cast<int>(bits >> 52) - 1023;
  double m = std::bit_cast<double>((bits & 0x000FFFFFFFFFFFFF) | 0x3FF0000000000000);
  if (m > 1.4142135623730951) {
    m *= 0.5;
    ++exponent;
  }
  const double z = (m - 1) / (m + 1);
  const double z2 = z * z;
  double sum = 0;
  for (int k = 21; k >= 1; k -= 2) sum = sum * z2 + 1.0 / k;
  return exponent * kLn2 + 2 * z * sum;
}

double natural_log(double x) {
  return log_of(x);
}

double natural_exp(double x) {
  // e^x = 2^n e^r with |r| <= ln(2) / 2, ln 2 in two parts so that r keeps all its bits.
  constexpr double kLog2e = 1.44269504088896340736, kLn2High = 0x1.62e42fefa0000p-1, kLn2Low = 0x1.cf79abc9e3b39p-40;
  const double n = static_cast<double>(static_cast<int>(x * kLog2e + (x < 0 ? -0.5 : 0.5)));
  const double r = (x - n * kLn2High) - n * kLn2Low;
  double sum = 1;
  for (int k = 14; k >= 1; --k) sum = 1 + sum * r / k;
  return sum * std::bit_cast<double>(static_cast<std::uint64_t>(static_cast<int>(n) + 1023) << 52);
}

double inverse_normal(double p) {
  static constexpr double a[8] = {3.3871328727963666080e0, 1.3314166789178437745e2, 1.9715909503065514427e3,
                                  1.3731693765509461125e4, 4.5921953931549871457e4, 6.7265770927008700853e4,
                                  3.3430575583588128105e4, 2.5090809287301226727e3};
  static constexpr double b[8] = {1,
                                  4.2313330701600911252e1,
                                  6.8718700749205790830e2,
                                  5.3941960214247511077e3,
                                  2.1213794301586595867e4,
                                  3.9307895800092710610e4,
                                  2.8729085735721942674e4,
                                  5.2264952788528545610e3};
  static constexpr double c[8] = {1.42343711074968357734e0,  4.63033784615654529590e0, 5.76949722146069140550e0,
                                  3.64784832476320460504e0,  1.27045825245236838258e0, 2.41780725177450611770e-1,
                                  2.27238449892691845833e-2, 7.74545014278341407640e-4};
  static constexpr double d[8] = {1,
                                  2.05319162663775882187e0,
                                  1.67638483018380384940e0,
                                  6.89767334985100004550e-1,
                                  1.48103976427480074590e-1,
                                  1.51986665636164571966e-2,
                                  5.47593808499534494600e-4,
                                  1.05075007164441684324e-9};
  static constexpr double e[8] = {6.65790464350110377720e0,  5.46378491116411436990e0,  1.78482653991729133580e0,
                                  2.96560571828504891230e-1, 2.65321895265761230930e-2, 1.24266094738807843860e-3,
                                  2.71155556874348757815e-5, 2.01033439929228813265e-7};
  static constexpr double f[8] = {1,
                                  5.99832206555887937690e-1,
                                  1.36929880922735805310e-1,
                                  1.48753612908506148525e-2,
                                  7.86869131145613259100e-4,
                                  1.84631831751005468180e-5,
                                  1.42151175831644588870e-7,
                                  2.04426310338993978564e-15};
  const double q = p - 0.5;
  if (std::abs(q) <= 0.425) return q * ratio(a, b, 0.180625 - q * q);
  const double r = std::sqrt(-natural_log(q < 0 ? p : 1 - p));
  const double x = r <= 5 ? ratio(c, d, r - 1.6) : ratio(e, f, r - 5);
  return q < 0 ? -x : x;
}

std::uint64_t Random::word(std::uint64_t index) const {
  return words(seed_, stream_, index >> 1).of[index & 1];
}

double Random::uniform(std::uint64_t index) const {
  return to_uniform(word(index));
}

double Random::exponential(std::uint64_t index) const {
  return -natural_log(uniform(index));
}

double Random::normal(std::uint64_t index) const {
  return inverse_normal(uniform(index));
}

void Random::uniforms(std::uint64_t first, std::uint64_t step, double* out, std::size_t n) const {
  if (step == 1) {  // both words of each block
    for (std::size_t done = 0; done < n;) {
      std::uint64_t block[kLanes];
      for (std::size_t i = 0; i < kLanes; ++i) block[i] = ((first + done) >> 1) + i;
      WordPair pair[kLanes];
      philox(seed_, stream_, block, pair);
      for (std::size_t k = (first + done) & 1; k < 2 * kLanes && done < n; ++k)
        out[done++] = to_uniform(pair[k / 2].of[k % 2]);
    }
    return;
  }
  for (std::size_t done = 0; done < n; done += kLanes) {
    std::uint64_t block[kLanes];
    for (std::size_t i = 0; i < kLanes; ++i) block[i] = (first + (done + i) * step) >> 1;
    WordPair pair[kLanes];
    philox(seed_, stream_, block, pair);
    for (std::size_t i = 0; i < kLanes && done + i < n; ++i)
      out[done + i] = to_uniform(pair[i].of[(first + (done + i) * step) & 1]);
  }
}

void Random::exponentials(std::uint64_t first, double* out, std::size_t n) const {
  uniforms(first, 1, out, n);
  for (std::size_t i = 0; i < n; ++i) out[i] = -log_of(out[i]);
}

void Random::normals(std::uint64_t first, float* out, std::size_t n) const {
  for (std::size_t i = 0; i < n;) {
    const std::uint64_t index = first + i;
    const WordPair pair = words(seed_, stream_, index >> 1);
    for (std::uint64_t k = index & 1; k < 2 && i < n; ++k)
      out[i++] = static_cast<float>(inverse_normal(to_uniform(pair.of[k])));
  }
}

}  // namespace offhook::hostsim
