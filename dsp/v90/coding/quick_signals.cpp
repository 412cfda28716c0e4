// SPDX-License-Identifier: MIT
#include "dsp/v90/coding/quick_signals.h"

#include "dsp/blocks/sincos.h"

namespace offhook::v90 {
namespace {

struct Level {
  int tenth_dbm0;
  int scale;  // mu-law; of A-law the half
};
constexpr Level kLevels[] = {{-95, 1334}, {-120, 1000}, {-150, 708}, {-180, 500}};  // Table 6

constexpr int scale_of(int tenth_dbm0) {
  for (const Level& level : kLevels) {
    if (level.tenth_dbm0 == tenth_dbm0) return level.scale;
  }
  return kLevels[3].scale;
}

// G.711's decision values, which lie half way between two levels: magnitudes of 14 and 13 bits.
constexpr int mu_ucode(int magnitude) {
  const int x = magnitude + 33;
  int chord = 0;
  while (x >> (chord + 6) != 0) ++chord;
  return chord * kUchord + ((x >> (chord + 1)) & 15);
}
constexpr int a_ucode(int magnitude) {
  int x = magnitude >> 1, chord = 0;
  if (x < 2 * kUchord) return x;
  for (; x >= 2 * kUchord; x >>= 1) ++chord;
  return chord * kUchord + x;
}

}  // namespace

Pcm anspcm_symbol(Law law, int tenth_dbm0, uint32_t n) {
  constexpr int kCycles = 79;
  constexpr double kTheta = 0.125;  // of a symbol's turn over kCycles: 0.25 pi / 301
  const auto k = static_cast<int>(n % kAnspcmPeriod);
  const double turns = (k * kCycles % kAnspcmPeriod + kTheta) / kAnspcmPeriod;
  const double scale = law == Law::kMu ? scale_of(tenth_dbm0) : scale_of(tenth_dbm0) / 2;
  const double x = scale * kSqrt2 * sincos_turns(turns).cos + 0.5;
  const int whole = static_cast<int>(x) - (x < static_cast<int>(x) ? 1 : 0);
  const int magnitude = whole < 0 ? -whole : whole;
  const int ucode = law == Law::kMu ? mu_ucode(magnitude) : a_ucode(magnitude);
  const bool reversed = n / kAnspcmReversal % 2 != 0;
  return {static_cast<uint8_t>(ucode), (whole >= 0) != reversed};
}

int16_t anspcm_level(float tx_level_dbm0) {
  for (const Level& level : kLevels) {
    if (static_cast<float>(level.tenth_dbm0) <= 10 * tx_level_dbm0) return static_cast<int16_t>(level.tenth_dbm0);
  }
  return static_cast<int16_t>(kLevels[3].tenth_dbm0);
}

}  // namespace offhook::v90
