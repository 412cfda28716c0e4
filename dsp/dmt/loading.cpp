// SPDX-License-Identifier: MIT
#include "dsp/dmt/loading.h"

#include "dsp/blocks/preemption_point.h"
#include "dsp/dmt/constellation.h"
#include "dsp/dmt/trellis.h"

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

/// Least gain for this power over the nominal one; more than kMostGain if there is none.
int least_gain(float power) {
  int g = -kMostGain;
  while (g <= kMostGain && kGains.power(g) < power) ++g;
  return g;
}

constexpr double kMargin = db_to_gain(2 * kMarginDb), kTrellisGain = db_to_gain(2 * kTrellisGainDb);
constexpr float kGapAlone = static_cast<float>(kGap / kMargin);
constexpr float kTrellisGap = static_cast<float>(kGap / kTrellisGain);
constexpr float kTrellisGapAlone = static_cast<float>(kGap / kTrellisGain / kMargin);

/// Power of a tone, over the nominal, with margin. @param more  a ratio of further margin
float needed_power(bool trellis, int bits, float error, float more) {
  return error * more * (trellis ? kTrellisGap : kGap) * static_cast<float>((1 << bits) - 1);
}

void scale_gains(const Band& band, const float* error, float more, Loading* loading) {
  float spare = 0;
  for (int k = band.first; k <= band.last; ++k) {
    loading->gain_half_db[k] = 0;
    if (loading->bits[k] == 0) continue;
    const int gain = least_gain(needed_power(loading->trellis, loading->bits[k], error[k], more));
    loading->gain_half_db[k] = static_cast<int8_t>(gain);
    spare += 1 - kGains.power(gain);
  }
  for (int gain = -kMostGain; gain <= kMostGain; ++gain) {
    oh_preemption_point();
    for (int k = band.first; k <= band.last; ++k) {
      if (!band.carries(k) || error[k] <= 0) continue;
      const int bits = loading->bits[k], next = bits == 0 ? kLeastBits : bits + 1;
      if (next > band.most_bits || least_gain(needed_power(loading->trellis, next, error[k], more)) != gain) continue;
      const float cost = kGains.power(gain) - (bits == 0 ? 1 : kGains.power(loading->gain_half_db[k]));
      if (cost > spare) continue;
      spare -= cost;
      loading->bits[k] = static_cast<uint8_t>(next);
      loading->gain_half_db[k] = static_cast<int8_t>(gain);
    }
  }
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

int Loading::tones() const {
  int sum = 0;
  for (const uint8_t b : bits) sum += b > 0 ? 1 : 0;
  return sum;
}

int Loading::data_bits() const {
  return total() - (trellis ? trellis_overhead(tones()) : 0);
}

bool Loading::fits(const Band& band) const {
  if (trellis && (!band.trellis || tones() < kLeastTrellisTones)) return false;
  return 8 * path.octets() <= data_bits();
}

float Loading::gap() const {
  return trellis ? kTrellisGapAlone : kGapAlone;
}

bool choose_path(int octets, PathParameters* path) {
  constexpr int kDepthSymbols = 64;
  int s = kMostFramesPerWord;
  while (s > 1 && s * octets > ReedSolomon::kMostOctets) s /= 2;
  if (octets > ReedSolomon::kMostOctets) octets = ReedSolomon::kMostOctets;
  // A frame has an overhead octet and at least one more.
  const int check = octets - ReedSolomon::kMostCheck / s >= 2 ? ReedSolomon::kMostCheck : 0;
  const int payload = octets - check / s - 1;
  if (payload < 1) return false;
  *path = {static_cast<uint8_t>(payload), static_cast<uint8_t>(check), static_cast<uint8_t>(s),
           static_cast<uint8_t>(kDepthSymbols / s)};
  return path->possible();
}

namespace {

constexpr int kMostFrameBits = 8 * ReedSolomon::kMostOctets;
constexpr float kMostMoreDb = 128;  // greater than any difference of the errors as floats
constexpr int kHalvings = 10;       // to one eighth of a decibel

/// Bits and gains. @param more  a ratio of margin beyond
/// kMarginDb. @return bits of a symbol for frames; 0: none
int fill_tones(const Band& band, const float* error, bool trellis, float more, Loading* loading) {
  oh_preemption_point();
  loading->trellis = trellis;
  for (int k = 0; k < kMostTones; ++k) loading->bits[k] = 0;
  for (int k = band.first; k <= band.last; ++k) {
    if (!band.carries(k) || error[k] <= 0) continue;
    int bits = 0;
    while (bits < band.most_bits && needed_power(loading->trellis, bits + 1, error[k], more) <= 1) ++bits;
    if (bits < kLeastBits) continue;
    loading->bits[k] = static_cast<uint8_t>(bits);
  }
  scale_gains(band, error, more, loading);
  return trellis && loading->tones() < kLeastTrellisTones ? 0 : loading->data_bits();
}

/// As many bits as a frame has; capacity of the tones beyond them becomes margin. @return as fill_tones()
int fill_frame(const Band& band, const float* error, bool trellis, Loading* loading) {
  float least = 0, most = kMostMoreDb;
  for (int halving = 0; halving < kHalvings; ++halving) {
    const float middle = (least + most) / 2;
    const int bits =
        fill_tones(band, error, trellis, static_cast<float>(db_to_gain(2 * static_cast<double>(middle))), loading);
    (bits > kMostFrameBits ? least : most) = middle;
  }
  return fill_tones(band, error, trellis, static_cast<float>(db_to_gain(2 * static_cast<double>(most))), loading);
}

}  // namespace

bool load(const Band& band, const float* error, uint32_t max_bit_rate, Loading* loading) {
  int bits = fill_tones(band, error, false, 1, loading);
  if (band.trellis && bits < fill_tones(band, error, true, 1, loading)) {
    bits = loading->data_bits();
  } else if (loading->trellis) {
    fill_tones(band, error, false, 1, loading);
  }
  if (bits > kMostFrameBits) bits = fill_frame(band, error, loading->trellis, loading);
  if (!choose_path(bits / 8, &loading->path)) return false;
  if (max_bit_rate > 0) {
    const uint32_t most = max_bit_rate / (8 * kDataSymbolsPerSecond);
    if (most < 1) return false;
    // The overhead with less payload is at most the present one.
    for (int octets = bits / 8 - 1; loading->path.payload > most && octets > 1; --octets) {
      if (!choose_path(octets, &loading->path)) return false;
    }
  }
  return loading->path.payload >= 1;
}

}  // namespace offhook::dmt
