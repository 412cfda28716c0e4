// SPDX-License-Identifier: MIT
#include "dsp/blocks/interpolator.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace offhook {
namespace {

// At an output a sample and a carrier of four samples, silence that lasts a multiple of four leaves nothing behind but
// a filled table.
constexpr double kCarrierHz = 2000, kBandwidthHz = 1500;
constexpr int kSilence = 4 * (Interpolator::kPhases + 4);

Interpolator one_output_a_sample() {
  Interpolator interpolator;
  interpolator.init(kCarrierHz, 1, kBandwidthHz, best_kernels());
  return interpolator;
}

TEST(Interpolator, GivesTheSameFromItsFirstSampleOnAsWithAllPhasesFilled) {
  Interpolator fresh = one_output_a_sample(), filled = one_output_a_sample();
  Complex out;
  for (int n = 0; n < kSilence; ++n) filled.put(0, &out);
  std::uint32_t random = 1;
  float place = 0;
  for (int n = 0; n < 2 * kSilence; ++n) {
    // Anywhere in a sample, so that any phase is asked for before its turn.
    random = random * 1664525 + 1013904223;
    const float next_place = static_cast<float>(random >> 8) * (1.f / (1 << 24));
    fresh.delay(next_place - place);
    filled.delay(next_place - place);
    place = next_place;
    const float x = static_cast<float>(static_cast<int>(random >> 4 & 0xfff) - 2048);
    Complex from_fresh, from_filled;
    const bool given = fresh.put(x, &from_fresh);
    ASSERT_EQ(given, filled.put(x, &from_filled)) << n;
    if (!given) continue;
    ASSERT_EQ(from_fresh.re, from_filled.re) << n;
    ASSERT_EQ(from_fresh.im, from_filled.im) << n;
  }
}

}  // namespace
}  // namespace offhook
