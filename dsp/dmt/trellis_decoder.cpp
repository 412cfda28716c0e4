// SPDX-License-Identifier: MIT
#include "dsp/dmt/trellis_decoder.h"

#include "dsp/dmt/constellation.h"
#include "dsp/dmt/trellis.h"

namespace offhook::dmt {
namespace {

constexpr float kFar = 1e15f;  // for impossible points

}  // namespace

void TrellisDecoder::set(const BitTable& table, const float* noise) {
  count_ = table.count();
  for (int k = 0; k < count_; ++k) {
    Tone& t = tones_[k];
    const int tone = table.tone(k);
    t.bits = table.bits(tone);
    const CoordinateLimits limits = coordinate_limits(t.bits);
    // The outermost coordinate is 1 modulo 4 on one of the two sides.
    const int most = limits.outer;
    const bool above = most % 4 == 1;
    t.most = static_cast<float>(above ? most : most - 2);
    t.least = static_cast<float>(above ? 2 - most : -most);
    t.inner = t.bits == 3 ? 0 : limits.inner == limits.outer ? kFar : static_cast<float>(limits.inner);
    t.weight = noise[tone] > 0 ? 1 / noise[tone] : 1;
  }
}

TrellisDecoder::Float4 TrellisDecoder::exact_distances(const Tone& tone, Complex z) {
  Float4 out{};
  for (int coset = 0; coset < 4; ++coset) {
    const Point p = nearest_point(tone.bits, coset, z);
    out[coset] = tone.weight * norm(z - Complex{static_cast<float>(p.x), static_cast<float>(p.y)});
  }
  return out;
}

// Coordinates equal to 3 modulo 4 are the negatives of those equal to 1.
TrellisDecoder::Float4 TrellisDecoder::distances(const Tone& tone, Complex z) {
  const float x = z.re < 0 ? -z.re : z.re, y = z.im < 0 ? -z.im : z.im;
  if (x >= tone.inner && y >= tone.inner) return exact_distances(tone, z);
  constexpr float kMost = 250;
  constexpr int kBias = 128;  // makes the truncation a floor
  const Float4 at = {z.re, -z.re, z.im, -z.im};
  Float4 near = at > -kMost ? at : Float4{} - kMost;  // NaN becomes -250
  near = near < kMost ? near : Float4{} + kMost;
  const Int4 k = __builtin_convertvector((near - 1.0f) * 0.25f + (kBias + 0.5f), Int4) - kBias;
  near = 4.0f * __builtin_convertvector(k, Float4) + 1.0f;
  near = near > tone.least ? near : Float4{} + tone.least;
  near = near < tone.most ? near : Float4{} + tone.most;
  const Float4 error = at - near;
  const Float4 square = error * error * tone.weight;
  return __builtin_shufflevector(square, square, 0, 0, 1, 1) + __builtin_shufflevector(square, square, 2, 3, 2, 3);
}

void TrellisDecoder::decode(const Complex* z, uint8_t* cosets) {
  Float4 metric[4];  // by S3 S2; lanes S1 S0
  for (Float4& m : metric) m = Float4{} + kFar;
  metric[0][0] = 0;
  const int alone = count_ % 2;
  for (int pair = 0; pair < trellis_pairs(count_); ++pair) {
    const int k = 2 * pair - alone;
    const Float4 first = k < 0 ? Float4{0, kFar, kFar, kFar} : distances(tones_[k], z[k]);
    const Float4 second = distances(tones_[k + 1], z[k + 1]);
    // Cosets for u3 = 0, indexed by u1 u0, then those for u3 = 1: see cosets_of().
    const Float4 first_0 = __builtin_shufflevector(first, first, 0, 0, 2, 2);
    const Float4 first_1 = __builtin_shufflevector(first, first, 3, 3, 1, 1);
    const Float4 even = __builtin_shufflevector(second, second, 0, 2, 2, 0);
    const Float4 odd = __builtin_shufflevector(second, second, 3, 1, 1, 3);
    const Float4 u20_0 = first_0 + even, u20_1 = first_1 + odd;
    const Float4 u21_0 = first_0 + odd, u21_1 = first_1 + even;
    Int4 kept = ((u20_1 < u20_0) & 256) | ((u21_1 < u21_0) & 512);
    Float4 branch[2][2];  // indexed by u2, and by u1 if S1 is zero; lanes S1 S0
    branch[0][0] = u20_1 < u20_0 ? u20_1 : u20_0;
    branch[1][0] = u21_1 < u21_0 ? u21_1 : u21_0;
    for (auto& b : branch) b[1] = __builtin_shufflevector(b[0], b[0], 2, 3, 0, 1);

    Float4 next[4];  // by S1' S0'; lanes S3' S2'
#pragma GCC unroll 4
    for (int h = 0; h < 4; ++h) {
      const int h1 = h >> 1, h0 = h & 1;
      const Float4 a0 = metric[0] + branch[h1][h0], a1 = metric[1] + branch[h1 ^ 1][h0];
      const Float4 a2 = metric[2] + branch[h1][h0 ^ 1], a3 = metric[3] + branch[h1 ^ 1][h0 ^ 1];
      const Int4 of_low = a1 < a0, of_high = a3 < a2;
      const Float4 low = a1 < a0 ? a1 : a0, high = a3 < a2 ? a3 : a2;
      const Int4 is_high = high < low;
      next[h] = high < low ? high : low;
      kept |= (is_high & (2 << 2 * h)) | (((is_high & of_high) | (~is_high & of_low)) & (1 << 2 * h));
    }
    survivors_[pair] = kept;
    const Float4 t0 = __builtin_shufflevector(next[0], next[1], 0, 4, 1, 5);
    const Float4 t1 = __builtin_shufflevector(next[2], next[3], 0, 4, 1, 5);
    const Float4 t2 = __builtin_shufflevector(next[0], next[1], 2, 6, 3, 7);
    const Float4 t3 = __builtin_shufflevector(next[2], next[3], 2, 6, 3, 7);
    metric[0] = __builtin_shufflevector(t0, t1, 0, 1, 4, 5);
    metric[1] = __builtin_shufflevector(t0, t1, 2, 3, 6, 7);
    metric[2] = __builtin_shufflevector(t2, t3, 0, 1, 4, 5);
    metric[3] = __builtin_shufflevector(t2, t3, 2, 3, 6, 7);
  }
  trace(cosets);
}

void TrellisDecoder::trace(uint8_t* cosets) const {
  int high = 0, low = 0;  // S3' S2' and S1' S0'
  for (int pair = trellis_pairs(count_) - 1; pair >= 0; --pair) {
    const Int4& kept = survivors_[pair];
    const int before_high = kept[high] >> 2 * low & 3, before_low = high;
    const int u2 = (low >> 1 ^ before_high) & 1;
    const int u1 = (low ^ before_low >> 1 ^ before_high >> 1) & 1;
    const int u0 = before_low & 1;
    const int u3 = kept[u1 << 1 | u0] >> (8 + u2) & 1;
    const CosetPair of = cosets_of(u3, u2, u1, u0);
    const int k = 2 * pair - count_ % 2;
    if (k >= 0) cosets[k] = static_cast<uint8_t>(of.first);
    cosets[k + 1] = static_cast<uint8_t>(of.second);
    high = before_high;
    low = before_low;
  }
}

}  // namespace offhook::dmt
