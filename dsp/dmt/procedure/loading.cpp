// SPDX-License-Identifier: MIT
#include "dsp/dmt/procedure/loading.h"

#include "dsp/dmt/coding/constellation.h"

namespace offhook::dmt {

namespace {

struct Gains {
  float amplitude[2 * kMostGain + 1];
  float power(int half_db) const { return amplitude[half_db + kMostGain] * amplitude[half_db + kMostGain]; }
};
constexpr Gains make_gains() {
  Gains g{};
  for (int k = -kMostGain; k <= kMostGain; ++k) g.amplitude[k + kMostGain] = static_cast<float>(db_to_gain(0.5 * k));
  return g;
}
constexpr Gains kGains = make_gains();

/// Least gain for this power over the nominal; more than kMostGain: there is none.
int least_gain(float power) {
  int g = -kMostGain;
  while (g <= kMostGain && kGains.power(g) < power) ++g;
  return g;
}

float needed_power(int bits, float error) {
  return error * kGap * static_cast<float>((1 << bits) - 1);
}

/// @return bits that were added
int scale_gains(const Band& band, const float* error, Loading* loading) {
  float spare = 0;
  for (int k = band.first; k <= band.last; ++k) {
    loading->gain_half_db[k] = 0;
    if (loading->bits[k] == 0) continue;
    const int gain = least_gain(needed_power(loading->bits[k], error[k]));
    loading->gain_half_db[k] = static_cast<int8_t>(gain);
    spare += 1 - kGains.power(gain);
  }
  int added = 0;
  for (int gain = -kMostGain; gain <= kMostGain; ++gain) {
    for (int k = band.first; k <= band.last; ++k) {
      if (!band.carries(k) || error[k] <= 0) continue;
      const int bits = loading->bits[k], next = bits == 0 ? kLeastBits : bits + 1;
      if (next > band.most_bits || least_gain(needed_power(next, error[k])) != gain) continue;
      const float cost = kGains.power(gain) - (bits == 0 ? 1 : kGains.power(loading->gain_half_db[k]));
      if (cost > spare) continue;
      spare -= cost;
      loading->bits[k] = static_cast<uint8_t>(next);
      loading->gain_half_db[k] = static_cast<int8_t>(gain);
      added += next - bits;
    }
  }
  return added;
}

}  // namespace

float Loading::gain(int tone) const {
  return kGains.amplitude[gain_half_db[tone] + kMostGain];
}

int Loading::total() const {
  int sum = 0;
  for (const uint8_t b : bits) sum += b;
  return sum;
}

bool choose_path(int octets, PathParameters* path) {
  constexpr int kDepthSymbols = 64;
  int s = kMostFramesPerWord;
  while (s > 1 && s * octets > ReedSolomon::kMostOctets) s /= 2;
  if (octets > ReedSolomon::kMostOctets) octets = ReedSolomon::kMostOctets;
  // A frame has an overhead octet and something besides.
  const int check = octets - ReedSolomon::kMostCheck / s >= 2 ? ReedSolomon::kMostCheck : 0;
  const int payload = octets - check / s - 1;
  if (payload < 1) return false;
  *path = {static_cast<uint8_t>(payload), static_cast<uint8_t>(check), static_cast<uint8_t>(s),
           static_cast<uint8_t>(kDepthSymbols / s)};
  return path->possible();
}

bool load(const Band& band, const float* error, uint32_t max_bit_rate, Loading* loading) {
  int total = 0;
  for (uint8_t& b : loading->bits) b = 0;
  for (int k = band.first; k <= band.last; ++k) {
    if (!band.carries(k) || error[k] <= 0) continue;
    int bits = 0;
    while (bits < band.most_bits && needed_power(bits + 1, error[k]) <= 1) ++bits;
    if (bits < kLeastBits) continue;
    loading->bits[k] = static_cast<uint8_t>(bits);
    total += bits;
  }
  total += scale_gains(band, error, loading);
  if (!choose_path(total / 8, &loading->path)) return false;
  if (max_bit_rate > 0) {
    const uint32_t most = max_bit_rate / 32'000;
    if (most < 1) return false;
    // The overhead with less payload is not more than it is now.
    for (int octets = total / 8 - 1; loading->path.payload > most && octets > 1; --octets) {
      if (!choose_path(octets, &loading->path)) return false;
    }
  }
  return loading->path.payload >= 1;
}

}  // namespace offhook::dmt
