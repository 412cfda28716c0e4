// SPDX-License-Identifier: MIT
#include "dsp/v34/session/rate_choice.h"

#include "dsp/blocks/level.h"
#include "dsp/blocks/preemption_point.h"
#include "dsp/v34/coding/encoder.h"

namespace offhook::v34 {
namespace {

// Error events per 4D symbol at squared distances 16 (parallel transitions) and 20, counted by enumeration of the
// trellis over random sent sequences (tests/sim/v34_coding_test.cpp uses the same); the code's other neighbours double
// it.
constexpr double kNeighbours16[] = {24, 8, 0};
constexpr double kNeighbours20[] = {512, 288, 143};
constexpr double kFurther = 2;

constexpr double exp_of(double x) {  // by db_to_gain: e^x = 10^(db/20)
  return db_to_gain(x * 8.68588963806503655302);
}

// Q(sqrt(t)) for t >= 4, accurate to 1 %: the asymptotic series as a continued fraction.
constexpr double q_of_root(double t) {
  double root = t;
  for (int k = 0; k < 40; ++k) root = 0.5 * (root + t / root);
  double f = root;
  for (int k = 8; k >= 1; --k) f = root + k / f;
  return exp_of(-t / 2) / (f * 2.50662827463100050242);
}

constexpr double event_rate(TrellisCode code, double variance) {
  const int c = static_cast<int>(code);
  return kFurther *
         (kNeighbours16[c] * q_of_root(16 / (4 * variance)) + kNeighbours20[c] * q_of_root(20 / (4 * variance)));
}

constexpr int kOldMostPoints = 960;

bool allowed(const RateLimits& l, int rate) {
  const uint32_t bit_rate = static_cast<uint32_t>(rate) * 2400;
  if (!is_supported(l.symbol_rate, bit_rate)) return false;
  if (l.max_bit_rate != 0 && bit_rate > l.max_bit_rate) return false;
  // N above 12 in MP is for modems with 1664 points (10.1.3.9), and for the lower rates that need them.
  return l.points_1664 ||
         (rate <= 12 && make_framing(l.symbol_rate, bit_rate, l.aux, false).points() <= kOldMostPoints);
}

}  // namespace

double tolerated_variance(TrellisCode code, const Framing& framing, double frame_errors) {
  const double target = frame_errors / (kGroupsPerMappingFrame * framing.mapping_frames);
  double low = 0.01, high = 1;
  for (int k = 0; k < 40; ++k) {
    oh_preemption_point();
    const double middle = 0.5 * (low + high);
    (event_rate(code, middle) < target ? low : high) = middle;
  }
  return low;
}

double required_snr(TrellisCode code, const Framing& framing, bool precoding) {
  return static_cast<double>(mean_energy(framing, precoding)) / (2 * tolerated_variance(code, framing));
}

PrecoderCoefficients to_coefficients(const Complex* h) {
  const auto q14 = [](float v) { return clip(v * 16384 + (v < 0 ? -0.5f : 0.5f)); };
  return {{{q14(h[0].re), q14(h[0].im)}, {q14(h[1].re), q14(h[1].im)}, {q14(h[2].re), q14(h[2].im)}}};
}

double precoded_snr(const qam::NoisePredictor& noise, PrecoderCoefficients* h) {
  // The minimum gain: it pays for the precoder's dither (energy up to 8/3) in a constellation that has this ratio at a
  // noise variance of 0.18 per dimension.
  constexpr float kLeastGain = 1.02f, kDither = 7.5f;
  Complex filter[qam::NoisePredictor::kOrder];
  const float left = noise.solve(filter);
  *h = {};
  if (!(noise.power() > 0 && left > 0)) return 0;
  if (noise.power() <= left * kLeastGain * (1 + kDither * left)) return static_cast<double>(1 / noise.power());
  *h = to_coefficients(filter);
  return static_cast<double>(1 / left);
}

uint8_t choose_rate(const RateLimits& l, double snr) {
  int rate = highest_rate(l);
  for (; rate > 1 && allowed(l, rate - 1); --rate) {
    const Framing f = make_framing(l.symbol_rate, static_cast<uint32_t>(rate) * 2400, l.aux, l.expanded);
    if (snr >= required_snr(l.trellis, f, l.precoding)) break;
  }
  return static_cast<uint8_t>(rate);
}

uint8_t highest_rate(const RateLimits& l) {
  int rate = 14;
  while (rate > 0 && !allowed(l, rate)) --rate;
  return static_cast<uint8_t>(rate);
}

uint16_t rate_mask(const RateLimits& transmit, const RateLimits& receive) {
  const uint32_t t = traits(transmit.symbol_rate).min_bit_rate, r = traits(receive.symbol_rate).min_bit_rate;
  const int lowest = static_cast<int>((t > r ? t : r) / 2400);
  const int ht = highest_rate(transmit), hr = highest_rate(receive);
  const int highest = ht > hr ? ht : hr;
  uint32_t mask = 0;
  for (int rate = lowest; rate <= highest; ++rate) mask |= 1u << (rate - 1);
  return static_cast<uint16_t>(mask);
}

}  // namespace offhook::v34
