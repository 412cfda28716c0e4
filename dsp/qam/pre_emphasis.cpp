// SPDX-License-Identifier: MIT
#include "dsp/qam/pre_emphasis.h"

#include "dsp/blocks/cosine_table.h"
#include "dsp/blocks/level.h"
#include "dsp/blocks/sincos.h"

namespace offhook::qam {
namespace {

constexpr int kHalf = kPreEmphasisTaps / 2;

double response(const double* half, double turns) {
  double sum = half[0];
  for (int k = 1; k <= kHalf; ++k) sum += 2 * half[k] * sincos_turns(turns * k).cos;
  return sum;
}

}  // namespace

void design_pre_emphasis(const PreEmphasis& pre_emphasis, const Band& band, double sample_rate_hz, float* taps) {
  const double s = band.symbol_hz();
  const double fc = band.carrier_hz();

  // The Fourier series of the template, held constant from a little above the band of 5.4.1 on, under a Hann window.
  // Samples midway between multiples of 1/kGrid integrate it.
  constexpr uint32_t kGrid = CosineTable::kSteps / 4;
  double half[kHalf + 1]{};
  for (uint32_t n = 0; n < kGrid; ++n) {
    const double turns = (n + 0.5) / (2 * kGrid);
    const double top = fc / s + 0.45 + 0.12;
    const double f = turns * sample_rate_hz / s;
    const double a = db_to_gain(pre_emphasis.level_db(pre_emphasis.index, f < top ? f : top));
    for (uint32_t k = 0; k <= kHalf; ++k) half[k] += a * kCosine((2 * n + 1) * k) / kGrid;
  }
  for (int k = 0; k <= kHalf; ++k) half[k] *= 0.5 + 0.5 * sincos_turns(k / (2.0 * (kHalf + 1))).cos;

  constexpr int kPoints = 64;
  double power = 0;
  for (int n = 0; n < kPoints; ++n) {
    const double h = response(half, (fc + s * ((n + 0.5) / kPoints - 0.5)) / sample_rate_hz);
    power += h * h / kPoints;
  }
  double root = 1;  // square root by Newton's method
  for (int k = 0; k < 20; ++k) root = (root + power / root) / 2;
  for (int k = 0; k <= kHalf; ++k) {
    taps[kHalf + k] = taps[kHalf - k] = static_cast<float>(half[k] / root);
  }
}

}  // namespace offhook::qam
