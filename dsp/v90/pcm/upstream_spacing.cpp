// SPDX-License-Identifier: MIT
#include "dsp/v90/pcm/upstream_spacing.h"

#include "dsp/blocks/complex.h"
#include "dsp/blocks/level.h"

namespace offhook::v90 {
namespace {

// A normal distribution in steps of half a standard deviation, with the tails in the last ones.
constexpr struct {
  float deviations;
  double share;  // of either sign
} kHalfOfEchoes[] = {{0.25f, 0.1915}, {0.75f, 0.1499}, {1.25f, 0.0918},
                     {1.75f, 0.0441}, {2.25f, 0.0165}, {2.75f, 0.0062}};
constexpr double kExponent = 20;  // T
constexpr int kSteps = 5;

double natural_log(double x) {
  return log_2(x) * 0.693147180559945309417;
}

double exponential(double x) {
  constexpr double kDb = 8.68588963806503655302;  // 20 / log(10)
  return x < -100 ? 0 : db_to_gain(x * kDb);
}

// log(sinh(a) / a)
double log_sinhc(double a) {
  if (a < 0.1) return a * a / 6;
  return a + natural_log((1 - exponential(-2 * a)) / (2 * a));
}

}  // namespace

void UpstreamSpacing::begin(const Noise& noise, float distance) {
  noise_ = noise;
  const auto d = static_cast<double>(distance);
  bound_ = -d * d / 8;
  level_ = 0;
  begin_level();
}

void UpstreamSpacing::begin_level() {
  step_ = 0;
  const float level = kUnit * static_cast<float>(level_ * level_);
  double sum = 0;
  for (int e = 0; e < kEchoes; ++e) {
    const float size = noise_.echo * kHalfOfEchoes[e / 2].deviations;
    const float echo = e % 2 == 0 ? size : -size;
    const int uchord = uchord_of(noise_.law, level + echo);
    const float equal = noise_.equal[uchord], all = noise_.variance[uchord] + noise_.intersymbol;
    half_width_[e] = static_cast<double>(square_root(3 * equal));
    other_[e] = static_cast<double>(all - equal);
    sum += kHalfOfEchoes[e / 2].share * static_cast<double>(all);
  }
  variance_[level_] = static_cast<float>(sum);
  four_ = 5 * static_cast<double>(square_root(variance_[level_]));
  one_ = 2 * four_;
}

// log M(t)
double UpstreamSpacing::log_moment(double t) const {
  double terms[kEchoes], most = 0;
  for (int e = 0; e < kEchoes; ++e) {
    terms[e] = log_sinhc(t * half_width_[e]) + t * t * other_[e] / 2;
    if (terms[e] > most) most = terms[e];
  }
  double sum = 0;
  for (int e = 0; e < kEchoes; ++e) sum += kHalfOfEchoes[e / 2].share * exponential(terms[e] - most);
  return most + natural_log(sum);
}

// The logarithm of the moment falls with a power of the spacing, the first to the second.
void UpstreamSpacing::improve(double exponent, double bound, double* spacing) const {
  constexpr double kPower = 0.6;
  const double ratio = log_moment(exponent / *spacing) / (exponent / 2 + bound);
  *spacing *= exponential(kPower * natural_log(ratio > 1e-3 ? ratio : 1e-3));
}

bool UpstreamSpacing::work() {
  if (level_ > kLevels) return true;
  if (step_ % 2 == 0) {
    improve(kExponent, bound_, &four_);
  } else {
    improve(4 * kExponent, 4 * bound_, &one_);  // half as far, twice T
  }
  if (++step_ < 2 * kSteps) return false;
  spacing_[level_] = static_cast<float>(four_ > one_ / 2 ? four_ : one_ / 2);
  if (++level_ > kLevels) return true;
  begin_level();
  return false;
}

int UpstreamSpacing::place_of(float level, float* share) {
  const float place = square_root(level / kUnit);
  const int k = place < kLevels ? static_cast<int>(place) : kLevels - 1;
  const auto whole = static_cast<float>(k);
  *share = place < kLevels ? (level / kUnit - whole * whole) / (2 * whole + 1) : 1;
  return k;
}

// The greater one: between them the step may double.
float UpstreamSpacing::at(float level) const {
  float share = 0;
  const int k = place_of(level, &share);
  return spacing_[k] > spacing_[k + 1] ? spacing_[k] : spacing_[k + 1];
}

float UpstreamSpacing::variance(float level) const {
  float share = 0;
  const int k = place_of(level, &share);
  return variance_[k] + share * (variance_[k + 1] - variance_[k]);
}

}  // namespace offhook::v90
